//! `finch evolve`, with budgets so small that nothing is learned: the loop must come to the same
//! champions whatever interrupts it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use finch::eval::{Family, Weights};
use finch::random::{Purpose, stream};
use finch::tune::evolve::{EvolveLimits, EvolveObserver, EvolveRun, EvolveStage, EvolveState};
use finch::tune::run::{RunFolder, RunJournal};
use rand::RngExt;

const FINCH: &str = env!("CARGO_BIN_EXE_finch");

/// Budgets for a generation of a second; every second one tunes the constants of the search.
pub const SMALL: [&str; 20] = [
    "start.ramp=2",
    "start.width=64",
    "selfplay.positions=[100, 150]",
    "selfplay.nodes=[5, 10]",
    "selfplay.share=1.0",
    "training.window=1",
    "training.passes=2",
    "training.positions=256",
    "training.batch=64",
    "training.validations=2",
    "training.learning_rate=[0.02, 0.01]",
    "search.every=2",
    "search.games=4",
    "search.nodes=10",
    "search.r=2",
    "sprt.games=4",
    "sprt.nodes=20",
    "anchors.every=2",
    "anchors.games=2",
    "anchors.nodes=10",
];

fn changes() -> Vec<(String, String)> {
    let split = |text: &&str| {
        let (key, value) = text.split_once('=').unwrap();
        (key.to_owned(), value.to_owned())
    };
    SMALL.iter().map(split).collect()
}

fn command(out: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(FINCH);
    command.args(["evolve", "--from", "zero", "--out"]).arg(out);
    for (key, value) in changes() {
        command.arg("--set").arg(format!("{key}={value}"));
    }
    command.args(more);
    command
}

fn finch(out: &Path, more: &[&str]) -> Output {
    command(out, more).output().unwrap()
}

/// The one line that a failed command prints, after those about the engines it starts.
#[track_caller]
fn refused(output: Output) -> String {
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    let said = error.lines();
    let mut said = said.filter(|line| !line.starts_with("starts an engine: "));
    let line = said.next().unwrap_or_default().to_owned();
    assert_eq!(said.next(), None, "{error}");
    line
}

/// All that must not depend on interruptions: the champion, and the journal without its times.
fn result(out: &Path) -> (Vec<u8>, Vec<u8>, Vec<Vec<String>>) {
    let read = |name: &str| fs::read(out.join(name)).unwrap();
    let mut journal = csv::Reader::from_path(out.join("journal.csv")).unwrap();
    let header = journal.headers().unwrap().clone();
    let is_time = |at: usize| ["seconds", "hours"].contains(&&header[at]);
    let rows = journal.records().map(|row| {
        let row = row.unwrap();
        let cells = row.iter().enumerate().filter(|(at, _)| !is_time(*at));
        cells.map(|(_, cell)| cell.to_owned()).collect()
    });
    (read("champion.toml"), read("champion.net"), rows.collect())
}

/// Interrupts a run at each step whose number is a multiple of `every`, if that is not 0.
struct Interrupter<'a> {
    every: u64,
    steps: u64,
    stop: &'a AtomicBool,
    stages: Vec<EvolveStage>,
}

impl EvolveObserver for Interrupter<'_> {
    fn stage(&mut self, _generation: u64, stage: EvolveStage, _steps: u64) {
        self.stages.push(stage);
    }

    fn progress(&mut self, _done: u64) {
        self.steps += 1;
        if self.every > 0 && self.steps.is_multiple_of(self.every) {
            self.stop.store(true, Relaxed);
        }
    }

    fn generation(&mut self, _state: &EvolveState, _journal: &RunJournal) {}
}

/// Runs two generations in calls that are interrupted; returns the stages of all calls.
fn evolve(out: &Path, threads: usize, every: u64) -> Vec<EvolveStage> {
    let stop = AtomicBool::new(false);
    let mut interrupter = Interrupter {
        every,
        steps: 0,
        stop: &stop,
        stages: Vec::new(),
    };
    for _ in 0..60 {
        stop.store(false, Relaxed);
        let limits = EvolveLimits {
            stop: &stop,
            time: None,
            generations: Some(2),
        };
        let run = EvolveRun::open(
            out,
            Some("zero"),
            &changes(),
            threads,
            limits,
            &mut interrupter,
        );
        let mut run = run.unwrap();
        run.run().unwrap();
        if run.state().generation > 2 {
            return interrupter.stages;
        }
    }
    panic!("two generations were not done in 60 calls");
}

