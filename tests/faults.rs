//! What the system does to a process: it is stopped and continued, its files disappear, its threads are
//! started and stopped at any moment. `docs/reliability.md` lists these faults.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{Engine, OwnedProcess, TIMEOUT};

const FINCH: &str = env!("CARGO_BIN_EXE_finch");

fn signal(process: u32, name: &str) {
    let kill = format!("kill {name} {process}");
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.unwrap().success());
}

/// A search is stopped in its middle (SIGSTOP), as a shell or a container does, and continued.
#[test]
fn a_process_that_was_stopped_and_continued_answers() {
    let mut engine = Engine::start();
    for limit in [
        "infinite",
        "movetime 200",
        "wtime 300 btime 300",
        "nodes 200000",
    ] {
        engine.send(&format!("go {limit}"));
        signal(engine.id(), "-STOP");
        std::thread::sleep(Duration::from_millis(400));
        signal(engine.id(), "-CONT");
        if limit == "infinite" {
            engine.send("stop");
        }
        let answer = engine.read_until("bestmove");
        assert!(!answer.last().unwrap().contains("0000"), "{limit}");
    }
}

/// Threads that are started, stopped, pondering and changed in number, in all orders: each `go` has
/// one `bestmove`.
#[test]
fn threads_survive_any_order_of_go_stop_and_ponderhit() {
    let mut engine = Engine::start();
    for round in 0..120_u64 {
        if round % 10 == 0 {
            let threads = [1, 4, 2, 3][(round / 10) as usize % 4];
            engine.send(&format!("setoption name Threads value {threads}"));
            engine.send(&format!("setoption name Hash value {}", 1 + round % 3));
        }
        engine.send("position startpos moves e2e4 e7e5");
        let (go, end) = match round % 5 {
            0 => ("go infinite", "stop"),
            1 => ("go ponder wtime 50 btime 50", "ponderhit"),
            2 => ("go ponder wtime 50 btime 50", "stop"),
            3 => ("go nodes 3000", "isready"),
            _ => ("go movetime 3", "stop"),
        };
        engine.send(go);
        // Now and then the end comes before the threads have begun.
        if round % 3 > 0 {
            std::thread::sleep(Duration::from_micros(round * 100));
        }
        engine.send(end);
        engine.read_until("bestmove");
    }
    let rest = engine.sync();
    let moves = rest.iter().filter(|line| line.starts_with("bestmove"));
    assert_eq!(moves.count(), 0, "{rest:?}");
}

/// Finch at work in a folder.
fn start(folder: &Path, arguments: &[&str]) -> OwnedProcess {
    let mut command = Command::new(FINCH);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    OwnedProcess(command.stderr(Stdio::piped()).spawn().unwrap())
}

/// Waits until something is so.
#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Removes the folder `gone` as soon as it holds `file`: the command must fail with one line that names it.
#[track_caller]
fn fails_without_its_folder(arguments: &[&str], file: &str) {
    let folder = TempDir::new().unwrap();
    let gone = folder.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let mut process = start(folder.path(), arguments);
    wait_until(&format!("{arguments:?} writes no {file}"), || {
        fs::metadata(gone.join(file)).is_ok_and(|file| file.len() > 0)
    });
    // A file that is being made anew may come in between.
    while gone.exists() {
        let _ = fs::remove_dir_all(&gone);
    }
    let mut status = None;
    wait_until(&format!("{arguments:?} goes on without its folder"), || {
        status = process.0.try_wait().unwrap();
        status.is_some()
    });
    let mut text = String::new();
    let mut stderr = process.0.stderr.take().unwrap();
    stderr.read_to_string(&mut text).unwrap();
    let code = status.and_then(|status| status.code());
    assert_eq!(code, Some(1), "{arguments:?}: {text}");
    let last = text.trim_end().lines().last().unwrap_or_default();
    assert!(last.starts_with("finch: gone"), "{arguments:?}: {text}");
}

#[test]
fn a_folder_that_is_removed_ends_the_work_with_one_line() {
    let tune = [
        "tune",
        "vazquez-2013",
        "--out",
        "gone/run",
        "--set",
        "run.generations=100000",
        "--set",
        "data.max_games=20",
        "--set",
        "data.positions=20",
        "--set",
        "data.validation=20",
    ];
    fails_without_its_folder(&tune, "run/journal.csv");
    let games = ["match", "default", "terms", "--games", "100000"];
    let games = [&games[..], &["--nodes", "50", "--pgn", "gone/games.pgn"]].concat();
    fails_without_its_folder(&games, "games.pgn");
    let evolve = ["evolve", "--from", "zero", "--out", "gone/run"];
    // Few positions: the file is looked at after every 16 games instead of 128, which are long ones.
    let small = [
        "selfplay.nodes=[5, 5]",
        "selfplay.positions=[256, 256]",
        "start.width=64",
    ];
    let small = small.map(|change| ["--set", change]).concat();
    fails_without_its_folder(&[&evolve[..], &small].concat(), "run/labels/0001.bin.draft");
}
