//! What every reader does with any bytes: no panic, no second, no gibibyte. The fuzzers of
//! `fuzz_targets` call these functions, and so does `tests/fuzz.rs`, from which this file is
//! included.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use finch::analysis::{Suite, annotate};
use finch::book::PolyglotBook;
use finch::data::{self, LabelReader, PackedLabels, Selection, Source};
use finch::eval::{LoadedWeights, Network, Weights, evaluate_uncached};
use finch::files;
use finch::hash::stable_hash;
use finch::play::uci_engine::{DeclaredOption, EngineLine};
use finch::play::{openings, pgn as game_tags};
use finch::position::{Position, movegen};
use finch::tablebase::Tablebases;
use finch::tune::evolve::EvolveSettings;
use finch::tune::experiment::Experiment;
use finch::tune::report;
use finch::tune::run::{Checkpoint, EvolutionState, RunFolder, RunJournal};
use finch::uci;
use tempfile::TempDir;

/// A target: its name, which is also its folder of seeds, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("book", book),
    ("checkpoint", checkpoint),
    ("compressed", compressed),
    ("epd", epd),
    ("fen", fen),
    ("journal", journal),
    ("labels", labels),
    ("mentor", mentor),
    ("network", network),
    ("packed", packed),
    ("pgn", pgn),
    ("preset", preset),
    ("syzygy", syzygy),
    ("uci_line", uci_line),
    ("uci_session", uci_session),
    ("weights", weights),
];

fn default_weights() -> &'static Weights {
    static WEIGHTS: OnceLock<Weights> = OnceLock::new();
    WEIGHTS.get_or_init(Weights::default)
}

/// The bytes in a file of that name, in memory where the system has a place for that.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    thread_local!(static FOLDER: OnceCell<TempDir> = const { OnceCell::new() });
    FOLDER.with(|folder| {
        let create = || tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.get_or_init(|| create().expect("a folder for temporary files"));
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a temporary file");
        path
    })
}

/// Positions: what is accepted is judged and has moves, and reads again from what it writes.
pub fn fen(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(position) = Position::from_fen(&text) else {
        return;
    };
    let again = Position::from_fen(&position.fen()).expect("a position that was written");
    assert_eq!(again.key(), position.key(), "{}", position.fen());
    evaluate_uncached(&position, default_weights());
    for m in movegen::legal_moves(&position).into_iter().take(8) {
        evaluate_uncached(&position.after(m), default_weights());
    }
}

/// A single line of UCI.
pub fn uci_line(bytes: &[u8]) {
    uci::is_complete(&String::from_utf8_lossy(bytes));
}

/// Lines of UCI, with searches under way. Options that name files or start runs are left out: a
/// fuzzer would write all over the disk.
pub fn uci_session(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let left_out = [
        "file", "tune", "path", "bench", "perft", "quit", "genfens", "hash", "threads",
    ];
    let lines = text.lines().take(20).filter_map(|line| {
        let lower = line.to_lowercase();
        if left_out.iter().any(|word| lower.contains(word)) {
            return None;
        }
        // Every search ends soon.
        match lower.split_whitespace().any(|word| word == "go") {
            true => Some(format!("{line} nodes 50")),
            false => Some(line.to_owned()),
        }
    });
    let lines: Vec<String> = ["setoption name Hash value 1".to_owned()]
        .into_iter()
        .chain(lines)
        .collect();
    let weights = LoadedWeights {
        weights: Arc::new(default_weights().clone()),
        ..LoadedWeights::built_in()
    };
    uci::run(weights, &lines).expect("a session");
}

/// Games for training, rating, openings and annotation.
pub fn pgn(bytes: &[u8]) {
    let path = file("games.pgn", bytes);
    let source = Source::file(&path);
    let _ = data::games(std::slice::from_ref(&source), &Selection::default());
    let _ = annotate::each_game(&source, |_| true);
    let _ = game_tags::read_results(&path);
    let _ = openings::load(&path, 16, 1);
}

/// Positions with operations, for training, solving and matches.
pub fn epd(bytes: &[u8]) {
    let path = file("positions.epd", bytes);
    let _ = data::collect(&[Source::file(&path)], &Selection::default());
    let _ = Suite::read(&[&path]);
    let _ = openings::load(&path, 16, 1);
}

/// Labels in text.
pub fn labels(bytes: &[u8]) {
    for name in ["labels.epd", "labels.txt"] {
        let source = Source::file(file(name, bytes));
        if let Ok(reader) = LabelReader::open(&source) {
            let _ = reader.take(1_000).count();
        }
    }
}

/// Packed labels, read one by one and mapped into memory.
pub fn packed(bytes: &[u8]) {
    let path = file("labels.packed", bytes);
    if let Ok(reader) = LabelReader::open(&Source::file(&path)) {
        let _ = reader.take(1_000).count();
    }
    if let Ok(labels) = PackedLabels::open(&path) {
        for label in labels.labels().iter().take(1_000) {
            let _ = (label.points(), label.pieces().count(), label.unpack());
        }
    }
}

