//! Genomes other than terms: search constants, a network's output layer and the options of an
//! engine, learned from games.

use std::path::Path;
use std::sync::Arc;

use crate::tune::{Desk, assert_refused, assert_success, timed};
use finch::eval::Weights;
use finch::position::Game;
use finch::random::{Purpose, stream};
use finch::search::{Engine, EngineSettings, Limits, SearchRequest};
use finch::tune::genome::Candidate;
use finch::tune::preset::Preset;

const SEARCH: &str = r#"
[genome]
kind = "search"
exclude = ["time_*"]

[fitness]
name = "games"
search = "finch"
nodes = 60
max_moves = 40
adjudicate = true
openings = "book"
FITNESS

[method]
METHOD

[run]
generations = 2
closing_games = 0
"#;

const SPSA: &str = "name = 'spsa'\npairs = 4\nr = 1.0";
const AGAINST_BASE: &str = "opponent = 'base'\ngames = 2\nvalidation_games = 2";

fn search(fitness: &str, method: &str) -> String {
    SEARCH.replace("FITNESS", fitness).replace("METHOD", method)
}

/// The options of Finch itself, as of any engine.
fn options() -> String {
    let genome = format!(
        "kind = 'options'\nengine = '{}'\n[genome.options]\nHash = 1\nContempt = {{ low = -90, high = 90 }}\n\
         'Move Overhead' = {{ high = 500, start = 100 }}\n",
        env!("CARGO_BIN_EXE_finch")
    );
    search("", SPSA)
        .replace("kind = \"search\"\nexclude = [\"time_*\"]", &genome)
        .replace("nodes = 60", "depth = 1")
        .replace("search = \"finch\"", "search = \"own\"")
}

/// The same with search constants, which decide games; the environment makes Finch list them.
fn listed_params() -> String {
    let engine = concat!("env FINCH_LIST_PARAMS=1 ", env!("CARGO_BIN_EXE_finch"));
    options()
        .replace(env!("CARGO_BIN_EXE_finch"), engine)
        .replace(
            "Contempt = { low = -90, high = 90 }",
            "reverse_futility_margin = {}\nquiescence_margin = {}",
        )
        .replace("depth = 1", "depth = 3")
}

#[test]
fn the_same_seed_gives_the_same_result_on_any_number_of_threads() {
    let presets = [
        search("", SPSA),
        search(
            AGAINST_BASE,
            "name = 'cma-es'\npopulation = 4\ndiagonal = true",
        ),
        search(AGAINST_BASE, "name = 'de'\npopulation = 4"),
        search("", SPSA).replace("\"search\"\nexclude = [\"time_*\"]", "\"network-output\""),
        listed_params(),
    ];
    for preset in presets {
        let desk = Desk::new(&preset);
        for threads in ["1", "2"] {
            assert_success(&desk.tune(threads, &["--threads", threads, "--seed", "4"]));
        }
        assert_eq!(desk.best("1"), desk.best("2"), "{preset}");
        let is_moved = has_moved(&desk, "1");
        assert!(is_moved || !preset.contains("spsa"), "{preset}");
    }
}

/// Whether the result plays differently from the start.
fn has_moved(desk: &Desk, out: &str) -> bool {
    let load = |name: &str| Candidate::load(&desk.path(out).join(name)).unwrap();
    match [load("best.toml"), load("start.toml")] {
        [Candidate::Weights(best), Candidate::Weights(start)] => best.id() != start.id(),
        [Candidate::Options(best), Candidate::Options(start)] => best.options != start.options,
        _ => unreachable!(),
    }
}

fn start(desk: &Desk, out: &str) -> String {
    std::fs::read_to_string(desk.path(out).join("start.toml")).unwrap()
}

