//! The command line, seen from outside.

use std::process::{Command, Output};

fn finch(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_finch"))
        .args(arguments)
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
fn bench_ends_with_nodes_and_speed() {
    let output = finch(&["bench"]);
    let text = stdout(&output);
    let words: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
    assert!(output.status.success());
    assert_eq!((words[1], words[3]), ("nodes", "nps"));
    let signature = include_str!("bench.signature").trim();
    assert_eq!(
        words[0], signature,
        "tests/bench.signature names another node count"
    );
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
        assert!(text.contains(command), "{command}");
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
