//! A run: an experiment under way, from its folder and journal to its closing match.
//!
//! One loop drives every kind of [`Learner`]: evolution of weights ([`Evolution`]) and training
//! of a network ([`Trainer`](super::network::Trainer)). After each generation it writes to the
//! [`RunFolder`]: the journal and the best weights first, the checkpoint last. Killed at any
//! moment, the run finds everything before the last checkpoint on disk, and `--resume` ends at the
//! same weights.
//!
//! A [`Session`] runs one or several experiments, plays the closing matches and draws the
//! reports; `finch tune`, `finch train` and the UCI option `Tune` all use it.

mod checkpoint;
mod closing;
mod evolution;
mod folder;
mod generation;
mod journal;
mod problem;
mod session;
mod summary;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use thiserror::Error;

use super::genome::{Candidate, CandidateError};
use super::preset::{PresetError, RunSettings};
use crate::data::DataError;
use crate::eval::WeightsError;
use crate::play::tournament::TournamentError;
use crate::work;

pub use checkpoint::{Checkpoint, EvolutionState};
use closing::elo_against_start;
pub use closing::{Closing, ClosingMatch, ClosingScore, GAMES, InstallError, RESULT, prove};
pub use evolution::{BestSoFar, Evolution};
pub use folder::{RUNS, RunFolder, write_file};
pub use generation::{GeneFigures, GenerationFigures, generations};
pub use journal::{BUSY, ELO, ELO_ERROR, Figures, JOURNAL_FILE, RunJournal, SECONDS};
pub use problem::Problem;
pub use session::{FinishedRun, Session};
pub use summary::{RunSummary, figures_beside_paper, table};

#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Preset(#[from] PresetError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error(transparent)]
    Candidate(#[from] CandidateError),
    #[error("{path}: {reason}")]
    File { path: String, reason: String },
    #[error("the match against the start: {0}")]
    Match(#[from] TournamentError),
    #[error("threads: {0}")]
    Threads(String),
}

/// Receives the progress of a run.
pub trait RunObserver {
    /// Data is about to be read, which may take a while.
    fn preparing(&mut self) {}

    /// The data is read; `summary` says what there is to learn from.
    fn prepared(&mut self, summary: &str);

    /// A run begins or resumes.
    fn started(&mut self, _settings: &RunSettings) {}

    /// A generation is complete; `line` has its figures.
    fn generation(&mut self, generation: u64, last: u64, line: &str);

    /// The same as a row of the journal.
    fn row(&mut self, _columns: &[String], _figures: &Figures) {}

    /// The run has reached its last generation or was interrupted.
    fn finished(&mut self) {}

    /// The closing match begins.
    fn closing(&mut self, _games: u64) {}

    /// The closing match is over or was interrupted.
    fn closed(&mut self) {}
}

/// Shows nothing: only rank 0 of an MPI job speaks.
pub struct SilentObserver;

impl RunObserver for SilentObserver {
    fn prepared(&mut self, _: &str) {}

    fn generation(&mut self, _: u64, _: u64, _: &str) {}
}

/// Learns in generations. All that the next generation depends on can be saved and restored, and
/// the same seed gives the same weights on any number of threads.
pub trait Learner: Send {
    /// The journal's columns, beside the generation and the seconds.
    fn columns(&self) -> Vec<String>;

    /// Makes a generation, 0 being the starting point. Returns a figure for each column.
    fn advance(&mut self, generation: u64) -> Figures;

    /// The generation that the best candidate comes from.
    fn best_generation(&self) -> u64;

    /// The best candidate so far.
    fn best(&self) -> Candidate;

    /// The figures of a generation in words.
    fn describe(&self, figures: &Figures) -> String;

    fn save(&self) -> Result<Vec<u8>, String>;

    /// Restores what was saved; `last` has the journal's last row by column.
    fn restore(&mut self, state: &[u8], last: &dyn Fn(&str) -> Option<f64>) -> Result<(), String>;
}

/// What a run came to.
pub struct RunOutcome {
    pub journal: RunJournal,
    pub best: Candidate,
    /// The best of generation 0.
    pub start: Candidate,
    /// Whether it was stopped before its last generation.
    pub interrupted: bool,
}

/// The best candidate so far, and that of generation 0.
pub const BEST: &str = "best.toml";
pub const START: &str = "start.toml";

/// Drives a learner in a folder, from its checkpoint if there is one, to the last generation or
/// until `stop`.
pub fn drive(
    learner: &mut dyn Learner,
    settings: &RunSettings,
    folder: &RunFolder,
    observer: &mut dyn RunObserver,
    stop: &AtomicBool,
) -> Result<RunOutcome, RunError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.threads)
        .build()
        .map_err(|error| RunError::Threads(error.to_string()))?;
    let mut run = Run::new(learner, settings, folder)?;
    observer.started(settings);
    let driven = run.drive(&pool, observer, stop);
    observer.finished();
    driven?;
    run.finish()
}

/// A run between two generations.
struct Run<'a> {
    learner: &'a mut dyn Learner,
    settings: &'a RunSettings,
    folder: &'a RunFolder,
    journal: RunJournal,
    /// The generation completed last; none before the first.
    done: Option<u64>,
    /// Time spent before this process started.
    earlier: f64,
    started: Instant,
}