pub fn weights(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(weights) = Weights::from_toml(&text, "/dev/shm/none/fuzz.toml") {
        evaluate_uncached(&Position::default(), &weights);
        let again = Weights::from_toml(&weights.to_toml(), "again.toml");
        assert!(again.is_ok(), "{again:?}");
    }
}

/// Presets of tuning, training and evolving.
pub fn preset(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = EvolveSettings::parse(&text, "fuzz.toml");
    if let Ok(experiment) = Experiment::parse(&text, "fuzz.toml") {
        let written = experiment.to_toml().expect("a preset as TOML");
        let again = Experiment::parse(&written, "again.toml");
        assert!(again.is_ok(), "{again:?} in\n{written}");
    }
}

/// Network files: as they are, and with the header of the input before a body of the smallest
/// size, under the checksum that belongs to it.
pub fn network(bytes: &[u8]) {
    const BODY: usize = 2 * 64 * (768 + 1 + 2) + 64;
    let _ = Network::from_bytes("fuzz.net", bytes);
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    let (header, pattern) = bytes.split_at(end);
    let body = pattern.iter().copied().cycle().take(BODY);
    let mut content = header.to_vec();
    content.extend(body);
    content.resize(header.len() + BODY, 0);
    let mut whole = b"finch network 3\n".to_vec();
    whole.extend((header.len() as u64).to_le_bytes());
    whole.extend(stable_hash(&content).to_le_bytes());
    whole.extend(content);
    if let Ok(network) = Network::from_bytes("fuzz.net", &whole) {
        network.evaluate(&Position::default());
    }
}

/// A checkpoint, under the checksum that belongs to it.
pub fn checkpoint(bytes: &[u8]) {
    let mut whole = format!("checksum = {:016x}\n", stable_hash(bytes)).into_bytes();
    whole.extend(bytes);
    let path = file("checkpoint", &whole);
    let folder = RunFolder::open(path.parent().expect("a folder")).expect("the same");
    if let Ok(Some(checkpoint)) = Checkpoint::read(&folder) {
        let _ = EvolutionState::parse(&checkpoint.state);
    }
}

/// The journal of a run, and the page that is drawn from it.
pub fn journal(bytes: &[u8]) {
    let preset = "[genome.weights]\nqueen = { low = 800, high = 1000 }\n[fitness]\nname = 'moves'\n\
                  [method]\nname = 'ep'\npopulation = 6\n[run]\ngenerations = 5\n";
    file("config.toml", preset.as_bytes());
    let path = file("journal.csv", bytes);
    let folder = RunFolder::open(path.parent().expect("a folder")).expect("the same");
    if RunJournal::read(&folder).is_ok() {
        let _ = report::write(&folder);
    }
}

pub fn book(bytes: &[u8]) {
    if let Ok(book) = PolyglotBook::read(bytes) {
        let _ = book.moves(&Position::default());
        let _ = book.best_move(&Position::default());
        let _ = book.lines(8, 16, 1);
        // The learning fields of entries are not kept.
        let again = PolyglotBook::read(&book.to_bytes()[..]).expect("a book that was written");
        assert_eq!(again.move_count(), book.move_count());
    }
}

/// Tables of king and rook against king. The first byte says which of the two kinds of file the
/// others are; a DTZ table is only looked at beside a WDL table that can be read.
pub fn syzygy(bytes: &[u8]) {
    const SOUND_WDL: &[u8] = include_bytes!("../seeds/syzygy/wdl");
    let Some((kind, table)) = bytes.split_first() else {
        return;
    };
    let (wdl, dtz) = match kind % 2 {
        0 => (table, &[][..]),
        _ => (&SOUND_WDL[1..], table),
    };
    let path = file("KRvK.rtbw", wdl);
    file("KRvK.rtbz", dtz);
    let Ok(tables) = Tablebases::open(path.parent().expect("a folder")) else {
        return;
    };
    for fen in [
        "8/8/8/8/8/3k4/8/K6R w - - 0 1",
        "8/8/5k2/8/8/2R5/8/1K6 b - - 0 1",
    ] {
        let position = Position::from_fen(fen).expect("a position");
        let _ = (tables.probe_wdl(&position), tables.probe_dtz(&position));
    }
    let _ = (tables.problem(), tables.new_damage());
}

/// What an engine says.
pub fn mentor(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).lines() {
        let _ = DeclaredOption::parse(line);
        let _ = EngineLine::parse(line, &Position::default());
    }
}

/// Compressed files, up to a mebibyte of their contents.
pub fn compressed(bytes: &[u8]) {
    let path = file("any", bytes);
    if let Ok(source) = files::open_compressed(&path) {
        let _ = files::read_limited(source, 1 << 20);
    }
}
