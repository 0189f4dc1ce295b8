//! `finch bench`: how fast, and the signature of how it plays.

use std::sync::Arc;

use clap::Args;

use crate::bench;
use crate::eval::Weights;
use crate::search::Control;

#[derive(Args)]
pub struct Arguments {}

impl Arguments {
    pub fn run(self, weights: &Arc<Weights>) -> anyhow::Result<()> {
        println!("{}", bench::run(weights, &Control::new(1)));
        Ok(())
    }
}
