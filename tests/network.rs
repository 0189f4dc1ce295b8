//! Networks: labels by the many, a course that can be told again, and playing with the result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use finch::data::{GameId, Label, LabelFormat, LabelHeader, LabelWriter, PackedLabels};
use finch::eval::{Weights, evaluate_uncached};
use finch::position::Position;
use finch::position::movegen::legal_moves;
use finch::random::{Purpose, stream};
use finch::tune::network::{Course, Settings};
use rand::RngExt;
use tempfile::TempDir;

const FINCH: &str = env!("CARGO_BIN_EXE_finch");

/// Positions of random games, worth what the pieces add up to.
fn labels(folder: &Path) -> PathBuf {
    let path = folder.join("labels.bin");
    let header = LabelHeader {
        mentor: "a test".to_owned(),
        ..LabelHeader::default()
    };
    let mut file = LabelWriter::create(&path, LabelFormat::Packed, &header).unwrap();
    for game in 0..100 {
        let mut random = stream(9, Purpose::Game, game, 0);
        let mut position = Position::default();
        for _ in 0..80 {
            let moves = legal_moves(&position);
            if moves.is_empty() {
                break;
            }
            position = position.after(moves[random.random_range(0..moves.len())]);
            let label = Label::new(position.clone(), balance(&position), GameId(game));
            file.write(&label).unwrap();
        }
    }
    file.finish().unwrap();
    path
}

fn balance(position: &Position) -> i32 {
    let board = position.board();
    let worth = |squares: shakmaty::Bitboard| {
        let count = |pieces: shakmaty::Bitboard| (pieces & squares).count() as i32;
        100 * count(board.pawns())
            + 300 * count(board.knights() | board.bishops())
            + 500 * count(board.rooks())
            + 900 * count(board.queens())
    };
    worth(position.us()) - worth(position.them())
}

fn settings(labels: &Path) -> Settings {
    Settings {
        labels: vec![labels.to_owned()],
        seed: 3,
        generations: 4,
        steps: 120,
        batch: 512,
        rate: [0.02, 0.001],
        mentor_scale: Some(300.0),
        validation_share: 0.1,
    }
}

fn learn(settings: &Settings, folder: &Path, threads: usize, stop_after: u64) -> Vec<f64> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let mut course = Course::begin(settings, folder).unwrap();
    let stop = AtomicBool::new(false);
    let mut errors = Vec::new();
    let told = |generation: &finch::tune::network::Generation| {
        errors.push(generation.validation);
        stop.store(generation.number == stop_after, Relaxed);
    };
    pool.install(|| course.run(&stop, told)).unwrap();
    errors
}

fn result(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("best.net")).unwrap()
}

#[test]
fn a_course_learns_and_is_the_same_on_any_threads_and_after_a_break() {
    let desk = TempDir::new().unwrap();
    let settings = settings(&labels(desk.path()));
    let [one, two, broken] = ["one", "two", "broken"].map(|name| desk.path().join(name));
    let errors = learn(&settings, &one, 1, 0);
    assert!(errors[3] < errors[0], "{errors:?}");
    let learned = Weights::load(&one.join("best.toml")).unwrap();
    let score = |fen: &str| evaluate_uncached(&Position::from_fen(fen).unwrap(), &learned);
    let [ahead, behind] = [
        "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",
    ]
    .map(score);
    assert!(ahead > 30 && behind < -30, "{ahead} {behind}");
    learn(&settings, &two, 3, 0);
    assert_eq!(result(&one), result(&two));
    assert_eq!(learn(&settings, &broken, 2, 2).len(), 2);
    assert_ne!(result(&one), result(&broken));
    assert_eq!(learn(&settings, &broken, 2, 0).len(), 2);
    assert_eq!(result(&one), result(&broken));
    let rows = fs::read_to_string(broken.join("journal.csv")).unwrap();
    assert_eq!(rows.lines().count(), 5, "{rows}");
    let other = Settings {
        seed: 4,
        ..settings
    };
    let refused = Course::begin(&other, &one).err().unwrap().to_string();
    assert!(refused.contains("another course"), "{refused}");
}

#[test]
fn what_a_course_leaves_behind_is_loaded_and_says_where_it_is_from() {
    let desk = TempDir::new().unwrap();
    let settings = Settings {
        generations: 1,
        ..settings(&labels(desk.path()))
    };
    let folder = desk.path().join("run");
    learn(&settings, &folder, 2, 0);
    let weights = Weights::load(&folder.join("best.toml")).unwrap();
    assert_ne!(weights.network, Weights::default().network);
    let told = weights.summary();
    assert!(told.contains("network_labels: a test ("), "{told}");
    let output = Command::new(FINCH)
        .args(["weights", "check"])
        .arg(folder.join("best.toml"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("judged by the network best.net"), "{told}");
}

#[test]
fn training_on_something_else_is_refused_by_name() {
    let desk = TempDir::new().unwrap();
    fs::write(desk.path().join("games.pgn"), "1. e4 *").unwrap();
    for (file, problem) in [
        ("games.pgn", "games.pgn:1: "),
        ("missing.bin", "No such file"),
    ] {
        let output = Command::new(FINCH)
            .current_dir(desk.path())
            .args(["train", file, "--out", "run"])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(file) && told.contains(problem), "{told}");
        assert!(!desk.path().join("run").exists());
    }
}

/// An engine that calls every move it is asked about worth 50 centipawns.
#[cfg(unix)]
#[test]
fn packed_labels_are_the_same_after_a_kill_and_other_work_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let desk = TempDir::new().unwrap();
    let script = "#!/bin/sh\nwhile read -r word rest; do\ncase \"$word\" in\n\
         uci) echo \"id name fifty\"; echo uciok;;\nisready) echo readyok;;\n\
         go) set -- $rest; shift 3; for m in \"$@\"; do echo \"info depth 1 score cp 50 pv $m\"; done;\n\
         echo \"bestmove $1\";;\nquit) exit 0;;\nesac\ndone\n";
    let engine = desk.path().join("fifty");
    fs::write(&engine, script).unwrap();
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    let play = |out: &str, more: &[&str]| {
        let output = Command::new(FINCH)
            .current_dir(desk.path())
            .args([
                "selfplay", "--engine", "./fifty", "--packed", "--depth", "1",
            ])
            .args(["--decided", "100", "--share", "0.3", "--positions", "100"])
            .args(["--out", out])
            .args(more)
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    play("whole.bin", &[]);
    let whole = fs::read(desk.path().join("whole.bin")).unwrap();
    let file = PackedLabels::open(&desk.path().join("whole.bin")).unwrap();
    assert!(
        file.header().mentor.starts_with("fifty; depth 1"),
        "{:?}",
        file.header()
    );
    assert!(file.labels().iter().all(|label| label.score == -50));
    // As a kill in the middle of a round leaves it.
    fs::write(desk.path().join("cut.bin.draft"), &whole[..whole.len() / 2]).unwrap();
    play("cut.bin", &[]);
    assert_eq!(fs::read(desk.path().join("cut.bin")).unwrap(), whole);
    fs::write(desk.path().join("other.bin.draft"), &whole).unwrap();
    let told = play("other.bin", &["--seed", "2"]);
    assert!(
        told.contains("other.bin.draft holds other labels"),
        "{told}"
    );
}
