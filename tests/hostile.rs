//! Files, engines and lines that mean harm, or look as if they did: what they find is one clear
//! line, in bounded time and memory. `docs/reliability.md` lists them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tempfile::TempDir;

use crate::common::Engine;

const FINCH: &str = env!("CARGO_BIN_EXE_finch");
/// Virtual memory in KiB. A reader that keeps all of what it reads would pass it.
const MEMORY: u32 = 2 << 20;

/// Runs Finch in a folder, with bounded memory.
fn finch(folder: &Path, arguments: &[&str]) -> Output {
    let script = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, FINCH]).args(arguments);
    command.current_dir(folder).stdin(Stdio::null());
    command.output().unwrap()
}

/// One line on standard error, exit status 1.
#[track_caller]
fn fails(folder: &Path, arguments: &[&str], mentions: &str) {
    let output = finch(folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
    assert_eq!(text.trim_end().lines().count(), 1, "{arguments:?}: {text}");
    assert!(text.contains(mentions), "{arguments:?}: {text}");
}

#[track_caller]
fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = finch(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    let text = String::from_utf8(output.stdout).unwrap();
    let is_unsafe = |letter: char| letter.is_control() && letter != '\n';
    assert!(!text.contains(is_unsafe), "{text:?}");
    text
}

/// 64 MiB of zeros in a few kilobytes.
fn bomb() -> Vec<u8> {
    let frame = compress_to_vec(&vec![0; 1 << 20][..], CompressionLevel::Fastest);
    frame.repeat(64)
}

#[test]
fn a_bomb_of_one_line_is_refused_by_every_reader_of_lines() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bomb.epd.zst"), bomb()).unwrap();
    let long_line = "line 1 is longer";
    fails(
        folder.path(),
        &["solve", "bomb.epd.zst", "--nodes", "10"],
        long_line,
    );
    let tune = [
        "tune",
        "vazquez-2013",
        "--games",
        "bomb.epd.zst",
        "--out",
        "run",
    ];
    fails(folder.path(), &tune, long_line);
    let texel = ["tune", "texel", "--games", "bomb.epd.zst", "--out", "run"];
    fails(folder.path(), &texel, long_line);
    let label = ["label", "bomb.epd.zst", "--depth", "1", "--out", "l.epd"];
    let engine = [&label[..], &["--engine", FINCH]].concat();
    fails(folder.path(), &engine, long_line);
    let openings = ["match", "default", "default", "--openings", "bomb.epd.zst"];
    let games = [&openings[..], &["--games", "2", "--depth", "1"]].concat();
    fails(folder.path(), &games, "is not a position");
    assert!(!folder.path().join("run").exists());
}

#[test]
fn a_bomb_is_no_game() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("bomb.pgn.zst"), bomb()).unwrap();
    fails(
        folder.path(),
        &["rate", "bomb.pgn.zst"],
        "no finished games",
    );
    fails(folder.path(), &["annotate", "bomb.pgn.zst"], "no games");
}

#[cfg(target_os = "linux")]
#[test]
fn files_without_end_are_refused() {
    let folder = TempDir::new().unwrap();
    let endless = "/dev/zero";
    let too_large = "MiB: is this another kind of file?";
    fails(folder.path(), &["weights", "check", endless], too_large);
    fails(folder.path(), &["tune", endless], too_large);
    fails(folder.path(), &["book", "show", endless], too_large);
    fs::write(folder.path().join("w.toml"), "network = \"zero.net\"\n").unwrap();
    std::os::unix::fs::symlink(endless, folder.path().join("zero.net")).unwrap();
    fails(folder.path(), &["weights", "check", "w.toml"], too_large);
}

