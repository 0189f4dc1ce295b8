//! `finch bench`: how fast, and the signature of how it plays.

use std::sync::Arc;

use clap::{Args, Subcommand};

use super::Choice;
use crate::bench;
use crate::eval::{Weights, evaluations_per_second};
use crate::position::Position;
use crate::search::Control;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    choice: Choice,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// Evaluations per second, without caches.
    Eval {
        /// How long to measure.
        #[arg(long, default_value_t = 3.0)]
        seconds: f64,
        #[command(flatten)]
        choice: Choice,
    },
}

impl Arguments {
    /// The choice that was made, after either word.
    pub fn choice(&mut self) -> &mut Choice {
        match &mut self.what {
            Some(What::Eval { choice, .. }) if choice.weights.is_some() => choice,
            _ => &mut self.choice,
        }
    }

    pub fn run(self, weights: &Arc<Weights>) -> anyhow::Result<()> {
        match self.what {
            None => println!("{}", bench::run(weights, &Control::new(1))),
            Some(What::Eval { seconds, .. }) => {
                let positions: Vec<Position> = bench::positions().collect();
                let rate = evaluations_per_second(&positions, weights, seconds);
                println!("{rate:.0} evaluations per second, {}", weights.name);
            }
        }
        Ok(())
    }
}
