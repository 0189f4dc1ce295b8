//! A genetic algorithm after David-Tabibi, Koppel and Netanyahu (2011): fitness-proportional
//! selection, one-point crossover, bit-flip mutation, and elitism that copies the best over the
//! worst.
//!
//! The paper's fitness is minus the mean error, and a roulette wheel has no negative shares. Where
//! the paper explains the selection it says that fitness is inversely proportional to the error;
//! `proportion = "inverse"` does that.

use std::collections::BTreeMap;

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{
    Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState, PopulationState,
    rank,
};
use crate::random::Purpose;
use crate::tune::genome::{Gene, Genome};
use crate::tune::operators::bits::{self, BinaryEncoding};
use crate::tune::operators::{Mutation, MutationKind};
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "ga"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct GaSettings {
    pub name: String,
    pub population: usize,
    pub coding: GeneCoding,
    pub proportion: FitnessScaling,
    /// Selection pressure: the power to which shares of the roulette wheel are raised.
    pub pressure: f64,
    /// The probability of crossover for each pair.
    pub crossover: f64,
    /// How many of the worst are replaced by copies of the best.
    pub elite: usize,
    /// Bit strings: the bits of each gene, and the genes that have another number of bits.
    pub bits: u32,
    pub lengths: BTreeMap<String, u32>,
    /// Bit strings: the probability of each bit to flip.
    pub bit_mutation: f64,
    /// Real numbers: how each child mutates.
    pub mutation: Mutation,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GeneCoding {
    /// Genes are coded as bit strings.
    #[default]
    Bits,
    /// Genes are real numbers; the crossover point lies between two genes.
    Real,
}

/// What a parent's share of the roulette wheel is proportional to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FitnessScaling {
    /// The distance from the worst: for any fitness.
    #[default]
    AboveWorst,
    /// The fitness itself, if positive.
    Fitness,
    /// One over the error, for a fitness that is minus an error.
    Inverse,
}

impl Default for GaSettings {
    fn default() -> GaSettings {
        GaSettings {
            name: Self::NAME.to_owned(),
            population: 100,
            coding: GeneCoding::Bits,
            proportion: FitnessScaling::AboveWorst,
            pressure: 1.0,
            crossover: 0.75,
            elite: 1,
            bits: 8,
            lengths: BTreeMap::new(),
            bit_mutation: 0.002,
            mutation: Mutation {
                kind: MutationKind::Gaussian,
                probability: 0.02,
                ..Mutation::default()
            },
        }
    }
}

/// More bits exceed the precision of a real number.
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
        match names.find(|name| genome.gene_index(name).is_none()) {
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

    fn encoding<'a>(&self, genome: &'a Genome) -> BinaryEncoding<'a> {
        BinaryEncoding::new(genome, |gene| self.length_of(gene))
    }

    /// Cumulative shares of the roulette wheel.
    fn roulette_wheel(&self, population: &[Individual]) -> Vec<f64> {
        let worst = population.iter().map(Individual::fitness_or_lowest);
        let worst = worst.fold(f64::INFINITY, f64::min);
        let mut end = 0.0;
        let parts = population.iter().map(|one| {
            let part = match self.proportion {
                FitnessScaling::AboveWorst => one.fitness_or_lowest() - worst,
                FitnessScaling::Fitness => one.fitness_or_lowest().max(0.0),
                FitnessScaling::Inverse => 1.0 / (-one.fitness_or_lowest()).max(1e-9),
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
        context: &GenerationContext<'_>,
        random: &mut ChaCha8Rng,
    ) -> [Individual; 2] {
        let crosses = random.random_bool(self.crossover);
        match self.coding {
            GeneCoding::Bits => {
                let coding = self.encoding(context.genome);
                let [mut one, mut other] = parents.map(|parent| coding.bits(&parent.genes));
                if crosses {
                    bits::one_point_crossover(&mut one, &mut other, random);
                }
                [one, other].map(|mut string| {
                    bits::flip_mutation(&mut string, self.bit_mutation, random);
                    Individual::new(coding.genes(&string))
                })
            }
            GeneCoding::Real => {
                let [mut one, mut other] = parents.map(Individual::clone);
                if crosses {
                    bits::one_point_crossover(&mut one.genes, &mut other.genes, random);
                }
                let mutation = &self.mutation;
                [one, other]
                    .map(|child| mutation.child(&child, context.genome, context.progress(), random))
            }
        }
    }
}

/// An individual drawn by its share; uniformly if all shares are zero.
fn roulette_select(wheel: &[f64], random: &mut impl Rng) -> usize {
    let end = wheel.last().copied().unwrap_or(0.0);
    if !(end > 0.0 && end.is_finite()) {
        return random.random_range(0..wheel.len());
    }
    let point = end * random.random::<f64>();
    wheel
        .partition_point(|part| *part <= point)
        .min(wheel.len() - 1)
}

pub type Ga = MethodState<GaSettings, PopulationState>;

impl Ga {
    /// Evaluates the population and copies the best over the worst (elitism).
    fn evaluate(&mut self, context: &GenerationContext<'_>) {
        let population = &mut self.state.population;
        context.evaluate(population);
        rank(population);
        let count = population.len();
        for index in 1..=self.settings.elite {
            population[count - index] = population[0].clone();
        }
        rank(population);
    }
}

impl Algorithm for Ga {
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        let settings = &self.settings;
        let mut population =
            context.initial_population(settings.population, settings.mutation.deviation);
        if settings.coding == GeneCoding::Bits {
            let encoding = settings.encoding(context.genome);
            for one in &mut population {
                one.genes = encoding.genes(&encoding.bits(&one.genes));
            }
        }
        self.state.population = population;
        self.evaluate(context);
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        let MethodState { settings, state } = self;
        let wheel = settings.roulette_wheel(&state.population);
        let pairs = 0..settings.population.div_ceil(2);
        let children = pairs.flat_map(|pair| {
            let mut random = context.stream(Purpose::Variation, pair);
            let mut parent = || &state.population[roulette_select(&wheel, &mut random)];
            let parents = [parent(), parent()];
            settings.children(parents, context, &mut random)
        });
        state.population = children.take(settings.population).collect();
        self.evaluate(context);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
