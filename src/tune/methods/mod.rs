//! How a population becomes better.
//!
//! A [`Method`] holds a population and moves it on by one generation at a time; between two
//! generations everything it knows can be saved and restored, which is all that checkpoints
//! need. It asks the [`Surroundings`] for fitness and takes chance from named streams, so its
//! course depends on the seed alone. A new method is a file here and a line in
//! [`MethodSettings`].

mod adam;
mod cma_es;
mod coevolution;
mod de;
mod dynamic_boundary;
mod ep;
mod ga;
mod memetic;
mod pairing;
mod population_dynamics;
mod succession;

use rand::RngExt;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::fitness::{Batch, Fitness};
use super::genome::{Genome, Start};
use super::settings::{SettingError, settings_list};
use crate::random::{Purpose, stream};

pub use adam::{Adam, AdamSettings, Climb};
pub use cma_es::CmaEsSettings;
pub use coevolution::CoevolutionSettings;
pub use de::DeSettings;
pub use dynamic_boundary::{DynamicBoundarySettings, Tie};
pub use ep::EpSettings;
pub use ga::{GaSettings, Proportion, Representation};
pub use memetic::MemeticSettings;
pub use pairing::Seed;
pub use population_dynamics::PopulationDynamicsSettings;

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Individual {
    pub genes: Vec<f64>,
    /// Self-adaptive mutation's own deviations; empty for other mutations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<f64>,
    /// Unknown until evaluated on the cases of the generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitness: Option<f64>,
}

impl Individual {
    pub fn new(genes: Vec<f64>) -> Individual {
        Individual {
            genes,
            deviations: Vec::new(),
            fitness: None,
        }
    }

    /// The fitness, or less than any.
    pub fn worth(&self) -> f64 {
        self.fitness.unwrap_or(f64::NEG_INFINITY)
    }
}

/// What a method sees of the run it is part of.
pub struct Surroundings<'a> {
    pub genome: &'a Genome,
    pub fitness: &'a dyn Fitness,
    /// Whom another run left behind, for methods that go on from there.
    pub founders: &'a [Individual],
    pub seed: u64,
    /// The generation that is being made; 0 is the first population.
    pub generation: u64,
    /// The last generation.
    pub generations: u64,
}

impl Surroundings<'_> {
    /// How much of the run is over, from 0 to 1.
    pub fn time(&self) -> f64 {
        self.generation as f64 / self.generations.max(1) as f64
    }

    /// The same as the papers count it: the first children are made at time 0.
    pub fn time_of_parents(&self) -> f64 {
        self.generation.saturating_sub(1) as f64 / self.generations.max(1) as f64
    }

    pub fn batch(&self) -> Batch {
        self.fitness.batch(self.seed, self.generation)
    }

    /// Evaluates whoever has no fitness yet, all at once.
    pub fn evaluate(&self, population: &mut [Individual]) {
        let new: Vec<_> = population
            .iter_mut()
            .filter(|individual| individual.fitness.is_none())
            .collect();
        if new.is_empty() {
            return;
        }
        let genes: Vec<&[f64]> = new.iter().map(|one| one.genes.as_slice()).collect();
        let values = self.fitness.evaluate(&genes, &self.batch());
        for (individual, value) in new.into_iter().zip(values) {
            individual.fitness = Some(value);
        }
    }

    /// Forgets what was measured on other cases.
    pub fn forget_if_redrawn(&self, population: &mut [Individual]) {
        if !self.fitness.is_fixed() {
            population.iter_mut().for_each(|one| one.fitness = None);
        }
    }

    /// The first population. A start from the base has the base itself as first member and
    /// others around it, `spread` being the deviation as a share of each gene's range.
    pub fn first_population(&self, size: usize, spread: f64) -> Vec<Individual> {
        (0..size as u64)
            .map(|number| self.newborn(number, spread))
            .collect()
    }

    fn newborn(&self, number: u64, spread: f64) -> Individual {
        let mut random = stream(self.seed, Purpose::Initialisation, 0, number);
        let base = self.genome.base_genes();
        let genes = self.genome.genes.iter().zip(base);
        let genes = genes.map(|(gene, base)| match self.genome.start {
            Start::Random => {
                let [low, high] = gene.start;
                low + (high - low) * random.random::<f64>()
            }
            Start::Base if number == 0 => base,
            Start::Base => {
                let step: f64 = random.sample(rand_distr::StandardNormal);
                (base + spread * gene.range() * step).clamp(gene.low, gene.high)
            }
        });
        Individual::new(genes.collect())
    }
}

