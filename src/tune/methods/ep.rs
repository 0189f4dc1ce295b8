//! Evolutionary programming with a history, after Vázquez-Fernández, Coello and Sagols (2011,
//! 2013): the better half survives. Each free slot gets either an earlier individual from the
//! history or a mutated child of the matching survivor.

use std::path::Path;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState, rank};
use crate::eval::Weights;
use crate::random::Purpose;
use crate::tune::operators::Mutation;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "ep"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct EpSettings {
    pub name: String,
    pub population: usize,
    /// How many survive to the next generation; 0 is half of them.
    pub survivors: usize,
    /// P_r: the probability, in percent, that a free slot is filled from the history.
    pub history: f64,
    /// How many former individuals are kept, the best of them; 0 is the size of the population.
    pub history_size: usize,
    /// Weights files that become members of the initial population.
    pub seeded: Vec<String>,
    pub mutation: Mutation,
}

impl Default for EpSettings {
    fn default() -> EpSettings {
        EpSettings {
            name: Self::NAME.to_owned(),
            population: 20,
            survivors: 0,
            history: 0.0,
            history_size: 0,
            seeded: Vec::new(),
            mutation: Mutation::default(),
        }
    }
}

impl NamedSettings for EpSettings {
    const NAME: &'static str = "ep";
}

impl MethodConfig for EpSettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("population", self.population, 2..=1_000_000)?;
        check_range("survivors", self.survivors, 0..=self.population - 1)?;
        check_range("history", self.history, 0.0..=100.0)?;
        check_range("seeded", self.seeded.len(), 0..=self.population)?;
        for file in &self.seeded {
            Weights::load(Path::new(file))
                .map_err(|error| SettingError::new("seeded", error.to_string()))?;
        }
        self.mutation.validate()
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(Ep::new(self.clone()))
    }
}

impl EpSettings {
    fn survivor_count(&self) -> usize {
        match self.survivors {
            0 => self.population / 2,
            count => count,
        }
    }
}

#[derive(Default, Deserialize, Serialize)]
pub struct State {
    population: Vec<Individual>,
    /// Former individuals, best first, without duplicates.
    #[serde(default)]
    history: Vec<Individual>,
}

pub type Ep = MethodState<EpSettings, State>;

impl Ep {
    fn remember(&mut self, gone: Vec<Individual>) {
        let history = &mut self.state.history;
        for one in gone {
            if !history.iter().any(|old| old.genes == one.genes) {
                history.push(one);
            }
        }
        rank(history);
        history.truncate(match self.settings.history_size {
            0 => self.settings.population,
            size => size,
        });
    }

    /// An individual from the history that is not in the population now.
    fn recall(&self, context: &GenerationContext<'_>, index: usize) -> Option<Individual> {
        let mut random = context.stream(Purpose::History, index);
        if 100.0 * random.random::<f64>() >= self.settings.history {
            return None;
        }
        let population = &self.state.population;
        let absent: Vec<_> = self
            .state
            .history
            .iter()
            .filter(|old| !population.iter().any(|one| one.genes == old.genes))
            .collect();
        let chosen = random.random_range(0..absent.len().max(1));
        absent.get(chosen).map(|one| (*one).clone())
    }
}

impl Algorithm for Ep {
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        let settings = &self.settings;
        let mut population =
            context.initial_population(settings.population, settings.mutation.deviation);
        for (member, file) in population.iter_mut().zip(&settings.seeded) {
            // Validated with the preset; a file that has disappeared since changes nothing.
            if let Ok(weights) = Weights::load(Path::new(file)) {
                member.genes = context.genome.genes_of(&weights);
            }
        }
        context.evaluate_and_rank(&mut population);
        self.state.population = population;
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        let survivors = self.settings.survivor_count();
        let gone = self.state.population.split_off(survivors);
        self.remember(gone);
        let time = context.parent_progress();
        for index in survivors..self.settings.population {
            let newcomer = self.recall(context, index).unwrap_or_else(|| {
                let parent = &self.state.population[(index - survivors) % survivors];
                let mut random = context.stream(Purpose::Variation, index);
                let mutation = &self.settings.mutation;
                mutation.child(parent, context.genome, time, &mut random)
            });
            self.state.population.push(newcomer);
        }
        context.evaluate_and_rank(&mut self.state.population);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
