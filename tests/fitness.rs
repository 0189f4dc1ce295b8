//! Fitness from outside: games are measured on fresh openings and validated on others, what is
//! noisy is averaged, standard errors respect games, and Texel's method reads every format.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use finch::data::{Case, LabelNeeds, Labels, Selection, Source, collect, collect_labels};
use finch::eval::Weights;
use finch::tune::fitness::{
    Batch, Fitness, FitnessConfig, GamesFitness, GamesSettings, MentorFitness, MentorLoss,
    MentorSettings, OpeningSource, QuiescenceLimits, ResultsFitness, ResultsLoss, ResultsSettings,
    Ties, ValueAndGradient, cases_solved, gradient_speed, share_of_cases,
};
use finch::tune::genome::{Candidate, Genome};
use finch::tune::methods::{GenerationContext, Individual};
use finch::tune::preset::Preset;
use tempfile::TempDir;

use crate::support::random_games;

fn genome() -> Arc<Genome> {
    let preset = Preset::load("vazquez-2013").unwrap();
    Arc::new(preset.genome.build().unwrap())
}

fn games_fitness(validation_games: usize) -> GamesFitness {
    let settings = GamesSettings {
        openings: OpeningSource::Book,
        opponent: "default".to_owned(),
        plies: 1,
        max_moves: 10,
        validation_games,
        ..GamesSettings::default()
    };
    settings.validate().unwrap();
    let opponent = Candidate::Weights(Weights::zero("opponent"));
    GamesFitness::new(genome(), settings, Some(opponent)).unwrap()
}

#[test]
fn games_fitness_draws_fresh_openings_each_generation_and_validates_on_others() {
    let fitness = games_fitness(8);
    assert!(!fitness.is_fixed(), "generations play other games");
    let openings = |generation| fitness.training_openings(&fitness.batch(1, generation));
    assert_ne!(openings(1), openings(2));
    assert_eq!(openings(2), openings(2));
    let validation = fitness.validation_openings();
    assert_eq!(validation.len(), 4);
    let everything = fitness.training_openings(&Batch::All);
    assert!(validation.iter().all(|one| !everything.contains(one)));
    let genes = genome().base_genes();
    let share = fitness.validate(&genes).unwrap();
    assert!((0.0..=1.0).contains(&share), "{share}");
    assert_eq!(
        fitness.validate(&genes),
        Some(share),
        "the same games each time"
    );
    assert_eq!(games_fitness(0).validate(&genes), None);
}

/// Gives every individual the number of the generation.
struct Scripted {
    settings: GamesSettings,
    averages: bool,
}

impl Fitness for Scripted {
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        let Batch::Some(generation) = batch else {
            unreachable!()
        };
        vec![f64::from(generation[0]); individuals.len()]
    }

    fn batch(&self, _seed: u64, generation: u64) -> Batch {
        Batch::Some(vec![generation as u32])
    }

    fn is_fixed(&self) -> bool {
        false
    }

    fn averages_generations(&self) -> bool {
        self.averages
    }

    fn validate(&self, _individual: &[f64]) -> Option<f64> {
        None
    }

    fn gradient(&self, _individual: &[f64], _batch: &Batch) -> Option<ValueAndGradient> {
        None
    }

    fn case_count(&self) -> usize {
        1
    }

    fn config(&self) -> &dyn FitnessConfig {
        &self.settings
    }
}

#[test]
fn a_survivor_of_noisy_generations_has_the_mean_of_all_its_games() {
    let genome = genome();
    let measured = |averages| {
        let fitness = Scripted {
            settings: GamesSettings::default(),
            averages,
        };
        let mut population = vec![Individual::new(genome.base_genes())];
        for generation in [9, 2, 4] {
            let context = GenerationContext {
                genome: &genome,
                fitness: &fitness,
                ancestors: &[],
                seed: 1,
                generation,
                generations: 10,
            };
            context.evaluate_and_rank(&mut population);
        }
        population[0].fitness
    };
    assert_eq!(measured(true), Some(5.0));
    assert_eq!(measured(false), Some(4.0));
    assert!(games_fitness(0).averages_generations());
}

