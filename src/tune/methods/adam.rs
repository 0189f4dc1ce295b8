//! Adam: climbing the slope of a smooth stand-in, each gene at its own pace.

use serde::{Deserialize, Serialize};

use super::{Evolving, Individual, Method, MethodConfig, Steps, Surroundings};
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "adam"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdamSettings {
    pub name: String,
    pub climb: Climb,
}

impl Default for AdamSettings {
    fn default() -> AdamSettings {
        AdamSettings {
            name: Self::NAME.to_owned(),
            climb: Climb::default(),
        }
    }
}

impl NamedSettings for AdamSettings {
    const NAME: &'static str = "adam";
}

impl MethodConfig for AdamSettings {
    fn validate(&self) -> Result<(), SettingError> {
        self.climb.validate()
    }

    fn needs_gradient(&self) -> bool {
        true
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(Adam::new(self.clone()))
    }
}

/// How a slope is climbed.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Climb {
    /// Centipawns a gene moves in a step, at first and at last.
    pub rate: [f64; 2],
    /// Cases a step looks at; 0 is all of them.
    pub batch: usize,
    /// Steps in a generation.
    pub steps: usize,
    /// How long a direction and a size of slopes are remembered.
    pub momentum: f64,
    pub memory: f64,
    /// How strongly genes are held to where they began, in log-likelihood for a centipawn
    /// squared.
    pub pull: f64,
}

impl Default for Climb {
    fn default() -> Climb {
        Climb {
            rate: [2.0, 0.1],
            batch: 4096,
            steps: 10,
            momentum: 0.9,
            memory: 0.999,
            pull: 0.0,
        }
    }
}

impl Climb {
    /// Errors name the key as seen from the method's table.
    pub fn validate(&self) -> Result<(), SettingError> {
        check_range("climb.rate", self.rate[0], 0.0..=1000.0)?;
        check_range("climb.rate", self.rate[1], 0.0..=1000.0)?;
        check_range("climb.steps", self.steps, 1..=1_000_000)?;
        check_range("climb.momentum", self.momentum, 0.0..=0.999_999)?;
        check_range("climb.memory", self.memory, 0.0..=0.999_999)?;
        check_range("climb.pull", self.pull, 0.0..=1.0)
    }

    fn rate_at(&self, time: f64) -> f64 {
        // A cosine from first to last: long at both ends.
        let share = (1.0 + (std::f64::consts::PI * time).cos()) / 2.0;
        self.rate[1] + (self.rate[0] - self.rate[1]) * share
    }
}

/// Where a climber stands, and what he remembers of the slopes so far.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Climber {
    pub genes: Vec<f64>,
    origin: Vec<f64>,
    direction: Vec<f64>,
    size: Vec<f64>,
    steps: u64,
}

impl Climber {
    pub fn new(genes: Vec<f64>) -> Climber {
        Climber {
            origin: genes.clone(),
            direction: vec![0.0; genes.len()],
            size: vec![0.0; genes.len()],
            steps: 0,
            genes,
        }
    }

    /// One generation's steps. A fitness without a slope leaves everything where it is.
    pub fn climb(&mut self, climb: &Climb, around: &Surroundings<'_>, who: u64) {
        let cases = around.batch();
        around.fitness.settle(&self.genes, &cases);
        for step in 0..climb.steps as u64 {
            let number = (around.generation * climb.steps as u64 + step) << 16 | who;
            let count = match climb.batch {
                0 => usize::MAX,
                count => count,
            };
            let batch = cases.part(around.fitness.case_count(), count, around.seed, number);
            let Some(sloped) = around.fitness.slope(&self.genes, &batch) else {
                return;
            };
            self.step(climb, &sloped.gradient, around);
        }
    }

    fn step(&mut self, climb: &Climb, gradient: &[f64], around: &Surroundings<'_>) {
        self.steps += 1;
        let steps = self.steps as f64;
        let rate = climb.rate_at(around.time());
        let unbias = |factor: f64| 1.0 - factor.powf(steps);
        for (at, gene) in around.genome.genes.iter().enumerate() {
            let held = climb.pull * (self.genes[at] - self.origin[at]);
            let slope = gradient[at] - held;
            let direction = &mut self.direction[at];
            *direction = climb.momentum * *direction + (1.0 - climb.momentum) * slope;
            let size = &mut self.size[at];
            *size = climb.memory * *size + (1.0 - climb.memory) * slope * slope;
            let ahead = *direction / unbias(climb.momentum);
            let scale = (*size / unbias(climb.memory)).sqrt();
            let moved = self.genes[at] + rate * ahead / (scale + 1e-9);
            self.genes[at] = moved.clamp(gene.low, gene.high);
        }
    }
}

#[derive(Default, Deserialize, Serialize)]
pub struct State {
    climber: Climber,
    population: Vec<Individual>,
}

pub type Adam = Evolving<AdamSettings, State>;

impl Adam {
    fn look_around(&mut self, around: &Surroundings<'_>) {
        self.state.population = vec![Individual::new(self.state.climber.genes.clone())];
        around.evaluate(&mut self.state.population);
    }
}

impl Steps for Adam {
    fn begin(&mut self, around: &Surroundings<'_>) {
        let first = around.first_population(1, 0.0).remove(0);
        self.state.climber = Climber::new(first.genes);
        self.look_around(around);
    }

    fn advance(&mut self, around: &Surroundings<'_>) {
        self.state.climber.climb(&self.settings.climb, around, 0);
        self.look_around(around);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
