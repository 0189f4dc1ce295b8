//! `finch selfplay`: positions from Finch's own play, as EPD, for a mentor to judge.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rayon::prelude::*;

use super::Choice;
use crate::data::{SelfPlay, positions_of_game};
use crate::eval::Weights;
use crate::files::write_whole;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) choice: Choice,
    /// How many positions.
    #[arg(long, default_value_t = 100_000)]
    positions: usize,
    /// Where to write them.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How deep the players look.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    depth: u32,
    /// The chance that a move is random.
    #[arg(long, default_value_t = 0.11)]
    blunders: f64,
}

/// Games played between two looks at how many positions there are.
const ROUND: u64 = 512;

impl Arguments {
    pub fn run(self, weights: &Arc<Weights>) -> Result<()> {
        ensure!(
            (0.0..=1.0).contains(&self.blunders),
            "--blunders is a chance, from 0 to 1"
        );
        let play = SelfPlay {
            seed: self.seed,
            depth: self.depth,
            opening: [6, 16],
            blunders: self.blunders,
            share: 0.35,
        };
        let mut lines = Vec::new();
        let mut next = 0;
        while lines.len() < self.positions {
            let games: Vec<_> = (next..next + ROUND)
                .into_par_iter()
                .map(|number| (number, positions_of_game(&play, number, weights)))
                .collect();
            next += ROUND;
            for (number, positions) in games {
                lines.extend(
                    positions
                        .iter()
                        .map(|position| epd_line(&position.fen(), number)),
                );
            }
            eprintln!(
                "{} positions from {next} games",
                lines.len().min(self.positions)
            );
        }
        lines.truncate(self.positions);
        write_whole(&self.out, &lines.concat())
            .with_context(|| format!("writing {}", self.out.display()))
    }
}

/// Four fields of a FEN and the game it comes from.
fn epd_line(fen: &str, game: u64) -> String {
    let fields: Vec<_> = fen.split_whitespace().take(4).collect();
    format!("{} id \"{game}\";\n", fields.join(" "))
}
