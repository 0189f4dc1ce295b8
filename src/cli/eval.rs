//! `finch eval FEN`: the static evaluation of a position, term by term.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use super::WeightsOption;
use crate::analysis::board_svg;
use crate::eval::explain;
use crate::files;
use crate::position::Position;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch eval \"r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\"
  finch eval --weights vazquez-2013 --json
  finch eval --svg board.svg \"6k1/5ppp/8/8/8/2N5/5PPP/6K1 w - - 0 1\"")]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
    /// The position, in quotes or as separate words; by default the start position.
    #[arg(value_name = "FEN")]
    fen: Vec<String>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Draw the board into this file, each piece with what it is worth where it stands.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        let weights = self.weights.or_installed()?.weights;
        let fen = self.fen.join(" ");
        let position = match fen.trim() {
            "" => Position::default(),
            fen => Position::from_fen(fen).with_context(|| format!("cannot read '{fen}'"))?,
        };
        if let Some(file) = &self.svg {
            files::write_atomically(file, board_svg(&position, &weights))
                .with_context(|| file.display().to_string())?;
        }
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
