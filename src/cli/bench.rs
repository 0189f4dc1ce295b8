//! `finch bench`: how fast, and the signature of how it plays.

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use serde_json::json;

use super::WeightsOption;
use super::output::json_line;
use crate::bench;
use crate::eval::evaluations_per_second;
use crate::position::Position;
use crate::tune::fitness::gradient_speed;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch bench
  finch bench eval --weights hand-set
  finch bench gradient 100000")]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
    /// Print JSON; docs/json.md explains the fields.
    #[arg(long, global = true)]
    json: bool,
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
    /// Speed of a gradient by all terms, beside that of reading the same bytes from memory.
    Gradient {
        /// Positions, from random games.
        #[arg(default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
        positions: u64,
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
            None => {
                let result = bench::run(weights, &Default::default())?;
                if self.json {
                    let fields = json!({
                        "weights": weights.name,
                        "nodes": result.nodes,
                        "seconds": result.elapsed.as_secs_f64(),
                        "nodes_per_second": result.nodes_per_second(),
                    });
                    json_line("bench", fields);
                } else {
                    println!("{result}");
                }
            }
            Some(What::Eval { seconds, .. }) => {
                let positions: Vec<Position> = bench::positions().collect();
                let rate = evaluations_per_second(&positions, weights, seconds);
                if self.json {
                    let fields = json!({
                        "weights": weights.name,
                        "evaluations_per_second": rate,
                    });
                    json_line("eval", fields);
                } else {
                    println!("{rate:.0} evaluations per second, {}", weights.name);
                }
            }
            Some(What::Gradient { .. }) if self.json => {
                bail!("--json: bench gradient prints text only");
            }
            Some(What::Gradient { positions }) => {
                let speed = gradient_speed(positions as usize);
                println!("{}", speed.context("the built-in weights cannot be read")?);
            }
        }
        Ok(())
    }
}
