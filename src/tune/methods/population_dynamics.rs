//! Population dynamics, after Kendall and Whitwell (2001): pairs play two games, the loser's
//! place goes to a mutated clone of the winner, and mutation is as wide as the population is.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::pairing::{Population, Seed, check_seeds, play_generation, seeded_population};
use super::succession::Verdicts;
use super::{Evolving, Individual, Method, MethodConfig, Steps, Surroundings};
use crate::play::game::PlayerResult;
use crate::random::{Purpose, stream};
use crate::tune::genome::Genome;
use crate::tune::settings::{NamedSettings, SettingError, check_range};
use crate::tune::statistics::mean_and_deviation;

/// The table `[method]` of a preset that says `name = "population-dynamics"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PopulationDynamicsSettings {
    pub name: String,
    pub population: usize,
    /// Turn the population round after each generation, so that the best begins the next.
    pub reverse: bool,
    /// R of the clone that replaces the loser of both games.
    pub two_wins: f64,
    /// R of the clone that replaces the loser after a win and a draw, and of the winner himself.
    pub win_and_draw: f64,
    pub narrow_winner: f64,
    /// R of both after a drawn match.
    pub drawn_match: f64,
    /// A gene whose deviation is smaller than this is stirred after each generation ...
    pub converged: f64,
    /// ... in each member with this chance, by up to so much either way.
    pub stirred: f64,
    pub stir: f64,
    /// Members of the first population.
    pub seeded: Vec<Seed>,
}

impl Default for PopulationDynamicsSettings {
    fn default() -> PopulationDynamicsSettings {
        PopulationDynamicsSettings {
            name: Self::NAME.to_owned(),
            population: 50,
            reverse: true,
            two_wins: 2.0,
            win_and_draw: 1.0,
            narrow_winner: 0.2,
            drawn_match: 0.5,
            converged: 0.0,
            stirred: 0.1,
            stir: 0.0,
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
            ("stir", self.stir),
        ];
        check_range("population", self.population, 2..=1_000_000)?;
        check_range("seeded", self.seeded.len(), 0..=self.population)?;
        check_range("stirred", self.stirred, 0.0..=1.0)?;
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

impl PopulationDynamicsSettings {
    /// What a match does to the two who played it.
    pub fn settle(
        &self,
        places: [usize; 2],
        population: &mut [Individual],
        verdicts: Verdicts,
        genome: &Genome,
        random: &mut impl Rng,
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
        let lead = lead(verdicts);
        if lead == 0 {
            for place in places {
                population[place].genes = mutated(&population[place].genes, self.drawn_match);
            }
            return;
        }
        let [winner, loser] = if lead > 0 {
            places
        } else {
            [places[1], places[0]]
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

    /// Moves some members' genes where the population has become one.
    fn stir(&self, population: &mut [Individual], around: &Surroundings<'_>) {
        let deviations = deviations(population, around.genome.len());
        for (place, gene) in around.genome.genes.iter().enumerate() {
            if deviations[place] >= self.converged {
                continue;
            }
            let number = (population.len() + place) as u64;
            let mut random = stream(around.seed, Purpose::Variation, around.generation, number);
            for member in population.iter_mut() {
                let step = (2.0 * random.random::<f64>() - 1.0) * self.stir;
                if random.random_bool(self.stirred) {
                    member.genes[place] = (member.genes[place] + step).clamp(gene.low, gene.high);
                }
            }
        }
    }
}

/// Games won less games lost.
fn lead(verdicts: Verdicts) -> i32 {
    let worth = |verdict: &PlayerResult| verdict.half_points() as i32 - 1;
    verdicts.iter().map(worth).sum()
}

fn deviations(population: &[Individual], genes: usize) -> Vec<f64> {
    let of = |place: usize| {
        let values: Vec<f64> = population.iter().map(|one| one.genes[place]).collect();
        mean_and_deviation(&values).1
    };
    (0..genes).map(of).collect()
}

pub type PopulationDynamics = Evolving<PopulationDynamicsSettings, Population>;

impl Steps for PopulationDynamics {
    fn begin(&mut self, around: &Surroundings<'_>) {
        let settings = &self.settings;
        self.state = seeded_population(&settings.seeded, settings.population, around);
    }

    fn advance(&mut self, around: &Surroundings<'_>) {
        let Evolving { settings, state } = self;
        let population = &mut state.population;
        play_generation(
            population,
            around,
            |places, population, verdicts, random| {
                settings.settle(places, population, verdicts, around.genome, random);
            },
        );
        settings.stir(population, around);
        if settings.reverse {
            population.reverse();
        }
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }

    /// The player of the paper is the average of its population.
    fn champion(&self) -> Individual {
        let population = &self.state.population;
        let count = population.len().max(1) as f64;
        let genes = population.first().map_or(0, |one| one.genes.len());
        let mean =
            |place: usize| population.iter().map(|one| one.genes[place]).sum::<f64>() / count;
        let mut average = Individual::new((0..genes).map(mean).collect());
        let worth: f64 = population.iter().map(Individual::worth).sum();
        average.fitness = Some(worth / count);
        average
    }
}
