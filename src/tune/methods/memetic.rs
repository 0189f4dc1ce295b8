//! Evolution whose children learn: each is a mutant of a survivor that then climbs the slope of
//! the smooth stand-in for some steps, and is selected by the fitness itself. Slopes find the
//! hill, selection finds the steps on top of it that slopes cannot see.

use serde::{Deserialize, Serialize};

use super::adam::{Climb, Climber};
use super::{Evolving, Individual, Method, MethodConfig, Steps, Surroundings, rank};
use crate::random::{Purpose, stream};
use crate::tune::operators::{Kind, Mutation};
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "memetic"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemeticSettings {
    pub name: String,
    pub population: usize,
    /// Share of the run in which children learn; afterwards only selection works.
    pub learning: f64,
    pub climb: Climb,
    pub mutation: Mutation,
}

impl Default for MemeticSettings {
    fn default() -> MemeticSettings {
        MemeticSettings {
            name: Self::NAME.to_owned(),
            population: 8,
            learning: 0.5,
            climb: Climb::default(),
            mutation: Mutation {
                kind: Kind::SelfAdaptive,
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
        self.climb.validate()?;
        self.mutation.validate()
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(Memetic::new(self.clone()))
    }
}

#[derive(Default, Deserialize, Serialize)]
pub struct State {
    population: Vec<Individual>,
}

pub type Memetic = Evolving<MemeticSettings, State>;

impl Memetic {
    fn child(&self, place: usize, survivors: usize, around: &Surroundings<'_>) -> Individual {
        let parent = &self.state.population[(place - survivors) % survivors];
        let mut random = stream(
            around.seed,
            Purpose::Variation,
            around.generation,
            place as u64,
        );
        let settings = &self.settings;
        let mut child = settings
            .mutation
            .child(parent, around.genome, around.time(), &mut random);
        if around.time() <= settings.learning {
            let mut climber = Climber::new(child.genes);
            climber.climb(&settings.climb, around, place as u64);
            child.genes = climber.genes;
        }
        child
    }
}

impl Steps for Memetic {
    fn begin(&mut self, around: &Surroundings<'_>) {
        let settings = &self.settings;
        self.state.population =
            around.first_population(settings.population, settings.mutation.deviation);
        around.evaluate(&mut self.state.population);
        rank(&mut self.state.population);
    }

    fn advance(&mut self, around: &Surroundings<'_>) {
        let survivors = self.settings.population / 2;
        self.state.population.truncate(survivors);
        let children: Vec<_> = (survivors..self.settings.population)
            .map(|place| self.child(place, survivors, around))
            .collect();
        self.state.population.extend(children);
        around.forget_if_redrawn(&mut self.state.population);
        around.evaluate(&mut self.state.population);
        rank(&mut self.state.population);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
