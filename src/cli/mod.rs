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
mod completions;
mod eval;
mod evolve;
mod filters;
mod fitness;
mod label;
mod man;
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

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{ExitCode, exit};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::builder::RangedU64ValueParser;
use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::eval::LoadedWeights;
use crate::names::did_you_mean;
use crate::terminal::printable;
use crate::tune::preset::{MOST_THREADS, Preset};
use crate::uci::is_command;
use crate::work::{self, Job};

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
        /// Analyse games: scores, mistakes and better lines.
        Annotate(Box<annotate::Arguments>) weights;
    }
    "Measure" {
        /// Play a match between weights files and UCI engines.
        Match(Box<match_command::Arguments>);
        /// Rate the players of PGN files.
        Rate(rate::Arguments);
        /// Solve test suites, Finch and other engines side by side.
        Solve(Box<solve::Arguments>) weights;
        /// Explain a position's evaluation term by term.
        Eval(eval::Arguments) weights;
        /// Measure weights, or another engine, on positions from games.
        Fitness(fitness::Arguments);
        /// Find out which clone of a player made the moves of games.
        Recognise(recognise::Arguments);
        /// Search fixed positions; the node count is the engine's signature.
        Bench(bench::Arguments) weights;
        /// Count legal move sequences.
        Perft(perft::Arguments);
    }
    "Tune" {
        /// Evolve weights, search constants or another engine's options.
        Tune(tune::Arguments);
        /// Train a network on labels.
        Train(train::Arguments);
        /// Improve by self-play, training and matches, for hours.
        Evolve(Box<evolve::Arguments>);
        /// Write the report page of a run, or of several.
        Report(report::Arguments);
        /// Print the search constants in OpenBench's SPSA format.
        Params(params::Arguments);
    }
    "Data" {
        /// Play quick games and keep their positions with scores.
        Selfplay(selfplay::Arguments) weights;
        /// Ask mentor engines for their scores of positions.
        Label(Box<label::Arguments>);
        /// Make a file of balanced opening positions.
        Openings(openings::Arguments) weights;
    }
    "Files" {
        /// Check, compare and install weights files; list the terms.
        Weights(weights::Arguments);
        /// Make, show and merge opening books.
        Book(book::Arguments);
        /// Print a script that completes commands in your shell.
        Completions(completions::Arguments);
        /// Write manual pages.
        Man(man::Arguments);
    }
}

impl Command {
    /// Whether it divides its work among the threads of rayon's pool.
    fn shares_work(&self) -> bool {
        use Command::*;
        matches!(
            self,
            Fitness(_) | Recognise(_) | Tune(_) | Train(_) | Evolve(_) | Selfplay(_) | Label(_)
        )
    }
}

fn is_unprintable(word: OsString) -> bool {
    let word = word.to_string_lossy();
    printable(&word) != word
}

/// Numbers of threads that a preset takes, too; 0 leaves it to the machine.
fn thread_count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=MOST_THREADS as u64)
}

impl Arguments {
    /// Reads the command line; prints help or a usage error and exits where that is asked for.
    pub fn read() -> Arguments {
        let read = command()
            .try_get_matches()
            .and_then(|matches| Arguments::from_arg_matches(&matches));
        read.unwrap_or_else(|mut error| {
            point_to_preset_keys(&mut error);
            let code = i32::from(error.use_stderr());
            leave_it_to_rank_0(code);
            // Whether help or an error: without a reader there is nothing more to do.
            match error.use_stderr() && std::env::args_os().any(is_unprintable) {
                // An error quotes the command line, and its colours need control characters.
                true => eprintln!("{}", error.render()),
                false => drop(error.print()),
            }
            exit(code)
        })
    }

