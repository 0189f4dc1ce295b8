//! The command line: one file per subcommand.

mod bench;
mod eval;
mod match_command;
mod match_display;
mod openings;
mod output;
mod params;
mod perft;
mod rate;
mod weights;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Parser, Subcommand};

use crate::eval::Weights;
use crate::uci;

/// A UCI chess engine that evolves its own evaluation.
///
/// Without a command Finch speaks UCI, as chess GUIs expect.
#[derive(Parser)]
#[command(version, about)]
pub struct Arguments {
    /// Weights to evaluate with, instead of the ones built in.
    #[arg(long, global = true, value_name = "FILE")]
    weights: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Speak UCI (the default).
    Uci,
    /// Search fixed positions; the node count is the engine's signature.
    Bench(bench::Arguments),
    /// Count the leaves of the legal move tree.
    Perft(perft::Arguments),
    /// Take a position's evaluation apart.
    Eval(eval::Arguments),
    /// Check a weights file, compare two, list what can be weighed.
    Weights(weights::Arguments),
    /// Play a match between weights files and UCI engines.
    Match(Box<match_command::Arguments>),
    /// Rate the players of PGN files.
    Rate(rate::Arguments),
    /// Make a file of balanced opening positions.
    Openings(openings::Arguments),
    /// Print the search constants in OpenBench's SPSA format.
    Params,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let weights = Arc::new(match &self.weights {
            Some(path) => Weights::load(path)?,
            None => Weights::default(),
        });
        match self.command.unwrap_or(Command::Uci) {
            Command::Uci => uci::run(weights),
            Command::Bench(arguments) => arguments.run(&weights),
            Command::Perft(arguments) => arguments.run(),
            Command::Eval(arguments) => arguments.run(&weights),
            Command::Weights(arguments) => arguments.run(),
            Command::Match(arguments) => arguments.run(),
            Command::Rate(arguments) => arguments.run(),
            Command::Openings(arguments) => arguments.run(&weights),
            Command::Params => {
                params::print();
                Ok(())
            }
        }
    }
}