#[test]
fn the_error_of_a_share_grows_when_positions_come_from_few_games() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("games.pgn");
    std::fs::write(&path, random_games(40, 40, 5)).unwrap();
    let selection = Selection {
        positions: 200,
        ..Selection::default()
    };
    let cases = collect(&[Source::file(path)], &selection).unwrap().training;
    let weights = Weights::default();
    let share = |cases: &[Case]| {
        let limits = QuiescenceLimits::default();
        share_of_cases(cases, &cases_solved(cases, &weights, limits, Ties::Hash))
    };
    let measured = share(&cases);
    assert!((2..=40).contains(&measured.clusters) && measured.count == cases.len());
    // The same games four times over, each copy still the same game: nothing new is known.
    let copies: Vec<Case> = (0..4).flat_map(|_| cases.clone()).collect();
    let copied = share(&copies);
    assert!((copied.standard_error - measured.standard_error).abs() < 1e-12);
    let plain = (copied.mean * (1.0 - copied.mean) / copied.count as f64).sqrt();
    assert!(copied.standard_error > 1.5 * plain, "{copied:?} {plain}");
}

#[test]
fn a_tie_counts_only_where_every_best_move_counts() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("games.pgn");
    fs::write(&path, random_games(20, 40, 7)).unwrap();
    let selection = Selection {
        positions: 100,
        ..Selection::default()
    };
    let cases = collect(&[Source::file(path)], &selection).unwrap().training;
    let limits = QuiescenceLimits::default();
    let solved = |weights: &Weights, ties| cases_solved(&cases, weights, limits, ties);
    let count = |solved: &[bool]| solved.iter().filter(|one| **one).count();
    // Without any weight nearly all moves are equal: mates and stalemates aside.
    let zero = Weights::zero("nothing");
    let [by_hash, by_hit] = [Ties::Hash, Ties::Hit].map(|ties| count(&solved(&zero, ties)));
    assert!(
        by_hit * 10 >= 9 * cases.len(),
        "{by_hit} of {}",
        cases.len()
    );
    assert!(by_hash * 2 < cases.len(), "{by_hash} of {}", cases.len());
    // What is found without a tie is found by either rule.
    let weights = Weights::default();
    let [strict, generous] = [Ties::Hash, Ties::Hit].map(|ties| solved(&weights, ties));
    assert!(
        strict
            .iter()
            .zip(&generous)
            .all(|(strict, generous)| !strict || *generous)
    );
}

const RESULT: LabelNeeds = LabelNeeds {
    score: false,
    result: true,
};

/// The quiet positions of random games, with results.
fn labels_of_random_games() -> Labels {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("games.pgn");
    fs::write(&path, random_games(60, 60, 9)).unwrap();
    let selection = Selection {
        positions: 0,
        validation_share: 0.25,
        ..Selection::default()
    };
    collect_labels(&[Source::file(path)], &selection, RESULT).unwrap()
}

fn texel_genome() -> Arc<Genome> {
    let preset = Preset::load("texel").unwrap();
    Arc::new(preset.genome.build().unwrap())
}

fn results_fitness(labels: &Labels, settings: ResultsSettings) -> ResultsFitness {
    settings.validate().unwrap();
    ResultsFitness::new(texel_genome(), settings, labels).unwrap()
}

