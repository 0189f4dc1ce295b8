//! Test suites on the command line.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const SUITE: &str = r#"# two mates in one, a move to avoid, points
6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Ra8#; id "back rank";
k7/8/1K6/8/8/8/8/7R w - - bm Rh8#; id "corner";
6k1/5ppp/8/8/8/8/8/R3K3 w - - am Ra8; id "wrong on purpose";
6k1/5ppp/8/8/8/8/8/R3K3 w - - c0 "Ra8#=10, Ra7=3"; id "points";
6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Qh9; id "illegal";
"#;

struct Suite {
    folder: TempDir,
}

impl Suite {
    fn new(text: &str) -> Suite {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("suite.epd"), text).unwrap();
        Suite { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("suite.epd")
    }

    fn solve(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_finch"))
            .arg("solve")
            .arg(self.path())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn solved_positions_points_and_the_time_are_told() {
    let output = Suite::new(SUITE).solve(&["--depth", "4"]);
    let out = text(&output.stdout);
    assert!(output.status.success(), "{out}");
    assert!(out.contains("Finch: 3 of 4 solved"), "{out}");
    assert!(out.contains("10 of 10 points"), "{out}");
    assert!(out.contains("wants not Ra8#"), "{out}");
    assert!(text(&output.stderr).contains("suite.epd:6: 'Qh9' is no legal move"));
}

#[test]
fn json_has_one_object_for_each_attempt_and_engine() {
    let output = Suite::new(SUITE).solve(&["--nodes", "2000", "--json"]);
    let out = text(&output.stdout);
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0]["solved"], true);
    assert_eq!(lines[0]["played"], "Ra8#");
    assert!(lines[0]["found"]["nodes"].as_u64().unwrap() > 0);
    assert_eq!(lines[4]["positions"], 4);
}

#[test]
fn another_engine_solves_beside_finch() {
    let finch = env!("CARGO_BIN_EXE_finch");
    let engine = format!("cmd='{finch}' name=Other");
    let output = Suite::new(SUITE).solve(&["--depth", "4", "--engine", &engine]);
    let out = text(&output.stdout);
    assert!(out.contains("Finch: 3 of 4 solved"), "{out}");
    assert!(out.contains("Other: 3 of 4 solved"), "{out}");
}

#[test]
fn weights_solve_beside_finch_as_engines_do() {
    let engines = ["--engine", "hand-set", "--engine", "vazquez-2013"];
    let output = Suite::new(SUITE).solve(&[&["--depth", "3"], &engines[..]].concat());
    let out = text(&output.stdout);
    assert!(out.contains("\nhand-set: 3 of 4 solved"), "{out}");
    assert!(out.contains("\nvazquez-2013: 3 of 4 solved"), "{out}");
}

#[test]
fn what_cannot_be_solved_is_one_clear_line() {
    let fails = |output: Output, mentions: &str| {
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.lines().last().unwrap().contains(mentions), "{error}");
    };
    fails(Suite::new("# nothing\n").solve(&[]), "best move (bm)");
    let none = Suite::new(SUITE).solve(&["--engine", "/no/such/engine"]);
    fails(none, "/no/such/engine");
    let mistyped = Suite::new(SUITE).solve(&["--engine", "hand-sat"]);
    fails(mistyped, "did you mean hand-set?");
    let suite = Suite::new(SUITE);
    std::fs::remove_file(suite.path()).unwrap();
    fails(suite.solve(&[]), "suite.epd");
}

#[test]
fn an_annotated_game_keeps_its_clocks_and_names_the_blunder() {
    let folder = TempDir::new().unwrap();
    let tags = "[White \"A<b>\"]\n[Black \"B\"]\n[Result \"0-1\"]\n\n";
    let moves = "1. f3 {[%clk 0:01:00] bad} e5 2. g4 Qh4# 0-1\n";
    std::fs::write(folder.path().join("games.pgn"), format!("{tags}{moves}")).unwrap();
    let annotate = || {
        Command::new(env!("CARGO_BIN_EXE_finch"))
            .current_dir(folder.path())
            .args(["annotate", "games.pgn", "--nodes", "3000"])
            .args(["--out", "out.pgn", "--page", "page.html"])
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let output = annotate();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let pgn = std::fs::read_to_string(folder.path().join("out.pgn")).unwrap();
    assert!(
        pgn.contains("[%clk 0:01:00]") && !pgn.contains("bad"),
        "{pgn}"
    );
    assert!(pgn.contains("2. g4 $4 { [%eval #-1] }"), "{pgn}");
    // Nothing is left to evaluate after mate.
    assert!(pgn.contains("Qh4# 0-1"), "{pgn}");
    assert!(text(&output.stderr).contains("blund."), "a table of errors");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(
        page.contains("A&lt;b&gt;") && !page.contains("A<b>"),
        "{page}"
    );
    let again = annotate();
    assert_eq!(again.status.code(), Some(1));
    assert!(
        text(&again.stderr).contains("--force"),
        "{}",
        text(&again.stderr)
    );
}