#[test]
fn compressed_games_and_openings_are_read_by_rate_and_match() {
    let folder = TempDir::new().unwrap();
    let game = "[White \"a\"]\n[Black \"b\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n";
    let write = |name: &str, text: &str| {
        let bytes = compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
        fs::write(folder.path().join(name), bytes).unwrap();
    };
    write("games.pgn.zst", &game.repeat(3));
    let rated = succeeds(folder.path(), &["rate", "games.pgn.zst"]);
    assert!(rated.contains("3 games;"), "{rated}");
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";
    write("start.epd.zst", start);
    for openings in ["start.epd.zst", "games.pgn.zst"] {
        let players = ["match", "default", "weights=terms", "--openings", openings];
        let limits = ["--games", "2", "--depth", "1", "--maxmoves", "4"];
        succeeds(folder.path(), &[&players[..], &limits].concat());
    }
}

#[test]
fn names_of_players_are_escaped_by_recognise_and_annotate() {
    let folder = TempDir::new().unwrap();
    let game = "[White \"\u{1b}[31mred\u{7}\"]\n[Black \"<script>alert(1)</script>\"]\n\
                [Result \"1-0\"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n";
    fs::write(folder.path().join("games.pgn"), game).unwrap();
    let terms = ["recognise", "games.pgn", "--among", "terms", "default"];
    let text = succeeds(folder.path(), &terms);
    assert!(text.contains("\\u{1b}[31mred\\u{7}"), "{text}");
    let annotate = ["annotate", "games.pgn", "--nodes", "20", "--hash", "1"];
    succeeds(
        folder.path(),
        &[&annotate[..], &["--page", "page.html"]].concat(),
    );
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("&lt;script&gt;"), "{page}");
    assert!(!page.contains("<script"), "{page}");
}

#[cfg(unix)]
#[test]
fn the_name_of_an_engine_is_escaped_in_a_match_and_in_errors() {
    let folder = TempDir::new().unwrap();
    let players = [
        "match",
        "weights=default name=a\u{1b}[2Jb",
        "weights=terms name=c\u{9b}d",
        "--games",
        "2",
        "--depth",
        "1",
    ];
    let text = succeeds(folder.path(), &players);
    assert!(text.contains("a\\u{1b}[2Jb"), "{text}");
    fails(folder.path(), &["rate", "\u{1b}[2J.pgn"], "\\u{1b}[2J.pgn");
}

#[test]
fn messages_of_a_session_hold_no_control_characters() {
    let mut engine = Engine::start();
    for line in [
        "position fen \u{1b}[2J w - -",
        "setoption name \u{1b}[2J value 1",
        "setoption name WeightsFile value \u{1b}[2J.toml",
        "setoption name BookFile value \u{9b}2J.bin",
    ] {
        let answer = engine.ask(line).join("\n");
        assert!(answer.contains("2J"), "{line:?}: {answer}");
        let is_unsafe = |letter: char| letter.is_control() && letter != '\n';
        assert!(!answer.contains(is_unsafe), "{answer:?}");
    }
}

#[test]
fn a_name_of_weights_adds_no_line_to_a_session() {
    let folder = TempDir::new().unwrap();
    let text = "name = \"a\\u001bb\\nbestmove a1a8\"\n[material]\npawn = 100\n";
    fs::write(folder.path().join("w.toml"), text).unwrap();
    let mut engine = Engine::start_in(folder.path());
    let mut lines = engine.ask("setoption name WeightsFile value w.toml");
    lines.extend(engine.ask("eval"));
    assert!(!lines.iter().any(|line| line.starts_with("bestmove")));
    let all = lines.join("\n");
    assert!(all.contains("a\\u{1b}b\\u{a}bestmove"), "{all}");
    // Nor does it quote a whole flood.
    let answer = engine.ask(&format!("position fen {}", "x".repeat(100_000)));
    assert!(
        answer.iter().all(|line| line.len() < 2_000),
        "{}",
        answer.len()
    );
}

#[test]
fn a_line_without_end_is_ignored_and_the_next_one_read() {
    let mut engine = Engine::start();
    let flood = vec![b'x'; 5 << 20];
    engine.send_bytes(&flood);
    engine.send_bytes(b"\n");
    assert_eq!(engine.sync(), ["info string line too long, ignored"]);
    // A game of thousands of moves is no flood.
    let shuffle = "g1f3 g8f6 f3g1 f6g8 ".repeat(2_000);
    engine.send(&format!("position startpos moves {shuffle}"));
    let (_, best) = engine.go("depth 1");
    assert_ne!(best, "0000");
}

