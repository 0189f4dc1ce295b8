//! `finch perft DEPTH [FEN]`: counts legal move sequences, to check move generation.

use std::time::Instant;

use anyhow::Context;
use clap::Args;

use crate::position::{Position, movegen};

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch perft 5
  finch perft 4 \"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -\"")]
pub struct Arguments {
    /// Depth in plies.
    #[arg(value_parser = clap::value_parser!(u32).range(0..=20))]
    depth: u32,
    /// The position; by default the start position.
    #[arg(value_name = "FEN", num_args = 0.., trailing_var_arg = true)]
    fen: Vec<String>,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let fen = self.fen.join(" ");
        let position = match fen.as_str() {
            "" => Position::default(),
            fen => Position::from_fen(fen).with_context(|| format!("the position '{fen}'"))?,
        };
        let started = Instant::now();
        let leaves = movegen::perft(&position, self.depth);
        let seconds = started.elapsed().as_secs_f64();
        println!("{leaves} leaves at depth {} in {seconds:.2} s", self.depth);
        Ok(())
    }
}
