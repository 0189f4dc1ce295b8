//! The preset of a training run: the five tables with `[genome] kind = "network"`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::data::is_scale;
use crate::tune::preset::{PresetError, Reader, RunSettings};
use crate::tune::settings::{SettingError, check_range};

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingPreset {
    #[serde(default)]
    pub name: String,
    pub genome: NetworkGenome,
    pub data: TrainingData,
    pub fitness: TrainingLoss,
    pub method: NetworkAdam,
    #[serde(default)]
    pub run: RunSettings,
}

/// The table `[genome]`: all weights of a network.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkGenome {
    /// Always "network".
    pub kind: String,
}

/// The table `[data]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingData {
    /// Files of labels in any format; given on the command line as a rule.
    #[serde(default)]
    pub labels: Vec<PathBuf>,
    /// The share of games that is kept for validation.
    pub validation_share: f64,
}

/// The table `[fitness]`: squared error of the win chance.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingLoss {
    /// Always "mentor": the mentor's win chance is the target.
    pub name: String,
    /// The mentor's centipawns that multiply the odds of winning by e, if not as the files say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mentor_scale: Option<f64>,
}

/// The table `[method]`: Adam with warm-up and a cosine schedule.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkAdam {
    /// Always "adam".
    pub name: String,
    /// The learning rate after the warm-up and at the end.
    pub learning_rate: [f64; 2],
    /// Labels in a batch.
    pub batch: usize,
    /// Batches in a generation.
    pub steps: u64,
    /// Generations until the full learning rate is reached: early gradients are large.
    pub warm_up: f64,
}

impl TrainingPreset {
    pub fn parse(text: &str, file: &str) -> Result<TrainingPreset, PresetError> {
        let reader = Reader::new(text, file);
        let mut preset: TrainingPreset = reader.document()?;
        if preset.name.is_empty() {
            let stem = Path::new(file).file_stem().unwrap_or_default();
            preset.name = stem.to_string_lossy().into_owned();
        }
        match preset.validate() {
            Err(error) => Err(reader.refuse(&error.key, error.problem)),
            Ok(()) => Ok(preset),
        }
    }

    /// Fails on the first key whose value is impossible.
    fn validate(&self) -> Result<(), SettingError> {
        let fail = |key: &str, problem: &str| Err(SettingError::new(key, problem));
        let TrainingPreset {
            data,
            fitness,
            method,
            run,
            ..
        } = self;
        if fitness.name != "mentor" {
            return fail("fitness.name", "a network learns from \"mentor\" only");
        }
        if method.name != "adam" {
            return fail("method.name", "a network learns by \"adam\" only");
        }
        if !fitness.mentor_scale.is_none_or(is_scale) {
            return fail("fitness.mentor_scale", "must be more than 0");
        }
        if !(0.0..1.0).contains(&data.validation_share) {
            let problem = "must be at least 0 and below 1";
            return fail("data.validation_share", problem);
        }
        for rate in method.learning_rate {
            check_range("method.learning_rate", rate, 0.0..=1.0)?;
        }
        check_range("method.batch", method.batch, 8..=1 << 24)?;
        check_range("method.steps", method.steps, 1..=1_000_000_000)?;
        check_range("method.warm_up", method.warm_up, 0.0..=1000.0)?;
        if !run.rivals.is_empty() {
            return fail("run.rivals", "only where terms evolve");
        }
        run.validate().map_err(|error| error.in_table("run"))
    }
}
