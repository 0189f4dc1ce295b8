//! `finch eval FEN`: what a position is worth, and why.

use anyhow::{Context, Result};
use clap::Args;

use super::{Choice, output};
use crate::eval::{Weights, explain};
use crate::position::Position;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) choice: Choice,
    /// The position, in quotes or as separate words; the start position when left out.
    #[arg(value_name = "FEN")]
    fen: Vec<String>,
    /// Print numbers for programs instead of a table for people.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub fn run(self, weights: &Weights) -> Result<()> {
        let fen = self.fen.join(" ");
        let position = match fen.trim() {
            "" => Position::default(),
            fen => Position::from_fen(fen).with_context(|| format!("cannot read '{fen}'"))?,
        };
        let explanation = explain(&position, weights);
        let text = if self.json {
            serde_json::to_string_pretty(&explanation)? + "\n"
        } else {
            explanation.to_string()
        };
        Ok(output::print(&text)?)
    }
}
