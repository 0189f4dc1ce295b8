//! Opening books: `finch book` and the UCI options.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::common::Engine;

const GAMES: &str = "\
[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n\
[Result \"1/2-1/2\"]\n\n1. e4 c5 2. Nf3 d6 1/2-1/2\n\n\
[Result \"0-1\"]\n\n1. d4 d5 0-1\n\n\
[Result \"*\"]\n\n1. a3 *\n\n";

fn book(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_finch"))
        .arg("book")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[track_caller]
fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = book(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The one line on stderr.
#[track_caller]
fn fail(folder: &Path, arguments: &[&str]) -> String {
    let output = book(folder, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    errors
}

fn folder_with_book() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("games.pgn"), GAMES).unwrap();
    let arguments = ["build", "games.pgn", "--out", "x.bin", "--min-games", "1"];
    let text = succeed(folder.path(), &arguments);
    assert!(text.contains("4 games read, 3 with a result"), "{text}");
    folder
}

#[test]
fn a_book_is_built_shown_and_merged() {
    let folder = folder_with_book();
    let path = folder.path();
    let shown = succeed(path, &["show", "x.bin"]);
    assert!(shown.contains("e4      weight     3  100.0%"), "{shown}");
    assert!(!shown.contains("d4 ") && !shown.contains("a3"), "{shown}");
    let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let replies = succeed(path, &["show", "x.bin", after_e4]);
    assert!(
        replies.contains("c5") && !replies.contains("e5 "),
        "{replies}"
    );
    succeed(path, &["merge", "x.bin", "x.bin", "--out", "both.bin"]);
    let merged = succeed(path, &["show", "both.bin"]);
    assert!(merged.contains("weight     6"), "{merged}");
    let short = [
        "build",
        "games.pgn",
        "--out",
        "short.bin",
        "--min-games",
        "1",
        "--plies",
        "1",
    ];
    assert!(succeed(path, &short).contains("1 moves of 1 positions"));
    assert!(succeed(path, &["show", "built-in"]).contains("weight"));
}

#[test]
fn books_replace_no_file_unasked() {
    let folder = folder_with_book();
    let path = folder.path();
    let before = fs::read(path.join("x.bin")).unwrap();
    assert!(fail(path, &["build", "games.pgn", "--out", "x.bin"]).contains("--force"));
    assert!(fail(path, &["merge", "x.bin", "x.bin", "--out", "x.bin"]).contains("--force"));
    assert_eq!(fs::read(path.join("x.bin")).unwrap(), before);
    succeed(
        path,
        &["merge", "x.bin", "x.bin", "--out", "x.bin", "--force"],
    );
    assert_ne!(fs::read(path.join("x.bin")).unwrap(), before);
}

#[test]
fn unusable_books_and_games_are_one_clear_line() {
    let folder = folder_with_book();
    let path = folder.path();
    let bytes = fs::read(path.join("x.bin")).unwrap();
    fs::write(path.join("short.bin"), &bytes[..bytes.len() - 3]).unwrap();
    fs::write(path.join("empty.bin"), "").unwrap();
    let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
    fs::write(path.join("damaged.bin"), reversed).unwrap();
    assert!(fail(path, &["show", "short.bin"]).contains("cut short"));
    assert!(fail(path, &["show", "empty.bin"]).contains("empty"));
    assert!(fail(path, &["show", "damaged.bin"]).contains("damaged"));
    assert!(fail(path, &["show", "missing.bin"]).contains("missing.bin"));
    assert!(fail(path, &["show", "x.bin", "no position"]).contains("no position"));
    assert!(fail(path, &["build", "missing.pgn", "--out", "y.bin"]).contains("missing.pgn"));
    let often = ["build", "games.pgn", "--out", "y.bin", "--min-games", "9"];
    assert!(fail(path, &often).contains("--min-games"));
    assert!(!path.join("y.bin").exists());
}

#[test]
fn a_session_plays_from_its_book_while_it_lasts() {
    let folder = folder_with_book();
    let mut finch = Engine::start_in(folder.path());
    finch.send("setoption name BookFile value x.bin");
    // Not before it is asked to.
    let (lines, _) = finch.go("nodes 10");
    assert!(lines.iter().any(|line| line.starts_with("info depth")));
    finch.send("setoption name OwnBook value true");
    assert_eq!(finch.go("movetime 1000").1, "e2e4");
    finch.send("position startpos moves e2e4 c7c5");
    let (lines, best) = finch.go("nodes 10");
    assert_eq!(best, "g1f3");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], "info string book move g1f3");
    // Match runners warn of a move without a score.
    assert!(lines[1].contains(" score cp "), "{lines:?}");
    assert!(lines[1].ends_with(" pv g1f3"), "{lines:?}");
    // Not for analysis, not after the last ply, not outside of the book.
    let (lines, _) = finch.go("nodes 10 searchmoves a2a3");
    assert!(lines.iter().any(|line| line.starts_with("info depth")));
    finch.send("setoption name BookDepth value 2");
    let (lines, _) = finch.go("nodes 10");
    assert!(lines.iter().any(|line| line.starts_with("info depth")));
    finch.send("position startpos moves a2a3");
    let (lines, _) = finch.go("nodes 10");
    assert!(lines.iter().any(|line| line.starts_with("info depth")));
}

#[test]
fn a_session_without_a_readable_book_plays_on() {
    let folder = folder_with_book();
    fs::write(folder.path().join("short.bin"), [1; 20]).unwrap();
    let mut finch = Engine::start_in(folder.path());
    finch.send("setoption name OwnBook value true");
    for file in ["missing.bin", "short.bin"] {
        let told = finch.ask(&format!("setoption name BookFile value {file}"));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with("info string") && told[0].contains(file),
            "{told:?}"
        );
        let (lines, best) = finch.go("nodes 10");
        assert_ne!(best, "0000");
        assert!(lines.iter().any(|line| line.starts_with("info depth")));
    }
    assert!(
        finch
            .ask("setoption name BookFile value <empty>")
            .is_empty()
    );
    finch.send("setoption name BookBest value true");
    let (lines, _) = finch.go("nodes 10");
    assert!(lines[0].starts_with("info string book move"), "{lines:?}");
}