#[test]
fn engines_are_kept_for_other_options_where_that_is_allowed() {
    let desk = Desk::new(&listed_params());
    assert_success(&desk.tune("restarted", &[]));
    assert_success(&desk.tune("kept", &["--set", "genome.restart=false"]));
    assert_eq!(desk.best("restarted"), desk.best("kept"));
}

#[test]
fn a_killed_run_ends_at_the_same_constants_and_options() {
    let mut random = stream(8, Purpose::Sampling, 0, 0);
    for preset in [search("", SPSA), listed_params()] {
        let desk = Desk::new(&preset);
        let whole = timed(|| assert_success(&desk.tune("whole", &[])));
        desk.tune_with_kills("broken", whole, &mut random);
        assert_eq!(desk.best("whole"), desk.best("broken"), "{preset}");
    }
}

#[test]
fn tuned_constants_are_a_weights_file_that_searches_differently() {
    let desk = Desk::new(&search("", SPSA));
    let output = desk.tune("out", &["--set", "run.closing_games=2"]);
    assert_success(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("16 games  "), "{text}");
    assert!(!text.contains('%'), "no share of points: {text}");
    assert!(text.contains("result against its start"), "{text}");
    assert!(text.contains("against the weights that play now"), "{text}");
    let tuned = Weights::load(&desk.path("out/best.toml")).unwrap();
    assert!(!tuned.search.is_empty());
    assert!(tuned.network.is_some());
    let nodes = |weights: Weights| {
        let settings = EngineSettings::neutral(Arc::new(weights), 1).unwrap();
        let limits = Limits {
            depth: Some(8),
            ..Limits::default()
        };
        let request = SearchRequest::new(Game::default(), limits);
        Engine::new(settings).unwrap().search(request).nodes
    };
    assert_ne!(nodes(tuned), nodes(Weights::default()));
    let report = std::fs::read_to_string(desk.path("out/report.html")).unwrap();
    assert!(report.contains("razoring_base"), "its curve is drawn");
}

#[test]
fn tuned_options_are_a_table_and_commands_and_are_not_installed() {
    let desk = Desk::new(&options());
    let refused = ["not installed", "options of an engine", "best.uci"];
    assert_refused(&desk.tune("out", &["--install", "--force"]), &refused);
    assert!(!desk.path("out").exists(), "refused before any game");
    let output = desk.tune("out", &["--set", "run.closing_games=2"]);
    assert_success(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("result against its start: "), "{text}");
    assert!(!text.contains("weights that play now"), "{text}");
    let best: toml::Table = desk.best("out").parse().unwrap();
    assert_eq!(best["options"]["Hash"].as_integer(), Some(1));
    let contempt = best["options"]["Contempt"].as_integer().unwrap();
    assert!((-90..=90).contains(&contempt), "{contempt}");
    let commands = std::fs::read_to_string(desk.path("out/best.uci")).unwrap();
    let line = format!("setoption name Contempt value {contempt}\n");
    assert!(commands.contains(&line), "{commands}");
    assert!(start(&desk, "out").contains("\"Move Overhead\" = 100"));
    assert!(desk.path("out/report.html").exists());
}

#[test]
fn options_that_the_engine_does_not_have_are_refused_before_any_game() {
    let engine = format!("engine = '{}'", env!("CARGO_BIN_EXE_finch"));
    let cases = [
        (
            "Contempt =",
            "Contemt =",
            "options.Contemt",
            "has no option",
        ),
        (
            "high = 90",
            "high = 90000",
            "options.Contempt",
            "is not within its range",
        ),
        ("low = -90", "low = 91", "options.Contempt", "is not below"),
        (
            "start = 100",
            "start = 501",
            "options.Move Overhead",
            "its start 501",
        ),
        (
            "Hash = 1",
            "Hash = 0",
            "options.Hash",
            "takes a number from",
        ),
        (
            "Hash = 1",
            "Hash = 'big'",
            "options.Hash",
            "takes a number from",
        ),
        (
            "Hash = 1",
            "Hash = 1\nPonder = {}",
            "options.Ponder",
            "cannot be free",
        ),
        (
            engine.as_str(),
            "engine = './no-engine'",
            "genome.engine",
            "cannot start './no-engine'",
        ),
        (
            engine.as_str(),
            "engine = ''",
            "genome.engine",
            "no command",
        ),
        (
            "kind = 'options'",
            "kind = 'optoins'",
            "genome.kind",
            "network-output",
        ),
    ];
    for (from, to, key, problem) in cases {
        let text = options();
        assert!(text.contains(from), "{from}");
        let desk = Desk::new(&text.replace(from, to));
        assert_refused(&desk.tune("out", &[]), &[key, problem]);
        assert!(!desk.path("out").join("journal.csv").exists());
    }
}

