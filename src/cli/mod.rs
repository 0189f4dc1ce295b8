//! The command line: one file per subcommand.
//!
//! A subcommand is declared once, by a line in the list below: its group, its help and the type of
//! its arguments. That type is in the subcommand's own file and has a method `run`.

// The files below print by these instead of the standard library's; see `output.rs`.
macro_rules! print {
    ($($text:tt)*) => { $crate::cli::output::write(format_args!($($text)*)) };
}
macro_rules! println {
    ($($text:tt)*) => { print!("{}\n", format_args!($($text)*)) };
}
macro_rules! eprintln {
    ($($text:tt)*) => {
        $crate::cli::output::write_error(format_args!("{}\n", format_args!($($text)*)))
    };
}

mod annotate;
mod bench;
mod book;
mod eval;
mod evolve;
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
mod solve;
mod train;
mod tune;
mod uci;
mod weights;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{ExitCode, exit};

use anyhow::{Result, bail, ensure};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::eval::LoadedWeights;
use crate::terminal::printable;
use crate::uci::is_command;

/// A UCI chess engine that evolves its own evaluation.
///
/// Without a command Finch speaks UCI, as chess GUIs expect.
#[derive(Parser)]
#[command(name = "finch", version, about)]
pub struct Arguments {
    #[command(flatten)]
    weights: WeightsOption,
    #[command(subcommand)]
    command: Option<Command>,
}

/// `--weights`, which may stand before or after the subcommands that evaluate.
#[derive(Args, Default)]
pub struct WeightsOption {
    /// Weights file to evaluate with; `default` means the built-in weights.
    #[arg(long = "weights", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl WeightsOption {
    fn is_given(&self) -> bool {
        self.file.is_some()
    }

    fn or_else(&self, otherwise: impl FnOnce() -> Result<LoadedWeights>) -> Result<LoadedWeights> {
        match &self.file {
            Some(file) => Ok(LoadedWeights::named(file)?),
            None => otherwise(),
        }
    }

    /// The weights that were asked for, or those that play by default.
    fn or_installed(&self) -> Result<LoadedWeights> {
        self.or_else(|| Ok(LoadedWeights::installed()?))
    }

    fn or_built_in(&self) -> Result<LoadedWeights> {
        self.or_else(|| Ok(LoadedWeights::built_in()))
    }
}

macro_rules! subcommands {
    ($($group:literal { $($(#[$meta:meta])* $name:ident($arguments:ty) $($takes:ident)?;)* })*) => {
        #[derive(Subcommand)]
        enum Command {
            $($($(#[$meta])* $name($arguments),)*)*
            /// UCI commands on the command line.
            #[command(external_subcommand)]
            Lines(Vec<String>),
        }

        /// The names of the subcommands, by group.
        const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$(stringify!($name)),*])),*];

        impl Command {
            /// `weights` is what stood before the subcommand.
            fn run(self, weights: WeightsOption) -> Result<()> {
                match self {
                    $($(Command::$name(arguments) => run!(arguments, weights $(, $takes)?),)*)*
                    Command::Lines(lines) => run_lines(lines, weights),
                }
            }
        }
    };
}

macro_rules! run {
    ($arguments:ident, $before:ident) => {{
        ensure!(
            !$before.is_given(),
            "--weights: this command takes its weights in another way; see its --help"
        );
        $arguments.run()
    }};
    ($arguments:ident, $before:ident, weights) => {{
        let mut arguments = $arguments;
        if !arguments.weights.is_given() {
            arguments.weights = $before;
        }
        arguments.run()
    }};
}

// `weights` after a line: the subcommand takes `--weights`, in a field of that name.
subcommands! {
    "Play" {
        /// Speak UCI (the default).
        Uci(uci::Arguments) weights;
        /// Play a match between weights files and UCI engines.
        Match(Box<match_command::Arguments>);
        /// Rate the players of PGN files.
        Rate(rate::Arguments);
        /// Make, show and merge opening books.
        Book(book::Arguments);
        /// Make a file of balanced opening positions.
        Openings(openings::Arguments) weights;
    }
    "Evaluate" {
        /// Analyse games: scores, mistakes and better lines.
        Annotate(Box<annotate::Arguments>) weights;
        /// Solve test suites, Finch and other engines side by side.
        Solve(Box<solve::Arguments>) weights;
        /// Explain a position's evaluation term by term.
        Eval(eval::Arguments) weights;
        /// Check a weights file, compare two, list the terms.
        Weights(weights::Arguments);
        /// Measure weights, or another engine, on positions from games.
        Fitness(fitness::Arguments);
        /// Find out which clone of a player made the moves of games.
        Recognise(recognise::Arguments);
    }
    "Learn" {
        /// Improve by self-play, training and matches, for hours.
        Evolve(Box<evolve::Arguments>);
        /// Evolve weights from games, or from a mentor's scores.
        Tune(tune::Arguments);
        /// Train a network on packed labels.
        Train(train::Arguments);
        /// Play quick games and keep their positions with scores.
        Selfplay(selfplay::Arguments) weights;
        /// Ask mentor engines for their scores of positions.
        Label(Box<label::Arguments>);
        /// Write the report page of a run, or of several.
        Report(report::Arguments);
    }
    "Develop" {
        /// Search fixed positions; the node count is the engine's signature.
        Bench(bench::Arguments) weights;
        /// Count legal move sequences.
        Perft(perft::Arguments);
        /// Print the search constants in OpenBench's SPSA format.
        Params(params::Arguments);
    }
}

impl Arguments {
    /// Reads the command line; prints help or a usage error and exits where that is asked for.
    pub fn read() -> Arguments {
        let read = command()
            .try_get_matches()
            .and_then(|matches| Arguments::from_arg_matches(&matches));
        read.unwrap_or_else(|error| {
            // Whether help or an error: without a reader there is nothing more to do.
            let _ = error.print();
            exit(i32::from(error.use_stderr()))
        })
    }

    /// Runs the command; a failure is one line on standard error.
    pub fn run_to_exit_code(self) -> ExitCode {
        match self.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("finch: {}", printable(&format!("{error:#}")));
                ExitCode::FAILURE
            }
        }
    }

    fn run(self) -> Result<()> {
        let command = self.command;
        command
            .unwrap_or(Command::Uci(uci::Arguments::default()))
            .run(self.weights)
    }
}

/// `finch "position startpos" "go depth 10"`: the words are UCI commands.
fn run_lines(commands: Vec<String>, weights: WeightsOption) -> Result<()> {
    if let Some(unknown) = commands.iter().find(|line| !is_command(line)) {
        bail!("unknown command '{unknown}'; finch --help lists the commands");
    }
    uci::Arguments { weights, commands }.run()
}

/// The command line as clap knows it, with the subcommands listed by group.
fn command() -> clap::Command {
    let command = Arguments::command();
    let mut text = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(text, "{group}:");
        for name in names.iter().map(|name| name.to_lowercase()) {
            let found = command.find_subcommand(&name);
            let about = found.and_then(clap::Command::get_about).cloned();
            let _ = writeln!(text, "  {name:<10} {}", about.unwrap_or_default());
        }
        text.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_is_listed_in_a_group() {
        let command = command();
        command.clone().debug_assert();
        let grouped = GROUPS.iter().flat_map(|(_, names)| names.iter());
        let mut grouped: Vec<String> = grouped.map(|name| name.to_lowercase()).collect();
        let mut declared: Vec<String> = command
            .get_subcommands()
            .map(|one| one.get_name().to_owned())
            .collect();
        grouped.sort();
        declared.sort();
        assert_eq!(grouped, declared);
    }
}
