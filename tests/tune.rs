//! Tuning from outside: the trees agree with the search, the same seed gives the same weights
//! whatever happens on the way, and what is wrong is said in one line.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::random_games;
use finch::data::{Case, Selection, Source, collect};
use finch::random::{Purpose, stream};
use finch::tune::experiment::Experiment;
use finch::tune::fitness::{
    Batch, BoardSearch, Fitness, Keep, MovesFitness, MovesSettings, Phenotype, QuiescenceLimits,
    Ties, TreeBuilder, best_move_number, better_move,
};
use finch::tune::genome::Genome;
use finch::tune::preset::Preset;
use rand::RngExt;
use tempfile::TempDir;

fn games(folder: &TempDir, count: usize, plies: usize, seed: u64) -> PathBuf {
    let path = folder.path().join("games.pgn");
    std::fs::write(&path, random_games(count, plies, seed)).unwrap();
    path
}

fn cases(positions: usize, validation: usize) -> finch::data::Collection {
    let folder = TempDir::new().unwrap();
    let selection = Selection {
        positions,
        validation,
        ..Selection::default()
    };
    collect(&[Source::file(games(&folder, 12, 90, 11))], &selection).unwrap()
}

fn genome(preset: &str) -> Arc<Genome> {
    let preset = Preset::load(preset).unwrap();
    Arc::new(preset.genome.build().unwrap())
}

fn random_genes(genome: &Genome, number: u64) -> Vec<f64> {
    let mut random = stream(5, Purpose::Initialisation, 1, number);
    let genes = genome.genes.iter();
    genes
        .map(|gene| gene.low + gene.range() * random.random::<f64>())
        .collect()
}

fn assert_tree_is_search(
    genome: &Arc<Genome>,
    case: &Case,
    genes: &[f64],
    settings: QuiescenceLimits,
) {
    let tree = TreeBuilder::new(Arc::clone(genome), settings)
        .build(case)
        .unwrap();
    let player = Phenotype::new(genome, genes);
    let searched = BoardSearch::new(&case.position, &player.weights, settings);
    let seen = tree.evaluated_by(&player);
    let fen = case.position.fen();
    assert_eq!(
        best_move_number(&seen),
        best_move_number(&searched),
        "{fen}"
    );
    let expected = searched.moves()[best_move_number(&searched)] == case.answers[0];
    for first_tried in [0, 3, 999] {
        let answers = searched.move_numbers(&case.answers);
        assert_eq!(
            better_move(&seen, tree.answers(), first_tried, Ties::Hash).is_none(),
            expected,
            "{fen}"
        );
        assert_eq!(
            better_move(&searched, &answers, first_tried, Ties::Hash).is_none(),
            expected,
            "{fen}"
        );
    }
}

#[test]
fn trees_play_the_moves_of_the_search() {
    let settings = [
        QuiescenceLimits {
            checks: 0,
            captures: 3,
            plies: 8,
        },
        QuiescenceLimits {
            checks: 1,
            captures: 2,
            plies: 4,
        },
    ];
    for preset in ["vazquez-2013", "vazquez-2011", "moves"] {
        let genome = genome(preset);
        for (number, case) in cases(12, 0).training.iter().enumerate() {
            let genes = random_genes(&genome, number as u64);
            assert_tree_is_search(&genome, case, &genes, settings[number % 2]);
        }
    }
}

#[test]
fn without_memory_for_trees_the_count_is_the_same() {
    let genome = genome("vazquez-2013");
    let people: Vec<_> = (0..3).map(|number| random_genes(&genome, number)).collect();
    let people: Vec<&[f64]> = people.iter().map(Vec::as_slice).collect();
    let count = |memory_mib| {
        let settings = MovesSettings {
            memory_mib,
            quiescence: QuiescenceLimits {
                checks: 0,
                captures: 1,
                plies: 4,
            },
            ..MovesSettings::default()
        };
        MovesFitness::new(Arc::clone(&genome), settings, cases(30, 10))
            .evaluate(&people, &Batch::All)
    };
    assert_eq!(count(0), count(100));
}