#[test]
fn limits_openings_and_opponents_that_make_no_sense_are_refused() {
    let cases = [
        (search("clock = '3+x'", SPSA), "fitness.clock"),
        (search("depth = 0", SPSA), "fitness.depth"),
        (
            search("validation_games = 1000000000000", SPSA),
            "fitness.validation_games",
        ),
        (
            search("", SPSA).replace("\"finch\"", "\"plain\""),
            "fitness.search",
        ),
        (
            search("", SPSA)
                .replace("'book'", "'x'")
                .replace("\"book\"", "\"gone.epd\""),
            "gone.epd",
        ),
        (search("", "name = 'de'"), "fitness.opponent"),
        (
            search("", &SPSA.replace("pairs = 4", "games = 3")),
            "method.games",
        ),
        (
            search("", SPSA).replace("[\"time_*\"]", "[\"tmie\"]"),
            "genome.exclude",
        ),
        (
            search("", SPSA).replace("name = \"games\"", "name = \"mentor\""),
            "small.toml",
        ),
    ];
    for (text, part) in cases {
        assert_refused(&Desk::new(&text).tune("out", &[]), &[part]);
    }
}

#[test]
fn games_start_from_a_file_of_openings_and_may_have_a_clock() {
    let text = search("", SPSA)
        .replace("\"book\"", "\"two.epd\"")
        .replace("nodes = 60", "clock = '0.2+0.01'")
        .replace("generations = 2", "generations = 1");
    let desk = Desk::new(&text);
    let lines = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n\
                 rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq -\n";
    std::fs::write(desk.path("two.epd"), lines).unwrap();
    assert_success(&desk.tune("out", &[]));
    assert!(desk.best("out").contains("games from two.epd, 0.2+0.01"));
}

#[test]
fn spsa_also_climbs_a_number() {
    let text = "[genome]\nbase = 'default'\nstart = 'base'\n[genome.weights]\n\
                knight = { low = 200, high = 500 }\nqueen = { low = 600, high = 1500 }\n\
                [data]\npositions = 60\n[fitness]\nname = 'moves'\nobjective = 'likelihood'\n\
                quiescence = { checks = 0, plies = 1 }\n[method]\nname = 'spsa'\nr = 0.1\n\
                [run]\ngenerations = 20\nclosing_games = 0\n";
    let desk = Desk::new(text);
    let output = desk.tune("out", &[]);
    assert_success(&output);
    let journal = std::fs::read_to_string(desk.path("out/journal.csv")).unwrap();
    let records: Vec<f64> = journal
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(5).unwrap().parse().unwrap())
        .collect();
    assert!(records.last() > records.first(), "{journal}");
}

#[test]
fn the_presets_search_and_options_are_what_they_say() {
    let search = Preset::load("search").unwrap();
    let genome = search.genome.build().unwrap();
    assert!(genome.len() > 40);
    assert!(genome.gene_index("time_share").is_none());
    let Ok(options) = Preset::load("options") else {
        panic!("no preset options");
    };
    if Path::new("/usr/games/toga2").exists() {
        assert_eq!(options.genome.build().unwrap().len(), 6);
    }
}
