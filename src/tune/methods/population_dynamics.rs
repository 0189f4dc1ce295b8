//! Population dynamics, after Kendall and Whitwell (2001): pairs play two games, a mutated clone of
//! the winner replaces the loser, and mutation scales with the spread of the population.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::loser_replacement::{
    ReplacesLosers, ResultSource, SeedGenes, check_seeds, play_generation, seeded_population,
};
use super::ordered_matches::PairResults;
use super::{
    Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState, PopulationState,
};
use crate::play::game::PlayerResult;
use crate::random::Purpose;
use crate::tune::genome::Genome;
use crate::tune::settings::{NamedSettings, SettingError, check_range};
use crate::tune::statistics::mean_and_deviation;

/// The table `[method]` of a preset that says `name = "population-dynamics"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PopulationDynamicsSettings {
    pub name: String,
    pub population: usize,
    /// What decides a match.
    pub results: ResultSource,
    /// Reverse the population after each generation, so that the best starts the next.
    pub reverse: bool,
    /// R of the clone that replaces the loser of both games.
    pub two_wins: f64,
    /// R of the clone that replaces the loser after a win and a draw; then R of the winner.
    pub win_and_draw: f64,
    pub narrow_winner: f64,
    /// R of both after a drawn match.
    pub drawn_match: f64,
    /// A gene whose standard deviation is below this is perturbed after each generation ...
    pub converged: f64,
    /// ... in each member with this probability, by up to this much either way.
    #[serde(alias = "stirred")]
    pub perturbed: f64,
    #[serde(alias = "stir")]
    pub perturbation: f64,
    /// Members of the initial population.
    pub seeded: Vec<SeedGenes>,
}

impl Default for PopulationDynamicsSettings {
    fn default() -> PopulationDynamicsSettings {
        PopulationDynamicsSettings {
            name: Self::NAME.to_owned(),
            population: 50,
            results: ResultSource::Games,
            reverse: true,
            two_wins: 2.0,
            win_and_draw: 1.0,
            narrow_winner: 0.2,
            drawn_match: 0.5,
            converged: 0.0,
            perturbed: 0.1,
            perturbation: 0.0,
            seeded: Vec::new(),
        }
    }
}

impl NamedSettings for PopulationDynamicsSettings {
    const NAME: &'static str = "population-dynamics";
}

impl MethodConfig for PopulationDynamicsSettings {
    fn validate(&self) -> Result<(), SettingError> {
        let factors = [
            ("two_wins", self.two_wins),
            ("win_and_draw", self.win_and_draw),
            ("narrow_winner", self.narrow_winner),
            ("drawn_match", self.drawn_match),
            ("converged", self.converged),
            ("perturbation", self.perturbation),
        ];
        check_range("population", self.population, 2..=1_000_000)?;
        check_range("seeded", self.seeded.len(), 0..=self.population)?;
        check_range("perturbed", self.perturbed, 0.0..=1.0)?;
        for (key, value) in factors {
            check_range(key, value, 0.0..=1e6)?;
        }
        Ok(())
    }

    fn validate_for(&self, genome: &Genome) -> Result<(), SettingError> {
        check_seeds(&self.seeded, genome)
    }

    fn selects_by_games(&self) -> bool {
        true
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(PopulationDynamics::new(self.clone()))
    }
}

impl ReplacesLosers for PopulationDynamicsSettings {
    fn results(&self) -> ResultSource {
        self.results
    }

    /// Replaces or mutates the two members that played a match.
    fn apply_result(
        &self,
        members: [usize; 2],
        population: &mut [Individual],
        results: PairResults,
        genome: &Genome,
        random: &mut ChaCha8Rng,
    ) {
        let deviations = deviations(population, genome.len());
        let mut mutated = |genes: &[f64], factor: f64| -> Vec<f64> {
            let genes = genes.iter().zip(&genome.genes).zip(&deviations);
            let moved = genes.map(|((value, gene), deviation)| {
                let step = (random.random::<f64>() - 0.5) * factor * deviation;
                (value + step).clamp(gene.low, gene.high)
            });
            moved.collect()
        };
        let lead = lead(results);
        if lead == 0 {
            for index in members {
                population[index].genes = mutated(&population[index].genes, self.drawn_match);
            }
            return;
        }
        let [winner, loser] = if lead > 0 {
            members
        } else {
            [members[1], members[0]]
        };
        let clear = lead.abs() == 2;
        let factor = if clear {
            self.two_wins
        } else {
            self.win_and_draw
        };
        population[loser].genes = mutated(&population[winner].genes, factor);
        if !clear {
            population[winner].genes = mutated(&population[winner].genes, self.narrow_winner);
        }
    }
}

impl PopulationDynamicsSettings {
    /// Perturbs genes on which the population has converged.
    fn perturb_converged(&self, population: &mut [Individual], context: &GenerationContext<'_>) {
        let deviations = deviations(population, context.genome.len());
        for (index, gene) in context.genome.genes.iter().enumerate() {
            if deviations[index] >= self.converged {
                continue;
            }
            let number = population.len() + index;
            let mut random = context.stream(Purpose::Variation, number);
            for member in population.iter_mut() {
                let step = (2.0 * random.random::<f64>() - 1.0) * self.perturbation;
                if random.random_bool(self.perturbed) {
                    member.genes[index] = (member.genes[index] + step).clamp(gene.low, gene.high);
                }
            }
        }
    }
}

/// Wins minus losses.
fn lead(results: PairResults) -> i32 {
    let worth = |verdict: &PlayerResult| verdict.half_points() as i32 - 1;
    results.iter().map(worth).sum()
}

fn deviations(population: &[Individual], genes: usize) -> Vec<f64> {
    let of = |index: usize| {
        let values: Vec<f64> = population.iter().map(|one| one.genes[index]).collect();
        mean_and_deviation(&values).1
    };
    (0..genes).map(of).collect()
}

pub type PopulationDynamics = MethodState<PopulationDynamicsSettings, PopulationState>;

impl Algorithm for PopulationDynamics {
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        let settings = &self.settings;
        self.state = seeded_population(&settings.seeded, settings.population, context);
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        let MethodState { settings, state } = self;
        let population = &mut state.population;
        play_generation(population, context, settings);
        settings.perturb_converged(population, context);
        if settings.reverse {
            population.reverse();
        }
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }

    /// The paper's player is the mean of its population.
    fn champion(&self) -> Individual {
        let population = &self.state.population;
        let count = population.len().max(1) as f64;
        let genes = population.first().map_or(0, |one| one.genes.len());
        let mean =
            |index: usize| population.iter().map(|one| one.genes[index]).sum::<f64>() / count;
        let mut average = Individual::new((0..genes).map(mean).collect());
        let worth: f64 = population.iter().map(Individual::fitness_or_lowest).sum();
        average.fitness = Some(worth / count);
        average
    }
}