#[test]
fn two_generations_from_zero_on_any_number_of_threads_and_after_interruptions() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, broken] = ["whole", "broken"].map(|name| folder.path().join(name));
    let stages = evolve(&whole, 1, 0);
    let expected = [
        EvolveStage::SelfPlay,
        EvolveStage::Training,
        EvolveStage::Challenge,
    ];
    assert_eq!(stages[..3], expected);
    assert!(stages.contains(&EvolveStage::Search));
    assert_eq!(stages.last(), Some(&EvolveStage::Anchors));
    let interrupted = evolve(&broken, 2, 3);
    assert!(interrupted.len() > stages.len());
    assert_eq!(result(&whole), result(&broken));

    let champion = Weights::load(&whole.join("champion.toml")).unwrap();
    assert!(champion.network.is_some());
    for family in Family::ALL {
        assert_eq!(champion.uses(*family), *family == Family::Material);
    }
    let page = fs::read_to_string(whole.join("report.html")).unwrap();
    for text in [
        "random weights",
        "vazquez-2013",
        "hours",
        "search constants",
        "<svg",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let journal = RunJournal::read(&RunFolder::open(&whole).unwrap()).unwrap();
    assert_eq!(journal.curve("search_games"), [(2.0, 4.0)]);

    // Another generation: what has left the window goes.
    let more = finch(&whole, &["--generations", "3", "--threads", "2"]);
    let text = String::from_utf8_lossy(&more.stdout).into_owned();
    assert!(
        more.status.success() && text.contains("generation 3: "),
        "{text}"
    );
    let labels = fs::read_dir(whole.join("labels")).unwrap();
    let mut labels: Vec<_> = labels.map(|entry| entry.unwrap().file_name()).collect();
    labels.sort();
    // The second generation tuned constants and has no labels.
    assert_eq!(labels, ["0003.bin"]);
    assert!(!whole.join("generation-0003").exists());
}

/// Runs into a limit for the size of files, as into a full disk: the network fits, the checkpoint
/// of its training does not.
#[cfg(unix)]
fn run_into_full_disk(out: &Path, more: &[&str]) {
    let run = command(out, more);
    let limited = "trap '' XFSZ; ulimit -f 400; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", limited]).arg(FINCH).args(run.get_args());
    let refusal = refused(shell.output().unwrap());
    let wanted = ["train/checkpoint: ", "make room, then run finch again"];
    assert!(
        wanted.iter().all(|text| refusal.contains(text)),
        "{refusal}"
    );
    let mut folders = vec![out.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_temporary = path.extension().is_some_and(|ending| ending == "finch-tmp");
            assert!(!is_temporary, "{}", path.display());
            folders.extend(path.is_dir().then_some(path));
        }
    }
}

#[test]
fn the_champion_of_a_run_that_lost_its_config_or_state_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("champion.toml"), "precious").unwrap();
    let refusal = refused(finch(&out, &[]));
    assert!(refusal.contains("choose another folder"), "{refusal}");
    let started = folder.path().join("started");
    assert!(finch(&started, &["--generations", "1"]).status.success());
    let champion = fs::read(started.join("champion.toml")).unwrap();
    fs::remove_file(started.join("state.toml")).unwrap();
    let refusal = refused(finch(&started, &["--generations", "1"]));
    assert!(refusal.contains("state.toml"), "{refusal}");
    assert_eq!(fs::read(started.join("champion.toml")).unwrap(), champion);
    assert_eq!(
        fs::read_to_string(out.join("champion.toml")).unwrap(),
        "precious"
    );
}

