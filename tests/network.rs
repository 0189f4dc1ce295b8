//! Networks: packed labels, training runs that repeat exactly, and playing with the result.

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
use finch::tune::experiment::Experiment;
use finch::tune::run::{RunFolder, RunJournal, RunObserver, Session};
use rand::RngExt;
use shakmaty::KnownOutcome;
use tempfile::TempDir;

const FINCH: &str = env!("CARGO_BIN_EXE_finch");

/// Positions of random games, worth what the pieces add up to.
fn labels(folder: &Path) -> PathBuf {
    write_labels(folder, |_, _| None)
}

/// The same with results, by the number of the game and the position.
fn write_labels(folder: &Path, result: impl Fn(u64, &Position) -> Option<KnownOutcome>) -> PathBuf {
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
            let label = Label {
                result: result(game, &position),
                ..Label::new(position.clone(), balance(&position), GameId(game))
            };
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

/// The preset `network` with a few small batches, no closing match and some other changes.
fn preset(labels: &Path, changes: &[(&str, &str)]) -> Experiment {
    let small = [
        ("run.seed", "3"),
        ("run.generations", "4"),
        ("run.closing_games", "0"),
        ("method.steps", "120"),
        ("method.batch", "512"),
        ("method.learning_rate", "[0.02, 0.001]"),
        ("fitness.mentor_scale", "300"),
        ("data.validation_share", "0.1"),
    ];
    let changes = small.iter().chain(changes);
    let changes: Vec<_> = changes
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    let (file, text) = finch::tune::preset::Preset::text("network").unwrap();
    let mut experiment = Experiment::parse_with(&text, &file, &changes).unwrap();
    experiment.set_data(&[labels.to_owned()]);
    experiment
}

/// Stops a run after a generation.
struct StopAfter<'a> {
    generation: u64,
    stop: &'a AtomicBool,
}

impl RunObserver for StopAfter<'_> {
    fn prepared(&mut self, _summary: &str) {}

    fn generation(&mut self, generation: u64, _last: u64, _line: &str) {
        self.stop.store(generation == self.generation, Relaxed);
    }
}

/// Trains in a folder, resuming what is there, up to a generation; returns the validation losses
/// of the journal.
fn train(experiment: &Experiment, folder: &Path, threads: usize, stop_after: u64) -> Vec<f64> {
    let stop = AtomicBool::new(false);
    let mut observer = StopAfter {
        generation: stop_after,
        stop: &stop,
    };
    let mut experiment = experiment.clone();
    experiment.run_mut().threads = threads;
    let folder = RunFolder::claim(folder, &mut experiment).unwrap();
    let mut session = Session::new(Weights::default(), &mut observer, &stop);
    session.run(&experiment, &folder).unwrap();
    losses(folder.path())
}

fn losses(folder: &Path) -> Vec<f64> {
    let journal = RunJournal::read(&RunFolder::open(folder).unwrap()).unwrap();
    let curve = journal.curve("validation_loss");
    curve.into_iter().map(|(_, loss)| loss).collect()
}

fn result(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("best.net")).unwrap()
}

#[test]
fn training_learns_and_is_the_same_on_any_threads_and_after_an_interruption() {
    let desk = TempDir::new().unwrap();
    let labels = labels(desk.path());
    let experiment = preset(&labels, &[]);
    let [one, two, broken] = ["one", "two", "broken"].map(|name| desk.path().join(name));
    let errors = train(&experiment, &one, 1, 9);
    assert_eq!(errors.len(), 5);
    assert!(errors[4] < 0.9 * errors[0], "{errors:?}");
    let learned = Weights::load(&one.join("best.toml")).unwrap();
    let score = |fen: &str| evaluate_uncached(&Position::from_fen(fen).unwrap(), &learned);
    let [ahead, behind] = [
        "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",
    ]
    .map(score);
    assert!(ahead > 15 && behind < -15, "{ahead} {behind}");
    train(&experiment, &two, 3, 9);
    assert!(result(&one) == result(&two));
    assert_eq!(train(&experiment, &broken, 2, 2).len(), 3);
    assert_eq!(train(&experiment, &broken, 2, 9), errors);
    assert!(result(&one) == result(&broken));
    let mut other = preset(&labels, &[("run.seed", "4")]);
    let refused = RunFolder::claim(&one, &mut other).err().unwrap();
    assert!(refused.to_string().contains("another experiment"));
}