impl<'a> Run<'a> {
    fn new(
        learner: &'a mut dyn Learner,
        settings: &'a RunSettings,
        folder: &'a RunFolder,
    ) -> Result<Run<'a>, RunError> {
        let mut columns = learner.columns();
        if settings.elo_every > 0 {
            columns.extend([ELO, ELO_ERROR].map(str::to_owned));
        }
        // A run that an MPI job began may go on without one.
        let had_helpers = RunJournal::read(folder).is_ok_and(|known| known.column(BUSY).is_some());
        if work::has_helpers() || had_helpers {
            columns.push(BUSY.to_owned());
        }
        let mut journal = RunJournal::new(columns);
        let mut done = None;
        let mut earlier = 0.0;
        if let Some(checkpoint) = Checkpoint::read(folder)? {
            journal.restore(folder, checkpoint.generation)?;
            learner
                .restore(&checkpoint.state, &|column| journal.last(column))
                .map_err(|reason| folder.unusable("checkpoint", &reason))?;
            earlier = checkpoint.seconds;
            done = Some(checkpoint.generation);
        }
        Ok(Run {
            learner,
            settings,
            folder,
            journal,
            done,
            earlier,
            started: Instant::now(),
        })
    }

    fn drive(
        &mut self,
        pool: &rayon::ThreadPool,
        observer: &mut dyn RunObserver,
        stop: &AtomicBool,
    ) -> Result<(), RunError> {
        let last = self.settings.generations;
        loop {
            let next = self.done.map_or(0, |done| done + 1);
            if next > last || next > 0 && stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let before = work::usage();
            let mut figures = pool.install(|| self.learner.advance(next));
            self.done = Some(next);
            let mut line = self.learner.describe(&figures);
            if let Some((elo, error)) = self.elo(next)? {
                line += &format!("  Elo {elo:+.0} +/- {error:.0}");
                figures.extend([Some(elo), Some(error)]);
            }
            // Without a match in this generation its cells stay empty.
            let cells = self.journal.columns().len() - journal::ALWAYS;
            figures.resize(cells, None);
            if let (Some(before), Some(after)) = (before, work::usage())
                && let Some(place) = self.journal.column(BUSY)
            {
                let busy = after.since(&before).efficiency();
                figures[place - journal::ALWAYS] = Some(journal::rounded(busy, 1000.0));
            }
            let seconds = self.seconds();
            self.journal.append(self.folder, next, seconds, figures)?;
            self.write_best(next)?;
            let due = next.is_multiple_of(self.settings.checkpoint);
            if due || next == last || stop.load(Ordering::Relaxed) {
                self.write_checkpoint(next)?;
            }
            let line = format!("generation {next}/{last}  {line}  {seconds:.1} s");
            observer.generation(next, last, &line);
            if let Some(row) = self.journal.rows().last() {
                observer.row(self.journal.columns(), row);
            }
        }
    }

    /// The match against the start, if one is due after this generation.
    fn elo(&self, generation: u64) -> Result<Option<(f64, f64)>, RunError> {
        let RunSettings {
            elo_every,
            generations,
            ..
        } = self.settings;
        let is_due = generation.is_multiple_of(*elo_every) || generation == *generations;
        if *elo_every == 0 || !is_due {
            return Ok(None);
        }
        if generation == 0 {
            return Ok(Some((0.0, 0.0)));
        }
        let start = Candidate::load(&self.folder.path().join(START))?;
        let (elo, error) = elo_against_start(&self.learner.best(), &start, self.settings)?;
        let rounded = |value: f64| journal::rounded(value, 100.0);
        Ok(Some((rounded(elo), rounded(error))))
    }

    fn seconds(&self) -> f64 {
        self.earlier + self.started.elapsed().as_secs_f64()
    }

    fn write_best(&self, generation: u64) -> Result<(), RunError> {
        if self.learner.best_generation() != generation && self.folder.has(BEST) {
            return Ok(());
        }
        let best = self.learner.best();
        if generation == 0 {
            self.folder.save(START, &best)?;
        }
        self.folder.save(BEST, &best)
    }

    fn write_checkpoint(&self, generation: u64) -> Result<(), RunError> {
        let state = self.learner.save();
        let checkpoint = Checkpoint {
            generation,
            seconds: self.seconds(),
            state: state.map_err(|reason| self.folder.unusable("checkpoint", &reason))?,
        };
        checkpoint.write(self.folder)
    }

    fn finish(self) -> Result<RunOutcome, RunError> {
        let done = self.done.ok_or_else(|| RunError::File {
            path: self.folder.path().display().to_string(),
            reason: "stopped before the first generation".to_owned(),
        })?;
        let interrupted = done < self.settings.generations;
        if interrupted {
            self.write_checkpoint(done)?;
        }
        let best = self.learner.best();
        self.folder.save(BEST, &best)?;
        Ok(RunOutcome {
            journal: self.journal,
            best,
            start: Candidate::load(&self.folder.path().join(START))?,
            interrupted,
        })
    }
}
