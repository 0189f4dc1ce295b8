//! The command line: one file per subcommand.

mod bench;
mod eval;
mod filters;
mod fitness;
mod label;
mod match_command;
mod match_display;
mod openings;
mod output;
mod params;
mod perft;
mod progress;
mod rate;
mod recognise;
mod report;
mod selfplay;
mod train;
mod tune;
mod weights;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::ensure;
use clap::{Args, Parser, Subcommand};

use crate::eval::{self as evaluation, Weights};
use crate::uci;

/// A UCI chess engine that evolves its own evaluation.
///
/// Without a command Finch speaks UCI, as chess GUIs expect.
#[derive(Parser)]
#[command(version, about)]
pub struct Arguments {
    #[command(flatten)]
    choice: Choice,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The option of all commands that evaluate; it may stand before or after the command.
#[derive(Args, Default)]
pub struct Choice {
    /// Weights to evaluate with, instead of the ones built in.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Speak UCI (the default).
    Uci(Choice),
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
    /// Evolve weights from games, or from a mentor's scores.
    Tune(tune::Arguments),
    /// Teach a network from packed labels.
    Train(train::Arguments),
    /// Play quick games against itself and keep their positions.
    Selfplay(selfplay::Arguments),
    /// Ask mentor engines for their scores of positions.
    Label(Box<label::Arguments>),
    /// Tell which clone of a player made the moves of games.
    Recognise(recognise::Arguments),
    /// Measure weights, or another engine, on positions from games.
    Fitness(fitness::Arguments),
    /// Draw the page of a run, or of several.
    Report(report::Arguments),
    /// Print the search constants in OpenBench's SPSA format.
    Params,
}

impl Command {
    /// The weights it was told to evaluate with; `None` if it takes its weights another way.
    fn choice(&mut self) -> Option<&mut Choice> {
        match self {
            Command::Uci(choice) => Some(choice),
            Command::Bench(arguments) => Some(arguments.choice()),
            Command::Eval(arguments) => Some(&mut arguments.choice),
            Command::Openings(arguments) => Some(&mut arguments.choice),
            Command::Selfplay(arguments) => Some(&mut arguments.choice),
            Command::Label(arguments) => Some(&mut arguments.choice),
            _ => None,
        }
    }
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let mut command = self.command.unwrap_or(Command::Uci(Choice::default()));
        let before = self.choice.weights;
        let after = match command.choice() {
            Some(choice) => choice.weights.take(),
            None => {
                let refused = "--weights: this command takes its weights in another way";
                ensure!(before.is_none(), "{refused}; see its --help");
                None
            }
        };
        let weights = Arc::new(match after.or(before) {
            Some(path) => Weights::load(&path)?,
            None => playing_weights(),
        });
        match command {
            Command::Uci(_) => uci::run(weights),
            Command::Bench(arguments) => arguments.run(&weights),
            Command::Perft(arguments) => arguments.run(),
            Command::Eval(arguments) => arguments.run(&weights),
            Command::Weights(arguments) => arguments.run(),
            Command::Match(arguments) => arguments.run(),
            Command::Rate(arguments) => arguments.run(),
            Command::Openings(arguments) => arguments.run(&weights),
            Command::Tune(arguments) => arguments.run(),
            Command::Train(arguments) => arguments.run(),
            Command::Selfplay(arguments) => arguments.run(&weights),
            Command::Label(arguments) => arguments.run(&weights),
            Command::Recognise(arguments) => arguments.run(),
            Command::Fitness(arguments) => arguments.run(),
            Command::Report(arguments) => arguments.run(),
            Command::Params => params::print(),
        }
    }
}

/// The weights the program plays with; unusable installed ones are named on standard error.
fn playing_weights() -> Weights {
    let (weights, error) = evaluation::playing_weights();
    if let Some(error) = error {
        eprintln!("finch: {error}; playing with the built-in weights");
    }
    weights
}
