//! `finch eval FEN`: the static evaluation of a position, term by term.

use anyhow::{Context, Result};
use clap::Args;

use super::WeightsOption;
use crate::eval::explain;
use crate::position::Position;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch eval \"r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\"
  finch eval --weights vazquez-2013 --json")]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
    /// The position, in quotes or as separate words; by default the start position.
    #[arg(value_name = "FEN")]
    fen: Vec<String>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        let weights = self.weights.or_installed()?.weights;
        let fen = self.fen.join(" ");
        let position = match fen.trim() {
            "" => Position::default(),
            fen => Position::from_fen(fen).with_context(|| format!("cannot read '{fen}'"))?,
        };
        let explanation = explain(&position, &weights);
        let text = if self.json {
            serde_json::to_string_pretty(&explanation)? + "\n"
        } else {
            explanation.to_string()
        };
        print!("{text}");
        Ok(())
    }
}
