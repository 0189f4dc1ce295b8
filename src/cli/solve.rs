//! `finch solve SUITE.epd...`: test suites, Finch and other engines side by side.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;

use super::WeightsOption;
use super::output::{OutputOptions, json_line};
use crate::analysis::solve::{Attempt, step_text, steps};
use crate::analysis::{Analyser, SolveReport, Suite};
use crate::play::player_config::{PlayerConfig, distinguish};
use crate::search::{Limits, STACK_BYTES};
use crate::terminal;

/// Solve test suites: positions in EPD with best moves, moves to avoid or points.
#[derive(Args)]
#[command(
    after_help = "Example:\n  finch solve wac.epd --movetime 1000 --engine stockfish\n\n\
    A position is solved if the move at the end is right; the time is that from which on the\n\
    answer held. Suites with points (STS: c0, or c8 with c9) are scored as well."
)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
    /// Files of positions, plain or compressed.
    #[arg(required = true, value_name = "SUITE")]
    suites: Vec<PathBuf>,
    /// Milliseconds for each position; 1000 if no other limit is set.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,
    /// Nodes for each position.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Depth for each position.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=240))]
    depth: Option<u32>,
    /// Threads of each engine.
    #[arg(long, default_value_t = 1, value_name = "N")]
    threads: usize,
    /// Transposition table of each engine, in MiB.
    #[arg(long, default_value_t = 64, value_name = "MIB")]
    hash: usize,
    /// Another engine beside Finch: a command, weights, or settings as `finch match` takes them, such
    /// as "cmd=stockfish option.UCI_Elo=2000 name=SF". May be repeated.
    #[arg(long = "engine", value_name = "CMD")]
    engines: Vec<String>,
    #[command(flatten)]
    output: OutputOptions,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        let suite = Suite::read(&self.suites)?;
        for line in &suite.skipped {
            eprintln!("skipped {}", terminal::printable(line));
        }
        if suite.positions.is_empty() {
            bail!("no position with a best move (bm), a move to avoid (am) or points (c0, c8)");
        }
        let mut engines = self.engines()?;
        let limits = self.limits();
        let output = self.output;
        let show = move |attempt: &Attempt| match output {
            OutputOptions { json: true, .. } => json_line("attempt", attempt),
            OutputOptions { quiet: true, .. } => {}
            _ => print!("{}", attempt_line(attempt)),
        };
        let names: Vec<String> = engines.iter().map(|engine| engine.name.clone()).collect();
        let has_points = suite.has_points();
        let worker = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || SolveReport::run(&mut engines, &suite, limits, show))?;
        let Ok(report) = worker.join() else {
            bail!("the search failed; this is a bug in Finch, please report it");
        };
        let report = report?;
        match output.json {
            true => names
                .iter()
                .for_each(|name| json_line("score", report.score(name))),
            false => print!("{}", summary(&report, &names, &limits, has_points)),
        }
        Ok(())
    }

    fn limits(&self) -> Limits {
        let limits = Limits {
            depth: self.depth,
            nodes: self.nodes,
            move_time: self.movetime.map(Duration::from_millis),
            ..Limits::default()
        };
        match limits == Limits::default() {
            true => Limits::move_time(Duration::from_secs(1)),
            false => limits,
        }
    }

    /// Finch, then the others; names are made distinct.
    fn engines(&self) -> Result<Vec<Analyser>> {
        let weights = self.weights.or_installed()?.weights;
        let mut configs = vec![PlayerConfig::in_process("Finch", weights)];
        for text in &self.engines {
            configs.push(PlayerConfig::parse_engine(text)?);
        }
        distinguish(&mut configs);
        let analyser = |config| {
            Ok(Analyser::new(
                config,
                self.threads.max(1),
                self.hash.max(1),
            )?)
        };
        configs.into_iter().map(analyser).collect()
    }
}

fn attempt_line(attempt: &Attempt) -> String {
    let Attempt {
        engine,
        id,
        wanted,
        played,
        ..
    } = attempt;
    let (engine, id) = (terminal::printable(engine), terminal::printable(id));
    let verdict = match attempt.found {
        Some(at) => format!(
            "solved   {:>8.3} s {:>11} nodes  depth {}",
            at.seconds, at.nodes, at.depth
        ),
        None => format!("missed   wants {wanted}"),
    };
    let points = match attempt.most_points {
        0 => String::new(),
        most => format!("  {}/{most} points", attempt.points),
    };
    format!("{id:<18} {engine:<12} {played:<8} {verdict}{points}\n")
}

fn summary(report: &SolveReport, names: &[String], limits: &Limits, has_points: bool) -> String {
    let mut text = String::new();
    for score in names.iter().map(|name| report.score(name)) {
        let engine = terminal::printable(&score.engine);
        let _ = write!(
            text,
            "\n{engine}: {} of {} solved, {:.3} s on average",
            score.solved, score.positions, score.mean_seconds
        );
        if has_points {
            let _ = write!(text, "; {} of {} points", score.points, score.most_points);
        }
    }
    let _ = write!(text, "\n\n{:<14}", "solved within");
    for name in names {
        let _ = write!(text, " {:<28}", terminal::printable(name));
    }
    text.push('\n');
    let (measure, steps) = steps(limits);
    for step in steps {
        let _ = write!(text, "{:<14}", step_text(measure, step));
        for name in names {
            let solved = report.solved_within(name, measure, step);
            let all = report.score(name).positions.max(1);
            let bar = "#".repeat(20 * solved / all);
            let _ = write!(text, " {solved:>6} {bar:<21}");
        }
        text.push('\n');
    }
    text
}
