//! Evolution by games: the papers' rules of replacement and mutation, the same seed the same
//! weights whatever happens on the way, and the second stage that goes on from the first.

use std::collections::BTreeMap;

use crate::tune::{Desk, assert_refused, assert_success, timed};
use finch::eval::Weights;
use finch::play::game::PlayerResult::{self, Draw, Loss, Win};
use finch::random::{Purpose, stream};
use finch::tune::genome::Genome;
use finch::tune::methods::{
    DynamicBoundarySettings, Individual, MethodSettings, PopulationDynamicsSettings,
    ReplacesLosers, TieRule,
};
use finch::tune::preset::Preset;
use rand::rngs::ChaCha8Rng;

fn preset(name: &str) -> (Preset, Genome) {
    let preset = Preset::load(name).unwrap();
    let genome = preset.genome.build().unwrap();
    (preset, genome)
}

fn kendall() -> (PopulationDynamicsSettings, Genome) {
    let (preset, genome) = preset("kendall-2001");
    let MethodSettings::PopulationDynamics(settings) = preset.method else {
        panic!("another method");
    };
    (settings, genome)
}

fn nasreddine() -> (DynamicBoundarySettings, Genome) {
    let (preset, genome) = preset("nasreddine-2006");
    let MethodSettings::DynamicBoundary(settings) = preset.method else {
        panic!("another method");
    };
    (settings, genome)
}

fn chance(number: u64) -> ChaCha8Rng {
    stream(1, Purpose::Variation, 0, number)
}

/// Three players whose every gene has a standard deviation of 1.
fn three() -> Vec<Individual> {
    [3.0, 4.0, 5.0]
        .map(|value| Individual::new(vec![value; 5]))
        .into()
}

/// The farthest any gene lies from a value, over many repetitions of a match.
fn farthest(results: [PlayerResult; 2], index: usize, from: f64) -> f64 {
    let (settings, genome) = kendall();
    let distances = (0..400).flat_map(|number| {
        let mut population = three();
        settings.apply_result(
            [0, 1],
            &mut population,
            results,
            &genome,
            &mut chance(number),
        );
        assert_eq!(
            population[2].genes, [5.0; 5],
            "who did not play stays as he is"
        );
        let genes = population.swap_remove(index).genes;
        genes.into_iter().map(move |value| (value - from).abs())
    });
    distances.fold(0.0, f64::max)
}

#[test]
fn kendall_replaces_and_mutates_by_how_a_match_went() {
    // Half of R times sigma is the farthest a gene can go; many draws come close to it.
    let reaches = |found: f64, limit: f64| found <= limit && found > 0.95 * limit;
    assert_eq!(farthest([Win, Win], 0, 3.0), 0.0, "a clear winner stays");
    assert!(reaches(farthest([Win, Win], 1, 3.0), 1.0));
    assert!(reaches(farthest([Loss, Loss], 0, 4.0), 1.0));
    assert_eq!(farthest([Loss, Loss], 1, 4.0), 0.0);
    for narrow in [[Win, Draw], [Draw, Win]] {
        assert!(reaches(farthest(narrow, 1, 3.0), 0.5));
        assert!(reaches(farthest(narrow, 0, 3.0), 0.1));
    }
    for even in [[Draw, Draw], [Win, Loss], [Loss, Win]] {
        assert!(reaches(farthest(even, 0, 3.0), 0.25));
        assert!(reaches(farthest(even, 1, 4.0), 0.25));
    }
}

