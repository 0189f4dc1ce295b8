//! Runs experiments to their end: data, generations, closing match, report.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::closing::{self, ClosingGames};
use super::{
    Closing, Evolution, InstallError, Problem, RunError, RunFolder, RunObserver, RunOutcome, drive,
};
use crate::eval::Weights;
use crate::tune::experiment::Experiment;
use crate::tune::fitness;
use crate::tune::genome::Candidate;
use crate::tune::network::{Trainer, TrainingPreset};
use crate::tune::preset::Preset;
use crate::tune::report;
use crate::work;

/// A run that is over, or interrupted.
pub struct FinishedRun {
    pub outcome: RunOutcome,
    /// None if the run or its closing match was interrupted.
    pub closing: Option<Closing>,
}

impl FinishedRun {
    /// Makes the result the weights that the program plays with, if it won its closing match
    /// against those that play now, or if `force`. Returns where they were written.
    pub fn install(&self, force: bool) -> Result<PathBuf, InstallError> {
        closing::install(&self.outcome, self.closing.as_ref(), force)
    }
}

/// Runs one experiment or several, and keeps the data that they share.
pub struct Session<'a> {
    /// The weights that play now: every result has to prove itself against them.
    incumbent: Weights,
    observer: &'a mut dyn RunObserver,
    stop: &'a AtomicBool,
    prepared: Option<Prepared>,
    /// Folders of the evolution runs so far.
    folders: Vec<PathBuf>,
}

/// Data that is read and waits for its run.
enum Prepared {
    Evolution(Box<Problem>),
    Training(Box<Trainer>),
}

impl<'a> Session<'a> {
    pub fn new(
        incumbent: Weights,
        observer: &'a mut dyn RunObserver,
        stop: &'a AtomicBool,
    ) -> Session<'a> {
        Session {
            incumbent,
            observer,
            stop,
            prepared: None,
            folders: Vec::new(),
        }
    }

    /// Reads the data of an experiment, so that unusable data leaves no folder behind.
    pub fn prepare(&mut self, experiment: &Experiment) -> Result<(), RunError> {
        let prepared = match experiment {
            Experiment::Evolution(preset) => Prepared::Evolution(self.problem(preset)?),
            Experiment::Training(preset) => Prepared::Training(self.trainer(preset)?),
        };
        self.prepared = Some(prepared);
        Ok(())
    }

    /// The problem of a preset: the one at hand if it is the same.
    fn problem(&mut self, preset: &Preset) -> Result<Box<Problem>, RunError> {
        match self.prepared.take() {
            Some(Prepared::Evolution(problem)) if problem.serves(preset) => Ok(problem),
            _ => {
                self.observer.preparing();
                Problem::new(preset, self.observer).map(Box::new)
            }
        }
    }

    /// The trainer of a preset: the one at hand if it is the same and has not begun.
    fn trainer(&mut self, preset: &TrainingPreset) -> Result<Box<Trainer>, RunError> {
        match self.prepared.take() {
            Some(Prepared::Training(trainer)) if trainer.serves(preset) => Ok(trainer),
            _ => {
                self.observer.preparing();
                let trainer = Trainer::new(preset)?;
                self.observer.prepared(&trainer.summary());
                Ok(Box::new(trainer))
            }
        }
    }

    /// Runs an experiment in its folder, from its checkpoint if there is one. Unless interrupted,
    /// plays the closing match. Draws the report either way.
    pub fn run(
        &mut self,
        experiment: &Experiment,
        folder: &RunFolder,
    ) -> Result<FinishedRun, RunError> {
        let (outcome, rivals) = match experiment {
            Experiment::Evolution(preset) => {
                self.folders.push(folder.path().to_owned());
                self.evolve(preset, folder)?
            }
            Experiment::Training(preset) => (self.train(preset, folder)?, Vec::new()),
        };
        report::write(folder)?;
        if outcome.interrupted {
            return Ok(FinishedRun {
                outcome,
                closing: None,
            });
        }
        let games = ClosingGames {
            experiment,
            outcome: &outcome,
            rivals,
            incumbent: &self.incumbent,
            folder,
        };
        if games.count() > 0 {
            self.observer.closing(games.count());
        }
        let closing = games.play(self.stop);
        self.observer.closed();
        let closing = closing?;
        report::write(folder)?;
        Ok(FinishedRun { outcome, closing })
    }

    fn evolve(
        &mut self,
        preset: &Preset,
        folder: &RunFolder,
    ) -> Result<(RunOutcome, Vec<(String, Candidate)>), RunError> {
        let problem = self.problem(preset)?;
        let mut learner = Evolution::new(preset, &problem);
        let outcome = drive(&mut learner, &preset.run, folder, self.observer, self.stop)?;
        work::dismiss();
        let rivals = problem.rivals(preset);
        self.prepared = Some(Prepared::Evolution(problem));
        Ok((outcome, rivals))
    }

    fn train(
        &mut self,
        preset: &TrainingPreset,
        folder: &RunFolder,
    ) -> Result<RunOutcome, RunError> {
        let mut trainer = self.trainer(preset)?;
        drive(&mut *trainer, &preset.run, folder, self.observer, self.stop)
    }

    /// Measures individuals for rank 0 of an MPI job, which runs the same experiment.
    pub fn serve(&mut self, experiment: &Experiment) -> Result<(), RunError> {
        let Experiment::Evolution(preset) = experiment else {
            return Ok(());
        };
        let problem = self.problem(preset)?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(preset.run.threads)
            .build()
            .map_err(|error| RunError::Threads(error.to_string()))?;
        fitness::serve(problem.fitness(), &pool);
        self.prepared = Some(Prepared::Evolution(problem));
        Ok(())
    }

    /// Draws a page that compares the evolution runs so far, if there are several. Returns its
    /// path.
    pub fn compare(&self, out: &Path) -> Result<Option<PathBuf>, RunError> {
        if self.folders.len() < 2 {
            return Ok(None);
        }
        report::write_comparison(out, &self.folders)?;
        Ok(Some(out.join(report::FILE)))
    }
}
