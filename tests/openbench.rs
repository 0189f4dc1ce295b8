//! What OpenBench asks of an engine, called as its worker calls it: `make`, `bench`, `genfens`,
//! `params`, the options, and the engine's configuration file.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use finch::position::Position;
use finch::search::SearchParams;
use serde_json::Value;

use crate::common::Engine;

fn finch(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_finch"))
        .args(arguments)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The positions that a worker finds in the output of `genfens`.
fn openings(request: &str) -> Vec<String> {
    let output = finch(&[request, "quit"]);
    assert!(output.status.success());
    stdout(&output)
        .lines()
        .filter_map(|line| line.strip_prefix("info string genfens "))
        .map(str::to_owned)
        .collect()
}

/// A worker reads the output from its end and takes the number beside each word.
#[test]
fn bench_ends_with_nodes_and_speed() {
    let output = finch(&["bench"]);
    assert!(output.status.success());
    let text = stdout(&output);
    let words: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
    assert_eq!((words[1], words[3]), ("nodes", "nps"));
    assert!(words[2].parse::<u64>().unwrap() > 0);
    let signature = include_str!("bench.signature").trim();
    assert_eq!(
        words[0], signature,
        "tests/bench.signature names another node count"
    );
}

#[test]
fn genfens_prints_as_many_distinct_full_fens_as_asked() {
    // The worker leaves a space where it has no further arguments.
    let found = openings("genfens 2 seed 1804289383 book None ");
    assert_eq!(found.len(), 2);
    assert_eq!(found.iter().collect::<HashSet<_>>().len(), 2);
    for fen in &found {
        assert_eq!(fen.split(' ').count(), 6, "{fen}");
        assert!(Position::from_fen(fen).is_ok(), "{fen}");
    }
    assert_eq!(
        openings("genfens 2 seed 1804289383 book None extra 7"),
        found
    );
    assert_ne!(openings("genfens 2 seed 846930886 book None "), found);
}

#[test]
fn genfens_continues_positions_of_a_book() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("pawns.epd");
    fs::write(&book, "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - hmvc 0; fmvn 1;\n").unwrap();
    let found = openings(&format!("genfens 2 seed 9 book {} ", book.display()));
    assert_eq!(found.len(), 2);
    for fen in &found {
        let men = Position::from_fen(fen).unwrap().board().occupied().count();
        assert!(men <= 10, "{fen}");
    }
}

/// A message that began like an opening would be taken for one.
#[test]
fn genfens_names_what_is_wrong_and_prints_no_opening() {
    for (request, mention) in [
        (
            "genfens 2 seed 1 book no/such/book.epd ",
            "no/such/book.epd",
        ),
        ("genfens", "genfens N seed S"),
        ("genfens two seed 1 book None ", "genfens N seed S"),
    ] {
        assert_eq!(openings(request), [""; 0], "{request}");
        let text = stdout(&finch(&[request, "quit"]));
        assert!(text.contains(mention), "{request}: {text}");
    }
}

#[test]
fn genfens_in_a_session_ends_with_stop() {
    let mut engine = Engine::start();
    engine.send("genfens 1000000 seed 3 book None");
    engine.read_until("info string genfens ");
    engine.send("stop");
    engine.sync();
    engine.send("quit");
    assert!(engine.wait().1.success());
}

/// The form takes a line for each constant, and none may be empty.
#[test]
fn params_are_lines_of_the_spsa_form() {
    let output = finch(&["params"]);
    assert!(output.status.success());
    let text = stdout(&output);
    let lines: Vec<&str> = text.split('\n').collect();
    assert_eq!(lines.len(), SearchParams::LIST.len());
    for line in lines {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let [name, kind, value, low, high, end, rate] = fields[..] else {
            panic!("{line}");
        };
        let number = |text: &str| text.parse::<f64>().unwrap();
        assert!(SearchParams::info(name).is_some(), "{line}");
        assert_eq!(kind, "int");
        assert!(number(low) <= number(value) && number(value) <= number(high));
        assert!(number(end) > 0.0 && number(rate) > 0.0, "{line}");
    }
}

/// A worker sets these; the search constants are listed in what `make` builds.
#[test]
fn options_of_a_workload_are_declared() {
    let output = Command::new(env!("CARGO_BIN_EXE_finch"))
        .args(["uci", "uci", "quit"])
        .env("FINCH_LIST_PARAMS", "1")
        .output()
        .unwrap();
    let text = stdout(&output);
    let constants = SearchParams::LIST.iter().map(|info| info.name);
    for name in ["Threads", "Hash", "SyzygyPath", "SyzygyProbeLimit"]
        .into_iter()
        .chain(constants)
    {
        let declaration = format!("option name {name} type ");
        assert!(text.contains(&declaration), "{name}: {text}");
    }
}