#[test]
fn the_gradient_of_results_is_the_derivative_of_either_loss() {
    let labels = labels_of_random_games();
    let genome = texel_genome();
    let genes = genome.base_genes();
    for loss in [ResultsLoss::Squared, ResultsLoss::Logistic] {
        let settings = ResultsSettings {
            loss,
            ..ResultsSettings::default()
        };
        let fitness = results_fitness(&labels, settings);
        let at = fitness.gradient(&genes, &Batch::All).unwrap();
        let value = |index: usize, step: f64| {
            let mut genes = genes.clone();
            genes[index] += step;
            fitness.evaluate(&[&genes], &Batch::All)[0]
        };
        assert!((at.value - value(0, 0.0)).abs() < 1e-12);
        let everyone = Batch::Some((0..fitness.case_count() as u32).collect());
        let again = fitness.gradient(&genes, &everyone).unwrap();
        assert_eq!(again.gradient, at.gradient);
        for name in ["pawn midgame", "queen endgame", "rook midgame"] {
            let index = genome.gene_index(name).unwrap();
            let measured = (value(index, 8.0) - value(index, -8.0)) / 16.0;
            let error = (at.gradient[index] - measured).abs();
            let tolerance = 2e-6 + 0.05 * measured.abs();
            assert!(error < tolerance, "{loss:?} {name}: {measured}");
        }
    }
}

#[test]
fn k_is_fitted_to_the_base_weights_and_may_be_given() {
    let labels = labels_of_random_games();
    for loss in [ResultsLoss::Squared, ResultsLoss::Logistic] {
        let with = |k: Option<f64>| {
            let settings = ResultsSettings {
                loss,
                k,
                ..ResultsSettings::default()
            };
            results_fitness(&labels, settings)
        };
        let fitted = with(None);
        let value = |k: f64| {
            let fitness = with(Some(k));
            assert!((fitness.k() - k).abs() < 1e-12);
            fitness.evaluate(&[&texel_genome().base_genes()], &Batch::All)[0]
        };
        let best = value(fitted.k());
        assert!(best >= value(1.1 * fitted.k()) && best >= value(0.9 * fitted.k()));
    }
}

#[test]
fn without_the_result_only_the_score_counts_as_for_a_mentor() {
    let mut labels = labels_of_random_games();
    for (number, label) in labels.training.iter_mut().enumerate() {
        label.score = 7 * (number as i32 % 100) - 350;
    }
    let settings = ResultsSettings {
        lambda: 0.0,
        k: Some(400.0 / (150.0 * std::f64::consts::LN_10)),
        mentor_scale: Some(90.0),
        ..ResultsSettings::default()
    };
    let results = results_fitness(&labels, settings);
    let settings = MentorSettings {
        loss: MentorLoss::Chance,
        mentor_scale: Some(90.0),
        own_scale: Some(150.0),
        ..MentorSettings::default()
    };
    let mentor = MentorFitness::new(texel_genome(), settings, &labels);
    let genes = texel_genome().base_genes();
    let value = |fitness: &dyn Fitness| fitness.evaluate(&[&genes], &Batch::All)[0];
    assert!((value(&results) - value(&mentor)).abs() < 1e-9);
}

#[test]
fn positions_of_one_game_are_on_one_side_of_the_split() {
    let labels = labels_of_random_games();
    assert!(!labels.training.is_empty() && !labels.validation.is_empty());
    for label in &labels.validation {
        assert!(labels.training.iter().all(|one| one.source != label.source));
    }
}

fn finch(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_finch"));
    command
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

/// Shortens a run of the preset `texel`.
fn texel<'a>(files: &[&'a str], out: &'a str, threads: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["tune", "texel", "--out", out, "--threads", threads];
    for set in [
        "run.generations=2",
        "run.closing_games=0",
        "method.climb.steps=4",
        "method.climb.batch=0",
    ] {
        arguments.extend(["--set", set]);
    }
    if !files.is_empty() {
        arguments.push("--games");
        arguments.extend(files);
    }
    arguments
}

#[test]
fn texel_lowers_the_loss_on_the_built_in_labels_the_same_on_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let run = |out: &str, threads: &str| {
        let output = finch(folder.path(), &texel(&[], out, threads));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        let best = fs::read_to_string(folder.path().join(out).join("best.toml")).unwrap();
        (String::from_utf8(output.stdout).unwrap(), best)
    };
    let (text, best) = run("one", "1");
    assert!(text.lines().any(|line| line.starts_with("K = ")), "{text}");
    assert!(best.contains("; K = "), "{best}");
    let journal = fs::read_to_string(folder.path().join("one/journal.csv")).unwrap();
    let mut rows = journal
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let column = rows.next().unwrap().iter().position(|name| *name == "best");
    let losses: Vec<f64> = rows
        .map(|row| row[column.unwrap()].parse().unwrap())
        .collect();
    assert!(losses.last() > losses.first(), "{losses:?}");
    assert_eq!(run("two", "2").1, best);
}

