//! `finch label`: mentors' scores for positions, as EPD. Appends, so that a run that was broken
//! off goes on with what has no label yet, and several runs can add to one file.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rand::seq::IndexedRandom;
use rayon::prelude::*;

use super::WeightsOption;
use super::filters::Filters;
use super::progress::Counter;
use crate::data::{
    self, Case, LabelCounts, LabelFile, Labelling, MentorPlan, PATIENCE, Question, Selection,
    Source, collect, fields, is_quiet, without,
};
use crate::eval::Weights;
use crate::play::GameLimits;
use crate::position::{Position, movegen};
use crate::random::{Purpose, stream};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub(super) weights: WeightsOption,
    /// Positions in EPD, or games in PGN to draw positions from; plain or compressed. With
    /// --merge: files of labels.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// From games: how many positions to draw in all, 0 for every one.
    #[arg(long, default_value_t = 0)]
    positions: usize,
    /// From games: how many positions to draw from each, 0 for every one.
    #[arg(long, default_value_t = 0)]
    per_game: usize,
    /// From games: moves at the start of each that do not count.
    #[arg(long, default_value_t = 4)]
    skip_moves: u32,
    #[command(flatten)]
    filters: Filters,
    /// Random moves played first: a search meets positions that masters avoid.
    #[arg(long, default_value_t = 0)]
    random_plies: u32,
    /// Leave out positions that are in check, or where captures and promotions gain more than
    /// so many centipawns over the static score.
    #[arg(long, value_name = "CENTIPAWNS", num_args = 0..=1, require_equals = true, default_missing_value = "30")]
    quiet: Option<i32>,
    /// Leave out positions in which the mentor's best move captures or promotes.
    #[arg(long)]
    quiet_move: bool,
    /// Leave out positions whose score is farther from zero than so many centipawns.
    #[arg(long, default_value_t = i32::MAX, hide_default_value = true, value_name = "CENTIPAWNS")]
    max_score: i32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A mentor: a UCI engine's command, or settings such as "cmd=stockfish option.Hash=1
    /// depth=8". Of several, each has a file of its own beside the one they are merged into.
    #[arg(long, required_unless_present = "merge")]
    engine: Vec<String>,
    /// An option for the mentors, as NAME=VALUE.
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    /// How deep they look.
    #[arg(long)]
    depth: Option<u32>,
    /// How many nodes they look at.
    #[arg(long)]
    nodes: Option<u64>,
    /// Let mentors forget everything before each position: a label then depends on nothing
    /// else, but takes longer.
    #[arg(long)]
    fresh: bool,
    /// How many processes of a mentor work at once.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    processes: u16,
    /// Seconds a mentor may be silent.
    #[arg(long, default_value_t = PATIENCE.as_secs())]
    patience: u64,
    /// Merge files of labels instead of asking.
    #[arg(long, conflicts_with = "engine")]
    merge: bool,
    /// When merging: centipawns that multiply the odds of winning by e, for each mentor;
    /// estimated where it is 0 or not given.
    #[arg(long, value_delimiter = ',', value_name = "CENTIPAWNS")]
    scale: Vec<f64>,
    /// When merging: how much each mentor counts; 1 where it is not given.
    #[arg(long, value_delimiter = ',', value_name = "WEIGHT")]
    weight: Vec<f64>,
    /// Where the labels go; appended to, unless they are merged.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        let weights = &self.weights.or_installed()?.weights;
        if self.merge {
            return self.merge(&self.files);
        }
        let plans = self.plans()?;
        // Whoever cannot be asked is better found before the work than after it.
        for plan in &plans {
            plan.start()?;
        }
        let questions = self.questions(weights)?;
        if let [plan] = &plans[..] {
            return self.ask(plan, &questions, &self.out);
        }
        let mut parts = Vec::new();
        for (plan, number) in plans.iter().zip(1..) {
            let part = self.part(number);
            self.ask(plan, &questions, &part)?;
            parts.push(part);
        }
        self.merge(&parts)
    }

    fn plans(&self) -> Result<Vec<MentorPlan>> {
        let options = options(&self.option)?;
        let limits = GameLimits {
            depth: self.depth,
            nodes: self.nodes,
            ..GameLimits::default()
        };
        let patience = Duration::from_secs(self.patience);
        let plan = |text: &String| {
            let mut plan = MentorPlan::parse(text, &options, limits, patience)?;
            plan.fresh = self.fresh;
            Ok(plan)
        };
        self.engine.iter().map(plan).collect()
    }

    /// The file of one of several mentors: `labels.2.epd` beside `labels.epd`.
    fn part(&self, number: usize) -> PathBuf {
        let ending = self.out.extension().unwrap_or_default().to_string_lossy();
        self.out.with_extension(format!("{number}.{ending}"))
    }

    /// Asks one mentor about everything that its file has no label for.
    fn ask(&self, plan: &MentorPlan, questions: &[Question], out: &Path) -> Result<()> {
        let mentors = (0..self.processes)
            .map(|_| plan.start())
            .collect::<Result<Vec<_>, _>>()?;
        let file = LabelFile::open(out, &mentors[0])?;
        let todo: Vec<_> = questions
            .iter()
            .filter(|one| file.lacks(one))
            .cloned()
            .collect();
        eprintln!(
            "{}: {} labels are there, {} positions to ask about",
            out.display(),
            file.labelled(),
            todo.len()
        );
        let counter = Counter::new(todo.len() as u64, "positions");
        let labelling = Labelling {
            questions: &todo,
            out: &file,
            quiet_move: self.quiet_move,
            max_score: self.max_score,
            counts: LabelCounts::default(),
            answered: &|| counter.step(),
        };
        let asked = labelling.ask_all(mentors, plan.command());
        counter.finish();
        println!("{}", summary(&labelling.counts));
        Ok(asked?)
    }

    /// Every position the files give, as often as it is wanted: once.
    fn questions(&self, weights: &Weights) -> Result<Vec<Question>> {
        let sources = self.files.iter().map(Source::file);
        let (positions, games): (Vec<_>, Vec<_>) = sources.partition(Source::is_epd);
        let mut lines = Vec::new();
        for source in &positions {
            lines.extend(read_lines(source)?);
        }
        if !games.is_empty() {
            lines.extend(self.draw(&games)?);
        }
        let bad = AtomicUsize::new(0);
        let question = |line: &String| {
            let Ok(position) = Position::from_fen(&fields(line)) else {
                bad.fetch_add(1, Relaxed);
                return None;
            };
            let question = self.disturbed(Question {
                position,
                // A score that another mentor gave is not part of the question.
                line: without(line, &["ce", "acd"]),
            })?;
            let margin = self.quiet.unwrap_or(i32::MAX);
            let wanted = self.quiet.is_none() || is_quiet(&question.position, weights, margin);
            wanted.then_some(question)
        };
        let mut questions: Vec<_> = lines.par_iter().filter_map(question).collect();
        let mut seen = HashSet::new();
        questions.retain(|question| seen.insert(question.position.key()));
        if bad.load(Relaxed) > 0 {
            eprintln!("{} lines are no positions", bad.load(Relaxed));
        }
        if questions.is_empty() {
            bail!("no positions in {}", self.files[0].display());
        }
        Ok(questions)
    }

    /// Positions from games, each with the game it comes from and how that ended.
    fn draw(&self, games: &[Source]) -> Result<Vec<String>> {
        let selection = Selection {
            positions: self.positions,
            per_game: self.per_game,
            skip_moves: self.skip_moves,
            seed: self.seed,
            ..self.filters.selection()
        };
        let cases = collect(games, &selection)?.training;
        let line = |case: &Case| {
            let position = fields(&case.position.fen());
            format!("{position} id \"{}\"; c9 \"{}\";", case.game, case.outcome)
        };
        Ok(cases.iter().map(line).collect())
    }

    /// The position after so many random moves, the same ones each time; nothing if that ends
    /// in check or ends the game, where a score says little.
    fn disturbed(&self, question: Question) -> Option<Question> {
        if self.random_plies == 0 {
            return Some(question);
        }
        let before = fields(&question.line);
        let mut position = question.position;
        let mut random = stream(self.seed, Purpose::Game, position.key(), 1);
        for _ in 0..self.random_plies {
            let moves = movegen::legal_moves(&position);
            position.play(*moves.choose(&mut random)?);
        }
        let usable = !position.in_check() && movegen::has_legal_move(&position);
        usable.then(|| Question {
            line: question.line.replacen(&before, &fields(&position.fen()), 1),
            position,
        })
    }

    fn merge(&self, files: &[PathBuf]) -> Result<()> {
        ensure!(
            self.scale.len() <= files.len() && self.weight.len() <= files.len(),
            "more scales or weights than mentors"
        );
        let usable = |value: &f64| *value >= 0.0 && value.is_finite();
        ensure!(
            self.scale.iter().chain(&self.weight).all(usable),
            "scales and weights are numbers from 0"
        );
        let given = |place: usize| {
            let scale = self.scale.get(place).copied().unwrap_or(0.0);
            (scale, self.weight.get(place).copied().unwrap_or(1.0))
        };
        let given: Vec<_> = (0..files.len()).map(given).collect();
        ensure!(
            given.iter().any(|(_, weight)| *weight > 0.0),
            "--weight: somebody must count"
        );
        let sources: Vec<_> = files.iter().map(Source::file).collect();
        let merged = data::merge(&sources, &given)?;
        let writing = || format!("writing {}", self.out.display());
        let format = data::LabelFormat::of_name(&self.out);
        let mut writer =
            data::LabelWriter::create(&self.out, format, &merged.header).with_context(writing)?;
        for label in &merged.labels {
            writer.write(label).with_context(writing)?;
        }
        let count = writer.finish().with_context(writing)?;
        for share in &merged.shares {
            println!(
                "{}: scale {:.1}, weight {}",
                share.mentor, share.scale, share.weight
            );
        }
        println!(
            "{} labels merged, {} left out (not scored by all)",
            count, merged.left_out
        );
        Ok(())
    }
}

fn summary(counts: &LabelCounts) -> String {
    format!(
        "{} labelled, {} left out (mate), {} left out (best move not quiet), {} left out \
         (score), {} skipped",
        counts.labelled.load(Relaxed),
        counts.mates.load(Relaxed),
        counts.loud.load(Relaxed),
        counts.decided.load(Relaxed),
        counts.skipped.load(Relaxed)
    )
}

fn read_lines(source: &Source) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for line in BufReader::new(source.open()?).lines() {
        let line = line.with_context(|| format!("reading {}", source.path().display()))?;
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            lines.push(line.to_owned());
        }
    }
    Ok(lines)
}

fn options(texts: &[String]) -> Result<Vec<(String, String)>> {
    let read = |text: &String| {
        let (name, value) = text
            .split_once('=')
            .with_context(|| format!("--option {text}: not NAME=VALUE"))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    texts.iter().map(read).collect()
}
