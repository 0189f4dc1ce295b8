//! `finch fitness`: the share of masters' moves that weights or an engine find; how close weights
//! come to a mentor's scores.

use std::path::PathBuf;

use anyhow::{Context, anyhow, ensure};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::filters::Filters;
use super::output::json_line;
use crate::data::{self, Case, Label, LabelNeeds, Selection, Source};
use crate::eval::Weights;
use crate::play::uci_engine::EngineCommand;
use crate::tune::fitness::{
    MentorLoss, QuiescenceLimits, Ties, built_in_games, built_in_labels, cases_solved,
    engines_share_of_moves, mentor_loss, share_of_cases,
};
use crate::tune::statistics::Estimate;

#[derive(Args)]
#[command(after_help = "\
Examples:
  finch fitness moves --weights vazquez-2013 moves
  finch fitness moves --games masters.pgn --engine stockfish --depth 1
  finch fitness mentor --weights default hand-set")]
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
    /// Only games that a preset with this validation_share and the same data.seed keeps for
    /// validation; half of them without a value.
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "0.5", value_parser = share)]
    held_out: Option<f64>,
    #[command(flatten)]
    filters: Filters,
    /// Plies of quiescence in which checks are tried.
    #[arg(long, default_value_t = QuiescenceLimits::default().checks)]
    checks: u32,
    /// Plies of quiescence in which all captures with SEE of at least 0 are tried.
    #[arg(long, default_value_t = QuiescenceLimits::default().captures)]
    captures: u32,
    /// Plies of quiescence.
    #[arg(long, default_value_t = QuiescenceLimits::default().plies, value_parser = clap::value_parser!(u32).range(0..=64))]
    plies: u32,
    /// A master's move that ties with the best counts as found: the most that any rule for ties
    /// can reach.
    #[arg(long)]
    ties_count: bool,
    /// A UCI engine to measure on the same positions: its command.
    #[arg(long, value_name = "COMMAND")]
    engine: Option<String>,
    /// Options for that engine.
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    /// How deep that engine searches.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: u32,
    /// Print JSON, one object a line; docs/json.md explains the fields.
    #[arg(long)]
    json: bool,
}

