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
        let time = self
            .settings
            .mutation
            .time(context.generation, context.generations);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;
    use crate::tune::fitness::{Batch, Fitness, FitnessConfig, MovesSettings, ValueAndGradient};
    use crate::tune::genome::Genome;
    use crate::tune::preset::Preset;

    /// Solves a case if a hash says so, so that values are shares with many ties. Without `fixed`
    /// every generation has other cases.
    struct HashedCases {
        settings: MovesSettings,
        fixed: bool,
    }

    const CASES: u32 = 40;

    impl Fitness for HashedCases {
        fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
            let first = match batch {
                Batch::All => 0,
                Batch::Some(cases) => cases[0],
            };
            let share = |genes: &&[f64]| {
                let key = genes.iter().fold(0, |key, gene| mix(key, gene.to_bits()));
                let solved = |case: &u32| mix(key, u64::from(first + case)).is_multiple_of(3);
                (0..CASES).filter(solved).count() as f64 / f64::from(CASES)
            };
            individuals.iter().map(share).collect()
        }

        fn batch(&self, _seed: u64, generation: u64) -> Batch {
            match self.fixed {
                true => Batch::All,
                false => Batch::Some(vec![generation as u32 * CASES]),
            }
        }

        fn is_fixed(&self) -> bool {
            self.fixed
        }

        fn validate(&self, _individual: &[f64]) -> Option<f64> {
            None
        }

        fn gradient(&self, _individual: &[f64], _batch: &Batch) -> Option<ValueAndGradient> {
            None
        }

        fn case_count(&self) -> usize {
            CASES as usize
        }

        fn config(&self) -> &dyn FitnessConfig {
            &self.settings
        }
    }

    /// How often an individual from the history becomes a parent in 100 generations, and how many
    /// come from the history at all.
    fn recalled_parents(fixed: bool) -> (usize, usize) {
        let preset = Preset::load("vazquez-2011").expect("a built-in preset");
        let genome: Genome = preset.genome.build().expect("its genome");
        let fitness = HashedCases {
            settings: MovesSettings::default(),
            fixed,
        };
        let mut ep = Ep::new(EpSettings {
            history: 40.0,
            ..EpSettings::default()
        });
        let survivors = ep.settings.survivor_count();
        let (mut parents, mut recalled) = (0, 0);
        for generation in 0..100 {
            let context = GenerationContext {
                genome: &genome,
                fitness: &fitness,
                ancestors: &[],
                seed: 1,
                generation,
                generations: 100,
            };
            if generation == 0 {
                Algorithm::initialise(&mut ep, &context);
                continue;
            }
            Algorithm::next_generation(&mut ep, &context);
            let history = &ep.state.history;
            let is_old = |one: &Individual| history.iter().any(|old| old.genes == one.genes);
            recalled += ep.state.population.iter().filter(|one| is_old(one)).count();
            let survive = &ep.state.population[..survivors];
            parents += survive.iter().filter(|one| is_old(one)).count();
        }
        (parents, recalled)
    }

    /// Selection is elitist: the last survivor's fitness never falls, and who left was not better
    /// than it. So on fixed cases the history never changes the parents; it takes the places of
    /// new children.
    #[test]
    fn on_fixed_cases_nobody_from_the_history_becomes_a_parent() {
        let (parents, recalled) = recalled_parents(true);
        assert!(recalled > 100, "{recalled}");
        assert_eq!(parents, 0);
    }

    #[test]
    fn on_cases_drawn_anew_some_from_the_history_become_parents() {
        let (parents, recalled) = recalled_parents(false);
        assert!(recalled > 100 && parents > 10, "{parents} of {recalled}");
    }
}
