//! The training of a challenger: a run of its own in the folder of the generation, without a
//! closing match.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::settings::EvolveSettings;
use super::{EvolveError, failed};
use crate::data::LabelSet;
use crate::eval::{Architecture, Weights};
use crate::files;
use crate::random::mix;
use crate::tune::experiment::Experiment;
use crate::tune::network::TrainingPreset;
use crate::tune::run::{RunError, RunFolder, RunObserver, RunOutcome, Session};

/// Trains a network on the labels of a window, from the champion's network on.
pub struct ChallengerTraining<'a> {
    pub settings: &'a EvolveSettings,
    pub generation: u64,
    /// The champion's weights file.
    pub champion: &'a Path,
    pub labels: &'a [PathBuf],
    pub threads: usize,
    pub folder: &'a Path,
}

impl ChallengerTraining<'_> {
    /// `progress` hears the number of validations after each, and says whether to stop; a run
    /// that was stopped resumes by the same call and has no result yet.
    pub fn run(
        &self,
        champion: &Weights,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<RunOutcome>, EvolveError> {
        let Some(network) = &champion.network else {
            return Err(EvolveError::NoNetwork(self.champion.display().to_string()));
        };
        let labels = LabelSet::open(self.labels, None).map_err(RunError::from)?;
        let positions = self.settings.training_positions(labels.len());
        let preset = self.preset(network.architecture(), positions);
        let preset = TrainingPreset::parse(&preset, "generation")?;
        let experiment = Experiment::Training(Box::new(preset));
        run_or_resume(&experiment, champion, self.folder, progress)
    }

    /// The preset of the run, for so many positions.
    fn preset(&self, architecture: Architecture, positions: u64) -> String {
        let EvolveSettings {
            start, training, ..
        } = self.settings;
        let batches = positions.div_ceil(training.batch as u64);
        let labels = self.labels.iter().map(|path| path.display().to_string());
        let labels: Vec<String> = labels.collect();
        let mut preset = toml::toml! {
            name = "evolve"

            [genome]
            kind = "network"

            [fitness]
            name = "mentor"

            [method]
            name = "adam"
            warm_up = 0.2
        };
        let mut set = |table: &str, key: &str, value: toml::Value| {
            let entry = preset.entry(table);
            let table = entry.or_insert_with(|| toml::Table::new().into());
            if let Some(table) = table.as_table_mut() {
                table.insert(key.to_owned(), value);
            }
        };
        let whole = |number: u64| toml::Value::Integer(number as i64);
        for (key, size) in [
            ("width", architecture.width()),
            ("king_buckets", architecture.king_buckets()),
            ("output_buckets", architecture.output_buckets()),
        ] {
            set("genome", key, whole(size as u64));
        }
        let champion = self.champion.display().to_string();
        set("genome", "start", champion.into());
        let lambda = self.settings.lambda(self.generation);
        set("fitness", "lambda", lambda.into());
        set("method", "weight_decay", training.weight_decay.into());
        set("data", "labels", labels.into());
        set("data", "validation_share", training.validation_share.into());
        set(
            "method",
            "learning_rate",
            training.learning_rate.to_vec().into(),
        );
        set("method", "batch", whole(training.batch as u64));
        set(
            "method",
            "steps",
            whole(batches.div_ceil(training.validations)),
        );
        // TOML's whole numbers have 63 bits.
        set("run", "seed", whole(mix(start.seed, self.generation) >> 1));
        set("run", "generations", whole(training.validations));
        set("run", "closing_games", whole(0));
        set("run", "threads", whole(self.threads as u64));
        set("run", "started", start.started.clone().into());
        preset.to_string()
    }
}

/// Runs an experiment without a closing match in its folder, or resumes it. `progress` hears the
/// number of generations after each, and says whether to stop; a run that was stopped has no
/// result yet.
pub fn run_or_resume(
    experiment: &Experiment,
    champion: &Weights,
    folder: &Path,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<RunOutcome>, EvolveError> {
    let folder_of_run = RunFolder::create(folder)?;
    files::remove_temporary(folder).map_err(failed(folder))?;
    folder_of_run.write_config(experiment)?;
    let stop = AtomicBool::new(false);
    let mut observer = StopBetweenGenerations {
        stop: &stop,
        progress,
    };
    let mut session = Session::new(champion.clone(), &mut observer, &stop);
    let outcome = session.run(experiment, &folder_of_run)?.outcome;
    Ok((!outcome.interrupted).then_some(outcome))
}

struct StopBetweenGenerations<'a> {
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u64) -> bool,
}

impl RunObserver for StopBetweenGenerations<'_> {
    fn prepared(&mut self, _summary: &str) {}

    fn generation(&mut self, generation: u64, _last: u64, _line: &str) {
        if (self.progress)(generation) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
