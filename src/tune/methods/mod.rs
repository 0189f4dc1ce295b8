//! Methods: how a population improves.
//!
//! A [`Method`] holds a population and produces one generation after another. Between two
//! generations its whole state can be saved and restored, which is all a checkpoint needs. It asks
//! the [`GenerationContext`] for fitness and draws random numbers from named streams, so its
//! results depend on the seed alone. A new method is a file in this folder and a line in
//! [`MethodSettings`].

mod adam;
mod cma_es;
mod coevolution;
mod de;
mod dynamic_boundary;
mod ep;
mod ga;
mod loser_replacement;
mod memetic;
mod ordered_matches;
mod population_dynamics;
mod spsa;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::fitness::{Batch, Fitness};
use super::genome::{Genome, InitialPopulation};
use super::settings::{SettingError, settings_list};
use crate::random::{Purpose, stream};

pub use adam::{Adam, AdamParameters, AdamSettings};
pub use cma_es::CmaEsSettings;
pub use coevolution::CoevolutionSettings;
pub use de::DeSettings;
pub use dynamic_boundary::{DynamicBoundarySettings, TieRule};
pub use ep::EpSettings;
pub use ga::{FitnessScaling, GaSettings, GeneCoding};
pub use loser_replacement::{ReplacesLosers, SeedGenes};
pub use memetic::MemeticSettings;
pub use population_dynamics::PopulationDynamicsSettings;
pub use spsa::SpsaSettings;

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Individual {
    pub genes: Vec<f64>,
    /// Step sizes of self-adaptive mutation; empty for other mutations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<f64>,
    /// Unknown until evaluated on the cases of the generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitness: Option<f64>,
    /// Measurements of the generations so far, for a fitness that averages them.
    #[serde(default, skip_serializing_if = "Measurements::is_empty")]
    pub measured: Measurements,
}

/// The number and the sum of an individual's measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Measurements {
    count: u32,
    sum: f64,
}

impl Measurements {
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a measurement and gives the mean of all.
    fn add(&mut self, value: f64) -> f64 {
        self.count += 1;
        self.sum += value;
        self.sum / f64::from(self.count)
    }
}

impl Individual {
    pub fn new(genes: Vec<f64>) -> Individual {
        Individual {
            genes,
            deviations: Vec::new(),
            fitness: None,
            measured: Measurements::default(),
        }
    }

    /// The fitness, or minus infinity before the first evaluation.
    pub fn fitness_or_lowest(&self) -> f64 {
        self.fitness.unwrap_or(f64::NEG_INFINITY)
    }
}

/// What a method can use to make a generation.
pub struct GenerationContext<'a> {
    pub genome: &'a Genome,
    pub fitness: &'a dyn Fitness,
    /// The last population of an earlier run, for methods that continue from it.
    pub ancestors: &'a [Individual],
    pub seed: u64,
    /// The generation that is being made; 0 is the first population.
    pub generation: u64,
    /// The last generation.
    pub generations: u64,
}

impl GenerationContext<'_> {
    /// Progress of the run, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.generation as f64 / self.generations.max(1) as f64
    }

    /// The random stream for one purpose and one individual of this generation.
    pub fn stream(&self, purpose: Purpose, individual: usize) -> ChaCha8Rng {
        stream(self.seed, purpose, self.generation, individual as u64)
    }

    pub fn batch(&self) -> Batch {
        self.fitness.batch(self.seed, self.generation)
    }

    /// Evaluates the individuals that have no fitness yet, all at once.
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
            individual.fitness = Some(if self.fitness.averages_generations() {
                individual.measured.add(value)
            } else {
                value
            });
        }
    }

    /// Evaluates a generation of survivors and newcomers and sorts it by fitness.
    pub fn evaluate_and_rank(&self, population: &mut [Individual]) {
        self.clear_stale_fitness(population);
        self.evaluate(population);
        rank(population);
    }

    /// Clears fitness measured on the cases of another generation.
    pub fn clear_stale_fitness(&self, population: &mut [Individual]) {
        if !self.fitness.is_fixed() {
            population.iter_mut().for_each(|one| one.fitness = None);
        }
    }

    /// The initial population. With `start = "base"` the first individual is the base itself and
    /// the others lie around it; `spread` is the standard deviation as a share of each gene's
    /// range.
    pub fn initial_population(&self, size: usize, spread: f64) -> Vec<Individual> {
        (0..size as u64)
            .map(|number| self.initial_individual(number, spread))
            .collect()
    }

    fn initial_individual(&self, number: u64, spread: f64) -> Individual {
        let mut random = stream(self.seed, Purpose::Initialisation, 0, number);
        let base = self.genome.base_genes();
        let genes = self.genome.genes.iter().zip(base);
        let genes = genes.map(|(gene, base)| match self.genome.start {
            InitialPopulation::Random => {
                let [low, high] = gene.start;
                low + (high - low) * random.random::<f64>()
            }
            InitialPopulation::Base if number == 0 => base,
            InitialPopulation::Base => {
                let step: f64 = random.sample(rand_distr::StandardNormal);
                (base + spread * gene.range() * step).clamp(gene.low, gene.high)
            }
        });
        Individual::new(genes.collect())
    }
}