#[test]
fn cached_variations_give_the_count_and_the_gradient_of_the_trees() {
    // Weights that make sense: far beyond them scores are cut off, and gradients with them.
    let genome = genome("moves");
    let genes = genome.base_genes();
    let measured = |keep, memory_mib| {
        let settings = MovesSettings {
            keep,
            memory_mib,
            quiescence: QuiescenceLimits {
                checks: 1,
                captures: 2,
                plies: 4,
            },
            ..MovesSettings::default()
        };
        let moves = MovesFitness::new(Arc::clone(&genome), settings, cases(30, 0));
        moves.prepare_gradients(&genes, &Batch::All);
        let count = moves.evaluate(&[&genes], &Batch::All);
        let found = moves.gradient(&genes, &Batch::All).unwrap();
        (count, found.gradient)
    };
    let (count, gradient) = measured(Keep::Trees, 100);
    let lines = measured(Keep::Variations, 100);
    assert_eq!(measured(Keep::Variations, 0), lines);
    assert_eq!(lines.0, count);
    for (line, tree) in lines.1.iter().zip(&gradient) {
        assert!((line - tree).abs() < 1e-4, "{line} against {tree}");
    }
}

#[test]
fn the_gradient_is_the_derivative() {
    let genome = genome("vazquez-2013");
    let settings = MovesSettings {
        quiescence: QuiescenceLimits {
            checks: 0,
            captures: 1,
            plies: 4,
        },
        temperature: 400.0,
        objective: finch::tune::fitness::Objective::Likelihood,
        ..MovesSettings::default()
    };
    let moves = MovesFitness::new(Arc::clone(&genome), settings, cases(40, 0));
    let genes = random_genes(&genome, 1);
    let found = moves.gradient(&genes, &Batch::All).unwrap();
    let value = moves.evaluate(&[&genes], &Batch::All)[0];
    assert!((found.value - value).abs() < 1e-12);
    for place in [0, 3, 8, 20, 25] {
        // Scores are whole centipawns, so the step must be wide enough to smooth them over.
        let width = 8.0;
        let moved = |step: f64| {
            let mut genes = genes.clone();
            genes[place] += step;
            moves.evaluate(&[&genes], &Batch::All)[0]
        };
        let measured = (moved(width) - moved(-width)) / (2.0 * width);
        let error = (found.gradient[place] - measured).abs();
        assert!(
            error < 2e-4,
            "{place}: {} against {measured}",
            found.gradient[place]
        );
    }
}

const SMALL: &str = r#"
[genome.weights]
pawn = 100
knight = { low = 200, high = 400 }
queen = { low = 800, high = 1000 }
legal_moves = { low = 0, high = 30 }
passed_rank = { low = 0, high = 100, tied = true, entries = [1, 6] }

[data]
positions = 40
validation = 20

[fitness]
name = "moves"
quiescence = { checks = 0, plies = 1 }

[method]
METHOD

[run]
generations = 12
closing_games = 0
"#;

const METHODS: [&str; 8] = [
    "name = 'ep'\npopulation = 8\nhistory = 30",
    "name = 'ep'\npopulation = 6\nmutation = { kind = 'self-adaptive', boundary = 'dynamic' }",
    "name = 'de'\npopulation = 6",
    "name = 'cma-es'\npopulation = 6",
    "name = 'adam'\ngradient = { steps = 2, batch = 16 }",
    "name = 'memetic'\npopulation = 4\ngradient = { steps = 2, batch = 16 }",
    "name = 'ga'\npopulation = 9\nproportion = 'fitness'\nlengths = { queen = 12 }",
    "name = 'ga'\npopulation = 6\ncoding = 'real'",
];

/// A small preset for each method, and one that keeps lines.
fn presets() -> Vec<String> {
    let with_method = |method: &&str| SMALL.replace("METHOD", method);
    let mut presets: Vec<_> = METHODS.iter().map(with_method).collect();
    presets.push(presets[4].replace("[fitness]", "[fitness]\nkeep = 'lines'"));
    presets
}

