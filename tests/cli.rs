//! The command line, seen from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::common::{Engine, copy_finch};

fn finch(arguments: &[&str]) -> Output {
    run(Path::new(env!("CARGO_BIN_EXE_finch")), arguments)
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// One clear line on standard error and exit status 1.
#[track_caller]
fn assert_fails(arguments: &[&str], mentions: &[&str]) {
    let output = finch(arguments);
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
    assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    for word in mentions {
        assert!(stderr.contains(word), "'{word}' in {stderr}");
    }
}

#[test]
fn perft_counts_from_any_position() {
    assert!(stdout(&finch(&["perft", "4"])).starts_with("197281 "));
    let kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -";
    assert!(stdout(&finch(&["perft", "3", kiwipete])).starts_with("97862 "));
    assert_fails(&["perft", "3", "nonsense"], &["nonsense"]);
}

#[test]
fn eval_explains_in_words_and_in_json() {
    let text = stdout(&finch(&["eval"]));
    assert!(text.contains("MATERIAL") && text.contains("bishop_pair"));
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&finch(&["eval", "--json"]))).unwrap();
    assert!(json.is_object());
    assert_fails(&["eval", "not a fen"], &["not a fen"]);
}

#[test]
fn weights_of_the_papers_are_in_order() {
    for entry in std::fs::read_dir("weights/papers").unwrap() {
        let path = entry.unwrap().path();
        let output = finch(&["weights", "check", path.to_str().unwrap()]);
        assert!(output.status.success(), "{}", path.display());
    }
}

#[test]
fn weights_that_are_missing_are_named() {
    assert_fails(
        &["--weights", "no/such/file.toml", "bench"],
        &["no/such/file.toml"],
    );
    assert_fails(
        &["weights", "check", "no/such/file.toml"],
        &["no/such/file.toml"],
    );
}

#[test]
fn help_lists_the_commands() {
    let text = stdout(&finch(&["--help"]));
    for command in ["bench", "perft", "eval", "weights"] {
        assert!(text.contains(&format!("\n  {command} ")), "{command}");
    }
    for group in ["Play:", "Measure:", "Tune:", "Data:", "Files:"] {
        assert!(text.contains(group), "{group}");
    }
}

#[test]
fn weights_may_stand_on_either_side_of_the_command_that_takes_them() {
    let material = "weights/papers/vazquez-2011.toml";
    let expected = stdout(&finch(&["eval", "--json", "--weights", material]));
    assert_eq!(
        stdout(&finch(&["--weights", material, "eval", "--json"])),
        expected
    );
    assert_ne!(stdout(&finch(&["eval", "--json"])), expected);
    assert_fails(
        &["bench", "eval", "--weights", "no/such/file.toml"],
        &["no/such/file.toml"],
    );
    assert!(!stdout(&finch(&["match", "--help"])).contains("--weights"));
    assert_fails(
        &["--weights", material, "match", material, "default"],
        &["--weights"],
    );
}

/// A copy of the program with installed weights beside it.
fn with_installed(weights: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("finch");
    copy_finch(&program);
    std::fs::write(folder.path().join("finch-weights.toml"), weights).unwrap();
    (folder, program)
}

/// As an earlier version installed them.
const INSTALLED: &str = "\
name = 'tuned pawns'

[provenance]
method = 'ep'

[material]
pawn = 100.0
knight = [300.0, 290.0]
bishop = [310.0, 300.0]
rook = 500.0
queen = 900.0
";

#[test]
fn installed_weights_play_but_change_neither_bench_nor_default() {
    let (_folder, program) = with_installed(INSTALLED);
    let says = |arguments: &[&str]| stdout(&run(&program, arguments));
    assert!(says(&["uci", "uci"]).contains("tuned pawns (installed as "));
    let default = says(&["setoption name WeightsFile value default", "eval"]);
    assert!(default.contains("(built in)"), "{default}");
    assert_ne!(
        says(&["eval", "--json"]),
        stdout(&finch(&["eval", "--json"]))
    );
    assert_eq!(
        says(&["--weights", "default", "eval", "--json"]),
        stdout(&finch(&["eval", "--json"]))
    );
    let signature = include_str!("bench.signature").trim();
    let bench = says(&["bench"]);
    assert!(bench.trim().starts_with(signature), "{bench}");
}