/// The state of methods that keep only their population.
#[derive(Default, Deserialize, Serialize)]
pub struct PopulationState {
    pub population: Vec<Individual>,
}

/// Sorts by fitness, best first; equals keep their order.
pub fn rank(population: &mut [Individual]) {
    population.sort_by(|a, b| b.fitness_or_lowest().total_cmp(&a.fitness_or_lowest()));
}

pub trait Method: Send {
    /// Makes and evaluates the first population.
    fn initialise(&mut self, context: &GenerationContext<'_>);

    /// Makes and evaluates the next generation.
    fn next_generation(&mut self, context: &GenerationContext<'_>);

    /// The current population, every member evaluated.
    fn population(&self) -> &[Individual];

    /// The individual that represents the generation: the fittest, unless the method says
    /// otherwise.
    fn champion(&self) -> Individual;

    /// How far it has come, if its population's fitness does not say that.
    fn progress(&self, genome: &Genome) -> Option<String>;

    /// The state that the next generation depends on.
    fn save(&self) -> Result<toml::Table, toml::ser::Error>;

    fn restore(&mut self, saved: toml::Table) -> Result<(), toml::de::Error>;
}

/// The first of the fittest.
fn fittest(population: &[Individual]) -> Individual {
    let fitter = |a, b| {
        if Individual::fitness_or_lowest(b) > Individual::fitness_or_lowest(a) {
            b
        } else {
            a
        }
    };
    population.iter().fold(&population[0], fitter).clone()
}

/// A method made of its settings and a serialisable state. Saving and restoring come with it; a
/// method implements only its [`Algorithm`].
pub struct MethodState<Settings, State> {
    settings: Settings,
    state: State,
}

impl<Settings, State: Default> MethodState<Settings, State> {
    fn new(settings: Settings) -> Self {
        MethodState {
            settings,
            state: State::default(),
        }
    }
}

/// The part of [`Method`] that differs between methods.
trait Algorithm: Send {
    fn initialise(&mut self, context: &GenerationContext<'_>);
    fn next_generation(&mut self, context: &GenerationContext<'_>);
    fn population(&self) -> &[Individual];

    fn champion(&self) -> Individual {
        fittest(self.population())
    }

    fn progress(&self, _genome: &Genome) -> Option<String> {
        None
    }
}

impl<Settings, State> Method for MethodState<Settings, State>
where
    State: Serialize + DeserializeOwned,
    MethodState<Settings, State>: Algorithm,
{
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        Algorithm::initialise(self, context);
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        Algorithm::next_generation(self, context);
    }

    fn population(&self) -> &[Individual] {
        Algorithm::population(self)
    }

    fn champion(&self) -> Individual {
        Algorithm::champion(self)
    }

    fn progress(&self, genome: &Genome) -> Option<String> {
        Algorithm::progress(self, genome)
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

    /// Whether games between individuals can take the place of a number.
    fn can_select_by_games(&self) -> bool {
        self.selects_by_games()
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
        Spsa(SpsaSettings),
    }
}
