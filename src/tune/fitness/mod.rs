//! Fitness: how good an individual is.
//!
//! A [`Fitness`] turns genes into a number, higher is better, measured on cases of its own. Methods
//! know nothing about chess: they ask for numbers and, where the fitness has one, for a gradient. A
//! new fitness is a file in this folder and a line in [`FitnessSettings`].

mod board_search;
mod features;
mod games;
mod gradient_speed;
mod inputs;
mod labelled;
mod measure;
pub mod mentor;
pub mod moves;
mod quiescence;
mod quiescence_tree;
pub mod results;
mod shared;
pub mod softmax;
mod variations;

pub use board_search::BoardSearch;
pub use games::{Arena, EVEN_SCORE, GamesFitness, GamesSettings, OpeningSource, SearchKind};
pub use gradient_speed::{GradientSpeed, gradient_speed};
pub use inputs::{
    BuiltFitness, CaseCounts, FitnessError, FitnessInputs, built_in_games, built_in_labels,
    named_weights, weights_with_network,
};
pub use measure::{cases_solved, engines_share_of_moves, mentor_loss, share_of_cases};
pub use mentor::{MentorFitness, MentorLoss, MentorSettings};
pub use moves::{Keep, MovesFitness, MovesSettings, Objective};
pub use quiescence::{
    MoveScores, QuiescenceLimits, Ties, best_move_number, better_move, moves_in_tie_break_order,
};
pub use quiescence_tree::{Phenotype, QuiescenceTree, TreeBuilder};
pub use results::{ResultsFitness, ResultsLoss, ResultsSettings};
pub use shared::{SharedFitness, serve};

use std::ops::Range;

use rand::seq::index;
use serde::{Deserialize, Serialize};

use super::settings::{SettingError, settings_list};
use crate::play::GameRules;
use crate::random::{Purpose, stream};

/// The cases of one evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch {
    All,
    /// Indices into the training set, ascending.
    Some(Vec<u32>),
}

impl Batch {
    /// `count` of `all` cases, drawn for one step of a run.
    pub fn sample(all: usize, count: usize, seed: u64, generation: u64) -> Batch {
        if count >= all {
            return Batch::All;
        }
        let mut random = stream(seed, Purpose::Sampling, generation, 1);
        let sampled = index::sample(&mut random, all, count).into_iter();
        let mut indices: Vec<u32> = sampled.map(|index| index as u32).collect();
        indices.sort_unstable();
        Batch::Some(indices)
    }

    /// `count` of these cases, drawn for one step of a run.
    pub fn subsample(&self, all: usize, count: usize, seed: u64, step: u64) -> Batch {
        let Batch::Some(indices) = self else {
            return Batch::sample(all, count, seed, step);
        };
        match Batch::sample(indices.len(), count, seed, step) {
            Batch::All => self.clone(),
            Batch::Some(sampled) => {
                Batch::Some(sampled.iter().map(|&at| indices[at as usize]).collect())
            }
        }
    }
}

/// A value and its derivative by each gene.
#[derive(Clone, Debug)]
pub struct ValueAndGradient {
    pub value: f64,
    pub gradient: Vec<f64>,
}

pub trait Fitness: Sync {
    /// The fitness of each individual on a batch.
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64>;

    /// The cases of a generation. A fitness that [`is_fixed`](Fitness::is_fixed) gives the same for
    /// all generations.
    fn batch(&self, seed: u64, generation: u64) -> Batch;

    /// Whether the values of one generation are comparable with those of the next.
    fn is_fixed(&self) -> bool;

    /// Whether an individual that lives through several generations is worth the mean of what was
    /// measured in each. A few games are a noisy measure: the best of many single measurements is
    /// mostly a lucky one.
    fn averages_generations(&self) -> bool {
        false
    }

    /// The fitness on validation cases, which no evaluation uses; none if there are no such cases.
    fn validate(&self, individual: &[f64]) -> Option<f64>;

    /// Announces near which individual and on which cases gradients are needed next, so that a
    /// fitness can cache what they need.
    fn prepare_gradients(&self, _individual: &[f64], _batch: &Batch) {}

    /// The gradient of a smooth substitute for the fitness; none if there is no such thing.
    fn gradient(&self, individual: &[f64], batch: &Batch) -> Option<ValueAndGradient>;

    /// How many training cases there are.
    fn case_count(&self) -> usize;

    /// The settings it was built from: they know how values are written.
    fn config(&self) -> &dyn FitnessConfig;

    /// Where individuals play each other, if the fitness has games.
    fn arena(&self) -> Option<&Arena> {
        None
    }

    /// What counts solved cases, if the fitness is their share.
    fn case_counter(&self) -> Option<&dyn CaseCounter> {
        None
    }
}

/// A fitness that is the share of cases solved. Counts of parts add up to the count of the whole,
/// so ranks of an MPI job can divide the cases among them.
pub trait CaseCounter: Sync {
    /// How many of some cases each individual solves.
    fn count_solved(&self, individuals: &[&[f64]], cases: &CaseRange) -> Vec<u32>;

    fn validation_count(&self) -> usize;
}

/// Some cases of a fitness.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum CaseRange {
    Training(Range<u32>),
    /// Of a batch: indices into the training set.
    Batch(Vec<u32>),
    Validation(Range<u32>),
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

    /// What is measured, in words.
    fn measure(&self) -> &'static str;

    /// Whether people read it as an error, of which less is better.
    fn is_error(&self) -> bool {
        false
    }

    /// A figure of a paper as a fitness.
    fn fitness_of_reference(&self, figure: f64) -> f64 {
        figure / 100.0
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
        MovesFitness(MovesSettings),
        MentorFitness(MentorSettings),
        ResultsFitness(ResultsSettings),
        GamesFitness(GamesSettings),
    }
}