#[test]
fn unreadable_installed_weights_are_named_and_the_built_in_ones_play() {
    let (_folder, program) = with_installed("pawn = many");
    let output = run(&program, &["uci", "go depth 2"]);
    assert!(output.status.success());
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(stderr.contains("finch-weights.toml"), "{stderr}");
    assert!(stdout(&output).contains("bestmove"));
    let output = run(&program, &["eval"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn uci_commands_can_stand_on_the_command_line() {
    let text = stdout(&finch(&[
        "position startpos moves e2e4",
        "go depth 4",
        "d",
        "quit",
    ]));
    let best = text.find("bestmove ").unwrap();
    let board = text.find("Fen: ").unwrap();
    assert!(best < board, "{text}");
    assert!(stdout(&finch(&["go perft 3"])).contains("Nodes searched: 8902"));
    assert_fails(&["bnech"], &["bnech", "did you mean bench?", "--help"]);
    assert_fails(&["go depth 1", "nonsense"], &["nonsense"]);
}

#[test]
fn a_wrong_option_exits_with_1_and_shows_the_usage() {
    for arguments in [
        &["tune", "--nonsense"][..],
        &["match", "default"],
        &["bench", "gradient", "none"],
    ] {
        let output = finch(arguments);
        let stderr = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.starts_with("error: "), "{stderr}");
        assert!(stderr.contains("--help"), "{stderr}");
    }
    assert!(finch(&["--help"]).status.success());
    assert!(finch(&["tune", "--help"]).status.success());
}

#[test]
fn a_closed_pipe_ends_any_command_quietly() {
    let games = ["--games", "2", "--nodes", "20"];
    for arguments in [
        &["weights", "list"][..],
        &["eval"],
        &["tune", "--list"],
        &["perft", "2"],
        &[&["match", "default", "terms"][..], &games].concat(),
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_finch"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn the_presets_are_listed_and_named_in_the_documents() {
    let document = include_str!("../docs/tuning.md");
    let text = stdout(&finch(&["tune", "--list"]));
    assert!(text.lines().count() > 10, "{text}");
    for line in text.lines() {
        let (name, about) = line.split_once(' ').unwrap();
        assert!(!about.trim().is_empty(), "{line}");
        assert!(document.contains(&format!("`{name}`")), "{name}");
    }
    let built_in = std::fs::read_dir("tuning").unwrap();
    let files = built_in.filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.strip_suffix(".toml").map(str::to_owned)
    });
    for name in files.filter(|name| name != "default") {
        let is_listed = |line: &str| line.split(' ').next() == Some(name.as_str());
        assert!(text.lines().any(is_listed), "{name}");
    }
}

#[test]
fn d_and_eval_draw_the_same_board() {
    let board = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains('│'));
        lines.take(8).map(str::to_owned).collect()
    };
    let drawn = board(&stdout(&finch(&["position startpos moves e2e4", "d"])));
    assert_eq!(drawn[7], "1 │ R N B Q K B N R │");
    assert_eq!(drawn[4], "4 │ · · · · P · · · │");
    let explained = stdout(&finch(&["position startpos moves e2e4", "eval"]));
    assert_eq!(drawn, board(&explained));
}

#[test]
fn a_bad_board_is_named_by_its_rank() {
    let board = |ranks: &str| format!("{ranks}/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    for (ranks, fault) in [
        ("rnbqkbnr/ppppppp", "rank 7 ('ppppppp') has 7 squares"),
        ("rnbqkbnr1/pppppppp", "rank 8 ('rnbqkbnr1') has 9 squares"),
        (
            "rnbqkbnx/pppppppp",
            "rank 8 ('rnbqkbnx'): no piece is written x",
        ),
        ("rnbqkbnr", "8 ranks with / between them, not 7"),
    ] {
        assert_fails(&["eval", &board(ranks)], &[fault]);
    }
}

#[test]
fn mistyped_presets_and_keys_get_a_suggestion() {
    assert_fails(
        &["tune", "vasquez-2013"],
        &["did you mean vazquez-2013?", "--list"],
    );
    let set = |change: &str, hint: &str| assert_fails(&["tune", "--set", change], &[hint]);
    set("run.generation=5", "did you mean generations?");
    set("rum.generations=5", "did you mean run?");
    set("generations=5", "did you mean run.generations?");
    set("method.name=eb", "there are ep");
    let output = finch(&["tune", "--generations", "5"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("--set run.generations="), "{stderr}");
}

#[test]
fn resuming_what_is_not_there_lists_the_runs_there_are() {
    let folder = TempDir::new().unwrap();
    for name in ["one", "two"] {
        let run = folder.path().join(name);
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join("config.toml"), "").unwrap();
    }
    std::fs::create_dir(folder.path().join("no-run")).unwrap();
    let missing = folder.path().join("three");
    let missing = missing.to_str().unwrap();
    let output = finch(&["tune", "--resume", missing]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("three: no run to resume; runs are "),
        "{stderr}"
    );
    assert!(
        stderr.contains("one, ") && stderr.contains("two"),
        "{stderr}"
    );
    assert!(!stderr.contains("no-run"), "{stderr}");
}