pub struct Desk {
    folder: TempDir,
}

impl Desk {
    pub fn new(preset: &str) -> Desk {
        let folder = TempDir::new().unwrap();
        games(&folder, 8, 60, 3);
        std::fs::write(folder.path().join("small.toml"), preset).unwrap();
        Desk { folder }
    }

    fn with_method(method: &str) -> Desk {
        Desk::new(&SMALL.replace("METHOD", method))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_finch"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    pub fn tune(&self, out: &str, more: &[&str]) -> Output {
        let arguments = ["tune", "small.toml", "--games", "games.pgn", "--out", out];
        self.command(&[&arguments[..], more].concat())
            .output()
            .unwrap()
    }

    pub fn best(&self, out: &str) -> String {
        std::fs::read_to_string(self.path(out).join("best.toml")).unwrap()
    }

    /// Kills a run that takes so long by itself five times at random, then lets it end.
    pub fn tune_with_kills(&self, out: &str, whole: Duration, random: &mut impl RngExt) {
        let begin = ["tune", "small.toml", "--games", "games.pgn", "--out", out];
        let config = self.path(out).join("config.toml");
        for round in 0..5 {
            // The same command resumes the run too.
            let arguments: &[&str] = if round % 2 == 1 && config.exists() {
                &["tune", "--resume", out]
            } else {
                &begin
            };
            let mut child = self
                .command(arguments)
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(whole.mul_f64(random.random_range(0.02..0.6)));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        if !config.exists() {
            assert_success(&self.tune(out, &[]));
        }
        let resume = ["tune", "--resume", out];
        assert_success(&self.command(&resume).output().unwrap());
    }
}

pub fn assert_success(output: &Output) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_file_on_any_number_of_threads() {
    for preset in presets() {
        let desk = Desk::new(&preset);
        for (out, threads) in [("one", "1"), ("two", "2")] {
            assert_success(&desk.tune(out, &["--threads", threads, "--seed", "9"]));
        }
        assert_eq!(desk.best("one"), desk.best("two"), "{preset}");
        for file in [
            "config.toml",
            "journal.csv",
            "checkpoint",
            "report.html",
            "start.toml",
        ] {
            assert!(desk.path("one").join(file).exists(), "{file}");
        }
    }
}

/// How long the unbroken run takes, so that kills fall into all of it.
pub fn timed(run: impl FnOnce()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

#[test]
fn a_run_killed_at_twenty_moments_resumes_to_the_same_weights() {
    let mut random = stream(3, Purpose::Sampling, 0, 0);
    let presets = presets();
    // Evolution, a covariance, a gradient and bits; five kills each.
    for preset in [&presets[0], &presets[3], &presets[6], &presets[8]] {
        let desk = Desk::new(&preset.replace("generations = 12", "generations = 60"));
        let whole = timed(|| assert_success(&desk.tune("whole", &[])));
        desk.tune_with_kills("broken", whole, &mut random);
        assert_eq!(desk.best("whole"), desk.best("broken"), "{preset}");
    }
}

/// A shell lets the program write no file longer than so many blocks of 512 bytes.
#[cfg(unix)]
fn limited(desk: &Desk, blocks: u32, arguments: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_finch")])
        .args(arguments)
        .current_dir(desk.folder.path())
        .output()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_is_one_clear_error_and_loses_nothing() {
    let desk = Desk::new(&presets()[0].replace("generations = 12", "generations = 60"));
    assert_success(&desk.tune("whole", &[]));
    let mut arguments = vec!["tune", "small.toml", "--games", "games.pgn"];
    arguments.extend(["--out", "full"]);
    // Enough for the weights and the first checkpoints, not for the journal.
    let output = limited(&desk, 12, &arguments);
    assert_refused(&output, &["full/journal.csv", "make room"]);
    let best = finch::eval::Weights::load(&desk.path("full/best.toml"));
    assert!(best.is_ok(), "{best:?}");
    let output = desk
        .command(&["tune", "--resume", "full"])
        .output()
        .unwrap();
    assert_success(&output);
    assert_eq!(desk.best("whole"), desk.best("full"));
}

#[test]
fn two_processes_never_work_in_one_run_folder() {
    let desk = Desk::with_method(METHODS[0]);
    std::fs::create_dir(desk.path("shared")).unwrap();
    let lock = finch::files::lock_folder(&desk.path("shared")).unwrap();
    assert_refused(&desk.tune("shared", &[]), &["another process"]);
    drop(lock);
    assert_success(&desk.tune("shared", &[]));
    let many = desk.tune("more", &["--threads", "5000"]);
    assert!(!many.status.success() && !desk.path("more").exists());
}

#[test]
fn runs_and_sweeps_print_a_table_and_compare() {
    let desk = Desk::with_method(METHODS[0]);
    let sweep = ["--sweep", "method.history=0,20"];
    let set = ["--set", "run.generations=5"];
    let output = desk.tune("many", &[&["--runs", "3"], &sweep[..], &set].concat());
    assert_success(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("<- median").count(), 2, "{text}");
    assert!(
        desk.path("many/method.history=20/seed-3/best.toml")
            .exists()
    );
    assert!(desk.path("many/report.html").exists());
    assert_success(
        &desk
            .command(&["report", "many/method.history=0/seed-1"])
            .output()
            .unwrap(),
    );
    // The same command finds everything done; another experiment needs another folder.
    let again = desk.tune("many", &[&["--runs", "3"], &sweep[..], &set].concat());
    let again = String::from_utf8_lossy(&again.stdout);
    let tables = text.lines().filter(|line| !line.starts_with("generation "));
    assert_eq!(
        again.lines().collect::<Vec<_>>(),
        tables.collect::<Vec<_>>()
    );
    let other = ["--set", "run.generations=6"];
    let other = desk.tune("many", &[&["--runs", "3"], &sweep[..], &other].concat());
    assert_refused(&other, &["config.toml", "another experiment"]);
}

#[test]
fn several_runs_are_compared_in_the_unit_of_their_fitness() {
    let desk = Desk::with_method(METHODS[4]);
    let likelihood = ["--set", "fitness.objective=likelihood"];
    let set = ["--runs", "2", "--set", "run.generations=2"];
    assert_success(&desk.tune("several", &[&likelihood[..], &set].concat()));
    let page = std::fs::read_to_string(desk.path("several/report.html")).unwrap();
    // The logarithm of a likelihood is no percentage, the share of moves found is.
    let (_, table) = page.split_once("<th>validation</th>").unwrap();
    let cells: Vec<&str> = table.split("<td>").skip(1).take(6).collect();
    assert!(
        cells[1].starts_with("-") && !cells[1].contains('%'),
        "{cells:?}"
    );
    assert!(
        cells[5].contains('%') && !cells[5].starts_with('-'),
        "{cells:?}"
    );
    assert!(!page.split("</svg>").next().unwrap().contains("%</text>"));
}

#[test]
fn changes_are_checked_together() {
    let desk = Desk::with_method(METHODS[0]);
    let change = |changes: &[&str]| {
        let all: Vec<&str> = changes.iter().flat_map(|one| ["--set", one]).collect();
        desk.tune(&changes.concat(), &all)
    };
    let short = "run.generations=2";
    let fine = ["method.survivors=3", "method.population=4", short];
    assert_success(&change(&fine));
    let [survivors, population, short] = fine;
    assert_success(&change(&[population, survivors, short]));
    let many = "method.survivors=9";
    assert_refused(&change(&[short, many]), &[many, "method.survivors"]);
    let several = desk.tune("several", &["--runs", "2", "--install"]);
    assert_refused(&several, &["--install", "several runs"]);
}

#[test]
fn weights_are_measured_on_games() {
    let desk = Desk::with_method(METHODS[0]);
    let arguments = [
        "fitness",
        "moves",
        "--games",
        "games.pgn",
        "--positions",
        "50",
        "--seed",
        "4",
    ];
    let output = desk.command(&arguments).output().unwrap();
    assert_success(&output);
    assert!(String::from_utf8_lossy(&output.stdout).contains("of 50"));
}

#[test]
fn weights_are_measured_on_games_that_were_set_aside_or_filtered() {
    let desk = Desk::with_method(METHODS[0]);
    let count = |more: &[&str]| -> usize {
        let mut arguments = vec!["fitness", "moves", "--games", "games.pgn"];
        arguments.extend(["--positions", "100000"]);
        arguments.extend(more);
        let output = desk.command(&arguments).output().unwrap();
        assert_success(&output);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, after) = text.split_once(" of ").expect(&text);
        after.split_whitespace().next().unwrap().parse().unwrap()
    };
    let all = count(&[]);
    let [third, half, white] =
        [&["--held-out=0.3"], &["--held-out"], &["--side=white"]].map(|m| count(m));
    assert!(
        0 < third && third < half && half < all,
        "{third} {half} {all}"
    );
    assert!(0 < white && white < all, "{white} {all}");
    let refused = desk.command(&["fitness", "moves", "--held-out=1"]).output();
    let refused = String::from_utf8(refused.unwrap().stderr).unwrap();
    assert!(refused.contains("not a share between 0 and 1"), "{refused}");
}

#[test]
fn an_engine_is_measured_on_games() {
    let desk = Desk::with_method(METHODS[0]);
    let mut arguments = vec!["fitness", "moves", "--games", "games.pgn"];
    arguments.extend(["--positions", "20", "--engine", env!("CARGO_BIN_EXE_finch")]);
    arguments.extend(["--option", "Move Overhead=5", "--depth", "2"]);
    let output = desk.command(&arguments).output().unwrap();
    assert_success(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("of 20"), "{text}");
    assert!(text.contains("at depth 2, Move Overhead=5"), "{text}");
}

/// A program in a folder of its own, so that installing does not disturb other tests. A link, as a
/// file that is being written while another test starts a process is too busy to be run.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Home {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::hard_link(env!("CARGO_BIN_EXE_finch"), folder.path().join("finch")).unwrap();
        Home { folder }
    }

