//! What the two methods that replace losers share: the pairs of a generation and the initial
//! population.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::ordered_matches::{MatchPair, PairResults, play_in_order};
use super::{GenerationContext, Individual, PopulationState};
use crate::play::game::PlayerResult;
use crate::random::Purpose;
use crate::tune::fitness::EVEN_SCORE;
use crate::tune::genome::Genome;
use crate::tune::settings::SettingError;

/// A member of the initial population, by the names of its genes.
pub type SeedGenes = BTreeMap<String, f64>;

/// What decides the games of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultSource {
    #[default]
    Games,
    /// Chance alone: shows what a method does to its genes without selection.
    Chance,
}

/// Share of draws among results by chance, about that of real games between such players.
const CHANCE_DRAWS: f64 = 0.1;

/// Settings of a method that replaces losers.
pub trait ReplacesLosers {
    fn results(&self) -> ResultSource {
        ResultSource::Games
    }

    /// Replaces or mutates the two members that played a match; `results` are those of the first.
    fn apply_result(
        &self,
        members: [usize; 2],
        population: &mut [Individual],
        results: PairResults,
        genome: &Genome,
        random: &mut ChaCha8Rng,
    );
}

/// Fails unless each seed names every gene of the genome and nothing else.
pub fn check_seeds(seeds: &[SeedGenes], genome: &Genome) -> Result<(), SettingError> {
    for seed in seeds {
        genome
            .genes_named(seed)
            .map_err(|problem| SettingError::new("seeded", problem))?;
    }
    Ok(())
}

/// An initial population: the seeds in their order, then random individuals. Before the first game
/// all have the same fitness.
pub fn seeded_population(
    seeds: &[SeedGenes],
    size: usize,
    context: &GenerationContext<'_>,
) -> PopulationState {
    let mut population = context.initial_population(size, 0.0);
    for (member, seed) in population.iter_mut().zip(seeds) {
        // Checked when the preset was read.
        if let Ok(genes) = context.genome.genes_named(seed) {
            member.genes = genes;
        }
    }
    population
        .iter_mut()
        .for_each(|one| one.fitness = Some(EVEN_SCORE));
    PopulationState { population }
}

/// Each member in turn plays one drawn from those after it. The settings change the two, with a
/// random stream of the pair's own. The fitness of a member is then its share of the points.
pub fn play_generation(
    population: &mut [Individual],
    context: &GenerationContext<'_>,
    settings: &impl ReplacesLosers,
) {
    let Some(arena) = context.fitness.arena() else {
        return;
    };
    let pairs = pairs(population.len(), arena.openings(), context);
    let mut half_points = vec![[0_u32; 2]; population.len()];
    let mut drawn = 0;
    let mut enter = |number: usize, population: &mut [Individual], results: PairResults| {
        let members = pairs[number].members;
        for result in results {
            let points = result.half_points();
            drawn += u32::from(points == 1);
            for (index, points) in members.into_iter().zip([points, 2 - points]) {
                half_points[index][0] += points;
                half_points[index][1] += 2;
            }
        }
        let mut random = context.stream(Purpose::Variation, number);
        settings.apply_result(members, population, results, context.genome, &mut random);
    };
    match settings.results() {
        ResultSource::Games => play_in_order(arena, &pairs, population, enter),
        ResultSource::Chance => {
            for number in 0..pairs.len() {
                let mut random = context.stream(Purpose::Game, number);
                enter(
                    number,
                    population,
                    [(); 2].map(|()| result_by_chance(&mut random)),
                );
            }
        }
    }
    log::info!(
        "generation {}: {drawn} of {} games drawn",
        context.generation,
        2 * pairs.len()
    );
    for (member, [points, most]) in population.iter_mut().zip(half_points) {
        member.fitness = Some(f64::from(points) / f64::from(most.max(1)));
    }
}

fn result_by_chance(random: &mut ChaCha8Rng) -> PlayerResult {
    if random.random_bool(CHANCE_DRAWS) {
        PlayerResult::Draw
    } else if random.random() {
        PlayerResult::Win
    } else {
        PlayerResult::Loss
    }
}

/// All pairs of a generation are drawn before its first game, so that no result affects them.
fn pairs(size: usize, openings: usize, context: &GenerationContext<'_>) -> Vec<MatchPair> {
    let pair = |first: usize| {
        let mut random = context.stream(Purpose::Sampling, first);
        MatchPair {
            members: [first, random.random_range(first + 1..size)],
            opening: random.random_range(0..openings),
        }
    };
    (0..size.saturating_sub(1)).map(pair).collect()
}
