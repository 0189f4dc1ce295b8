//! Labelling: positions from files, mentors that score them, and a file that grows by a line for
//! each answer, in the order of the positions. An interrupted run is resumed: positions that have a label are not asked again
//! (positions that were left out leave no trace, and are).

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;
use rand::seq::IndexedRandom;
use rayon::prelude::*;
use thiserror::Error;

use super::epd::{fields, without};
use super::label::LabelHeader;
use super::labels::epd_header;
use super::mentor::{Assessment, MentorError, MentorPool};
use super::quiet::is_quiet;
use super::selection::Selection;
use super::{Case, DataError, Source, collect};
use crate::files::{self, write_atomically};
use crate::position::{Position, movegen};
use crate::random::{Purpose, stream};
use crate::work::{self, Tasks};

/// A mentor that leaves so many positions in a row unanswered is given up.
const MISSES_IN_A_ROW: usize = 5;

#[derive(Debug, Error)]
pub enum LabelError {
    #[error(transparent)]
    Mentor(#[from] MentorError),
    #[error("{}: {reason}", .file.display())]
    File { file: PathBuf, reason: String },
    #[error("{}: holds labels of another mentor: {found} instead of {wanted}", .file.display())]
    OtherMentor {
        file: PathBuf,
        found: String,
        wanted: String,
    },
    #[error("{}: the file exists and does not hold labels of this mentor; --force replaces it", .0.display())]
    Exists(PathBuf),
    #[error("{command}: no usable answer for {MISSES_IN_A_ROW} positions in a row")]
    NoAnswers { command: String },
    #[error("a thread failed")]
    Thread,
}

fn failed(file: &Path, error: &io::Error) -> LabelError {
    LabelError::File {
        file: file.to_owned(),
        reason: error.to_string(),
    }
}

/// A position to be labelled, with its line in EPD.
#[derive(Clone, Debug)]
pub struct LabelTask {
    pub position: Position,
    pub line: String,
}

/// Which positions are to be labelled.
#[derive(Clone, Debug)]
pub struct TaskSelection {
    /// What to take from games.
    pub games: Selection,
    /// Random moves played first: a search meets positions that masters avoid.
    pub random_plies: u32,
    /// Only quiet positions, with this margin in centipawns.
    pub quiet: Option<i32>,
}

/// The positions of all files, each once, and how many lines were no positions.
pub fn collect_tasks(
    files: &[PathBuf],
    selection: &TaskSelection,
) -> Result<(Vec<LabelTask>, usize), DataError> {
    let sources = files.iter().map(Source::file);
    let (positions, games): (Vec<_>, Vec<_>) = sources.partition(Source::is_epd);
    let mut lines = Vec::new();
    for source in &positions {
        for line in source.lines()? {
            let (_, line) = line?;
            if !line.is_empty() && !line.starts_with('#') {
                lines.push(line);
            }
        }
    }
    if !games.is_empty() {
        let cases = collect(&games, &selection.games)?.training;
        lines.extend(cases.iter().map(case_line));
    }
    let bad = AtomicUsize::new(0);
    let task = |line: &String| {
        let Ok(position) = Position::from_fen(&fields(line)) else {
            bad.fetch_add(1, Relaxed);
            return None;
        };
        let task = LabelTask {
            position,
            // Another mentor's score is not part of the task.
            line: without(line, &["ce", "acd"]),
        };
        let task = task.after_random_moves(selection.random_plies, selection.games.seed)?;
        let wanted = selection
            .quiet
            .is_none_or(|margin| is_quiet(&task.position, margin));
        wanted.then_some(task)
    };
    let mut tasks: Vec<_> = lines.par_iter().filter_map(task).collect();
    let mut seen = HashSet::new();
    tasks.retain(|task| seen.insert(task.position.key()));
    Ok((tasks, bad.into_inner()))
}

/// A position of a game, with the game's number and result.
fn case_line(case: &Case) -> String {
    let position = fields(&case.position.fen());
    format!("{position} id \"{}\"; c9 \"{}\";", case.game, case.outcome)
}

impl LabelTask {
    /// The position after random moves, the same ones each time; `None` if they end in check or
    /// end the game, where a score says little.
    fn after_random_moves(self, plies: u32, seed: u64) -> Option<LabelTask> {
        if plies == 0 {
            return Some(self);
        }
        let before = fields(&self.line);
        let mut position = self.position;
        let mut random = stream(seed, Purpose::Game, position.key(), 1);
        for _ in 0..plies {
            let moves = movegen::legal_moves(&position);
            position.play(*moves.choose(&mut random)?);
        }
        let usable = !position.in_check() && movegen::has_legal_move(&position);
        usable.then(|| LabelTask {
            line: self.line.replacen(&before, &fields(&position.fen()), 1),
            position,
        })
    }
}

/// The EPD file that labels are appended to.
pub struct LabelFile {
    path: PathBuf,
    file: Mutex<File>,
    labelled: HashSet<String>,
}

impl LabelFile {
    /// Creates a file, or opens one that holds labels of the same mentor. A last line without its
    /// end was cut off by a kill and is removed. Anything else is left alone unless `force`.
    pub fn open(path: &Path, header: &LabelHeader, force: bool) -> Result<LabelFile, LabelError> {
        let before = match files::open_locked(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            opened => Some(opened.map_err(|error| failed(path, &error))?),
        };
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Ok(_) if force => String::new(),
            read => read.map_err(|error| failed(path, &error))?,
        };
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let found = header_of(whole);
        if text.is_empty() {
            write_atomically(path, epd_header(header))
        } else if found.mentor.is_empty() {
            return Err(LabelError::Exists(path.to_owned()));
        } else if found.mentor != header.mentor {
            return Err(LabelError::OtherMentor {
                file: path.to_owned(),
                found: found.mentor,
                wanted: header.mentor.clone(),
            });
        } else if whole.len() < text.len() {
            write_atomically(path, whole)
        } else {
            Ok(())
        }
        .map_err(|error| failed(path, &error))?;
        drop(before);
        let file = files::open_locked(path);
        let labels = whole.lines().filter(|line| !line.starts_with('#'));
        Ok(LabelFile {
            file: Mutex::new(file.map_err(|error| failed(path, &error))?),
            path: path.to_owned(),
            labelled: labels.map(fields).collect(),
        })
    }