/// A learning rate that grows ruins the network again: the last one is not the best.
#[test]
fn the_best_network_is_the_one_with_the_least_validation_loss() {
    let desk = TempDir::new().unwrap();
    let changes = [
        ("method.learning_rate", "[0.001, 1.0]"),
        ("method.warm_up", "8"),
    ];
    let experiment = preset(&labels(desk.path()), &changes);
    let [whole, broken] = ["whole", "broken"].map(|name| desk.path().join(name));
    let losses = train(&experiment, &whole, 2, 9);
    let best = (0..losses.len()).min_by(|a, b| losses[*a].total_cmp(&losses[*b]));
    let best = best.unwrap();
    assert!(best < 4, "{losses:?}");
    let weights = Weights::load(&whole.join("best.toml")).unwrap();
    let summary = weights.summary();
    assert!(
        summary.contains(&format!("network_generation: {best}\n")),
        "{losses:?}: {summary}"
    );
    // An interruption after the best generation does not forget it.
    train(&experiment, &broken, 2, best as u64 + 1);
    train(&experiment, &broken, 2, 9);
    assert_eq!(result(&whole), result(&broken));
}

#[test]
fn a_training_run_is_a_run_folder_with_a_report() {
    let desk = TempDir::new().unwrap();
    labels(desk.path());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(FINCH);
        command.current_dir(desk.path()).args(arguments);
        command.output().unwrap()
    };
    let small = ["--generations", "2", "--steps", "10", "--batch", "64"];
    let closing = [
        "run.closing_games=4",
        "run.closing_nodes=50",
        "run.elo_every=2",
        "run.elo_games=2",
    ];
    let closing = closing.map(|one| ["--set", one]).concat();
    let train = [
        &["train", "labels.bin", "--out", "run"],
        &small[..],
        &closing,
    ]
    .concat();
    let output = run(&train);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(text.contains("result against its start: "), "{text}");
    assert!(
        text.contains("result against the weights that play now"),
        "{text}"
    );
    let folder = desk.path().join("run");
    for file in [
        "config.toml",
        "journal.csv",
        "checkpoint",
        "best.toml",
        "best.net",
        "games.pgn",
    ] {
        assert!(folder.join(file).exists(), "{file}");
    }
    fs::remove_file(folder.join("report.html")).unwrap();
    assert!(run(&["report", "run"]).status.success());
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    for part in [
        "Elo by generation",
        "Loss",
        "Learning rate",
        "positions per second",
        "Closing match",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // `finch tune network` is the same run.
    let set = ["run.generations=2", "method.steps=10", "method.batch=64"];
    let set: Vec<_> = set.iter().flat_map(|one| ["--set", one]).collect();
    let tune = ["tune", "network", "--games", "labels.bin", "--out", "tuned"];
    let output = run(&[&tune[..], &set, &closing].concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(result(&folder), result(&desk.path().join("tuned")));
    // The same command resumes, and finds everything done.
    assert!(run(&train).status.success());
    let journal = RunJournal::read(&RunFolder::open(&folder).unwrap()).unwrap();
    assert_eq!(journal.rows().len(), 3);
}

#[test]
fn a_training_folder_of_the_earlier_version_is_refused_with_what_to_do() {
    let desk = TempDir::new().unwrap();
    let folder = desk.path().join("old");
    fs::create_dir(&folder).unwrap();
    let config = "labels = [\"own.bin\"]\nseed = 1\ngenerations = 60\nsteps = 1000\n";
    fs::write(folder.join("config.toml"), config).unwrap();
    let output = Command::new(FINCH)
        .args(["train", "--resume"])
        .arg(&folder)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.trim().lines().count(), 1, "{error}");
    assert!(error.contains("start again with finch train"), "{error}");
}

