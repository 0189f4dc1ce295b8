//! An experiment under way.
//!
//! A [`Workshop`] holds what several runs share: the genome and the fitness with its cases. A
//! run moves a method on, generation by generation, and after each writes what happened to its
//! [`Folder`]: first the journal and the best so far, last the checkpoint. Whatever
//! instant it is killed at, the last checkpoint finds everything before it on disk.

mod checkpoint;
mod closing;
mod folder;
mod journal;
mod table;
mod workshop;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::methods::{GenerationContext, Individual};
use super::preset::{Preset, PresetError};
use crate::data::{DataError, Tally};
use crate::eval::{Weights, WeightsError};
use crate::tune::fitness::Fitness;
use crate::tune::genome::Genome;
use checkpoint::Checkpoint;

pub use closing::{Closing, closing_matches};
pub use folder::{Folder, write_atomically};
pub use journal::{GeneFigures, Journal, Row};
pub use table::{Summary, averages, beside, table};
pub use workshop::Workshop;

#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Preset(#[from] PresetError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error("{path}: {reason}")]
    File { path: String, reason: String },
    #[error("threads: {0}")]
    Threads(String),
}

/// Whoever wants to hear how a run is getting on.
pub trait Observer {
    /// The cases are read.
    fn prepared(&mut self, tally: &Tally, training: usize, validation: usize);

    /// A generation is done; the fitness knows how its values are read.
    fn generation(&mut self, row: &Row, last: u64, fitness: &dyn Fitness);
}

/// The best individual so far and where it turned up.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Record {
    pub generation: u64,
    pub individual: Individual,
}

/// What came of a run.
pub struct Outcome {
    pub rows: Vec<Row>,
    pub best: Weights,
    /// The best of the first population.
    pub start: Weights,
    pub genome: Arc<Genome>,
    /// Whether it was stopped before its last generation.
    pub interrupted: bool,
}

/// Runs a preset in a folder, from its checkpoint if there is one, to the last generation or
/// until `stop`.
pub fn run(
    preset: &Preset,
    workshop: &Workshop,
    folder: &Folder,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Outcome, RunError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(preset.run.threads)
        .build()
        .map_err(|error| RunError::Threads(error.to_string()))?;
    Course::new(preset, workshop, folder)?.follow(&pool, observer, stop)
}

/// A run between its generations.
struct Course<'a> {
    preset: &'a Preset,
    workshop: &'a Workshop,
    folder: &'a Folder,
    method: Box<dyn super::methods::Method>,
    journal: Journal,
    /// The generation done last and the best so far; none before the first.
    done: Option<(u64, Record)>,
    /// Time spent before this start.
    earlier: f64,
    started: Instant,
}

