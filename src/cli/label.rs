//! `finch label`: a mentor's scores for positions, as EPD. Appends, so that a run that was broken
//! off goes on without asking twice, and several runs can add to one file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use parking_lot::Mutex;
use rand::seq::IndexedRandom;

use crate::data::{Asked, Case, Mentor, Selection, Source, collect};
use crate::play::Pace;
use crate::position::{Position, movegen};
use crate::random::{Purpose, stream};

#[derive(Args)]
pub struct Arguments {
    /// Positions in EPD, or games in PGN to draw positions from; plain or compressed.
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
    /// Random moves played first: a search meets positions that masters avoid.
    #[arg(long, default_value_t = 0)]
    random_plies: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The mentor: a UCI engine's command.
    #[arg(long)]
    engine: String,
    /// One of its options, as NAME=VALUE.
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    /// How deep it looks.
    #[arg(long, required_unless_present = "nodes")]
    depth: Option<u32>,
    /// How many nodes it looks at.
    #[arg(long)]
    nodes: Option<u64>,
    /// Leave out positions whose best move captures or promotes.
    #[arg(long)]
    quiet: bool,
    /// How many mentors work at once.
    #[arg(long, default_value_t = 2)]
    processes: usize,
    /// Seconds a mentor may be silent.
    #[arg(long, default_value_t = 20)]
    patience: u64,
    /// Where the labels go; appended to.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Default)]
struct Counts {
    labelled: AtomicUsize,
    mates: AtomicUsize,
    loud: AtomicUsize,
    skipped: AtomicUsize,
}

impl Arguments {
    pub fn run(self) -> Result<()> {
        ensure!(self.processes > 0, "--processes must be at least 1");
        let options = options(&self.option)?;
        let pace = Pace {
            depth: self.depth,
            nodes: self.nodes,
            ..Pace::default()
        };
        let patience = Duration::from_secs(self.patience);
        let start = || Mentor::start(&self.engine, options.clone(), pace, patience);
        let mentors = (0..self.processes)
            .map(|_| start())
            .collect::<Result<Vec<_>, _>>()?;

        let done = labelled_before(&self.out)?;
        let todo = self.unlabelled(&done)?;
        let out = self.open(&mentors[0], done.is_empty())?;
        eprintln!(
            "{} labels are there, {} positions to ask about",
            done.len(),
            todo.len()
        );
        let counts = Counts::default();
        self.ask_all(mentors, &todo, &out, &counts)?;
        println!(
            "{} labelled, {} left out (mate), {} left out (best move not quiet), {} skipped",
            counts.labelled.load(Relaxed),
            counts.mates.load(Relaxed),
            counts.loud.load(Relaxed),
            counts.skipped.load(Relaxed)
        );
        Ok(())
    }

    /// The lines whose positions have no label yet.
    fn unlabelled(&self, done: &HashSet<String>) -> Result<Vec<String>> {
        let mut todo = Vec::new();
        for path in &self.files {
            let source = Source::file(path);
            let lines = if source.is_epd() {
                read_lines(&source)?
            } else {
                self.draw(source)?
            };
            let disturbed = lines.iter().filter_map(|line| self.disturbed(line));
            todo.extend(disturbed.filter(|line| !done.contains(&fields(line))));
        }
        if todo.is_empty() && done.is_empty() {
            bail!("no positions in {}", self.files[0].display());
        }
        Ok(todo)
    }

    /// Positions from games, each with the game it comes from.
    fn draw(&self, source: Source) -> Result<Vec<String>> {
        let selection = Selection {
            positions: self.positions,
            validation: 0,
            validation_share: 0.0,
            per_game: self.per_game,
            skip_moves: self.skip_moves,
            seed: self.seed,
            ..Selection::default()
        };
        let name = source.name().into_owned();
        let cases = collect(&[source], &selection)?.training;
        let line = |case: &Case| {
            let position = fields(&case.position.fen());
            format!("{position} id \"{name} {}\";", case.game)
        };
        Ok(cases.iter().map(line).collect())
    }

