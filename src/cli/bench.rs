//! `finch bench`: how fast, and the signature of how it plays.

use clap::{Args, Subcommand};

use super::WeightsOption;
use crate::bench;
use crate::eval::evaluations_per_second;
use crate::position::Position;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
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
        weights: WeightsOption,
    },
}

impl Arguments {
    /// Without `--weights` the built-in ones, whatever is installed: the node count is the
    /// signature of this version.
    pub fn run(self) -> anyhow::Result<()> {
        // `--weights` may follow either word.
        let option = match &self.what {
            Some(What::Eval { weights, .. }) if weights.is_given() => weights,
            _ => &self.weights,
        };
        let weights = &option.or_built_in()?.weights;
        match self.what {
            None => println!("{}", bench::run(weights, &Default::default())?),
            Some(What::Eval { seconds, .. }) => {
                let positions: Vec<Position> = bench::positions().collect();
                let rate = evaluations_per_second(&positions, weights, seconds);
                println!("{rate:.0} evaluations per second, {}", weights.name);
            }
        }
        Ok(())
    }
}