#[test]
fn a_trained_network_is_loaded_and_says_where_it_is_from() {
    let desk = TempDir::new().unwrap();
    let experiment = preset(&labels(desk.path()), &[("run.generations", "1")]);
    let folder = desk.path().join("run");
    train(&experiment, &folder, 2, 9);
    let weights = Weights::load(&folder.join("best.toml")).unwrap();
    assert_ne!(weights.network, Weights::default().network);
    let summary = weights.summary();
    assert!(summary.contains("network_labels: a test ("), "{summary}");
    let output = Command::new(FINCH)
        .args(["weights", "check"])
        .arg(folder.join("best.toml"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("evaluated by the network best.net"), "{text}");
}

/// `finch` with these arguments in a folder: its exit status and what it says on stderr.
fn finch(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(FINCH);
    let output = command
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), told)
}

#[test]
fn networks_of_other_architectures_learn_play_and_are_continued() {
    let desk = TempDir::new().unwrap();
    let labels = labels(desk.path());
    for (name, shape) in [("small", [64, 8, 1]), ("wide", [512, 1, 8])] {
        let [width, king_buckets, output_buckets] = shape.map(|number: usize| number.to_string());
        let shape = [
            ("genome.width", &*width),
            ("genome.king_buckets", &king_buckets),
            ("genome.output_buckets", &output_buckets),
            ("method.steps", "15"),
            ("method.warm_up", "0"),
        ];
        let folder = desk.path().join(name);
        let first = train(&preset(&labels, &shape), &folder, 2, 9);
        assert!(first[4] < 0.95 * first[0], "{first:?}");
        let best = folder.join("best.toml");
        let weights = Weights::load(&best).unwrap();
        let network = weights.network.as_ref().unwrap();
        assert_eq!(network.architecture().width().to_string(), width);
        // It plays, by the file's header alone.
        let path = best.to_str().unwrap();
        let rules = ["--games", "2", "--nodes", "200"];
        let played = finch(
            desk.path(),
            &[&["match", path, "default"], &rules[..]].concat(),
        );
        assert_eq!(played.0, Some(0), "{}", played.1);
        // Continued from the weights file or from the network, it starts where it ended.
        let [toml, net] = ["best.toml", "best.net"].map(|file| folder.join(file));
        let mut results = Vec::new();
        for (number, start) in [toml, net].iter().enumerate() {
            let start = start.display().to_string();
            let changes = [
                &shape[..],
                &[("genome.start", &start), ("run.generations", "1")],
            ];
            let again = desk.path().join(format!("{name}{number}"));
            let losses = train(&preset(&labels, &changes.concat()), &again, 2, 9);
            let least = first.iter().copied().fold(f64::INFINITY, f64::min);
            assert!((losses[0] - least).abs() < 0.01, "{losses:?} after {least}");
            results.push(losses);
        }
        assert_eq!(results[0], results[1]);
    }
}