/// Best first; equals keep their order.
pub fn rank(population: &mut [Individual]) {
    population.sort_by(|a, b| b.worth().total_cmp(&a.worth()));
}

pub trait Method: Send {
    /// Makes and evaluates the first population.
    fn begin(&mut self, around: &Surroundings<'_>);

    /// Makes and evaluates the next generation.
    fn advance(&mut self, around: &Surroundings<'_>);

    /// The current population, every member evaluated.
    fn population(&self) -> &[Individual];

    /// Whom the generation stands for: the fittest, unless the method knows better.
    fn champion(&self) -> Individual;

    /// Everything the next generation depends on.
    fn save(&self) -> Result<toml::Table, toml::ser::Error>;

    fn restore(&mut self, saved: toml::Table) -> Result<(), toml::de::Error>;
}

/// The first of those than whom nobody is fitter.
fn fittest(population: &[Individual]) -> Individual {
    let fitter = |a, b| {
        if Individual::worth(b) > Individual::worth(a) {
            b
        } else {
            a
        }
    };
    population.iter().fold(&population[0], fitter).clone()
}

/// A method that is its settings and a state serde can write down: saving and restoring come
/// with that, so all it says itself is its [`Steps`].
pub struct Evolving<Settings, State> {
    settings: Settings,
    state: State,
}

impl<Settings, State: Default> Evolving<Settings, State> {
    fn new(settings: Settings) -> Self {
        Evolving {
            settings,
            state: State::default(),
        }
    }
}

/// What [`Method`] asks for, without what [`Evolving`] gives.
trait Steps: Send {
    fn begin(&mut self, around: &Surroundings<'_>);
    fn advance(&mut self, around: &Surroundings<'_>);
    fn population(&self) -> &[Individual];

    fn champion(&self) -> Individual {
        fittest(self.population())
    }
}

impl<Settings, State> Method for Evolving<Settings, State>
where
    State: Serialize + DeserializeOwned,
    Evolving<Settings, State>: Steps,
{
    fn begin(&mut self, around: &Surroundings<'_>) {
        Steps::begin(self, around);
    }

    fn advance(&mut self, around: &Surroundings<'_>) {
        Steps::advance(self, around);
    }

    fn population(&self) -> &[Individual] {
        Steps::population(self)
    }

    fn champion(&self) -> Individual {
        Steps::champion(self)
    }

    fn save(&self) -> Result<toml::Table, toml::ser::Error> {
        toml::Table::try_from(&self.state)
    }

    fn restore(&mut self, saved: toml::Table) -> Result<(), toml::de::Error> {
        self.state = saved.try_into()?;
        Ok(())
    }
}

/// The settings of one method: the table `[method]` of a preset.
pub trait MethodConfig {
    /// Fails on a value that no genome could make possible.
    fn validate(&self) -> Result<(), SettingError>;

    /// Fails on a key that names a gene the genome does not have.
    fn validate_for(&self, _genome: &Genome) -> Result<(), SettingError> {
        Ok(())
    }

    /// Whether it selects by games between individuals rather than by a number.
    fn selects_by_games(&self) -> bool {
        false
    }

    /// Whether it does nothing without a gradient.
    fn needs_gradient(&self) -> bool {
        false
    }

    /// The folder of the run whose last population is the first of this one.
    fn earlier_run(&self) -> Option<&str> {
        None
    }

    /// The method with these settings, before its first generation.
    fn method(&self) -> Box<dyn Method>;
}

settings_list! {
    /// The table `[method]`. A new method is a file in this folder and a line here.
    pub enum MethodSettings: MethodConfig {
        Ep(EpSettings),
        De(DeSettings),
        CmaEs(CmaEsSettings),
        Adam(AdamSettings),
        Memetic(MemeticSettings),
        PopulationDynamics(PopulationDynamicsSettings),
        DynamicBoundary(DynamicBoundarySettings),
        Coevolution(CoevolutionSettings),
        Ga(GaSettings),
    }
}