impl<'a> Course<'a> {
    fn new(
        preset: &'a Preset,
        workshop: &'a Workshop,
        folder: &'a Folder,
    ) -> Result<Course<'a>, RunError> {
        let mut method = preset.method.method();
        let mut journal = Journal::new(&workshop.genome);
        let mut done = None;
        let mut earlier = 0.0;
        if let Some(checkpoint) = Checkpoint::read(folder)? {
            let unusable = |error: toml::de::Error| folder.unusable("checkpoint", error.message());
            method.restore(checkpoint.method).map_err(unusable)?;
            checkpoint::check_genes(folder, method.population(), &workshop.genome)?;
            journal.restore(folder, checkpoint.generation)?;
            earlier = checkpoint.seconds;
            done = Some((checkpoint.generation, checkpoint.best));
        }
        Ok(Course {
            preset,
            workshop,
            folder,
            method,
            journal,
            done,
            earlier,
            started: Instant::now(),
        })
    }

    fn follow(
        mut self,
        pool: &rayon::ThreadPool,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Outcome, RunError> {
        let last = self.preset.run.generations;
        let fitness = self.workshop.fitness();
        loop {
            let next = self
                .done
                .as_ref()
                .map_or(0, |(generation, _)| generation + 1);
            let stopped = stop.load(Ordering::Relaxed);
            if next > last || stopped && next > 0 {
                break;
            }
            let row = pool.install(|| self.make_generation(next));
            self.journal.append(self.folder, &row)?;
            self.write_best()?;
            if next.is_multiple_of(self.preset.run.checkpoint)
                || next == last
                || stop.load(Ordering::Relaxed)
            {
                self.write_checkpoint(next)?;
            }
            observer.generation(&row, last, fitness);
        }
        self.finish(last)
    }

    /// Makes one generation and tells what it is like.
    fn make_generation(&mut self, generation: u64) -> Row {
        let fitness = self.workshop.fitness();
        let around = GenerationContext {
            genome: &self.workshop.genome,
            fitness,
            founders: &self.workshop.founders,
            seed: self.preset.run.seed,
            generation,
            generations: self.preset.run.generations,
        };
        if generation == 0 {
            self.method.initialise(&around);
        } else {
            self.method.next_generation(&around);
        }
        let population = self.method.population();
        let best = self.method.champion();
        let before = self.done.take().map(|(_, record)| record);
        // On other cases than before, an older figure proves nothing.
        let record = before
            .filter(|old| {
                fitness.is_fixed() && old.individual.fitness_or_lowest() >= best.fitness_or_lowest()
            })
            .unwrap_or(Record {
                generation,
                individual: best,
            });
        let validation = match self.journal.last() {
            Some(row) if record.generation < generation => row.validation,
            _ => fitness.validate(&record.individual.genes),
        };
        let row = Row::new(
            generation,
            population,
            &record.individual,
            validation,
            self.seconds(),
        );
        self.done = Some((generation, record));
        row
    }

    fn seconds(&self) -> f64 {
        self.earlier + self.started.elapsed().as_secs_f64()
    }

    fn write_best(&self) -> Result<(), RunError> {
        let Some((generation, record)) = &self.done else {
            return Ok(());
        };
        if record.generation != *generation && self.folder.has("best.toml") {
            return Ok(());
        }
        let weights = self.weights(record);
        if *generation == 0 {
            self.folder.write("start.toml", &weights.to_toml())?;
        }
        self.folder.write("best.toml", &weights.to_toml())
    }

    fn write_checkpoint(&self, generation: u64) -> Result<(), RunError> {
        let Some((_, best)) = &self.done else {
            return Ok(());
        };
        let unusable =
            |error: toml::ser::Error| self.folder.unusable("checkpoint", &error.to_string());
        let checkpoint = Checkpoint {
            generation,
            seconds: self.seconds(),
            best: best.clone(),
            method: self.method.save().map_err(unusable)?,
        };
        checkpoint.write(self.folder)
    }

    /// An individual as a weights file that tells where it comes from.
    fn weights(&self, record: &Record) -> Weights {
        let preset = self.preset;
        let fitness = self.workshop.fitness();
        let mut weights = self.workshop.genome.weights(&record.individual.genes);
        weights.name = format!("{}, seed {}", preset.name, preset.run.seed);
        let shown = fitness
            .config()
            .format(record.individual.fitness_or_lowest());
        let entries = [
            ("preset", preset.name.clone()),
            ("method", preset.method.name().to_owned()),
            ("data", self.workshop.description.clone()),
            ("seed", preset.run.seed.to_string()),
            ("generation", record.generation.to_string()),
            ("fitness", format!("{} {shown}", self.workshop.fitness_name)),
            ("version", format!("Finch {}", env!("CARGO_PKG_VERSION"))),
            ("date", preset.run.started.clone()),
        ];
        weights.provenance = entries.map(|(key, value)| (key.to_owned(), value)).into();
        weights
    }

    fn finish(self, last: u64) -> Result<Outcome, RunError> {
        let (generation, record) = self.done.as_ref().ok_or_else(|| RunError::File {
            path: self.folder.path().display().to_string(),
            reason: "stopped before the first generation".to_owned(),
        })?;
        let interrupted = *generation < last;
        if interrupted {
            self.write_checkpoint(*generation)?;
        }
        let best = self.weights(record);
        self.folder.write("best.toml", &best.to_toml())?;
        let start = Weights::load(&self.folder.path().join("start.toml"))?;
        Ok(Outcome {
            rows: self.journal.into_rows(),
            best,
            start,
            genome: Arc::clone(&self.workshop.genome),
            interrupted,
        })
    }
}