#[test]
fn a_start_that_does_not_fit_is_refused_in_one_line() {
    let desk = TempDir::new().unwrap();
    labels(desk.path());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let weights = |name: &str| root.join("weights").join(name).display().to_string();
    fs::write(desk.path().join("cut.net"), "finch network 3\n").unwrap();
    fs::write(desk.path().join("newer.net"), "finch network 9\n").unwrap();
    let newer = "finch labels 9\nmentor: someone\n";
    fs::write(desk.path().join("newer.bin"), newer).unwrap();
    fs::write(desk.path().join("empty.bin"), "").unwrap();
    let mut bare = fs::read(desk.path().join("labels.bin")).unwrap();
    let end = bare.iter().position(|byte| *byte == 0).unwrap();
    bare.truncate(end + 1);
    fs::write(desk.path().join("bare.bin"), bare).unwrap();
    let start = |file: &str| format!("genome.start={file}");
    let cases = [
        (
            "labels.bin",
            "genome.width=384".to_owned(),
            "genome.width: 384 is not supported; there are 64, 128, 256, 512",
        ),
        (
            "labels.bin",
            "genome.king_buckets=2".to_owned(),
            "there are 1, 4, 8",
        ),
        (
            "labels.bin",
            start(&weights("hand-set.toml")),
            "hand-set.toml: the weights name no network",
        ),
        (
            "labels.bin",
            start("missing.net"),
            "missing.net: No such file",
        ),
        (
            "labels.bin",
            start("cut.net"),
            "cut.net: the file is cut short",
        ),
        (
            "labels.bin",
            start("newer.net"),
            "newer.net: a network of another format",
        ),
        ("labels.bin", start("labels.bin"), "labels.bin"),
        (
            "newer.bin",
            "run.seed=1".to_owned(),
            "newer.bin: packed labels of another version",
        ),
        (
            "empty.bin",
            "run.seed=1".to_owned(),
            "empty.bin: no labels to learn from",
        ),
        (
            "bare.bin",
            "run.seed=1".to_owned(),
            "bare.bin: no labels to learn from",
        ),
    ];
    for (labels, set, problem) in cases {
        let (status, told) = finch(
            desk.path(),
            &["train", labels, "--out", "run", "--set", &set],
        );
        assert_eq!(status, Some(1), "{set}: {told}");
        assert_eq!(told.trim().lines().count(), 1, "{told}");
        assert!(told.contains(problem), "{told}");
        assert!(!desk.path().join("run").exists());
    }
    let default = weights("default.net");
    let set = ["--set", "genome.width=64", "--set", &start(&default)];
    let train = ["train", "labels.bin", "--out", "run"];
    let (status, told) = finch(desk.path(), &[&train[..], &set].concat());
    assert_eq!(status, Some(1), "{told}");
    let problem = "default.net: a network with width = 256, king_buckets = 4, output_buckets = 8; \
                   the preset asks for width = 64";
    assert!(told.contains(problem), "{told}");
    assert_eq!(told.trim().lines().count(), 1, "{told}");
}

/// The side with more material wins, or the one with less; every fourth game is a draw.
fn material_wins(game: u64, position: &Position, stronger_wins: bool) -> Option<KnownOutcome> {
    let turn = position.turn();
    let wins = |winner| KnownOutcome::Decisive { winner };
    Some(match balance(position).signum() {
        0 => KnownOutcome::Draw,
        _ if game.is_multiple_of(4) => KnownOutcome::Draw,
        sign if (sign > 0) == stronger_wins => wins(turn),
        _ => wins(!turn),
    })
}

/// The weaker side wins: the results contradict the scores.
#[test]
fn lambda_is_the_share_of_the_result() {
    let desk = TempDir::new().unwrap();
    let labels = write_labels(desk.path(), |game, position| {
        material_wins(game, position, false)
    });
    let queen_up = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let queen_up = Position::from_fen(queen_up).unwrap();
    let score = |lambda: &str| {
        let changes = [
            ("fitness.lambda", lambda),
            ("genome.width", "64"),
            ("method.steps", "60"),
            ("method.learning_rate", "[0.005, 0.001]"),
            // The last network is the result.
            ("data.validation_share", "0.0"),
        ];
        let folder = desk.path().join(lambda);
        train(&preset(&labels, &changes), &folder, 2, 9);
        let weights = Weights::load(&folder.join("best.toml")).unwrap();
        evaluate_uncached(&queen_up, &weights)
    };
    let [by_score, mixed, by_result] = ["0.0", "0.5", "1.0"].map(score);
    assert!(
        by_score > mixed + 10 && mixed > by_result + 10,
        "{by_score} {mixed} {by_result}"
    );
}

#[test]
fn the_win_model_is_fitted_to_the_results_of_the_validation_games() {
    let desk = TempDir::new().unwrap();
    let net = Path::new(env!("CARGO_MANIFEST_DIR")).join("weights/default.net");
    let net = net.display().to_string();
    let changes = [
        ("genome.start", &*net),
        ("run.generations", "1"),
        ("method.steps", "1"),
        ("method.learning_rate", "[0.0, 0.0]"),
        ("data.validation_share", "0.5"),
    ];
    let win_model = |name: &str, labels: &Path| {
        let folder = desk.path().join(name);
        train(&preset(labels, &changes), &folder, 2, 9);
        let weights = Weights::load(&folder.join("best.toml")).unwrap();
        weights.win_model()
    };
    let played = write_labels(desk.path(), |game, position| {
        material_wins(game, position, true)
    });
    let fitted = win_model("results", &played);
    let start = Weights::default().win_model();
    assert_ne!(fitted, start);
    assert_eq!(fitted, fitted.rounded());
    // Without results the model of the start stays.
    assert_eq!(win_model("scores", &labels(desk.path())), start);
}

