//! A genetic algorithm after David-Tabibi, Koppel and Netanyahu (2011): parents are drawn in
//! proportion to their fitness, pairs exchange what lies behind a random point, single bits turn
//! over; then the best is copied over the worst.
//!
//! The paper's fitness is minus the mean error, and no share of a wheel is negative; where it
//! explains itself it speaks of a fitness inversely proportional to the error. So
//! that is what `proportion = "inverse"` takes.

use std::collections::BTreeMap;

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{Evolving, Individual, Method, MethodConfig, Steps, Surroundings, rank};
use crate::random::{Purpose, stream};
use crate::tune::genome::{Gene, Genome};
use crate::tune::operators::bits::{self, Coding};
use crate::tune::operators::{Kind, Mutation};
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "ga"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct GaSettings {
    pub name: String,
    pub population: usize,
    pub coding: Representation,
    pub proportion: Proportion,
    /// The power of a share of the wheel: above 1 the better are favoured more.
    pub pressure: f64,
    /// The chance of a pair to exchange genes.
    pub crossover: f64,
    /// How many of the worst give way to copies of the best.
    pub elite: usize,
    /// Bits: how many each gene has, and those that have another number.
    pub bits: u32,
    pub lengths: BTreeMap<String, u32>,
    /// Bits: the chance of each to turn over.
    pub bit_mutation: f64,
    /// Real numbers: how each child mutates.
    pub mutation: Mutation,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Representation {
    /// Genes are written in binary digits.
    #[default]
    Bits,
    /// Genes are what they are; the point of a crossover lies between two of them.
    Real,
}

/// What a parent's share of the wheel is proportional to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proportion {
    /// How much better than the worst it is: for any fitness.
    #[default]
    AboveWorst,
    /// The fitness itself, for those above zero.
    Fitness,
    /// One over the error, for a fitness that is minus an error.
    Inverse,
}

impl Default for GaSettings {
    fn default() -> GaSettings {
        GaSettings {
            name: Self::NAME.to_owned(),
            population: 100,
            coding: Representation::Bits,
            proportion: Proportion::AboveWorst,
            pressure: 1.0,
            crossover: 0.75,
            elite: 1,
            bits: 8,
            lengths: BTreeMap::new(),
            bit_mutation: 0.002,
            mutation: Mutation {
                kind: Kind::Gaussian,
                probability: 0.02,
                ..Mutation::default()
            },
        }
    }
}

/// More digits than this a real number cannot tell apart.
const MOST_BITS: u32 = 48;

impl NamedSettings for GaSettings {
    const NAME: &'static str = "ga";
}

impl MethodConfig for GaSettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("population", self.population, 2..=1_000_000)?;
        check_range("pressure", self.pressure, 0.0..=100.0)?;
        check_range("crossover", self.crossover, 0.0..=1.0)?;
        check_range("elite", self.elite, 0..=self.population / 2)?;
        check_range("bits", self.bits, 1..=MOST_BITS)?;
        for (name, bits) in &self.lengths {
            check_range(&format!("lengths.{name}"), *bits, 1..=MOST_BITS)?;
        }
        check_range("bit_mutation", self.bit_mutation, 0.0..=1.0)?;
        self.mutation.validate()
    }

    fn validate_for(&self, genome: &Genome) -> Result<(), SettingError> {
        let mut names = self.lengths.keys();
        match names.find(|name| genome.place_named(name).is_none()) {
            Some(name) => Err(SettingError::new(format!("lengths.{name}"), "no such gene")),
            None => Ok(()),
        }
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(Ga::new(self.clone()))
    }
}

impl GaSettings {
    pub fn length_of(&self, gene: &Gene) -> u32 {
        self.lengths.get(&gene.name).copied().unwrap_or(self.bits)
    }