#[test]
fn nasreddine_clones_only_who_won_more_games() {
    let (settings, genome) = nasreddine();
    let genes = |value: f64| vec![value, value, value, value, -0.5, 0.1];
    let start = [2.0, 3.0].map(|value| Individual::new(genes(value)));
    let keeping = DynamicBoundarySettings {
        tie: TieRule::Keep,
        ..settings.clone()
    };
    let after = |settings: &DynamicBoundarySettings, results: [PlayerResult; 2]| {
        let mut population = start.clone();
        settings.apply_result([0, 1], &mut population, results, &genome, &mut chance(7));
        population
    };
    for even in [[Draw, Draw], [Win, Loss], [Loss, Win]] {
        assert_eq!(
            after(&settings, even)[0],
            start[0],
            "the first counts as the winner"
        );
        assert_ne!(after(&settings, even)[1], start[1]);
        assert_eq!(after(&keeping, even), start);
    }
    let second = DynamicBoundarySettings {
        tie: TieRule::Second,
        ..settings.clone()
    };
    assert_eq!(after(&second, [Draw, Draw])[1], start[1]);
    assert_ne!(after(&second, [Draw, Draw])[0], start[0]);
    let unforced = DynamicBoundarySettings {
        forced: false,
        ..settings.clone()
    };
    let copies = (0..1000).filter(|number| {
        let mut random = chance(*number);
        unforced.mutated(&start[0].genes, &genome, &mut random) == start[0].genes
    });
    // Four genes at 25% and two at 10% all stay in 25.6% of the clones; mutations that the
    // queen's repair undoes add a little.
    assert!((200..340).contains(&copies.count()));
    for won in [[Win, Win], [Win, Draw], [Draw, Win]] {
        let population = after(&settings, won);
        assert_eq!(population[0], start[0]);
        assert_ne!(
            population[1].genes, start[0].genes,
            "a clone always mutates"
        );
        assert!(
            population[1].genes[..4]
                .iter()
                .all(|value| (value - 2.0).abs() <= 2.0)
        );
    }
    assert_eq!(after(&settings, [Loss, Draw])[1], start[1]);
}

#[test]
fn boundaries_move_with_the_values_and_the_queen_is_never_less() {
    let (settings, genome) = nasreddine();
    let index = |name: &str| genome.gene_index(name).unwrap();
    let mut random = chance(3);
    let mut genes = genome
        .genes_named(&settings.seeded[4])
        .expect("the presets's own seeds fit");
    let mut mutations = [0; 6];
    let mut farthest: f64 = 0.0;
    for _ in 0..2000 {
        let child = settings.mutated(&genes, &genome, &mut random);
        assert_ne!(child, genes, "at least one gene mutates");
        for (count, (old, new)) in mutations.iter_mut().zip(genes.iter().zip(&child)) {
            *count += i32::from(old != new);
        }
        let pieces = ["rook", "bishop", "knight"].map(|name| child[index(name)]);
        assert!(pieces.iter().all(|value| *value <= child[index("queen")]));
        assert!((0.01..=0.5).contains(&child[index("legal_moves")]));
        farthest = farthest.max(child[index("queen")]);
        genes = child;
    }
    assert!(farthest > 5.0, "the interval travels: {farthest}");
    // 25% of 2000 and a little more, for one gene always mutates; 10% likewise.
    assert!(
        (480..720).contains(&mutations[index("knight")]),
        "{mutations:?}"
    );
    assert!(
        (180..340).contains(&mutations[index("legal_moves")]),
        "{mutations:?}"
    );
}

const SMALL: &str = r#"
[genome]
unit = 100

[genome.weights]
pawn = 1
knight = { low = 0, high = 12 }
queen = { low = 0, high = 12 }
passed_rank = [0, 0, 0, 0, 0.1, 0.1, 0.1, 0]

[fitness]
name = "games"
plies = 1
captures = 2
max_moves = 20
FITNESS

[method]
METHOD

[run]
generations = 6
closing_games = 0
"#;

const PAIRED: [&str; 3] = [
    "name = 'population-dynamics'\npopulation = 6\nconverged = 20.0\nperturbation = 0.1\nseeded = [{ knight = 3, queen = 9 }]",
    "name = 'dynamic-boundary'\npopulation = 4\nhighest = 'queen'\nabove = ['knight']\nreach = { knight = 2 }",
    "name = 'coevolution'\npopulation = 6\nfinal_games = 2",
];
const MEASURED: [&str; 3] = [
    "name = 'ep'\npopulation = 4",
    "name = 'de'\npopulation = 4",
    "name = 'cma-es'\npopulation = 4",
];
const OPPONENT: &str = "openings = 'book'\nopponent = 'default'\ngames = 4";