#[test]
fn every_seed_is_validated_with_the_same_games() {
    let desk = TempDir::new().unwrap();
    let labels = labels(desk.path());
    let set = |name: &str, changes: &[(&str, &str)]| {
        let few = [
            ("run.generations", "1"),
            ("method.steps", "1"),
            ("genome.width", "64"),
        ];
        let folder = desk.path().join(name);
        train(
            &preset(&labels, &[&few[..], changes].concat()),
            &folder,
            2,
            9,
        );
        let journal = RunJournal::read(&RunFolder::open(&folder).unwrap()).unwrap();
        ["validation_positions", "validation_hash"].map(|column| journal.last(column).unwrap())
    };
    let first = set("one", &[("run.seed", "1")]);
    assert!(first[0] > 100.0);
    assert_eq!(first, set("two", &[("run.seed", "2")]));
    assert_ne!(first, set("more", &[("data.validation_share", "0.2")]));
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

/// A folder with an engine that calls every move it is asked about worth 50 centipawns.
#[cfg(unix)]
fn desk_with_engine() -> TempDir {
    let desk = TempDir::new().unwrap();
    let script = "#!/bin/sh\nwhile read -r word rest; do\ncase \"$word\" in\n\
         uci) echo \"id name fifty\"; echo uciok;;\nisready) echo readyok;;\n\
         go) set -- $rest; shift 3; for m in \"$@\"; do echo \"info depth 1 score cp 50 pv $m\"; done;\n\
         echo \"bestmove $1\";;\nquit) exit 0;;\nesac\ndone\n";
    crate::common::write_script(&desk.path().join("fifty"), script);
    desk
}

#[cfg(unix)]
#[test]
fn packed_labels_are_the_same_after_a_kill_and_other_work_is_refused() {
    let desk = desk_with_engine();
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

/// As several machines make them, each one part.
#[cfg(unix)]
#[test]
fn parts_of_followed_games_are_together_the_whole() {
    let desk = desk_with_engine();
    let games = crate::support::random_games(11, 40, 5);
    fs::write(desk.path().join("g.pgn"), games).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(FINCH)
            .current_dir(desk.path())
            .args(arguments)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), told)
    };
    let follow = |out: &str, more: &[&str]| {
        let engine = ["selfplay", "--engine", "./fifty", "--packed"];
        let games = ["--games", "g.pgn", "--share", "0.5", "--out", out];
        run(&[&engine[..], &games, more].concat())
    };
    let read = |name: &str| fs::read(desk.path().join(name)).unwrap();
    assert!(follow("whole.bin", &["--positions", "100000"]).0);
    for (out, part) in [("1.bin", "1/3"), ("2.bin", "2/3"), ("3.bin", "3/3")] {
        let (made, told) = follow(out, &["--part", part]);
        assert!(made, "{told}");
    }
    let join = [
        "label",
        "--join",
        "1.bin",
        "2.bin",
        "3.bin",
        "--out",
        "joined.bin",
    ];
    assert_eq!(run(&join), (true, String::new()));
    assert!(read("1.bin").len() < read("whole.bin").len());
    assert_eq!(read("joined.bin"), read("whole.bin"));
    // The same part again changes nothing; another part does not go into its file.
    let before = read("2.bin");
    assert!(follow("2.bin", &["--part", "2/3"]).0);
    let (made, told) = follow("2.bin", &["--part", "3/3"]);
    assert!(!made && told.contains("2.bin"), "{told}");
    assert_eq!(read("2.bin"), before);
    assert!(!follow("4.bin", &["--part", "4/3"]).0);
    assert!(!run(&join).0, "the joined file is replaced unasked");
}
