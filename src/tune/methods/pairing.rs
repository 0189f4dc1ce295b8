//! What the two methods that replace losers share: who meets whom, and who they start with.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::succession::{Contest, Verdicts, play_in_turn};
use super::{Individual, Surroundings};
use crate::random::{Purpose, stream};
use crate::tune::fitness::EVEN;
use crate::tune::genome::Genome;
use crate::tune::settings::SettingError;

/// A member of the first population, by the names of its genes.
pub type Seed = BTreeMap<String, f64>;

/// All that these methods remember.
#[derive(Default, Deserialize, Serialize)]
pub struct Population {
    pub population: Vec<Individual>,
}

/// Fails unless each seed names every gene of the genome and nothing else.
pub fn check_seeds(seeds: &[Seed], genome: &Genome) -> Result<(), SettingError> {
    for seed in seeds {
        genome
            .genes_named(seed)
            .map_err(|problem| SettingError::new("seeded", problem))?;
    }
    Ok(())
}

/// A first population: the seeds in their order, strangers after them. Before the first game all
/// are worth the same.
pub fn seeded_population(seeds: &[Seed], size: usize, around: &Surroundings<'_>) -> Population {
    let mut population = around.first_population(size, 0.0);
    for (member, seed) in population.iter_mut().zip(seeds) {
        // Checked when the preset was read.
        if let Ok(genes) = around.genome.genes_named(seed) {
            member.genes = genes;
        }
    }
    population
        .iter_mut()
        .for_each(|one| one.fitness = Some(EVEN));
    Population { population }
}

/// Each member in turn meets one drawn from those after it; `settle` changes the two, with a
/// random stream of the contest's own. The fitness of a place is then its share of the points.
pub fn play_generation(
    population: &mut [Individual],
    around: &Surroundings<'_>,
    settle: impl Fn([usize; 2], &mut [Individual], Verdicts, &mut ChaCha8Rng),
) {
    let Some(arena) = around.fitness.arena() else {
        return;
    };
    let contests = contests(population.len(), arena.openings(), around);
    let mut half_points = vec![[0_u32; 2]; population.len()];
    let mut drawn = 0;
    play_in_turn(
        arena,
        &contests,
        population,
        |number, population, verdicts| {
            let places = contests[number].places;
            for verdict in verdicts {
                let points = verdict.half_points();
                drawn += u32::from(points == 1);
                for (place, points) in places.into_iter().zip([points, 2 - points]) {
                    half_points[place][0] += points;
                    half_points[place][1] += 2;
                }
            }
            let purpose = Purpose::Variation;
            let mut random = stream(around.seed, purpose, around.generation, number as u64);
            settle(places, population, verdicts, &mut random);
        },
    );
    log::info!(
        "generation {}: {drawn} of {} games drawn",
        around.generation,
        2 * contests.len()
    );
    for (member, [points, most]) in population.iter_mut().zip(half_points) {
        member.fitness = Some(f64::from(points) / f64::from(most.max(1)));
    }
}

/// All draws of a generation are made before its first game, so no result can shift them.
fn contests(size: usize, openings: usize, around: &Surroundings<'_>) -> Vec<Contest> {
    let contest = |first: usize| {
        let mut random = stream(
            around.seed,
            Purpose::Sampling,
            around.generation,
            first as u64,
        );
        Contest {
            places: [first, random.random_range(first + 1..size)],
            opening: random.random_range(0..openings),
        }
    };
    (0..size.saturating_sub(1)).map(contest).collect()
}
