//! `--json`: one object a line, with the fields of docs/json.md and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::evolve::SMALL;
use crate::support::random_games;

/// The documented fields by command and event.
fn documented() -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut fields: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    let (mut commands, mut event) = (Vec::new(), String::new());
    for line in include_str!("../docs/json.md").lines() {
        if let Some(heading) = line.strip_prefix("## finch ") {
            commands = heading.split(", finch ").map(str::to_owned).collect();
        } else if let Some(heading) = line.strip_prefix("### ") {
            event = heading.to_owned();
        } else if let Some(field) = line.strip_prefix("| `") {
            let field = field.split('`').next().unwrap();
            for command in &commands {
                let key = (command.clone(), event.clone());
                fields.entry(key).or_default().insert(field.to_owned());
            }
        }
    }
    fields
}

fn finch(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_finch"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The lines of a command, every field of which is documented.
#[track_caller]
fn lines(arguments: &[&str]) -> Vec<Value> {
    let output = finch(&[arguments, &["--json"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    let documented = documented();
    let parse = |line: &str| -> Value {
        let value: Value = serde_json::from_str(line).unwrap();
        let event = value["event"].as_str().unwrap().to_owned();
        let known = &documented[&(arguments[0].to_owned(), event.clone())];
        for field in value.as_object().unwrap().keys() {
            let (gene, anchor) = (field.rsplit_once(' '), field.split_once(' '));
            let gene = gene.map(|(_, last)| format!("GENE {last}"));
            let anchor = anchor.map(|(first, _)| format!("{first} ANCHOR"));
            let mut names = [Some(field.clone()), gene, anchor].into_iter().flatten();
            assert!(
                field == "event" || names.any(|name| known.contains(&name)),
                "{arguments:?}: {event}: {field} is not in docs/json.md"
            );
        }
        value
    };
    text.lines().map(parse).collect()
}

fn events(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect()
}

/// A file of games in a folder of its own.
fn games() -> (TempDir, String) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("games.pgn");
    std::fs::write(&path, random_games(6, 30, 1)).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_match_prints_games_score_and_end() {
    let lines = lines(&[
        "match", "default", "hand-set", "--games", "2", "--nodes", "30",
    ]);
    assert_eq!(events(&lines), ["game", "game", "score", "end"]);
    assert_eq!(lines[2]["games"], 2);
    let counted = ["wins", "draws", "losses"].map(|field| lines[2][field].as_u64().unwrap());
    assert_eq!(counted.iter().sum::<u64>(), 2);
    assert_eq!(lines[3]["planned"], 2);
    assert!(lines[3]["decision"].is_null());
}

#[test]
fn ratings_are_printed_by_player() {
    let (_folder, games) = games();
    let lines = lines(&["rate", &games]);
    assert_eq!(lines[0]["event"], "player");
    assert_eq!(lines[0]["rank"], 1);
    assert_eq!(lines.last().unwrap()["games"], 6);
}

#[test]
fn fitness_is_printed_for_each_of_several_weights() {
    let (_folder, games) = games();
    let positions = ["--positions", "20"];
    let arguments = [
        "fitness",
        "moves",
        "--games",
        &games,
        "--weights",
        "hand-set",
        "moves",
    ];
    let printed = lines(&[&arguments[..], &positions].concat());
    // The last line: what any of them finds.
    assert_eq!(events(&printed), ["data", "moves", "moves", "moves"]);
    let share = printed[1]["share"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&share), "{share}");
    let printed = lines(&[&["fitness", "mentor"][..], &positions].concat());
    assert_eq!(events(&printed), ["data", "mentor"]);
    assert!(printed[1]["centipawns"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_speed_of_the_evaluation_is_printed() {
    let lines = lines(&["bench", "eval", "--seconds", "0.05"]);
    assert!(lines[0]["evaluations_per_second"].as_f64().unwrap() > 0.0);
    assert!(
        !finch(&["bench", "gradient", "10", "--json"])
            .status
            .success()
    );
}

#[test]
fn a_suite_prints_attempts_and_scores() {
    let folder = TempDir::new().unwrap();
    let suite = folder.path().join("suite.epd");
    std::fs::write(
        &suite,
        "6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Ra8#; id \"one\";\n",
    )
    .unwrap();
    let suite = suite.to_str().unwrap();
    let printed = lines(&["solve", suite, "--nodes", "500"]);
    assert_eq!(events(&printed), ["attempt", "score"]);
    assert_eq!(printed[1]["solved"], 1);
    let quiet = finch(&["solve", suite, "--nodes", "500", "--quiet"]);
    let text = String::from_utf8(quiet.stdout).unwrap();
    assert!(
        text.trim_start().starts_with("Finch: 1 of 1 solved"),
        "{text}"
    );
}

/// Settings that make a run short.
const SHORT: [&str; 8] = [
    "--set",
    "run.generations=2",
    "--set",
    "run.closing_games=2",
    "--set",
    "run.closing_nodes=30",
    "--set",
    "run.threads=1",
];

/// The data, generations 0 to 2, a line for each opponent of the closing match, the result.
#[track_caller]
fn assert_run(lines: &[Value]) {
    let events = events(lines);
    assert_eq!(
        events[..4],
        ["data", "generation", "generation", "generation"]
    );
    let (last, closing) = events[4..].split_last().unwrap();
    assert_eq!(*last, "result");
    assert!(closing.len() >= 2, "{events:?}");
    assert!(
        closing.iter().all(|event| *event == "closing"),
        "{events:?}"
    );
}

#[test]
fn tuning_prints_generations_closing_match_and_result() {
    let (folder, games) = games();
    let out = folder.path().join("run");
    let out = out.to_str().unwrap();
    let data = ["--set", "data.positions=20", "--set", "data.validation=0"];
    let arguments = ["tune", "vazquez-2013", "--games", &games, "--out", out];
    let printed = lines(&[&arguments[..], &SHORT, &data].concat());
    assert_run(&printed);
    assert_eq!(printed[3]["generation"], 2.0);
    assert!(printed[3]["knight mean"].is_number(), "{}", printed[3]);
    let result = printed.last().unwrap();
    assert_eq!(result["interrupted"], false);
    assert!(std::path::Path::new(result["report"].as_str().unwrap()).exists());
    assert!(result["installed"].is_null());
}

#[test]
fn quiet_tuning_prints_the_result_only_and_games_show_the_evolved_values() {
    let folder = TempDir::new().unwrap();
    let run = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let settings = ["method.population=4", "run.lines=1", "fitness.plies=1"];
        let settings = settings.into_iter().chain(["fitness.max_moves=6"]);
        let settings: Vec<&str> = settings.flat_map(|change| ["--set", change]).collect();
        let arguments = ["tune", "kendall-2001", "--out", out.to_str().unwrap()];
        let output = finch(&[&arguments[..], &SHORT, &settings, more].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run("loud", &[]);
    let line = text
        .lines()
        .find(|line| line.starts_with("generation 1/2"))
        .unwrap();
    assert!(
        line.contains("knight ") && line.contains("queen "),
        "{line}"
    );
    assert!(
        !text.contains('%'),
        "a share of the points says nothing: {text}"
    );
    let page = std::fs::read_to_string(folder.path().join("loud/report.html")).unwrap();
    assert!(page.contains("<h2>Drawn games</h2>"), "{page}");
    let text = run("quiet", &["--quiet"]);
    assert!(
        !text.contains("generation 1/2") && !text.contains("closing match"),
        "{text}"
    );
    assert!(text.contains("report: "), "{text}");
}

#[test]
fn evolve_prints_generations_and_result() {
    let folder = TempDir::new().unwrap();
    let run = |name: &str| {
        let out = folder.path().join(name).to_str().unwrap().to_owned();
        let small = SMALL.into_iter().flat_map(|change| ["--set", change]);
        let small: Vec<String> = small.map(str::to_owned).collect();
        let arguments = ["evolve", "--from", "zero", "--generations", "2", "--out"];
        let arguments = arguments.map(str::to_owned).into_iter().chain([out]);
        arguments.chain(small).collect::<Vec<_>>()
    };
    let arguments = run("json");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let printed = lines(&arguments);
    assert_eq!(events(&printed), ["generation", "generation", "result"]);
    assert!(printed[0]["training_loss"].is_number(), "{}", printed[0]);
    assert!(printed[2]["champion_generation"].is_number());
    let arguments = run("quiet");
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.push("--quiet");
    let quiet = String::from_utf8(finch(&arguments).stdout).unwrap();
    assert!(quiet.starts_with("champion: "), "{quiet}");
}

#[test]
fn training_prints_generations_and_result() {
    let folder = TempDir::new().unwrap();
    let labels = folder.path().join("labels.bin");
    let labels = labels.to_str().unwrap();
    let made = finch(&[
        "selfplay",
        "--positions",
        "200",
        "--depth",
        "1",
        "--out",
        labels,
    ]);
    assert!(made.status.success(), "{made:?}");
    let out = folder.path().join("run");
    let out = out.to_str().unwrap();
    let small = ["--steps", "1", "--batch", "16", "--set", "genome.width=64"];
    let arguments = ["train", labels, "--out", out, "--validation-share", "0.2"];
    let printed = lines(&[&arguments[..], &small, &SHORT].concat());
    assert_run(&printed);
}

#[test]
fn annotate_tells_how_each_player_errs() {
    let (_folder, games) = games();
    let lines = lines(&["annotate", &games, "--nodes", "50"]);
    assert!(!lines.is_empty());
    assert!(events(&lines).iter().all(|event| *event == "player"));
    let moves = |line: &Value| line["moves"].as_u64().unwrap();
    assert!(lines.iter().map(moves).sum::<u64>() > 6 * 20);
}
