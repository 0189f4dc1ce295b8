//! `finch fitness`: how many of the masters' moves any weights find, or any engine; how close
//! weights come to a mentor's scores.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use shakmaty::ByColor;

use super::filters::Filters;
use crate::data::{self, Case, Label, Selection, Source};
use crate::eval::{Weights, evaluate_uncached};
use crate::play::GameLimits;
use crate::play::limits::GameClocks;
use crate::play::player::{Fault, GameView, Player};
use crate::play::player_config::DEFAULT_TIMEOUT;
use crate::play::uci_engine::{EngineCommand, UciEngine};
use crate::position::Game;
use crate::tune::fitness::{
    BoardSearch, MentorLoss, MentorSettings, QuiescenceLimits, better_move,
};
use crate::tune::fitness::{built_in_games, built_in_labels};
use crate::tune::statistics::mean_and_deviation;

#[derive(Args)]
pub struct Arguments {
    /// What to measure.
    kind: Kind,
    /// Weights to measure; those built in if none are given.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    weights: Vec<PathBuf>,
    /// Games (PGN) or positions (EPD with bm; for mentor: labels, EPD with ce); those built in
    /// if none are given.
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
    /// Only games that a preset with this validation_share and the same data.seed sets aside;
    /// half of them without a value.
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.5", value_parser = share)]
    held_out: Option<f64>,
    #[command(flatten)]
    filters: Filters,
    /// Plies of quiescence in which checks are tried.
    #[arg(long, default_value_t = QuiescenceLimits::default().checks)]
    checks: u32,
    /// Plies of quiescence in which every capture is tried that loses nothing.
    #[arg(long, default_value_t = QuiescenceLimits::default().captures)]
    captures: u32,
    /// Plies of quiescence.
    #[arg(long, default_value_t = QuiescenceLimits::default().plies, value_parser = clap::value_parser!(u32).range(0..=64))]
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

const NOTHING_HELD_OUT: &str = "--held-out: none of so few games is set aside with this seed";

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Share of positions in which the master's move is chosen by one ply and quiescence.
    Moves,
    /// Mean difference from a mentor's scores, in centipawns and in chances of winning.
    Mentor,
}

impl Arguments {
    pub fn run(self) -> anyhow::Result<()> {
        ensure!(self.positions > 0, "--positions: at least 1");
        match self.kind {
            Kind::Moves => self.measure_moves(),
            Kind::Mentor => self.measure_scores(),
        }
    }

    /// The weights asked for, with the names they were asked by.
    fn all_weights(&self) -> anyhow::Result<Vec<(String, Weights)>> {
        if self.weights.is_empty() {
            let weights = Weights::default();
            return Ok(vec![(weights.name.clone(), weights)]);
        }
        let load = |path: &PathBuf| Ok((path.display().to_string(), Weights::load(path)?));
        self.weights.iter().map(load).collect()
    }

    fn measure_scores(&self) -> anyhow::Result<()> {
        ensure!(
            self.engine.is_none(),
            "--engine is asked for moves: finch fitness moves --engine"
        );
        ensure!(
            self.skip_moves == 0 && !self.filters.are_set(),
            "labels tell of no player, date or move number that could be selected by"
        );
        let all = self.all_weights()?;
        let sources = self.sources(built_in_labels);
        let labels = data::collect_labels(&sources, &self.selection())?;
        println!("{}", labels.tally.summary());
        let scale = labels.scale;
        let labels = match self.held_out {
            Some(_) => labels.validation,
            None => labels.training,
        };
        ensure!(!labels.is_empty(), NOTHING_HELD_OUT);
        for (name, weights) in all {
            print_scores(&name, &labels, scale, &weights);
        }
        Ok(())
    }

    fn measure_moves(&self) -> anyhow::Result<()> {
        let cases = self.cases()?;
        ensure!(!cases.is_empty(), NOTHING_HELD_OUT);
        if let Some(command) = &self.engine {
            let solved = self.solved_by_engine(command, &cases)?;
            let options = self.option.iter().map(|option| format!(", {option}"));
            let options: String = options.collect();
            let name = format!("{command} at depth {}{options}", self.depth);
            print_share(&name, solved, cases.len());
        }
        if self.weights.is_empty() && self.engine.is_some() {
            return Ok(());
        }
        for (name, weights) in self.all_weights()? {
            print_share(&name, self.solved(&cases, &weights), cases.len());
        }
        Ok(())
    }