#[test]
fn a_killed_run_comes_to_the_same_champion() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    let two = ["--generations", "2", "--threads", "2"];
    let started = Instant::now();
    let done = finch(&whole, &two);
    assert!(done.status.success(), "{done:?}");
    let time = started.elapsed();
    #[cfg(unix)]
    run_into_full_disk(&killed, &two);
    let mut random = stream(5, Purpose::Sampling, 0, 0);
    for _ in 0..5 {
        let mut child = command(&killed, &two)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(time.mul_f64(random.random_range(0.02..0.5)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let resumed = finch(&killed, &two);
    assert!(resumed.status.success(), "{resumed:?}");
    assert_eq!(result(&whole), result(&killed));
}

#[test]
fn hours_end_a_run_that_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let none = finch(&out, &["--hours", "0"]);
    assert!(none.status.success(), "{none:?}");
    assert!(out.join("champion.toml").exists() && !out.join("journal.csv").exists());
    let refusal = refused(finch(&out, &["--hours=-1"]));
    assert!(refusal.contains("--hours"), "{refusal}");
}

#[test]
fn a_champion_is_installed_if_it_beats_what_plays_now() {
    // A program in a folder of its own, so that installing does not disturb other tests.
    let home = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let [program, installed] = ["finch", "finch-weights.toml"].map(|name| home.path().join(name));
    fs::hard_link(FINCH, &program).unwrap();
    let run = |arguments: &[&str]| {
        let mut evolve = Command::new(&program);
        evolve.arg("evolve").current_dir(home.path());
        let small = [
            "--hours",
            "0",
            "--set",
            "sprt.games=2",
            "--set",
            "sprt.nodes=30",
        ];
        evolve.args(small).args(arguments).output().unwrap()
    };
    let same = run(&["--out", "same", "--install"]);
    assert!(same.status.success(), "{same:?}");
    let text = String::from_utf8_lossy(&same.stdout).into_owned();
    assert!(text.ends_with("plays already\n"), "{text}");

    // Its random network loses to the built-in one.
    let refusal = refused(run(&["--from", "zero", "--out", "zero", "--install"]));
    for text in [
        "not installed",
        "% in 2 games",
        "that play now (Finch)",
        "--force",
    ] {
        assert!(refusal.contains(text), "{refusal}");
    }
    assert!(!installed.exists());
    let forced = run(&["--out", "zero", "--install", "--force"]);
    assert!(forced.status.success(), "{forced:?}");
    let champion = fs::read_to_string(home.path().join("zero/champion.toml")).unwrap();
    let name = champion.lines().next().unwrap();
    assert!(fs::read_to_string(&installed).unwrap().starts_with(name));
}

#[test]
fn a_generation_for_search_constants_proves_them_in_a_match() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let settings = [
        "search.every=1",
        "search.games=2",
        "search.nodes=150",
        "search.r=20",
        "sprt.games=2",
        "sprt.nodes=150",
        "anchors.every=0",
    ];
    let mut evolve = Command::new(FINCH);
    evolve.args(["evolve", "--seed", "2", "--generations", "1", "--out"]);
    evolve.arg(&out);
    for setting in settings {
        evolve.args(["--set", setting]);
    }
    let done = evolve.output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        text.contains("search constants, 2 games of SPSA"),
        "{done:?}"
    );
    // Which it is depends on how Finch plays.
    let accepted = text.contains("challenger accepted");
    assert!(accepted || text.contains("challenger rejected"), "{text}");
    let champion = Weights::load(&out.join("champion.toml")).unwrap();
    let origin = champion.provenance.iter().find(|(key, _)| key == "search");
    assert_eq!(
        accepted,
        origin.is_some_and(|(_, text)| text.contains("of SPSA"))
    );
    assert_eq!(accepted, !champion.search.is_empty());
    assert!(champion.network.is_some());
    let journal = RunJournal::read(&RunFolder::open(&out).unwrap()).unwrap();
    assert!(journal.last("search_changed") > Some(0.0));
    assert_eq!(journal.last("positions"), Some(0.0));
}

#[test]
fn bad_input_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(FINCH);
        command.arg("evolve").args(arguments).arg("--out").arg(&out);
        refused(command.output().unwrap())
    };
    assert!(run(&["--from", "nowhere.toml"]).contains("nowhere.toml"));
    assert!(run(&["--from", "weights/hand-set.toml"]).contains("no network"));
    assert!(run(&["--mentor", "no-such-engine"]).contains("no-such-engine"));
    assert!(run(&["--anchor-engine", "no-such-engine"]).contains("elo-1800"));
    assert!(run(&["--set", "sprt.games=none"]).contains("sprt.games"));
    assert!(run(&["--set", "sprt.weather=3"]).contains("weather"));
    assert!(!out.exists(), "nothing is left behind");

    assert!(finch(&out, &["--hours", "0"]).status.success());
    assert!(run(&["--from", "default"]).contains("--from differs"));
    assert!(run(&["--set", "sprt.games=8"]).contains("sprt.games differs"));
    fs::write(out.join("config.toml"), "[genome]\nkind = \"network\"\n").unwrap();
    assert!(run(&[]).contains("finch tune"));
    fs::remove_dir_all(&out).unwrap();
    fs::write(&out, "a file").unwrap();
    assert!(run(&[]).contains("run"));
}

#[test]
fn one_process_works_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let mut first = command(&out, &[]).stdout(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !out.join("state.toml").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let refusal = refused(finch(&out, &[]));
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(refusal.contains("another finch evolve"), "{refusal}");
}