    fn run(&self, desk: &Desk, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.folder.path().join("finch"));
        command.args(arguments).current_dir(desk.folder.path());
        command.output().unwrap()
    }

    fn installed(&self) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join("finch-weights.toml")).ok()
    }
}

#[test]
fn installed_weights_are_what_the_program_plays_with() {
    let desk = Desk::with_method(METHODS[0]);
    let home = Home::new();
    let kings = "4k3/8/8/8/8/8/8/4K3 w - - 0 1";
    let before = home.run(&desk, &["eval", kings]);
    let mut arguments = vec!["tune", "small.toml", "--games", "games.pgn"];
    arguments.extend(["--out", "out", "--install"]);
    // Without a closing match nothing proves the result.
    assert_refused(
        &home.run(&desk, &arguments),
        &["not installed", "run.closing_games is 0", "--force"],
    );
    assert_eq!(home.installed(), None);
    assert_success(&home.run(&desk, &["tune", "--resume", "out", "--install", "--force"]));
    assert_eq!(home.installed(), Some(desk.best("out")));
    let after = home.run(&desk, &["eval", kings]);
    assert_success(&after);
    assert_ne!(before.stdout, after.stdout);
}

#[test]
fn a_result_that_loses_to_the_weights_that_play_now_is_not_installed() {
    let desk = Desk::with_method(METHODS[0]);
    let home = Home::new();
    let mut arguments = vec!["tune", "small.toml", "--games", "games.pgn", "--install"];
    for set in [
        "run.closing_games=10",
        "run.closing_nodes=300",
        "run.generations=2",
    ] {
        arguments.extend(["--set", set]);
    }
    arguments.extend(["--out", "out"]);
    let output = home.run(&desk, &arguments);
    assert_refused(
        &output,
        &[
            "not installed",
            "% in 10 games",
            "the weights that play now",
            "--force",
        ],
    );
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("result against its start: "), "{text}");
    assert!(
        text.contains("result against the weights that play now"),
        "{text}"
    );
    assert_eq!(home.installed(), None);
    let page = std::fs::read_to_string(desk.path("out/report.html")).unwrap();
    assert!(page.contains("the weights that play now"));
    // It wins against weights that know only pawns.
    let pawns = "name = 'pawns'\n[material]\npawn = 100\n";
    std::fs::write(home.folder.path().join("finch-weights.toml"), pawns).unwrap();
    assert_success(&home.run(&desk, &["tune", "--resume", "out", "--install"]));
    assert_eq!(home.installed(), Some(desk.best("out")));
}