    /// How many labels were there when it was opened.
    pub fn labelled(&self) -> usize {
        self.labelled.len()
    }

    pub fn lacks(&self, task: &LabelTask) -> bool {
        !self.labelled.contains(&fields(&task.line))
    }

    /// One write per line: a kill leaves no incomplete label but the last.
    fn append(&self, line: &str) -> Result<(), LabelError> {
        let written = files::append(&self.file.lock(), &self.path, line.as_bytes());
        written.map_err(|error| failed(&self.path, &error))
    }
}

fn header_of(text: &str) -> LabelHeader {
    let mut header = LabelHeader::default();
    let comments = text.lines().map_while(|line| line.strip_prefix('#'));
    comments.for_each(|line| header.read_line(line));
    header
}

/// What became of the tasks.
#[derive(Debug, Default)]
pub struct LabelCounts {
    pub labelled: AtomicUsize,
    /// Left out: a mate has no centipawns.
    pub mates: AtomicUsize,
    /// Left out: the best move captures or promotes.
    pub loud: AtomicUsize,
    /// Left out: the score is beyond the limit.
    pub decided: AtomicUsize,
    /// No usable answer, twice.
    pub skipped: AtomicUsize,
}

/// One round of tasks: each mentor takes the next as soon as it has answered. The labels are
/// written in the order of the tasks.
pub struct Labelling<'a> {
    pub tasks: &'a [LabelTask],
    pub out: &'a LabelFile,
    /// Leave out positions whose best move captures or promotes.
    pub quiet_move: bool,
    /// Leave out positions whose score is farther from zero than this.
    pub max_score: i32,
    pub counts: LabelCounts,
    /// Called after each answer.
    pub answered: &'a (dyn Fn() + Sync),
}

impl Labelling<'_> {
    pub fn run(&self, mentors: &MentorPool, command: &str) -> Result<(), LabelError> {
        let questions = Questions {
            tasks: self.tasks,
            mentors,
            command,
        };
        let mut failure = None;
        let numbers = 0..self.tasks.len();
        work::each_in_order(&questions, numbers, mentors.size(), |number, assessment| {
            let recorded = assessment.and_then(|found| self.record(&self.tasks[number], found));
            match recorded {
                Ok(()) => {
                    (self.answered)();
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
        .map_err(|_| LabelError::Thread)?;
        failure.map_or(Ok(()), Err)
    }

    fn record(&self, task: &LabelTask, assessment: Assessment) -> Result<(), LabelError> {
        let counts = &self.counts;
        let counter = match assessment {
            Assessment::Mate => &counts.mates,
            Assessment::None => &counts.skipped,
            Assessment::Score { centipawns, .. }
                if centipawns.unsigned_abs() > self.max_score.unsigned_abs() =>
            {
                &counts.decided
            }
            Assessment::Score { best_is_quiet, .. } if self.quiet_move && !best_is_quiet => {
                &counts.loud
            }
            Assessment::Score {
                centipawns, depth, ..
            } => {
                let line = &task.line;
                self.out
                    .append(&format!("{line} ce {centipawns}; acd {depth};\n"))?;
                &counts.labelled
            }
        };
        counter.fetch_add(1, Relaxed);
        Ok(())
    }
}

/// Asks about positions for rank 0 of an MPI job until it needs no more.
pub fn serve_labelling(mentors: &MentorPool, command: &str) {
    let questions = Questions {
        tasks: &[],
        mentors,
        command,
    };
    work::serve(
        mentors.size(),
        || 0,
        |misses, task, _| {
            let position = Position::from_fen(std::str::from_utf8(task).ok()?).ok()?;
            let assessment = questions.ask(misses, &position);
            let assessment = assessment.map_err(|error| work::fail(&error.to_string()));
            serde_json::to_vec(&assessment.ok()?).ok()
        },
    );
}

/// The tasks as questions to mentors.
struct Questions<'a> {
    tasks: &'a [LabelTask],
    mentors: &'a MentorPool,
    command: &'a str,
}

impl Questions<'_> {
    /// `misses` counts the questions of a thread that were left unanswered, in a row.
    fn ask(&self, misses: &mut usize, position: &Position) -> Result<Assessment, LabelError> {
        let assessment = self.mentors.with(|mentor| mentor.assess(position));
        let assessment = assessment.ok_or(LabelError::Thread)?;
        *misses = match assessment {
            Assessment::None => *misses + 1,
            _ => 0,
        };
        match *misses < MISSES_IN_A_ROW {
            true => Ok(assessment),
            false => Err(LabelError::NoAnswers {
                command: self.command.to_owned(),
            }),
        }
    }
}

impl Tasks for Questions<'_> {
    type Kept = usize;
    type Outcome = Result<Assessment, LabelError>;

    fn prepare(&self) -> usize {
        0
    }

    fn work(&self, misses: &mut usize, number: usize) -> Self::Outcome {
        self.ask(misses, &self.tasks[number].position)
    }

    fn message(&self, number: usize) -> Vec<u8> {
        self.tasks[number].position.fen().into_bytes()
    }

    fn read(&self, answer: &[u8]) -> Option<Self::Outcome> {
        serde_json::from_slice(answer).ok().map(Ok)
    }
}
