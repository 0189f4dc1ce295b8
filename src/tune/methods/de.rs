//! Differential evolution (current-to-pbest/1/bin): each member competes with a trial vector made
//! of itself, one of the best, and the difference of two others. The factor is drawn for each.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{
    Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState, PopulationState,
};
use crate::random::Purpose;
use crate::tune::genome::Gene;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "de"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeSettings {
    pub name: String,
    pub population: usize,
    /// The smallest and the largest differential weight F.
    pub factor: [f64; 2],
    /// The crossover probability CR: the chance of a gene to come from the mutant vector.
    pub crossover: f64,
    /// The share p of the population that counts as the best.
    pub elite: f64,
    /// Standard deviation of an initial population around the base, as a share of each gene's
    /// range.
    pub spread: f64,
}

impl Default for DeSettings {
    fn default() -> DeSettings {
        DeSettings {
            name: Self::NAME.to_owned(),
            population: 40,
            factor: [0.3, 0.9],
            crossover: 0.7,
            elite: 0.15,
            spread: 0.1,
        }
    }
}

impl NamedSettings for DeSettings {
    const NAME: &'static str = "de";
}

impl MethodConfig for DeSettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("population", self.population, 4..=1_000_000)?;
        check_range("factor", self.factor[0], 0.0..=self.factor[1])?;
        check_range("factor", self.factor[1], 0.0..=10.0)?;
        check_range("crossover", self.crossover, 0.0..=1.0)?;
        check_range("elite", self.elite, 0.0..=1.0)?;
        check_range("spread", self.spread, 0.0..=10.0)
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(De::new(self.clone()))
    }
}

pub type De = MethodState<DeSettings, PopulationState>;

impl De {
    fn challenger(
        &self,
        index: usize,
        ranking: &[usize],
        context: &GenerationContext<'_>,
    ) -> Individual {
        let mut random = context.stream(Purpose::Variation, index);
        let population = &self.state.population;
        let elite = (self.settings.elite * population.len() as f64)
            .ceil()
            .max(1.0) as usize;
        let best = &population[ranking[random.random_range(0..elite.min(ranking.len()))]].genes;
        let first = other_than(&[index], population.len(), &mut random);
        let second = other_than(&[index, first], population.len(), &mut random);
        let (one, two) = (&population[first], &population[second]);
        let [low, high] = self.settings.factor;
        let factor = low + (high - low) * random.random::<f64>();
        let own = &population[index].genes;
        let always = random.random_range(0..own.len());
        let mixed = context.genome.genes.iter().enumerate().map(|(at, gene)| {
            if at != always && !random.random_bool(self.settings.crossover) {
                return own[at];
            }
            let pull = best[at] - own[at] + one.genes[at] - two.genes[at];
            bounced(own[at] + factor * pull, own[at], gene)
        });
        Individual::new(mixed.collect())
    }
}

fn other_than(taken: &[usize], count: usize, random: &mut impl Rng) -> usize {
    loop {
        let index = random.random_range(0..count);
        if !taken.contains(&index) {
            return index;
        }
    }
}

/// A value outside its bounds is set halfway between the old one and the bound.
fn bounced(value: f64, old: f64, gene: &Gene) -> f64 {
    if value < gene.low {
        (gene.low + old) / 2.0
    } else if value > gene.high {
        (gene.high + old) / 2.0
    } else {
        value
    }
}

impl Algorithm for De {
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        self.state.population =
            context.initial_population(self.settings.population, self.settings.spread);
        context.evaluate(&mut self.state.population);
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        context.clear_stale_fitness(&mut self.state.population);
        context.evaluate(&mut self.state.population);
        let population = &self.state.population;
        let mut ranking: Vec<usize> = (0..population.len()).collect();
        ranking.sort_by(|a, b| {
            population[*b]
                .fitness_or_lowest()
                .total_cmp(&population[*a].fitness_or_lowest())
        });
        let mut challengers: Vec<_> = (0..population.len())
            .map(|index| self.challenger(index, &ranking, context))
            .collect();
        context.evaluate(&mut challengers);
        for (member, challenger) in self.state.population.iter_mut().zip(challengers) {
            // Equals replace too: on a fitness with plateaus drift helps to leave them.
            if challenger.fitness_or_lowest() >= member.fitness_or_lowest() {
                *member = challenger;
            }
        }
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