    /// Runs the command; a failure is one line on standard error.
    pub fn run_to_exit_code(self) -> ExitCode {
        match self.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                leave_it_to_rank_0(1);
                eprintln!("finch: {}", printable(&format!("{error:#}")));
                ExitCode::FAILURE
            }
        }
    }

    fn run(self) -> Result<()> {
        let command = self.command;
        let command = command.unwrap_or(Command::Uci(uci::Arguments::default()));
        // Left at the end, whatever comes of the command.
        let _job = command.job()?;
        if command.shares_work() {
            // Made on demand, the pool would panic where the system gives no more threads.
            let pool = rayon::ThreadPoolBuilder::new().build_global();
            pool.context("too little memory, or too many threads on this machine")?;
        }
        let done = command.run(self.weights);
        if work::is_helper() {
            // Rank 0 tells of it, unless it has the same to tell of itself.
            if let Err(error) = done {
                work::fail(&printable(&format!("{error:#}")));
            }
            return Ok(());
        }
        if let (Ok(()), Some(usage)) = (&done, work::usage()) {
            eprintln!("{usage}");
        }
        done
    }
}

impl Command {
    /// The MPI job, for commands that share their work. Those that would all write the same file
    /// are refused in one.
    fn job(&self) -> Result<Option<Job>> {
        match self {
            Command::Match(_)
            | Command::Tune(_)
            | Command::Selfplay(_)
            | Command::Label(_)
            | Command::Evolve(_) => Ok(Some(Job::join()?)),
            Command::Train(_) => {
                ensure!(
                    work::processes() <= 1,
                    "the training of a network stays on one host, because its gradients would fill \
                     a network line: start it without mpirun"
                );
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

/// Under mpirun all ranks have the same wrong command line, and rank 0 tells of it. A rank that
/// failed first would end it before it can.
fn leave_it_to_rank_0(code: i32) {
    if work::rank() > 0 {
        if code != 0 {
            thread::sleep(Duration::from_secs(3));
        }
        exit(code);
    }
}

/// `finch tune --generations 5`: an option that is a key of a preset is set by `--set`.
fn point_to_preset_keys(error: &mut clap::Error) {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return;
    };
    if !usage.to_string().contains(" tune ") {
        return;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    let name = option.trim_start_matches('-').replace('-', "_");
    let keys = Preset::keys_named(&name).into_iter();
    let tips: Vec<_> = keys
        .map(|key| format!("a key of the preset is set by '--set {key}=…'").into())
        .collect();
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// `finch "position startpos" "go depth 10"`: the words are UCI commands.
fn run_lines(commands: Vec<String>, weights: WeightsOption) -> Result<()> {
    if let Some(unknown) = commands.iter().find(|line| !is_command(line)) {
        let names = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
        let hint = did_you_mean(unknown, names).to_lowercase();
        bail!("unknown command '{unknown}'{hint} (finch --help lists the commands)");
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
            let _ = writeln!(text, "  {name:<12} {}", about.unwrap_or_default());
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

    /// The words of a command as a shell would split them.
    fn words(line: &str) -> Vec<String> {
        let line = line.split(" # ").next().unwrap_or_default();
        let line = line.split(" > ").next().unwrap_or_default();
        let mut words = vec![];
        for (number, part) in line.split(['"', '\'']).enumerate() {
            match number % 2 {
                1 => words.push(part.to_owned()),
                _ => words.extend(part.split_whitespace().map(str::to_owned)),
            }
        }
        words
    }

    #[test]
    fn the_help_of_every_subcommand_has_examples_that_can_be_parsed() {
        for subcommand in command().get_subcommands() {
            let name = subcommand.get_name();
            let text = subcommand.get_after_help().map(ToString::to_string);
            let text = text.unwrap_or_default();
            let examples: Vec<&str> = text
                .lines()
                .filter(|line| line.starts_with("  finch"))
                .collect();
            let own = examples.iter().filter(|line| line.contains(name)).count();
            assert!(own > 0 || name == "uci", "{name} has no example");
            for example in examples {
                let read = command().try_get_matches_from(words(example));
                assert!(read.is_ok(), "{example}: {read:?}");
            }
        }
    }
}
