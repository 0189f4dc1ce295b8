//! The preset of a training run: the five tables with `[genome] kind = "network"`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::data::is_scale;
use crate::eval::{Architecture, UnsupportedArchitecture};
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
    /// Numbers in one side's accumulator.
    #[serde(default = "default_width")]
    pub width: usize,
    #[serde(default = "default_king_buckets")]
    pub king_buckets: usize,
    #[serde(default = "default_output_buckets")]
    pub output_buckets: usize,
    /// A network to continue from, or a weights file that names one; random weights otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<PathBuf>,
}

fn default_width() -> usize {
    Architecture::default().width()
}

fn default_king_buckets() -> usize {
    Architecture::default().king_buckets()
}

fn default_output_buckets() -> usize {
    Architecture::default().output_buckets()
}

impl NetworkGenome {
    pub fn architecture(&self) -> Result<Architecture, UnsupportedArchitecture> {
        Architecture::new(self.width, self.king_buckets, self.output_buckets)
    }
}

/// The table `[data]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingData {
    /// Files of labels in any format; given on the command line as a rule.
    #[serde(default)]
    pub labels: Vec<PathBuf>,
    /// The share of games that is kept for validation. Which ones depends on the games alone, so
    /// runs with other seeds or settings are validated with the same.
    pub validation_share: f64,
}

/// The table `[fitness]`: squared error of the expected points.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingLoss {
    /// Always "mentor": the mentor's win chance is the target.
    pub name: String,
    /// The mentor's centipawns that multiply the odds of winning by e, if not as the files say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mentor_scale: Option<f64>,
    /// The share of the game's result in the target: 0 is the score alone, 1 the result alone.
    /// Labels without a result use the score.
    #[serde(default)]
    pub lambda: f64,
}

/// The table `[method]`: AdamW with warm-up and a cosine schedule.
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
    /// The share of itself that a weight loses at a learning rate of 1; 0 is plain Adam.
    #[serde(default = "default_weight_decay")]
    pub weight_decay: f64,
}

fn default_weight_decay() -> f64 {
    0.01
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
            genome,
            data,
            fitness,
            method,
            run,
            ..
        } = self;
        if let Err(error) = genome.architecture() {
            let UnsupportedArchitecture {
                field,
                found,
                supported,
            } = error;
            let problem = format!("{found} is not supported; there are {supported}");
            return fail(&format!("genome.{field}"), &problem);
        }
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
        check_range("fitness.lambda", fitness.lambda, 0.0..=1.0)?;
        check_range("method.weight_decay", method.weight_decay, 0.0..=10.0)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(genome: &str, fitness: &str, method: &str) -> Result<TrainingPreset, PresetError> {
        let text = format!(
            "[genome]\nkind = \"network\"\n{genome}\n[data]\nvalidation_share = 0.1\n[fitness]\n\
             name = \"mentor\"\n{fitness}\n[method]\nname = \"adam\"\nlearning_rate = [0.1, \
             0.1]\nbatch = 8\nsteps = 1\nwarm_up = 0\n{method}\n"
        );
        TrainingPreset::parse(&text, "a.toml")
    }

    #[test]
    fn the_architecture_is_a_setting() {
        let preset = parse("", "", "").unwrap();
        assert_eq!(preset.genome.architecture(), Ok(Architecture::default()));
        assert_eq!(
            (preset.fitness.lambda, preset.method.weight_decay),
            (0.0, 0.01)
        );
        let small = parse("width = 64\nking_buckets = 1\noutput_buckets = 1", "", "").unwrap();
        assert_eq!(small.genome.architecture(), Architecture::new(64, 1, 1));
        let again = toml::to_string(&small).unwrap();
        assert_eq!(TrainingPreset::parse(&again, "a.toml"), Ok(small));
    }

    #[test]
    fn impossible_values_are_refused_by_key() {
        for (tables, problem) in [
            (
                ["width = 384", "", ""],
                "genome.width: 384 is not supported; there are 64, 128",
            ),
            (
                ["king_buckets = 2", "", ""],
                "genome.king_buckets: 2 is not",
            ),
            (
                ["output_buckets = 0", "", ""],
                "genome.output_buckets: 0 is not",
            ),
            (["widht = 64", "", ""], "widht"),
            (
                ["", "lambda = 1.5", ""],
                "fitness.lambda: 1.5 is not within 0 to 1",
            ),
            (["", "lambda = nan", ""], "fitness.lambda"),
            (["", "", "weight_decay = -1"], "method.weight_decay"),
        ] {
            let [genome, fitness, method] = tables;
            let error = parse(genome, fitness, method).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
            assert!(error.starts_with("a.toml:"), "{error}");
        }
    }
}