#[test]
fn texel_reads_results_in_every_format() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("g.pgn"), random_games(30, 60, 3)).unwrap();
    let selection = Selection {
        positions: 0,
        validation_share: 0.0,
        ..Selection::default()
    };
    let read = |name: &str| collect_labels(&[Source::file(path(name))], &selection, RESULT);
    let labels = read("g.pgn").unwrap().training;
    let lines = |line: &dyn Fn(&str, &str, &str) -> String| -> String {
        let results = ["1-0 1.0", "0-1 0.0", "1/2-1/2 0.5"];
        let labels = labels.iter().map(|label| {
            let result = label.result.unwrap().to_string();
            let (pgn, number) = results
                .iter()
                .find_map(|pair| pair.split_once(' ').filter(|(pgn, _)| *pgn == result))
                .unwrap();
            line(&label.position.fen(), pgn, number) + "\n"
        });
        labels.collect()
    };
    let four = |fen: &str| fen.split(' ').take(4).collect::<Vec<_>>().join(" ");
    let texts = [
        (
            "a.epd",
            lines(&|fen, pgn, _| format!("{} c9 \"{pgn}\";", four(fen))),
        ),
        (
            "b.epd",
            lines(&|fen, _, number| format!("{fen} [{number}]")),
        ),
        ("c.epd", lines(&|fen, pgn, _| format!("{fen} {pgn}"))),
        (
            "d.txt",
            lines(&|fen, _, number| format!("{fen} | 0 | {number}")),
        ),
    ];
    let points = |labels: &[finch::data::Label]| {
        let mut points: Vec<_> = labels
            .iter()
            .map(|label| (label.position.key(), label.points().unwrap() as f32))
            .map(|(key, points)| (key, points.to_bits()))
            .collect();
        points.sort_unstable();
        points
    };
    for (name, text) in texts {
        fs::write(path(name), text).unwrap();
        let again = read(name).unwrap().training;
        assert_eq!(points(&again), points(&labels), "{name}");
    }
    for name in ["g.pgn", "d.txt"] {
        let output = finch(folder.path(), &texel(&[name], &format!("{name}.run"), "2"));
        assert!(output.status.success(), "{name}");
    }
}

#[test]
fn what_texel_cannot_learn_from_is_one_clear_line() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("g.pgn"), random_games(9, 40, 3)).unwrap();
    let scores = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - ce 20;\n";
    fs::write(path("scores.epd"), scores).unwrap();
    let refused = |more: &[&str], mentions: &[&str]| {
        let arguments = [&["tune", "texel", "--out", "out"][..], more].concat();
        let output = finch(folder.path(), &arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
        for word in mentions {
            assert!(error.contains(word), "'{word}' in {error}");
        }
        assert!(!path("out").exists());
    };
    refused(&["--games", "scores.epd"], &["scores.epd:1", "no result"]);
    let half = ["--games", "g.pgn", "--set", "fitness.lambda=0.5"];
    refused(&half, &["g.pgn", "finch label"]);
    refused(&["--set", "genome.base=none"], &["fitness.k", "set it"]);
    refused(
        &["--set", "fitness.lambda=2"],
        &["fitness.lambda", "0 to 1"],
    );
    refused(&["--set", "fitness.loss=cubic"], &["fitness.loss", "cubic"]);
}

#[test]
fn the_speed_of_the_gradient_is_measured() {
    let speed = gradient_speed(3000).unwrap();
    assert_eq!(speed.positions, 3000);
    assert!(speed.bytes > 3000 * 40 && speed.pass_seconds > 0.0);
    assert!(speed.to_string().contains("times as long as reading"));
}