#[test]
fn weights_are_installed_by_a_match_or_by_force_and_uninstalled() {
    let desk = Desk::with_method(METHODS[0]);
    let home = Home::new();
    let weights = |arguments: &[&str]| {
        let output = home.run(&desk, &[&["weights"], arguments].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output, text)
    };
    let (_, text) = weights(&["installed"]);
    assert!(text.contains("from:    built in"), "{text}");
    assert!(text.contains("network: default.net"), "{text}");
    // A paper's evolution does not reach what plays.
    let mut arguments = vec!["tune", "vazquez-2013", "--install", "--out", "paper"];
    for set in [
        "data.positions=40",
        "data.validation=0",
        "run.generations=1",
        "run.closing_games=10",
        "run.closing_nodes=300",
    ] {
        arguments.extend(["--set", set]);
    }
    let refused = ["not installed", "% in 10 games", "that play now (Finch)"];
    assert_refused(&home.run(&desk, &arguments), &refused);
    let short = ["--games", "10", "--nodes", "300"];
    let install = ["install", "paper/best.toml"];
    assert_refused(&weights(&[&install[..], &short].concat()).0, &refused);
    assert_eq!(home.installed(), None);
    let (output, text) = weights(&["install", "paper/best.toml", "--force"]);
    assert_success(&output);
    assert!(text.starts_with("installed: "), "{text}");
    assert_eq!(home.installed(), Some(desk.best("paper")));
    let (_, text) = weights(&["installed"]);
    assert!(text.contains("from:    installed as "), "{text}");
    assert!(text.contains("network: none"), "{text}");
    let started = home.run(&desk, &["uci", "uci"]);
    let started = String::from_utf8_lossy(&started.stdout).into_owned();
    assert!(started.contains("(installed as "), "{started}");
    assert!(weights(&install).1.contains("plays already"));
    // What knows more wins the match.
    let built_in = concat!(env!("CARGO_MANIFEST_DIR"), "/weights/default.toml");
    let (output, text) = weights(&[&["install", built_in][..], &short].concat());
    assert_success(&output);
    assert!(
        text.contains("result against the weights that play now"),
        "{text}"
    );
    assert!(
        weights(&["installed"])
            .1
            .contains("network: finch-weights.net")
    );
    let (output, text) = weights(&["uninstall"]);
    assert_success(&output);
    assert!(text.contains("the built-in weights play"), "{text}");
    assert!(!home.folder.path().join("finch-weights.net").exists());
    assert!(weights(&["installed"]).1.contains("from:    built in"));
    assert!(weights(&["uninstall"]).1.starts_with("none are installed"));
    assert_refused(&weights(&["install", "no.toml"]).0, &["no.toml"]);
    std::fs::write(
        desk.path("odd.toml"),
        "[material]\npawn = 1\n[search]\nmagic = 1\n",
    )
    .unwrap();
    let odd = weights(&["install", "odd.toml", "--force"]).0;
    assert_refused(&odd, &["odd.toml", "magic"]);
}

