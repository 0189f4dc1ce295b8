//! Differential evolution: every member is challenged by a mixture of itself, one of the best,
//! and the difference of two others (current-to-pbest/1/bin, with a factor drawn for each).

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{Evolving, Individual, Method, MethodConfig, Steps, Surroundings};
use crate::random::{Purpose, stream};
use crate::tune::genome::Gene;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "de"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeSettings {
    pub name: String,
    pub population: usize,
    /// Smallest and largest factor of a difference.
    pub factor: [f64; 2],
    /// The chance of a gene to come from the mixture.
    pub crossover: f64,
    /// Share of the population that counts as the best.
    pub elite: f64,
    /// Deviation of a start around the base, as a share of each gene's range.
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

#[derive(Default, Deserialize, Serialize)]
pub struct State {
    population: Vec<Individual>,
}

pub type De = Evolving<DeSettings, State>;

impl De {
    fn challenger(&self, place: usize, ranking: &[usize], around: &Surroundings<'_>) -> Individual {
        let mut random = stream(
            around.seed,
            Purpose::Variation,
            around.generation,
            place as u64,
        );
        let population = &self.state.population;
        let elite = (self.settings.elite * population.len() as f64)
            .ceil()
            .max(1.0) as usize;
        let best = &population[ranking[random.random_range(0..elite.min(ranking.len()))]].genes;
        let first = other_than(&[place], population.len(), &mut random);
        let second = other_than(&[place, first], population.len(), &mut random);
        let (one, two) = (&population[first], &population[second]);
        let [low, high] = self.settings.factor;
        let factor = low + (high - low) * random.random::<f64>();
        let own = &population[place].genes;
        let always = random.random_range(0..own.len());
        let mixed = around.genome.genes.iter().enumerate().map(|(at, gene)| {
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
        let place = random.random_range(0..count);
        if !taken.contains(&place) {
            return place;
        }
    }
}

/// A value outside its bounds comes to lie halfway between the old one and the bound.
fn bounced(value: f64, old: f64, gene: &Gene) -> f64 {
    if value < gene.low {
        (gene.low + old) / 2.0
    } else if value > gene.high {
        (gene.high + old) / 2.0
    } else {
        value
    }
}

impl Steps for De {
    fn begin(&mut self, around: &Surroundings<'_>) {
        self.state.population =
            around.first_population(self.settings.population, self.settings.spread);
        around.evaluate(&mut self.state.population);
    }

    fn advance(&mut self, around: &Surroundings<'_>) {
        around.forget_if_redrawn(&mut self.state.population);
        around.evaluate(&mut self.state.population);
        let population = &self.state.population;
        let mut ranking: Vec<usize> = (0..population.len()).collect();
        ranking.sort_by(|a, b| population[*b].worth().total_cmp(&population[*a].worth()));
        let mut challengers: Vec<_> = (0..population.len())
            .map(|place| self.challenger(place, &ranking, around))
            .collect();
        around.evaluate(&mut challengers);
        for (member, challenger) in self.state.population.iter_mut().zip(challengers) {
            // Equals replace too: on a count of steps, drifting along a step finds its end.
            if challenger.worth() >= member.worth() {
                *member = challenger;
            }
        }
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
