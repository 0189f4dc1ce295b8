//! `finch fitness moves`: how many of the masters' moves any weights find, or any engine.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use shakmaty::ByColor;

use crate::data::{self, Case, Selection, Source};
use crate::eval::Weights;
use crate::play::Pace;
use crate::play::contestant::PATIENCE;
use crate::play::outside::{Engine, Outside};
use crate::play::pace::Clocks;
use crate::play::player::{Fault, Player, Situation};
use crate::position::Game;
use crate::tune::fitness::{Quiescence, Searched, refutation};
use crate::tune::run::built_in_games;

#[derive(Args)]
pub struct Arguments {
    /// What to measure.
    kind: Kind,
    /// Weights to measure; those built in if none are given.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    weights: Vec<PathBuf>,
    /// Games (PGN) or positions (EPD with bm); the games built in if none are given.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    games: Vec<PathBuf>,
    /// How many positions.
    #[arg(long, default_value_t = 4000)]
    positions: usize,
    /// Decides which positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Moves at the start of each game that do not count.
    #[arg(long, default_value_t = 0)]
    skip_moves: u32,
    /// Plies of quiescence in which checks are tried.
    #[arg(long, default_value_t = Quiescence::default().checks)]
    checks: u32,
    /// Plies of quiescence in which every capture is tried that loses nothing.
    #[arg(long, default_value_t = Quiescence::default().captures)]
    captures: u32,
    /// Plies of quiescence.
    #[arg(long, default_value_t = Quiescence::default().plies, value_parser = clap::value_parser!(u32).range(0..=64))]
    plies: u32,
    /// A UCI engine to measure on the same positions: its command.
    #[arg(long, value_name = "COMMAND")]
    engine: Option<String>,
    /// Options for that engine.
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    /// How deep that engine searches.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Share of positions in which the master's move is chosen by one ply and quiescence.
    Moves,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        let Kind::Moves = self.kind;
        ensure!(self.positions > 0, "--positions: at least 1");
        let cases = self.cases()?;
        if let Some(command) = &self.engine {
            let solved = self.solved_by_engine(command, &cases)?;
            let name = format!("{command} at depth {}", self.depth);
            print_share(&name, solved, cases.len());
        }
        if self.weights.is_empty() && self.engine.is_none() {
            let weights = Weights::default();
            print_share(&weights.name, self.solved(&cases, &weights), cases.len());
        }
        for path in &self.weights {
            let weights = Weights::load(path)?;
            let solved = self.solved(&cases, &weights);
            print_share(&path.display().to_string(), solved, cases.len());
        }
        Ok(())
    }

    fn cases(&self) -> anyhow::Result<Vec<Case>> {
        let selection = Selection {
            positions: self.positions,
            validation: 0,
            seed: self.seed,
            skip_moves: self.skip_moves,
            ..Selection::default()
        };
        let sources: Vec<_> = match self.games[..] {
            [] => vec![built_in_games()],
            _ => self.games.iter().map(Source::file).collect(),
        };
        let collection = data::collect(&sources, &selection)?;
        println!("{}", collection.tally.summary());
        Ok(collection.training)
    }

    /// Asks the engine in every position for its move.
    fn solved_by_engine(&self, command: &str, cases: &[Case]) -> anyhow::Result<usize> {
        let mut words = command.split_whitespace().map(str::to_owned);
        let option = |text: &String| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            (name.to_owned(), value.to_owned())
        };
        let mut engine = Outside::new(Engine {
            command: words.next().context("--engine: no command")?,
            arguments: words.collect(),
            directory: None,
            options: self.option.iter().map(option).collect(),
            patience: PATIENCE,
        });
        let pace = Pace::depth(self.depth);
        let clocks = Clocks::new(ByColor::new_with(|_| pace), Duration::ZERO);
        let mut solved = 0;
        for case in cases {
            let situation = Situation {
                game: &Game::new(case.position.clone()),
                start: &case.position,
                moves: &[],
            };
            let failed = |fault: Fault| anyhow!("{command}: {}", fault.detail);
            engine.new_game(&case.position).map_err(failed)?;
            let budget = clocks.budget(case.position.turn());
            let thought = engine.think(&situation, &budget).map_err(failed)?;
            solved += usize::from(case.answers.contains(&thought.m));
        }
        Ok(solved)
    }

    fn solved(&self, cases: &[Case], weights: &Weights) -> usize {
        let settings = Quiescence {
            checks: self.checks,
            captures: self.captures,
            plies: self.plies,
        };
        let solves = |case: &&Case| {
            let searched = Searched::new(&case.position, weights, settings);
            refutation(&searched, &searched.places(&case.answers), 0).is_none()
        };
        cases.par_iter().filter(solves).count()
    }
}

/// The share with its standard error.
fn print_share(name: &str, solved: usize, all: usize) {
    let share = solved as f64 / all as f64;
    let error = (share * (1.0 - share) / all as f64).sqrt();
    println!(
        "{:.2}% ± {:.2}  {solved} of {all}  {name}",
        100.0 * share,
        100.0 * error
    );
}
