//! What makes an individual good.
//!
//! A [`Fitness`] turns genes into a number, higher is better, on cases of its own. Methods know
//! nothing of chess: they ask for numbers, and, where the fitness has one, for a slope. A new
//! fitness is a file here and a line in [`settings`](super::preset).

mod exact;
mod games;
mod inputs;
pub mod likelihood;
mod lines;
pub mod mentor;
pub mod moves;
mod quiescence;
mod row;
mod tree;

pub use exact::Searched;
pub use games::{Arena, EVEN, Games, GamesSettings, Manner, Place};
pub use inputs::{
    BuiltFitness, CaseCounts, FitnessError, FitnessInputs, built_in_games, built_in_labels,
    named_weights,
};
pub use mentor::{Loss, Mentor, MentorSettings};
pub use moves::{Keep, Moves, MovesSettings, Objective};
pub use quiescence::{Quiescence, Scores, choice, moves_in_order, refutation};
pub use tree::{Builder, Player, Tree};

use rand::seq::index;

use super::settings::{SettingError, settings_list};
use crate::play::GameRules;
use crate::random::{Purpose, stream};

/// The cases one evaluation is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    All,
    /// Places in the training set, ascending.
    Some(Vec<u32>),
}

impl Batch {
    /// So many of `all` cases, drawn for one step of a run.
    pub fn drawn(all: usize, count: usize, seed: u64, generation: u64) -> Batch {
        if count >= all {
            return Batch::All;
        }
        let mut random = stream(seed, Purpose::Sampling, generation, 1);
        let drawn = index::sample(&mut random, all, count).into_iter();
        let mut places: Vec<u32> = drawn.map(|place| place as u32).collect();
        places.sort_unstable();
        Batch::Some(places)
    }

    /// So many of these cases, drawn for one step of a run.
    pub fn part(&self, all: usize, count: usize, seed: u64, step: u64) -> Batch {
        let Batch::Some(places) = self else {
            return Batch::drawn(all, count, seed, step);
        };
        match Batch::drawn(places.len(), count, seed, step) {
            Batch::All => self.clone(),
            Batch::Some(drawn) => {
                Batch::Some(drawn.iter().map(|&at| places[at as usize]).collect())
            }
        }
    }
}

/// A value with its derivative by each gene.
#[derive(Clone, Debug)]
pub struct Sloped {
    pub value: f64,
    pub gradient: Vec<f64>,
}

pub trait Fitness: Sync {
    /// How good each individual is on a batch.
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64>;

    /// The cases of a generation. A fitness that [`is_fixed`](Fitness::is_fixed) always
    /// answers the same.
    fn batch(&self, seed: u64, generation: u64) -> Batch;

    /// Whether values of one generation still hold in the next.
    fn is_fixed(&self) -> bool;

    /// How good an individual is on cases that no evaluation sees, if there are any.
    fn validate(&self, individual: &[f64]) -> Option<f64>;

    /// Says around which individual and on which cases the next slopes will be asked for. A
    /// fitness may work out slopes from what it finds there as long as nobody says otherwise.
    fn settle(&self, _individual: &[f64], _batch: &Batch) {}

    /// A smooth stand-in for the fitness on a share of the cases drawn for one step; none if
    /// the fitness has no such thing.
    fn slope(&self, individual: &[f64], batch: &Batch) -> Option<Sloped>;

    /// How many cases there are to train on.
    fn case_count(&self) -> usize;

    /// The settings it was built from: they know how values are written.
    fn config(&self) -> &dyn FitnessConfig;

    /// Where individuals can play each other, if that is what the fitness is about.
    fn arena(&self) -> Option<&Arena> {
        None
    }
}

/// The settings of one fitness: the table `[fitness]` of a preset.
pub trait FitnessConfig {
    fn validate(&self) -> Result<(), SettingError>;

    /// A value as text, with its unit.
    fn format(&self, value: f64) -> String;

    /// A value on the validation cases as text.
    fn format_validation(&self, value: f64) -> String {
        self.format(value)
    }

    /// Whether validation has the unit of the fitness itself.
    fn validates_in_same_unit(&self) -> bool {
        true
    }

    /// A figure of a paper as text; papers write shares in percent.
    fn format_reference(&self, figure: f64) -> String {
        format!("{figure:.2}%")
    }

    /// The rules of its games, if individuals play games.
    fn game_rules(&self) -> Option<GameRules> {
        None
    }

    /// Whether it gives a single individual a number. Games without a fixed opponent do not.
    fn scores_individuals(&self) -> bool {
        true
    }

    fn has_gradient(&self) -> bool {
        true
    }

    /// Reads the data and builds the fitness.
    fn build(&self, inputs: FitnessInputs<'_>) -> Result<BuiltFitness, FitnessError>;
}

settings_list! {
    /// The table `[fitness]`. A new fitness is a file in this folder and a line here.
    pub enum FitnessSettings: FitnessConfig {
        Moves(MovesSettings),
        Mentor(MentorSettings),
        Games(GamesSettings),
    }
}