fn small(fitness: &str, method: &str) -> String {
    SMALL.replace("FITNESS", fitness).replace("METHOD", method)
}

fn desks() -> impl Iterator<Item = (Desk, &'static str)> {
    let paired = PAIRED.map(|method| ("openings = 'start'", method));
    let measured = MEASURED.map(|method| (OPPONENT, method));
    let all = paired.into_iter().chain(measured);
    all.map(|(fitness, method)| (Desk::new(&small(fitness, method)), method))
}

#[test]
fn games_give_the_same_weights_on_any_number_of_threads() {
    for (desk, method) in desks() {
        for threads in ["1", "2", "5"] {
            assert_success(&desk.tune(threads, &["--threads", threads, "--seed", "4"]));
        }
        assert_eq!(desk.best("1"), desk.best("2"), "{method}");
        assert_eq!(desk.best("1"), desk.best("5"), "{method}");
    }
}

#[test]
fn a_killed_run_of_games_goes_on_to_the_same_weights() {
    let mut random = stream(8, Purpose::Sampling, 0, 0);
    for (desk, method) in desks() {
        let whole = timed(|| assert_success(&desk.tune("whole", &[])));
        desk.tune_with_kills("broken", whole, &mut random);
        assert_eq!(desk.best("whole"), desk.best("broken"), "{method}");
    }
}

#[test]
fn several_runs_of_games_show_the_weights_of_each_beside_the_papers() {
    let text = small("", &format!("{}\nresults = 'chance'", PAIRED[0]));
    let paper = "[[reference]]\n[reference.weights]\nknight = 3.22\n[reference.deviations]\nknight = 0.28\n";
    let desk = Desk::new(&format!("{text}{paper}"));
    let output = desk.tune("out", &["--runs", "3"]);
    assert_success(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    let row = |head: &str| {
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(head));
        line.unwrap_or_else(|| panic!("no {head} in {text}"))
    };
    assert!(row("paper").contains("3.22 ± 0.28"), "{text}");
    assert_eq!(
        row("between runs").matches('±').count(),
        2,
        "knight and queen"
    );
    assert!(
        !text.contains("best first"),
        "a share of 50% says nothing: {text}"
    );
}

