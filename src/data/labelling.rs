//! Labels as they are made: questions, the mentors who answer them, and a file that grows by a
//! line for each answer. A file that was broken off is gone on with: what has a label is not asked
//! about again (what was left out leaves no trace, and is).

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;
use thiserror::Error;

use super::epd::fields;
use super::mentor::{Asked, Mentor, MentorError};
use crate::files::write_atomically;
use crate::position::Position;

/// A mentor that has had so many positions in a row without an answer will have no more.
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
    #[error("{command}: no usable answer for {MISSES_IN_A_ROW} positions in a row")]
    Silent { command: String },
    #[error("a thread failed")]
    Thread,
}

fn failed(file: &Path, error: &io::Error) -> LabelError {
    LabelError::File {
        file: file.to_owned(),
        reason: error.to_string(),
    }
}

/// A position to ask about, with its line in EPD.
#[derive(Clone, Debug)]
pub struct Question {
    pub position: Position,
    pub line: String,
}

/// The file that labels are added to.
pub struct LabelFile {
    path: PathBuf,
    file: Mutex<File>,
    labelled: HashSet<String>,
}

impl LabelFile {
    /// A new file, or one that the same mentor has begun. A last line without its end was cut
    /// off by a kill; it is taken away.
    pub fn open(path: &Path, mentor: &Mentor) -> Result<LabelFile, LabelError> {
        let header = format!("# mentor: {}", mentor.description());
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| failed(path, &error))?,
        };
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        match whole.lines().next() {
            None => write_atomically(path, &format!("{header}\n")),
            Some(found) if found.starts_with("# mentor") && found != header => {
                return Err(LabelError::OtherMentor {
                    file: path.to_owned(),
                    found: found.to_owned(),
                    wanted: header,
                });
            }
            Some(_) if whole.len() < text.len() => write_atomically(path, whole),
            Some(_) => Ok(()),
        }
        .map_err(|error| failed(path, &error))?;
        let file = File::options().append(true).open(path);
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

    pub fn lacks(&self, question: &Question) -> bool {
        !self.labelled.contains(&fields(&question.line))
    }

    /// One write a line: a kill leaves no half label but the last.
    fn append(&self, line: &str) -> Result<(), LabelError> {
        let written = self.file.lock().write_all(line.as_bytes());
        written.map_err(|error| failed(&self.path, &error))
    }
}

/// What came of the questions.
#[derive(Debug, Default)]
pub struct LabelCounts {
    pub labelled: AtomicUsize,
    /// Left out: a mate is no centipawn.
    pub mates: AtomicUsize,
    /// Left out: the best move captures or promotes.
    pub loud: AtomicUsize,
    /// Left out: the score is beyond the limit.
    pub decided: AtomicUsize,
    /// Twice no usable answer.
    pub skipped: AtomicUsize,
}

/// One round of questions: every mentor takes the next as soon as it has answered.
pub struct Labelling<'a> {
    pub questions: &'a [Question],
    pub out: &'a LabelFile,
    /// Leave out positions whose best move captures or promotes.
    pub quiet_move: bool,
    /// Leave out positions whose score is farther from zero than this.
    pub max_score: i32,
    pub counts: LabelCounts,
    /// Told after each answer.
    pub answered: &'a (dyn Fn() + Sync),
}

impl Labelling<'_> {
    pub fn ask_all(&self, mentors: Vec<Mentor>, command: &str) -> Result<(), LabelError> {
        let next = AtomicUsize::new(0);
        let ask = |mut mentor: Mentor| -> Result<(), LabelError> {
            let mut misses = 0;
            while let Some(question) = self.questions.get(next.fetch_add(1, Relaxed)) {
                let asked = mentor.ask(&question.position);
                misses = if asked == Asked::Nothing {
                    misses + 1
                } else {
                    0
                };
                if misses == MISSES_IN_A_ROW {
                    // The others need not find out for themselves.
                    next.store(self.questions.len(), Relaxed);
                    return Err(LabelError::Silent {
                        command: command.to_owned(),
                    });
                }
                self.note(question, asked)?;
                (self.answered)();
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = mentors
                .into_iter()
                .map(|mentor| scope.spawn(move || ask(mentor)))
                .collect();
            let ends = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or(Err(LabelError::Thread)));
            ends.collect::<Vec<_>>().into_iter().collect()
        })
    }

    fn note(&self, question: &Question, asked: Asked) -> Result<(), LabelError> {
        let counts = &self.counts;
        let counter = match asked {
            Asked::Mate => &counts.mates,
            Asked::Nothing => &counts.skipped,
            Asked::Score { centipawns, .. } if centipawns.abs() > self.max_score => &counts.decided,
            Asked::Score { best_is_quiet, .. } if self.quiet_move && !best_is_quiet => &counts.loud,
            Asked::Score {
                centipawns, depth, ..
            } => {
                let line = &question.line;
                self.out
                    .append(&format!("{line} ce {centipawns}; acd {depth};\n"))?;
                &counts.labelled
            }
        };
        counter.fetch_add(1, Relaxed);
        Ok(())
    }
}
