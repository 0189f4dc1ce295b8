//! Fitness from outside: games are measured on fresh openings and validated on others, what is
//! noisy is averaged, and standard errors respect games.

use std::sync::Arc;

use finch::data::{Case, Selection, Source, collect};
use finch::eval::Weights;
use finch::tune::fitness::{
    Batch, Fitness, FitnessConfig, GamesFitness, GamesSettings, OpeningSource, QuiescenceLimits,
    ValueAndGradient, share_of_moves,
};
use finch::tune::genome::Genome;
use finch::tune::methods::{GenerationContext, Individual};
use finch::tune::preset::Preset;
use tempfile::TempDir;

use crate::support::random_games;

fn genome() -> Arc<Genome> {
    let preset = Preset::load("vazquez-2013").unwrap();
    Arc::new(Genome::new(&preset.genome, Weights::zero("none")).unwrap())
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
    GamesFitness::new(genome(), settings, Some(Weights::zero("opponent")))
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
                founders: &[],
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
    let share = |cases: &[Case]| share_of_moves(cases, &weights, QuiescenceLimits::default());
    let measured = share(&cases);
    assert!((2..=40).contains(&measured.clusters) && measured.count == cases.len());
    // The same games four times over, each copy still the same game: nothing new is known.
    let copies: Vec<Case> = (0..4).flat_map(|_| cases.clone()).collect();
    let copied = share(&copies);
    assert!((copied.standard_error - measured.standard_error).abs() < 1e-12);
    let plain = (copied.mean * (1.0 - copied.mean) / copied.count as f64).sqrt();
    assert!(copied.standard_error > 1.5 * plain, "{copied:?} {plain}");
}