const NOTHING_HELD_OUT: &str =
    "--held-out: with so few games this seed keeps none for validation; give more games";

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Share of positions in which one ply and quiescence choose the master's move.
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

    /// The weights to measure, with their names.
    fn all_weights(&self) -> anyhow::Result<Vec<(String, Weights)>> {
        if self.weights.is_empty() {
            let weights = Weights::default();
            return Ok(vec![(weights.name.clone(), weights)]);
        }
        let load = |path: &PathBuf| Ok((path.display().to_string(), Weights::named(path)?));
        self.weights.iter().map(load).collect()
    }

    fn measure_scores(&self) -> anyhow::Result<()> {
        ensure!(
            self.engine.is_none(),
            "--engine works with moves only: finch fitness moves --engine"
        );
        ensure!(
            self.skip_moves == 0 && !self.filters.are_set(),
            "labels have no player, date or move number to filter by: leave these options out"
        );
        let all = self.all_weights()?;
        let sources = self.sources(built_in_labels);
        let labels = data::collect_labels(&sources, &self.selection(), LabelNeeds::SCORE)?;
        self.print_data(&labels.tally.summary());
        let scale = labels.scale;
        let labels = match self.held_out {
            Some(_) => labels.validation,
            None => labels.training,
        };
        ensure!(!labels.is_empty(), NOTHING_HELD_OUT);
        for (name, weights) in all {
            self.print_losses(&name, &labels, scale, &weights);
        }
        Ok(())
    }

    fn measure_moves(&self) -> anyhow::Result<()> {
        let cases = self.cases()?;
        ensure!(!cases.is_empty(), NOTHING_HELD_OUT);
        if let Some(command) = &self.engine {
            let engine = self.engine_command(command)?;
            let share = engines_share_of_moves(&cases, engine, self.depth)
                .map_err(|fault| anyhow!("{command}: {}", fault.detail))?;
            let options = self.option.iter().map(|option| format!(", {option}"));
            let options: String = options.collect();
            let name = format!("{command} at depth {}{options}", self.depth);
            self.print_share(&name, share);
        }
        if self.weights.is_empty() && self.engine.is_some() {
            return Ok(());
        }
        let all = self.all_weights()?;
        let ties = match self.ties_count {
            true => Ties::Hit,
            false => Ties::Hash,
        };
        let mut by_any = vec![false; cases.len()];
        for (name, weights) in &all {
            let solved = cases_solved(&cases, weights, self.quiescence(), ties);
            self.print_share(name, share_of_cases(&cases, &solved));
            by_any
                .iter_mut()
                .zip(solved)
                .for_each(|(any, one)| *any |= one);
        }
        if all.len() > 1 {
            self.print_share("any of them", share_of_cases(&cases, &by_any));
        }
        Ok(())
    }

    fn cases(&self) -> anyhow::Result<Vec<Case>> {
        let sources = self.sources(built_in_games);
        let collection = data::collect(&sources, &self.selection())?;
        self.print_data(&collection.tally.summary());
        Ok(match self.held_out {
            Some(_) => collection.validation,
            None => collection.training,
        })
    }

    /// With --held-out all positions of the other games are read too, so that none of them
    /// counts as new.
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

    fn engine_command(&self, command: &str) -> anyhow::Result<EngineCommand> {
        let option = |text: &String| {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            (name.to_owned(), value.to_owned())
        };
        Ok(EngineCommand {
            options: self.option.iter().map(option).collect(),
            ..EngineCommand::parse(command).context("--engine: no command")?
        })
    }

    fn quiescence(&self) -> QuiescenceLimits {
        QuiescenceLimits {
            checks: self.checks,
            captures: self.captures,
            plies: self.plies,
        }
    }
}

/// A share of the games that leaves some on either side.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok();
    let share = share.filter(|share| *share > 0.0 && *share < 1.0);
    share.ok_or_else(|| "not a share between 0 and 1".to_owned())
}

impl Arguments {
    fn print_data(&self, summary: &str) {
        match self.json {
            true => json_line("data", json!({ "summary": summary })),
            false => println!("{summary}"),
        }
    }

    /// The share with its standard error, positions of one game counted as one cluster.
    fn print_share(&self, name: &str, share: Estimate) {
        let Estimate {
            mean,
            standard_error,
            count,
            clusters,
        } = share;
        if self.json {
            let fields = json!({
                "player": name,
                "share": mean,
                "error": standard_error,
                "positions": count,
                "games": clusters,
            });
            return json_line("moves", fields);
        }
        println!(
            "{:.2}% ± {:.2}  {:.0} of {count}  {clusters} games  {name}",
            100.0 * mean,
            100.0 * standard_error,
            mean * count as f64,
        );
    }

    /// Both losses, the first with its standard error.
    fn print_losses(&self, name: &str, labels: &[Label], scale: f64, weights: &Weights) {
        let centipawns = mentor_loss(labels, scale, weights, MentorLoss::Centipawns);
        let chance = mentor_loss(labels, scale, weights, MentorLoss::Chance);
        if self.json {
            let fields = json!({
                "player": name,
                "centipawns": centipawns.mean,
                "error": centipawns.standard_error,
                "chance": chance.mean,
                "positions": centipawns.count,
                "games": centipawns.clusters,
            });
            return json_line("mentor", fields);
        }
        println!(
            "{:.2} cp ± {:.2}  {:.5} in squared chances  {} positions  {} games  {name}",
            centipawns.mean,
            centipawns.standard_error,
            chance.mean,
            centipawns.count,
            centipawns.clusters,
        );
    }
}