    /// The line after so many random moves, the same ones each time; nothing if that ends in
    /// check or ends the game, where a score says little.
    fn disturbed(&self, line: &str) -> Option<String> {
        if self.random_plies == 0 {
            return Some(line.to_owned());
        }
        let before = fields(line);
        let mut position = Position::from_fen(&before).ok()?;
        let mut random = stream(self.seed, Purpose::Game, position.key(), 1);
        for _ in 0..self.random_plies {
            let moves = movegen::legal_moves(&position);
            position.play(*moves.choose(&mut random)?);
        }
        let usable = !position.in_check() && movegen::has_legal_move(&position);
        usable.then(|| line.replacen(&before, &fields(&position.fen()), 1))
    }

    fn open(&self, mentor: &Mentor, fresh: bool) -> Result<Mutex<File>> {
        let writing = || format!("writing {}", self.out.display());
        let file = File::options().create(true).append(true).open(&self.out);
        let mut file = file.with_context(writing)?;
        if fresh {
            let limit = match (self.depth, self.nodes) {
                (Some(depth), _) => format!("depth {depth}"),
                (None, nodes) => format!("{} nodes", nodes.unwrap_or_default()),
            };
            let options = self.option.join(", ");
            let header = format!("# mentor: {}; {limit}; options: {options}\n", mentor.name());
            file.write_all(header.as_bytes()).with_context(writing)?;
        }
        Ok(Mutex::new(file))
    }

    fn ask_all(
        &self,
        mentors: Vec<Mentor>,
        todo: &[String],
        out: &Mutex<File>,
        counts: &Counts,
    ) -> Result<()> {
        let next = AtomicUsize::new(0);
        let started = Instant::now();
        std::thread::scope(|scope| {
            let work = |mut mentor: Mentor| -> Result<()> {
                while let Some(line) = todo.get(next.fetch_add(1, Relaxed)) {
                    if let Some(label) = self.label(&mut mentor, line, counts) {
                        // One write a line: a kill leaves no half label but the last.
                        let written = out.lock().write_all(label.as_bytes());
                        written.with_context(|| format!("writing {}", self.out.display()))?;
                    }
                    show_progress(next.load(Relaxed), todo.len(), started);
                }
                Ok(())
            };
            let threads: Vec<_> = mentors
                .into_iter()
                .map(|mentor| scope.spawn(move || work(mentor)))
                .collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().unwrap_or_else(|_| bail!("a thread failed")))
        })
    }

    fn label(&self, mentor: &mut Mentor, line: &str, counts: &Counts) -> Option<String> {
        let count = |counter: &AtomicUsize| {
            counter.fetch_add(1, Relaxed);
        };
        let asked = match Position::from_fen(&fields(line)) {
            Ok(position) => mentor.ask(&position),
            Err(_) => Asked::Nothing,
        };
        match asked {
            Asked::Mate => count(&counts.mates),
            Asked::Nothing => count(&counts.skipped),
            Asked::Score {
                best_is_quiet: false,
                ..
            } if self.quiet => count(&counts.loud),
            Asked::Score {
                centipawns, depth, ..
            } => {
                count(&counts.labelled);
                return Some(format!("{line} ce {centipawns}; acd {depth};\n"));
            }
        }
        None
    }
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

fn show_progress(asked: usize, all: usize, started: Instant) {
    if asked.is_multiple_of(10_000) && asked <= all {
        let rate = asked as f64 / started.elapsed().as_secs_f64();
        let left = (all - asked) as f64 / rate.max(1e-9);
        eprintln!("{asked} of {all} asked, {rate:.0} a second, {left:.0} s to go");
    }
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

/// The part of an EPD line that is the position.
fn fields(line: &str) -> String {
    line.split_whitespace()
        .take(4)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Positions that a run before this one has labelled. A last line without its end was cut off
/// by a kill; it is taken away.
fn labelled_before(out: &Path) -> Result<HashSet<String>> {
    let Ok(text) = std::fs::read_to_string(out) else {
        return Ok(HashSet::new());
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        let file = File::options().write(true).open(out);
        file.and_then(|file| file.set_len(whole as u64))
            .with_context(|| format!("writing {}", out.display()))?;
    }
    let lines = text[..whole].lines().filter(|line| !line.starts_with('#'));
    Ok(lines.map(fields).collect())
}
