//! Memetic algorithm: evolution whose children learn. Each child is a mutant of a survivor, moved
//! some steps along the gradient of the smooth substitute and selected by the fitness itself.
//! The gradient finds the hill; selection finds the steps near its top that a gradient misses.

use serde::{Deserialize, Serialize};

use super::adam::{AdamOptimizer, AdamParameters};
use super::{
    Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState, PopulationState,
};
use crate::random::Purpose;
use crate::tune::operators::{Mutation, MutationKind};
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "memetic"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemeticSettings {
    pub name: String,
    pub population: usize,
    /// Share of the run in which children follow the gradient; after it only selection works.
    pub learning: f64,
    #[serde(alias = "climb")]
    pub gradient: AdamParameters,
    pub mutation: Mutation,
}

impl Default for MemeticSettings {
    fn default() -> MemeticSettings {
        MemeticSettings {
            name: Self::NAME.to_owned(),
            population: 8,
            learning: 0.5,
            gradient: AdamParameters::default(),
            mutation: Mutation {
                kind: MutationKind::SelfAdaptive,
                deviation: 0.01,
                ..Mutation::default()
            },
        }
    }
}

impl NamedSettings for MemeticSettings {
    const NAME: &'static str = "memetic";
}

impl MethodConfig for MemeticSettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("population", self.population, 2..=65_535)?;
        check_range("learning", self.learning, 0.0..=1.0)?;
        self.gradient.validate()?;
        self.mutation.validate()
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(Memetic::new(self.clone()))
    }
}

pub type Memetic = MethodState<MemeticSettings, PopulationState>;

impl Memetic {
    fn child(&self, index: usize, survivors: usize, context: &GenerationContext<'_>) -> Individual {
        let parent = &self.state.population[(index - survivors) % survivors];
        let mut random = context.stream(Purpose::Variation, index);
        let settings = &self.settings;
        let mut child =
            settings
                .mutation
                .child(parent, context.genome, context.progress(), &mut random);
        if context.progress() <= settings.learning {
            let mut optimizer = AdamOptimizer::new(child.genes);
            optimizer.optimise(&settings.gradient, context, index as u64);
            child.genes = optimizer.genes;
        }
        child
    }
}

impl Algorithm for Memetic {
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        let settings = &self.settings;
        self.state.population =
            context.initial_population(settings.population, settings.mutation.deviation);
        context.evaluate_and_rank(&mut self.state.population);
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        let survivors = self.settings.population / 2;
        self.state.population.truncate(survivors);
        let children: Vec<_> = (survivors..self.settings.population)
            .map(|index| self.child(index, survivors, context))
            .collect();
        self.state.population.extend(children);
        context.evaluate_and_rank(&mut self.state.population);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