#[test]
fn every_one_of_several_runs_plays_its_closing_match() {
    let desk = Desk::with_method(METHODS[0]);
    let closing = [
        "--set",
        "run.closing_games=2",
        "--set",
        "run.closing_nodes=50",
    ];
    let runs = ["--runs", "2", "--set", "run.generations=2"];
    let output = desk.tune("many", &[&runs[..], &closing].concat());
    assert_success(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        text.matches("result against its start: ").count(),
        2,
        "{text}"
    );
    for seed in [1, 2] {
        assert!(desk.path(&format!("many/seed-{seed}/closing.txt")).exists());
        assert!(desk.path(&format!("many/seed-{seed}/games.pgn")).exists());
    }
}

#[test]
fn every_preset_can_be_read_and_the_paper_is_quoted_where_it_belongs() {
    for file in std::fs::read_dir("tuning").unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let experiment = Experiment::load(&path.display().to_string());
        assert!(experiment.is_ok(), "{experiment:?}");
        let name = path.file_stem().unwrap().to_str().unwrap();
        // Needs files of the repository, so the program does not carry it.
        if name != "default" {
            let built_in = Experiment::load(name);
            assert_eq!(
                built_in, experiment,
                "{name} is missing in the list of presets"
            );
        }
    }
    let (file, text) = Preset::text("vazquez-2013").unwrap();
    let mean = |key: &str, value: &str| {
        let changes = [(key.to_owned(), value.to_owned())];
        let preset = Preset::parse_with(&text, &file, &changes).unwrap();
        preset.reference().and_then(|reference| reference.mean_last)
    };
    assert_eq!(mean("method.history", "10"), Some(53.08));
    assert_eq!(mean("method.history", "0"), Some(40.78));
    assert_eq!(mean("method.history", "5"), None);
    assert_eq!(mean("data.positions", "1000"), Some(50.87));
}