/// The settings of a preset that the server knows; it refuses to start with any other.
const PRESET_KEYS: [&str; 10] = [
    "base_branch",
    "book_name",
    "both_options",
    "both_time_control",
    "dev_options",
    "dev_time_control",
    "draw_adj",
    "test_bounds",
    "test_confidence",
    "win_adj",
];

#[test]
fn the_configuration_is_one_that_the_server_reads() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("openbench/Finch.json");
    let engine: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert!(engine["private"].is_boolean() && engine["source"].is_string());
    assert!(engine["nps"].as_u64().unwrap() > 0);
    let build = &engine["build"];
    let rust = concat!("cargo>=", env!("CARGO_PKG_RUST_VERSION"));
    let compiler = build["compilers"][0].as_str().unwrap();
    assert!(
        compiler.starts_with(rust),
        "{compiler}, but Cargo.toml: {rust}"
    );
    assert!(build["path"].is_string() && build["cpuflags"].is_array());
    assert!(build["systems"].is_array());
    for kind in ["test_presets", "tune_presets", "datagen_presets"] {
        let presets = engine[kind].as_object().unwrap();
        assert!(presets.contains_key("default"), "{kind}");
        for (name, preset) in presets {
            for key in preset.as_object().unwrap().keys() {
                let known = PRESET_KEYS.contains(&key.as_str()) || key == "workload_size";
                assert!(known, "{kind}, {name}: {key}");
            }
        }
    }
}

/// The folder of a worker, with the names of its folders. It builds in a temporary folder, moves
/// the program to `Engines`, and starts it from its own folder.
struct Worker {
    folder: tempfile::TempDir,
}

const BUILT_NAME: &str = "Finch-2756599B-A1B2C3D4";

impl Worker {
    fn new() -> Worker {
        let folder = tempfile::tempdir().unwrap();
        for name in ["Books", "Engines", "Networks"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Worker { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Calls make in a copy of the sources, which like a downloaded archive is no repository. What
    /// makes a release fast is left out: it takes most of the time. An error is the log.
    fn make(&self, network: &Path) -> Result<(), String> {
        let sources = self.path("Finch-tmp");
        copy_sources(&sources);
        let output = Command::new("make")
            .args(["-j", &format!("EXE={BUILT_NAME}")])
            .arg(format!("EVALFILE={}", network.display()))
            .current_dir(&sources)
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .output()
            .expect("make");
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let engine = self.path("Engines").join(BUILT_NAME);
        fs::rename(sources.join(BUILT_NAME), engine).unwrap();
        Ok(())
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(format!("./Engines/{BUILT_NAME}"))
            .args(arguments)
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}");
        stdout(&output)
    }
}

/// The files under version control, as they are now.
fn copy_sources(to: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .expect("git");
    for name in stdout(&listed).split_terminator('\0') {
        let copy = to.join(name);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(root.join(name), copy).unwrap();
    }
}

#[cfg(unix)]
#[test]
#[ignore = "builds the program: minutes"]
fn what_make_builds_is_an_engine_for_a_worker() {
    let worker = Worker::new();
    let network = worker.path("Networks/A1B2C3D4");
    // The worker sends the log of a failed build to the server.
    fs::write(&network, "not a network").unwrap();
    let log = worker.make(&network).unwrap_err();
    assert!(log.contains("is not a Finch network"), "{log}");

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::copy(root.join("weights/default.net"), &network).unwrap();
    worker.make(&network).unwrap();

    let bench = worker.run(&["bench"]);
    let signature = include_str!("bench.signature").trim();
    let last = bench.lines().last().unwrap();
    assert!(last.starts_with(&format!("{signature} nodes ")), "{last}");

    // A book is named from the worker's folder.
    fs::copy(root.join("books/openings.epd"), worker.path("Books/a.epd")).unwrap();
    for book in ["None", "Books/a.epd"] {
        let request = format!("genfens 3 seed 1804289383 book {book} ");
        let said = worker.run(&[&request, "quit"]);
        assert_eq!(said.matches("info string genfens ").count(), 3, "{said}");
    }

    // What the match runner sets is among the options, without any variable of the environment.
    let options = worker.run(&["uci", "uci", "quit"]);
    let params = worker.run(&["params"]);
    assert_eq!(params.lines().count(), SearchParams::LIST.len());
    for line in params.lines() {
        let name = line.split(',').next().unwrap();
        assert!(
            options.contains(&format!("option name {name} type spin ")),
            "{name}"
        );
    }
}
