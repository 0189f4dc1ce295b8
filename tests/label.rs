//! Learning from a mentor, seen from outside: positions, labels, weights. The mentor is Finch.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const FINCH: &str = env!("CARGO_BIN_EXE_finch");

fn finch(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(FINCH)
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

#[track_caller]
fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = finch(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Positions from self-play with a label each, in `labels.epd`.
fn make_labels(folder: &Path) {
    succeed(
        folder,
        &[
            "selfplay",
            "--positions",
            "60",
            "--depth",
            "1",
            "--out",
            "p.epd",
        ],
    );
    succeed(
        folder,
        &[
            "label",
            "p.epd",
            "--engine",
            FINCH,
            "--depth",
            "2",
            "--out",
            "labels.epd",
        ],
    );
}

#[test]
fn selfplay_can_be_told_again() {
    let folder = tempfile::tempdir().unwrap();
    let played = |name: &str, seed: &str| {
        let arguments = [
            "selfplay",
            "--positions",
            "40",
            "--depth",
            "1",
            "--seed",
            seed,
            "--out",
        ];
        succeed(folder.path(), &[&arguments[..], &[name]].concat());
        fs::read_to_string(folder.path().join(name)).unwrap()
    };
    let first = played("a.epd", "7");
    assert_eq!(first.lines().count(), 40);
    assert_eq!(first, played("b.epd", "7"));
    assert_ne!(first, played("c.epd", "8"));
}

#[test]
fn labels_are_scores_of_the_positions_and_nothing_is_asked_twice() {
    let folder = tempfile::tempdir().unwrap();
    make_labels(folder.path());
    let path = folder.path().join("labels.epd");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# mentor: Finch"), "{text}");
    let labels = text.lines().skip(1);
    assert!(labels.clone().count() > 40);
    assert!(
        labels
            .clone()
            .all(|line| line.contains(" ce ") && line.contains(" id ")),
        "{text}"
    );

    // A kill in the middle of a line: the half label goes, its position is asked about again.
    let lines: Vec<&str> = text.lines().collect();
    let half = &lines[lines.len() - 1][..20];
    fs::write(
        &path,
        format!("{}\n{half}", lines[..lines.len() - 1].join("\n")),
    )
    .unwrap();
    let arguments = [
        "label",
        "p.epd",
        "--engine",
        FINCH,
        "--depth",
        "2",
        "--out",
        "labels.epd",
    ];
    succeed(folder.path(), &arguments);
    let again = fs::read_to_string(&path).unwrap();
    let positions = |text: &str| {
        let mut lines: Vec<_> = text
            .lines()
            .skip(1)
            .map(|l| l[..l.find(" ce ").unwrap()].to_owned())
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(positions(&again), positions(&text));
}

#[test]
fn games_give_positions_too_and_random_moves_change_them() {
    let folder = tempfile::tempdir().unwrap();
    let game = "[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 \
        6. Re1 b5 7. Bb3 d6 8. c3 O-O 1-0\n";
    fs::write(folder.path().join("g.pgn"), game).unwrap();
    let label = |more: &[&str], out: &str| {
        let arguments = [
            "label", "g.pgn", "--engine", FINCH, "--depth", "1", "--out", out,
        ];
        succeed(folder.path(), &[&arguments[..], more].concat());
        fs::read_to_string(folder.path().join(out)).unwrap()
    };
    let plain = label(&[], "plain.epd");
    assert!(
        plain.contains("r1bqkb1r/1ppp1ppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R"),
        "{plain}"
    );
    let disturbed = label(&["--random-plies", "2"], "disturbed.epd");
    assert!(!disturbed.contains("r1bqkb1r/1ppp1ppp/p1n2n2/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R w"));
}

#[test]
fn a_mentor_that_cannot_be_asked_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.epd"), "4k3/8/8/8/8/8/4P3/4K3 w - -\n").unwrap();
    // Missing, not UCI, gone at once.
    for engine in ["no-such-engine", "cat", "true"] {
        let arguments = [
            "label",
            "p.epd",
            "--engine",
            engine,
            "--depth",
            "1",
            "--patience",
            "1",
            "--out",
            "l.epd",
        ];
        let output = finch(folder.path(), &arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{engine}: {stderr}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
        assert!(stderr.contains(engine), "{stderr}");
        assert!(!folder.path().join("l.epd").exists());
    }
}

#[test]
fn weights_follow_the_mentor_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    make_labels(folder.path());
    let preset = "[genome]\nbase = \"none\"\n[genome.weights]\npawn = { low = 50, high = 150 }\n\
        knight = { low = 200, high = 400 }\nqueen = { low = 500, high = 1200 }\n\
        [data]\ngames = [\"labels.epd\"]\npositions = 0\nvalidation = 0\nvalidation_share = 0.3\n\
        [fitness]\nname = \"mentor\"\n[method]\nname = \"ep\"\npopulation = 6\nsurvivors = 3\n\
        [run]\ngenerations = 5\nclosing_games = 0\n";
    fs::write(folder.path().join("small.toml"), preset).unwrap();
    let best = |threads: &str, out: &str| {
        succeed(
            folder.path(),
            &["tune", "small.toml", "--threads", threads, "--out", out],
        );
        fs::read_to_string(folder.path().join(out).join("best.toml")).unwrap()
    };
    let one = best("1", "one");
    assert!(one.contains("mentor"), "{one}");
    assert_eq!(one, best("2", "two"));
}