#[test]
fn an_output_that_cannot_be_written_fails_before_the_data_is_read() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let out = file.join("below");
    let out = out.to_str().unwrap();
    // The data does not exist either; the output is complained about first.
    let games = "no/such/games";
    for arguments in [
        &["tune", "--games", games][..],
        &["train", games],
        &["label", games, "--engine", "nobody"],
        &[
            "selfplay", "--engine", "nobody", "--packed", "--games", games,
        ],
        &["book", "build", games],
    ] {
        assert_fails(&[arguments, &["--out", out]].concat(), &["below"]);
    }
}

#[test]
fn completions_and_manual_pages_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&finch(&["completions", shell]));
        assert!(script.contains("selfplay"), "{shell}: {script}");
        assert!(script.contains("validation"), "{shell}: {script}");
    }
    let folder = TempDir::new().unwrap();
    let pages = folder.path().join("man1");
    let output = finch(&["man", pages.to_str().unwrap()]);
    assert!(output.status.success());
    let page = std::fs::read_to_string(pages.join("finch-tune.1")).unwrap();
    assert!(page.contains("\\-\\-resume"), "{page}");
    assert!(pages.join("finch.1").exists());
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert_fails(&["man", file.join("x").to_str().unwrap()], &["file"]);
}

#[cfg(unix)]
#[test]
fn every_script_explains_itself() {
    let scripts = std::fs::read_dir("scripts").unwrap();
    let scripts = scripts.map(|entry| entry.unwrap().path());
    for script in scripts.filter(|path| path.extension().is_some_and(|end| end == "sh")) {
        let output = run(&script, &["--help"]);
        let (text, name) = (stdout(&output), script.display().to_string());
        assert!(output.status.success(), "{name}");
        assert!(
            text.contains(&name) && !text.contains("set -eu"),
            "{name}: {text}"
        );
    }
}

/// The commands that take weights, each with what else it needs.
fn commands_with(name: &str, suite: &str) -> Vec<Vec<String>> {
    let lines = [
        format!("match {name} default --games 2 --depth 1 --maxmoves 1 --quiet"),
        format!("weights check {name}"),
        format!("weights diff {name} default"),
        format!("eval --json --weights {name}"),
        format!("bench eval --weights {name}"),
        format!("fitness moves --positions 1 --weights {name}"),
        format!("solve {suite} --depth 1 --weights {name}"),
        format!("solve {suite} --depth 1 --engine {name}"),
    ];
    let words = |line: String| line.split(' ').map(str::to_owned).collect();
    lines.into_iter().map(words).collect()
}

#[test]
fn names_resolve_alike_in_every_command() {
    let folder = TempDir::new().unwrap();
    let suite = folder.path().join("suite.epd");
    std::fs::write(&suite, "6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Ra8#;\n").unwrap();
    let suite = suite.to_str().unwrap();
    for (name, commands) in [
        ("hand-set", 8),
        ("shannon-1950", 2),
        ("weights/moves.toml", 2),
    ] {
        for words in commands_with(name, suite).iter().take(commands) {
            let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
            let output = finch(&arguments);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{arguments:?}: {stderr}");
        }
    }
    for words in commands_with("hand-st", suite) {
        let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_fails(&arguments, &["hand-st", "did you mean hand-set?"]);
    }
    let mut engine = Engine::start();
    let said = engine.ask("setoption name WeightsFile value hand-st");
    assert!(said[0].contains("did you mean hand-set?"), "{said:?}");
}

#[cfg(unix)]
#[test]
fn an_engine_is_found_by_its_name_and_a_mistyped_one_is_suggested() {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("sparrowfish");
    let script = format!("#!/bin/sh\nexec '{}'\n", env!("CARGO_BIN_EXE_finch"));
    crate::common::write_script(&program, &script);
    let play = |name: &str| {
        let rest = ["--games", "2", "--depth", "1", "--maxmoves", "1", "--quiet"];
        let path = format!(
            "{}:{}",
            folder.path().display(),
            std::env::var("PATH").unwrap()
        );
        let output = Command::new(env!("CARGO_BIN_EXE_finch"))
            .args([&["match", name, "default"][..], &rest].concat())
            .env("PATH", path)
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr.clone()).unwrap();
        (output, stderr)
    };
    let (output, stderr) = play("sparrowfish");
    assert!(output.status.success(), "{stderr}");
    assert!(stdout(&output).contains("sparrowfish vs default"));
    let (output, stderr) = play("sparowfish");
    assert_eq!(output.status.code(), Some(1));
    let hint = "did you mean the engine sparrowfish?";
    assert!(stderr.contains(hint), "{stderr}");
}
