//! Adam (Kingma and Ba, 2015): gradient ascent on a smooth substitute of the fitness, with a
//! step size of its own for each gene.

use serde::{Deserialize, Serialize};

use super::{Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState};
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "adam"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamSettings {
    pub name: String,
    #[serde(alias = "climb")]
    pub gradient: AdamParameters,
}

impl Default for AdamSettings {
    fn default() -> AdamSettings {
        AdamSettings {
            name: Self::NAME.to_owned(),
            gradient: AdamParameters::default(),
        }
    }
}

impl NamedSettings for AdamSettings {
    const NAME: &'static str = "adam";
}

impl MethodConfig for AdamSettings {
    fn validate(&self) -> Result<(), SettingError> {
        self.gradient.validate()
    }

    fn needs_gradient(&self) -> bool {
        true
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(Adam::new(self.clone()))
    }
}

/// The table `[method.gradient]`: Adam's parameters.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamParameters {
    /// Learning rate, in units of a gene per step, at the start and at the end of the run.
    #[serde(rename = "rate")]
    pub learning_rate: [f64; 2],
    /// Cases in the batch of a step; 0 takes all of them.
    pub batch: usize,
    /// Steps in a generation.
    pub steps: usize,
    /// Decay of the gradient's running mean.
    #[serde(rename = "momentum")]
    pub beta1: f64,
    /// Decay of the squared gradient's running mean.
    #[serde(rename = "memory")]
    pub beta2: f64,
    /// L2 penalty on the distance from the start, in fitness per squared unit of a gene. Genes
    /// that few positions say anything about stay where they began.
    #[serde(rename = "pull")]
    pub l2_to_start: f64,
}

impl Default for AdamParameters {
    fn default() -> AdamParameters {
        AdamParameters {
            learning_rate: [2.0, 0.1],
            batch: 4096,
            steps: 10,
            beta1: 0.9,
            beta2: 0.999,
            l2_to_start: 0.0,
        }
    }
}

impl AdamParameters {
    /// Errors name the key as seen from the method's table.
    pub fn validate(&self) -> Result<(), SettingError> {
        check_range("gradient.rate", self.learning_rate[0], 0.0..=1000.0)?;
        check_range("gradient.rate", self.learning_rate[1], 0.0..=1000.0)?;
        check_range("gradient.steps", self.steps, 1..=1_000_000)?;
        check_range("gradient.momentum", self.beta1, 0.0..=0.999_999)?;
        check_range("gradient.memory", self.beta2, 0.0..=0.999_999)?;
        check_range("gradient.pull", self.l2_to_start, 0.0..=1.0)
    }

    /// Cosine schedule from the first learning rate to the last.
    fn learning_rate_at(&self, progress: f64) -> f64 {
        let share = (1.0 + (std::f64::consts::PI * progress).cos()) / 2.0;
        let [first, last] = self.learning_rate;
        last + (first - last) * share
    }
}

/// Genes under optimisation and Adam's running moments.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AdamOptimizer {
    pub genes: Vec<f64>,
    origin: Vec<f64>,
    // Checkpoints of earlier versions have the second name.
    #[serde(alias = "direction")]
    first_moment: Vec<f64>,
    #[serde(alias = "size")]
    second_moment: Vec<f64>,
    steps: u64,
}

impl AdamOptimizer {
    pub fn new(genes: Vec<f64>) -> AdamOptimizer {
        AdamOptimizer {
            origin: genes.clone(),
            first_moment: vec![0.0; genes.len()],
            second_moment: vec![0.0; genes.len()],
            steps: 0,
            genes,
        }
    }

    /// The steps of one generation. Without a gradient the genes stay as they are. `individual`
    /// selects the random stream of the batches.
    pub fn optimise(
        &mut self,
        parameters: &AdamParameters,
        context: &GenerationContext<'_>,
        individual: u64,
    ) {
        let cases = context.batch();
        context.fitness.prepare_gradients(&self.genes, &cases);
        let count = match parameters.batch {
            0 => usize::MAX,
            count => count,
        };
        for step in 0..parameters.steps as u64 {
            let step = context.generation * parameters.steps as u64 + step;
            let number = step << 16 | individual;
            let batch = cases.subsample(context.fitness.case_count(), count, context.seed, number);
            let Some(found) = context.fitness.gradient(&self.genes, &batch) else {
                return;
            };
            self.step(parameters, &found.gradient, context);
        }
    }

    fn step(
        &mut self,
        parameters: &AdamParameters,
        gradient: &[f64],
        context: &GenerationContext<'_>,
    ) {
        const EPSILON: f64 = 1e-9;
        self.steps += 1;
        let steps = self.steps as f64;
        let learning_rate = parameters.learning_rate_at(context.progress());
        let (beta1, beta2) = (parameters.beta1, parameters.beta2);
        let unbiased = |moment: f64, beta: f64| moment / (1.0 - beta.powf(steps));
        for (at, gene) in context.genome.genes.iter().enumerate() {
            let penalty = parameters.l2_to_start * (self.genes[at] - self.origin[at]);
            let gradient = gradient[at] - penalty;
            let first = &mut self.first_moment[at];
            *first = beta1 * *first + (1.0 - beta1) * gradient;
            let second = &mut self.second_moment[at];
            *second = beta2 * *second + (1.0 - beta2) * gradient * gradient;
            let direction = unbiased(*first, beta1);
            let scale = unbiased(*second, beta2).sqrt();
            let moved = self.genes[at] + learning_rate * direction / (scale + EPSILON);
            self.genes[at] = moved.clamp(gene.low, gene.high);
        }
    }
}

#[derive(Default, Deserialize, Serialize)]
pub struct State {
    #[serde(alias = "climber")]
    optimizer: AdamOptimizer,
    population: Vec<Individual>,
}

pub type Adam = MethodState<AdamSettings, State>;

impl Adam {
    fn evaluate(&mut self, context: &GenerationContext<'_>) {
        self.state.population = vec![Individual::new(self.state.optimizer.genes.clone())];
        context.evaluate(&mut self.state.population);
    }
}

impl Algorithm for Adam {
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        let first = context.initial_population(1, 0.0).remove(0);
        self.state.optimizer = AdamOptimizer::new(first.genes);
        self.evaluate(context);
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        let parameters = &self.settings.gradient;
        self.state.optimizer.optimise(parameters, context, 0);
        self.evaluate(context);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
