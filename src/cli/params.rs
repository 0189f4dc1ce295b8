//! `finch params`: the constants of the search, as a tuner wants them.

use super::output;
use crate::search::params::ALL;

pub fn print() -> anyhow::Result<()> {
    let lines = ALL.iter().map(|param| param.openbench() + "\n");
    Ok(output::print(&lines.collect::<String>())?)
}