#[test]
fn a_change_can_supply_what_the_preset_lacks() {
    let (_, kendall) = Preset::text("kendall-2001").unwrap();
    let (start, _) = kendall.split_once("[method]").unwrap();
    let text = format!("{start}[method]\nname = \"cma-es\"\n\n[run]\ngenerations = 1\n")
        .replace("openings = \"start\"", "openings = \"book\"");
    let read = |changes: &[(&str, &str)]| {
        let owned = |(key, value): &(&str, &str)| (key.to_string(), value.to_string());
        let changes: Vec<_> = changes.iter().map(owned).collect();
        Preset::parse_with(&text, "half.toml", &changes).map_err(|error| error.to_string())
    };
    let opponent = ("fitness.opponent", "shannon-1950");
    assert!(read(&[opponent]).is_ok());
    let error = read(&[("fitness.games", "4")]).unwrap_err();
    assert!(error.starts_with("half.toml:"), "{error}");
    let error = read(&[opponent, ("fitness.games", "-4")]).unwrap_err();
    assert!(error.starts_with("fitness.games=-4"), "{error}");
}

/// Fails with one line on standard error that says all of `parts`. Which engine was started before
/// that is no part of the error.
pub fn assert_refused(output: &Output, parts: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    let said = error.trim().lines();
    let said = said.filter(|line| !line.starts_with("starts an engine: "));
    assert_eq!(said.count(), 1, "{error}");
    for part in parts {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn bad_presets_are_refused_with_file_line_and_key() {
    let bad = [
        (
            "population = 8",
            "popluation = 8",
            ["small.toml:19", "popluation"],
        ),
        (
            "population = 8",
            "population = 1",
            ["small.toml:19", "method.population"],
        ),
        (
            "population = 8",
            "population = 'many'",
            ["small.toml:19", "method.population"],
        ),
        (
            "name = 'ep'",
            "name = 'magic'",
            ["small.toml:18", "method.name"],
        ),
        (
            "high = 400",
            "high = 40000",
            ["small.toml:4: genome.weights.knight", "40000"],
        ),
        (
            "generations = 12",
            "generations = 0",
            ["small.toml", "run.generations"],
        ),
        (
            "positions = 40",
            "postions = 40",
            ["small.toml:10", "postions"],
        ),
        (
            "knight = {",
            "horse = {",
            ["small.toml:4: genome.weights.horse", "no such term"],
        ),
        (
            "name = 'ep'\npopulation = 8\nhistory = 30",
            "name = 'ga'\nlengths = { kinght = 9 }",
            ["small.toml:19", "method.lengths"],
        ),
        ("[run]", "[fun]", ["small.toml", "fun"]),
        ("pawn = 100", "pawn = ", ["small.toml:3", "pawn"]),
    ];
    for (from, to, parts) in bad {
        let preset = SMALL.replace("METHOD", METHODS[0]).replace(from, to);
        assert_refused(&Desk::new(&preset).tune("out", &[]), &parts);
    }
}

#[test]
fn bad_files_and_folders_are_refused() {
    let desk = Desk::with_method(METHODS[0]);
    let run = |arguments: &[&str]| desk.command(arguments).output().unwrap();
    assert_refused(
        &run(&["tune", "nothing-such"]),
        &["nothing-such", "finch tune --list"],
    );
    assert_refused(
        &run(&["tune", "small.toml", "--games", "gone.pgn"]),
        &["gone.pgn"],
    );
    std::fs::write(desk.path("binary.pgn"), [0_u8, 255, 3, 7].repeat(500)).unwrap();
    assert_refused(
        &run(&["tune", "small.toml", "--games", "binary.pgn"]),
        &["binary.pgn"],
    );
    assert_refused(
        &run(&["tune", "small.toml", "--out", "/proc/finch"]),
        &["/proc/finch"],
    );
    assert_refused(&run(&["tune", "--resume", "nowhere"]), &["nowhere"]);
    let sweep = ["tune", "small.toml", "--sweep", "method.histroy=1,2"];
    assert_refused(&run(&sweep), &["method.histroy"]);
    let set = ["tune", "small.toml", "--set", "run.generations=no"];
    assert_refused(&run(&set), &["run.generations"]);
    assert_refused(
        &run(&["tune", "vazquez-2013-best"]),
        &[
            "vazquez-2013-best",
            "genome.base",
            "runs/vazquez-2013-climb",
        ],
    );
    assert_success(&desk.tune("out", &[]));
    let best = desk.best("out");
    assert_success(&desk.tune("out", &["--threads", "2"]));
    assert_eq!(desk.best("out"), best);
    let other = desk.tune("out", &["--seed", "77"]);
    assert_refused(&other, &["out/config.toml", "another experiment"]);
    assert_refused(&desk.tune("out", &["--runs", "2"]), &["out", "single run"]);
    std::fs::write(desk.path("out/checkpoint"), "generation = 3\n[best").unwrap();
    assert_refused(&run(&["tune", "--resume", "out"]), &["checkpoint"]);
    assert!(!desk.path("runs").exists());
}

#[test]
fn every_listed_method_and_fitness_can_be_named_in_a_preset() {
    use finch::tune::fitness::FitnessSettings;
    use finch::tune::methods::MethodSettings;
    let parse = |fitness: &str, method: &str| {
        let text = format!(
            "[genome.weights]\npawn = {{ low = 1, high = 9 }}\n[fitness]\nname = '{fitness}'\n\
             opponent = 'default'\ngames = 2\n[method]\nname = '{method}'\n"
        );
        let text = match fitness {
            "games" => text,
            _ => text.replace("opponent = 'default'\ngames = 2\n", ""),
        };
        Preset::parse(&text, "listed.toml")
    };
    for method in MethodSettings::NAMES {
        let parsed = parse("moves", method).or_else(|_| parse("games", method));
        let preset = parsed.unwrap();
        assert_eq!(preset.method.name(), *method);
        // The table that is written names its method, so a run can be resumed.
        let again = Preset::parse(&preset.to_toml().unwrap(), "again.toml").unwrap();
        assert_eq!(again.method, preset.method);
    }
    for fitness in FitnessSettings::NAMES {
        assert_eq!(parse(fitness, "ep").unwrap().fitness.name(), *fitness);
    }
    let error = parse("moves", "magic").unwrap_err().to_string();
    for method in MethodSettings::NAMES {
        assert!(error.contains(method), "{error}");
    }
}