#[test]
fn more_threads_than_the_machine_can_use_are_refused_and_the_rest_search() {
    let mut engine = Engine::start();
    let answer = engine.ask("setoption name Threads value 1024");
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if processors < 256 {
        assert!(answer[0].contains("no room for 1024 threads"), "{answer:?}");
    }
    let (_, best) = engine.go("nodes 500");
    assert_ne!(best, "0000");
}

#[cfg(target_os = "linux")]
#[test]
fn threads_without_memory_for_them_are_not_started() {
    let script = "ulimit -v 500000; exec \"$0\"";
    let mut session = Command::new("sh")
        .args(["-c", script, FINCH])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    use std::io::{BufRead, BufReader, Write};
    let mut input = session.stdin.take().unwrap();
    let lines = "setoption name Threads value 1024\nsetoption name Hash value 4096\nisready\ngo nodes 500\n";
    input.write_all(lines.as_bytes()).unwrap();
    let output = BufReader::new(session.stdout.take().unwrap());
    let lines: Vec<String> = output
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.starts_with("bestmove"))
        .collect();
    drop(input);
    assert!(session.wait().unwrap().success(), "{lines:#?}");
    let says = |part: &str| lines.iter().any(|line| line.contains(part));
    assert!(says("no room for 1024 threads"), "{lines:#?}");
    assert!(says("cannot allocate 4096 MiB"), "{lines:#?}");
    assert!(says("readyok"), "{lines:#?}");
}

/// Not even the threads of the pool can be started.
#[cfg(target_os = "linux")]
#[test]
fn a_command_without_memory_for_its_threads_is_one_clear_line() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 200000; exec \"$0\" fitness moves", FINCH]);
    let output = shell.env("RAYON_NUM_THREADS", "500").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.trim().lines().count(), 1, "{error}");
    assert!(error.contains("too little memory"), "{error}");
}

#[test]
fn a_preset_says_which_engine_it_starts_and_may_be_forbidden_to() {
    let folder = TempDir::new().unwrap();
    let preset = "[genome]\nkind = 'options'\nengine = 'sh -c \"touch started\"'\n\
                  [genome.options]\nContempt = { low = -90, high = 90 }\n\
                  [fitness]\nname = 'games'\nsearch = 'own'\ndepth = 1\nopenings = 'book'\n\
                  [method]\nname = 'spsa'\npairs = 1\n[run]\ngenerations = 1\n";
    fs::write(folder.path().join("p.toml"), preset).unwrap();
    let forbidden = ["tune", "p.toml", "--no-engines"];
    fails(folder.path(), &forbidden, "--no-engines forbids: sh -c");
    assert!(!folder.path().join("started").exists());
    let output = finch(folder.path(), &["tune", "p.toml"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("starts an engine: sh -c"), "{text}");
    assert!(folder.path().join("started").exists());
    let evolve = ["evolve", "--from", "zero", "--mentor", "sh", "--out", "run"];
    let evolve = [&evolve[..], &["--no-engines"]].concat();
    fails(folder.path(), &evolve, "--no-engines forbids: sh");
    assert!(!folder.path().join("run").exists());
}

#[test]
fn openings_that_cannot_be_written_fail_before_the_work() {
    let folder = TempDir::new().unwrap();
    // Work without end: only a failure before it ends the command.
    let endless = ["openings", "--count", "100000000", "--out", "none/o.epd"];
    fails(folder.path(), &endless, "none/o.epd");
}

#[test]
fn a_network_is_a_file_beside_the_weights() {
    let folder = TempDir::new().unwrap();
    for name in ["/dev/zero", "../other.net", "..", "sub/n.net", ""] {
        let text = format!("network = \"{name}\"\n");
        fs::write(folder.path().join("w.toml"), text).unwrap();
        let check = ["weights", "check", "w.toml"];
        fails(
            folder.path(),
            &check,
            "is not the name of a file beside this one",
        );
    }
}
