//! `finch params`: the constants of the search in OpenBench's SPSA format.

use clap::Args;

use crate::search::{ParamInfo, SearchParams};

#[derive(Args)]
#[command(after_help = "\
Example:
  finch params > spsa.txt")]
pub struct Arguments {}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let lines: Vec<String> = SearchParams::LIST
            .iter()
            .map(ParamInfo::openbench)
            .collect();
        // Without an end of line: OpenBench takes what follows one for a malformed constant.
        print!("{}", lines.join("\n"));
        Ok(())
    }
}