    fn coding_of<'a>(&self, genome: &'a Genome) -> Coding<'a> {
        Coding::new(genome, |gene| self.length_of(gene))
    }

    /// Where each member's part of the wheel ends.
    fn wheel(&self, population: &[Individual]) -> Vec<f64> {
        let worst = population.iter().map(Individual::worth);
        let worst = worst.fold(f64::INFINITY, f64::min);
        let mut end = 0.0;
        let parts = population.iter().map(|one| {
            let part = match self.proportion {
                Proportion::AboveWorst => one.worth() - worst,
                Proportion::Fitness => one.worth().max(0.0),
                Proportion::Inverse => 1.0 / (-one.worth()).max(1e-9),
            };
            end += part.powf(self.pressure);
            end
        });
        parts.collect()
    }

    /// Both children of two parents.
    fn children(
        &self,
        parents: [&Individual; 2],
        around: &Surroundings<'_>,
        random: &mut ChaCha8Rng,
    ) -> [Individual; 2] {
        let crosses = random.random_bool(self.crossover);
        match self.coding {
            Representation::Bits => {
                let coding = self.coding_of(around.genome);
                let [mut one, mut other] = parents.map(|parent| coding.bits(&parent.genes));
                if crosses {
                    bits::cross(&mut one, &mut other, random);
                }
                [one, other].map(|mut string| {
                    bits::flip(&mut string, self.bit_mutation, random);
                    Individual::new(coding.genes(&string))
                })
            }
            Representation::Real => {
                let [mut one, mut other] = parents.map(Individual::clone);
                if crosses {
                    bits::cross(&mut one.genes, &mut other.genes, random);
                }
                let mutation = &self.mutation;
                [one, other]
                    .map(|child| mutation.child(&child, around.genome, around.time(), random))
            }
        }
    }
}

/// A member drawn by its part of the wheel; any, where nobody has one.
fn spin(wheel: &[f64], random: &mut impl Rng) -> usize {
    let end = wheel.last().copied().unwrap_or(0.0);
    if !(end > 0.0 && end.is_finite()) {
        return random.random_range(0..wheel.len());
    }
    let point = end * random.random::<f64>();
    wheel
        .partition_point(|part| *part <= point)
        .min(wheel.len() - 1)
}

#[derive(Default, Deserialize, Serialize)]
pub struct Herd {
    population: Vec<Individual>,
}

impl Herd {
    fn settle(&mut self, settings: &GaSettings, around: &Surroundings<'_>) {
        around.evaluate(&mut self.population);
        rank(&mut self.population);
        let count = self.population.len();
        for place in 1..=settings.elite {
            self.population[count - place] = self.population[0].clone();
        }
        rank(&mut self.population);
    }
}

impl Herd {
    fn begin(&mut self, settings: &GaSettings, around: &Surroundings<'_>) {
        self.population = around.first_population(settings.population, settings.mutation.deviation);
        if settings.coding == Representation::Bits {
            let coding = settings.coding_of(around.genome);
            for one in &mut self.population {
                one.genes = coding.genes(&coding.bits(&one.genes));
            }
        }
        self.settle(settings, around);
    }

    fn advance(&mut self, settings: &GaSettings, around: &Surroundings<'_>) {
        let wheel = settings.wheel(&self.population);
        let pairs = 0..settings.population.div_ceil(2) as u64;
        let born = pairs.flat_map(|pair| {
            let mut random = stream(around.seed, Purpose::Variation, around.generation, pair);
            let mut parent = || &self.population[spin(&wheel, &mut random)];
            let parents = [parent(), parent()];
            settings.children(parents, around, &mut random)
        });
        let mut born: Vec<_> = born.collect();
        born.truncate(settings.population);
        self.population = born;
        self.settle(settings, around);
    }
}

pub type Ga = Evolving<GaSettings, Herd>;

impl Steps for Ga {
    fn begin(&mut self, around: &Surroundings<'_>) {
        self.state.begin(&self.settings, around);
    }

    fn advance(&mut self, around: &Surroundings<'_>) {
        self.state.advance(&self.settings, around);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