    fn cases(&self) -> anyhow::Result<Vec<Case>> {
        let sources = self.sources(built_in_games);
        let collection = data::collect(&sources, &self.selection())?;
        println!("{}", collection.tally.summary());
        Ok(match self.held_out {
            Some(_) => collection.validation,
            None => collection.training,
        })
    }

    /// What is asked for; of the games that are not held out everything, so that no position
    /// of theirs counts as new.
    fn selection(&self) -> Selection {
        let (positions, validation) = match self.held_out {
            Some(_) => (0, self.positions),
            None => (self.positions, 0),
        };
        Selection {
            positions,
            validation,
            validation_share: self.held_out.unwrap_or(0.0),
            seed: self.seed,
            skip_moves: self.skip_moves,
            ..self.filters.selection()
        }
    }

    fn sources(&self, built_in: fn() -> Source) -> Vec<Source> {
        match self.games[..] {
            [] => vec![built_in()],
            _ => self.games.iter().map(Source::file).collect(),
        }
    }

    /// Asks the engine in every position for its move.
    fn solved_by_engine(&self, command: &str, cases: &[Case]) -> anyhow::Result<usize> {
        let mut words = command.split_whitespace().map(str::to_owned);
        let option = |text: &String| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            (name.to_owned(), value.to_owned())
        };
        let mut engine = UciEngine::new(EngineCommand {
            command: words.next().context("--engine: no command")?,
            arguments: words.collect(),
            directory: None,
            options: self.option.iter().map(option).collect(),
            timeout: DEFAULT_TIMEOUT,
        });
        let limits = GameLimits::depth(self.depth);
        let clocks = GameClocks::new(ByColor::new_with(|_| limits), Duration::ZERO);
        let mut solved = 0;
        for case in cases {
            let situation = GameView {
                game: &Game::new(case.position.clone()),
                start: &case.position,
                moves: &[],
            };
            let failed = |fault: Fault| anyhow!("{command}: {}", fault.detail);
            engine.new_game(&case.position).map_err(failed)?;
            let budget = clocks.move_limits(case.position.turn());
            let thought = engine.think(&situation, &budget).map_err(failed)?;
            solved += usize::from(case.answers.contains(&thought.m));
        }
        Ok(solved)
    }

    fn solved(&self, cases: &[Case], weights: &Weights) -> usize {
        let settings = QuiescenceLimits {
            checks: self.checks,
            captures: self.captures,
            plies: self.plies,
        };
        let solves = |case: &&Case| {
            let searched = BoardSearch::new(&case.position, weights, settings);
            better_move(&searched, &searched.move_numbers(&case.answers), 0).is_none()
        };
        cases.par_iter().filter(solves).count()
    }
}

/// A share of the games that leaves some on either side.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok();
    let share = share.filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "not a share between 0 and 1".to_owned())
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

/// Both losses, the first with its standard error.
fn print_scores(name: &str, labels: &[Label], scale: f64, weights: &Weights) {
    let mean = |loss: MentorLoss| {
        let settings = MentorSettings {
            loss,
            ..MentorSettings::default()
        }
        .for_scale(scale);
        let lose = |label: &Label| {
            let own = evaluate_uncached(&label.position, weights);
            settings.loss(own.into(), label.score.into())
        };
        let losses: Vec<f64> = labels.par_iter().map(lose).collect();
        let (mean, deviation) = mean_and_deviation(&losses);
        (mean, deviation / (losses.len().max(1) as f64).sqrt())
    };
    let (centipawns, error) = mean(MentorLoss::Centipawns);
    let (chance, _) = mean(MentorLoss::Chance);
    println!(
        "{centipawns:.2} cp ± {error:.2}  {chance:.5} in squared chances  {} positions  {name}",
        labels.len()
    );
}
