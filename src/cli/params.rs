//! `finch params`: the constants of the search in OpenBench's SPSA format.

use clap::Args;

use super::output;
use crate::search::params::ALL;

#[derive(Args)]
pub struct Arguments {}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let lines = ALL.iter().map(|param| param.openbench() + "\n");
        Ok(output::print(&lines.collect::<String>())?)
    }
}
