//! `finch params`: the constants of the search in OpenBench's SPSA format.

use clap::Args;

use crate::search::SearchParams;

#[derive(Args)]
#[command(after_help = "\
Example:
  finch params > spsa.txt")]
pub struct Arguments {}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let lines = SearchParams::LIST
            .iter()
            .map(|info| info.openbench() + "\n");
        print!("{}", lines.collect::<String>());
        Ok(())
    }
}