#[test]
fn several_runs_of_games_without_a_paper_show_the_weights_of_each() {
    let desk = Desk::new(&small("", &format!("{}\nresults = 'chance'", PAIRED[0])));
    let output = desk.tune("out", &["--runs", "2"]);
    assert_success(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    let between = text
        .lines()
        .find(|line| line.contains("between runs"))
        .unwrap_or_else(|| panic!("no weights in {text}"));
    assert_eq!(between.matches('±').count(), 2, "knight and queen");
    assert!(!text.contains("paper"), "{text}");
}

#[test]
fn results_by_chance_change_the_players_without_a_game() {
    let by_chance = format!("{}\nresults = 'chance'", PAIRED[0]);
    // A single game at twelve plies in full width would not end within the test.
    let text = small("", &by_chance).replace("plies = 1\n", "plies = 12\n");
    let desk = Desk::new(&text);
    assert_success(&desk.tune("one", &["--seed", "1"]));
    assert_success(&desk.tune("two", &["--seed", "2"]));
    assert_ne!(desk.best("one"), desk.best("two"));
}

#[test]
fn averages_stand_beside_the_papers_and_rivals_are_met() {
    let text = small("", PAIRED[0]).replace("closing_games = 0", "closing_games = 2");
    let more = "[run.rivals.Nobody]\nknight = 0\nqueen = 0\n\
                [[reference]]\n[reference.weights]\nknight = 3.22\n[reference.deviations]\nknight = 0.28\n";
    let desk = Desk::new(&format!("{text}{more}"));
    let output = desk.tune("out", &[]);
    assert_success(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("3.22 ± 0.28"), "{text}");
    assert!(text.contains("result against its start"), "{text}");
    assert!(text.contains("result against Nobody"), "{text}");
    assert_eq!(
        games_kept(&desk),
        4,
        "two against the start, two against the rival"
    );
}

fn games_kept(desk: &Desk) -> usize {
    let games = std::fs::read_to_string(desk.path("out/games.pgn")).unwrap();
    games.matches("[Event ").count()
}

#[test]
fn a_closing_match_that_was_broken_off_goes_on_with_its_games() {
    let text = small("", PAIRED[0]).replace("closing_games = 0", "closing_games = 6");
    let desk = Desk::new(&text);
    let output = desk.tune("out", &[]);
    assert_success(&output);
    let closing = || std::fs::read_to_string(desk.path("out/closing.txt")).unwrap();
    let whole = closing();
    assert_eq!(games_kept(&desk), 6);
    // As a kill leaves it: some games whole, the last one half written.
    let games = std::fs::read_to_string(desk.path("out/games.pgn")).unwrap();
    let third = games.match_indices("[Event ").nth(2).unwrap().0;
    std::fs::write(desk.path("out/games.pgn"), &games[..third + 40]).unwrap();
    std::fs::remove_file(desk.path("out/closing.txt")).unwrap();
    assert_success(&desk.command(&["tune", "--resume", "out"]).output().unwrap());
    assert_eq!(closing(), whole);
    assert_eq!(games_kept(&desk), 6);
}

#[test]
fn an_opponent_that_is_missing_is_named_with_its_key() {
    let opponent = OPPONENT.replace("'default'", "'nobody.toml'");
    let desk = Desk::new(&small(&opponent, MEASURED[0]));
    assert_refused(&desk.tune("out", &[]), &["fitness.opponent", "nobody.toml"]);
}

#[test]
fn the_second_stage_begins_with_the_players_of_the_first() {
    let first = small(OPPONENT, MEASURED[0]);
    let desk = Desk::new(&first);
    assert_success(&desk.tune("first", &[]));
    std::fs::write(desk.path("small.toml"), small("", PAIRED[2])).unwrap();
    assert_success(&desk.tune("second", &["--from", "first"]));
    let weights = |file: &str| {
        let text = std::fs::read_to_string(desk.path(file)).unwrap();
        text[text.find("[material]").unwrap()..].to_owned()
    };
    assert_eq!(weights("first/best.toml"), weights("second/start.toml"));
    assert_refused(&desk.tune("third", &["--from", "nowhere"]), &["nowhere"]);
    assert!(!desk.path("third").exists());
}

#[test]
fn tables_that_do_not_go_together_are_refused() {
    let cases = [
        (small("", MEASURED[0]), "fitness.opponent"),
        (
            small("", PAIRED[0]).replace("knight = 3,", "knigth = 3,"),
            "method.seeded",
        ),
        (
            small("", PAIRED[1]).replace("{ knight", "{ horse"),
            "method.reach",
        ),
        (
            small("opponent = 'gone.toml'\ngames = 2", MEASURED[0]),
            "gone.toml",
        ),
        (
            small("opponent = 'default'\ngames = 4", MEASURED[0]),
            "fitness.games",
        ),
        (
            small("opponent = 'default'\ngames = 2", "name = 'adam'"),
            "method.name",
        ),
        (
            small("plies = 0", PAIRED[0]).replace("plies = 1\n", ""),
            "fitness.plies",
        ),
        (
            small("", PAIRED[0])
                .replace("'games'", "'moves'")
                .replace("\"games\"", "\"moves\""),
            "small.toml",
        ),
    ];
    for (text, part) in cases {
        assert_refused(&Desk::new(&text).tune("out", &[]), &[part]);
    }
}

#[test]
fn genes_in_pawns_become_weights_in_centipawns() {
    let (_, genome) = preset("nasreddine-2006");
    let names = [
        "queen",
        "rook",
        "bishop",
        "knight",
        "pawn_doubled",
        "legal_moves",
    ];
    let values = [7.57, 4.66, 4.41, 3.16, -0.44, 0.11];
    let genes: BTreeMap<String, f64> = names.map(str::to_owned).into_iter().zip(values).collect();
    let weights = genome.weights(&genome.genes_named(&genes).unwrap());
    let printed = Weights::load(std::path::Path::new("weights/papers/nasreddine-2006.toml"));
    assert_eq!(weights.genes(), printed.unwrap().genes());
}
