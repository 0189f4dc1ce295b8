//! Fitness `mentor`: how closely the static score follows a stronger engine's scores.
//!
//! The loss is the mean absolute difference in the mentor's centipawns (David-Tabibi et al.), or
//! the mean squared difference of win chances, in which differences between lost positions count
//! little.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::labelled::{LabelFitness, LossAt, ScoreLoss};
use super::{
    BuiltFitness, CaseCounts, FitnessConfig, FitnessError, FitnessInputs, built_in_labels,
};
use crate::data::{self, Label, LabelNeeds, Labels, is_scale, win_chance};
use crate::eval::Weights;
use crate::tune::genome::Genome;
use crate::tune::settings::{NamedSettings, SettingError};

/// The table `[fitness]` of a preset that says `name = "mentor"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MentorSettings {
    pub name: String,
    pub loss: MentorLoss,
    /// The mentor's centipawns that multiply the odds of winning by e; by default what the label
    /// files say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mentor_scale: Option<f64>,
    /// The same for our own scores, in internal units; by default from the win model of the
    /// weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_scale: Option<f64>,
    /// Positions drawn anew each generation; 0 takes all of them every time.
    pub positions_per_generation: usize,
}

impl Default for MentorSettings {
    fn default() -> MentorSettings {
        MentorSettings {
            name: Self::NAME.to_owned(),
            loss: MentorLoss::Centipawns,
            mentor_scale: None,
            own_scale: None,
            positions_per_generation: 0,
        }
    }
}

impl NamedSettings for MentorSettings {
    const NAME: &'static str = "mentor";
}

impl FitnessConfig for MentorSettings {
    fn validate(&self) -> Result<(), SettingError> {
        let scales = [
            ("mentor_scale", self.mentor_scale),
            ("own_scale", self.own_scale),
        ];
        let is_bad = |(_, scale): &(&str, Option<f64>)| !scale.is_none_or(is_scale);
        match scales.into_iter().find(is_bad) {
            Some((key, _)) => Err(SettingError::new(key, "must be above 0")),
            None => Ok(()),
        }
    }

    /// The loss, lower is better: the fitness with its sign changed.
    fn format(&self, value: f64) -> String {
        match self.loss {
            // Subtracted from 0, since negating would print -0.00.
            MentorLoss::Centipawns => format!("{:.2} cp", 0.0 - value),
            MentorLoss::Chance => format!("{:.5}", 0.0 - value),
        }
    }

    fn format_reference(&self, figure: f64) -> String {
        self.format(-figure)
    }

    fn measure(&self) -> &'static str {
        match self.loss {
            MentorLoss::Centipawns => "mean difference from the mentor",
            MentorLoss::Chance => "error of the win chance",
        }
    }

    fn is_error(&self) -> bool {
        true
    }

    fn fitness_of_reference(&self, figure: f64) -> f64 {
        -figure
    }

    fn build(&self, inputs: FitnessInputs<'_>) -> Result<BuiltFitness, FitnessError> {
        let sources = inputs.sources(built_in_labels);
        let labels = data::collect_labels(&sources, inputs.selection, LabelNeeds::SCORE)?;
        let counts = CaseCounts::from(&labels);
        let mentor = MentorFitness::new(inputs.genome, self.clone(), &labels);
        Ok(BuiltFitness::from_cases(mentor, &sources, counts))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MentorLoss {
    /// Mean absolute difference in the mentor's centipawns.
    #[default]
    Centipawns,
    /// Mean squared difference of win chances.
    Chance,
}

/// How a score is compared with a mentor's.
pub struct MentorComparison {
    loss: MentorLoss,
    mentor_scale: f64,
    own_scale: f64,
}

impl MentorComparison {
    /// Scales that the settings leave open come from the labels and the weights.
    pub fn new(settings: &MentorSettings, labels_scale: f64, weights: &Weights) -> Self {
        let own_scale = || {
            let internal_units = weights.win_model().midpoint / 100.0;
            data::own_scale(weights) * internal_units
        };
        MentorComparison {
            loss: settings.loss,
            mentor_scale: settings.mentor_scale.unwrap_or(labels_scale),
            own_scale: settings.own_scale.unwrap_or_else(own_scale),
        }
    }
}

impl ScoreLoss for MentorComparison {
    fn target(&self, label: &Label) -> f64 {
        let score = f64::from(label.score);
        let white = match label.position.turn().is_white() {
            true => score,
            false => -score,
        };
        match self.loss {
            MentorLoss::Centipawns => white,
            MentorLoss::Chance => win_chance(white, self.mentor_scale),
        }
    }

    fn loss(&self, score: f64, target: f64) -> LossAt {
        match self.loss {
            MentorLoss::Centipawns => {
                let unit = self.mentor_scale / self.own_scale;
                let error = score * unit - target;
                LossAt {
                    value: error.abs(),
                    derivative: unit * error.signum(),
                }
            }
            MentorLoss::Chance => LossAt::squared_chance(score, self.own_scale, target),
        }
    }
}

pub type MentorFitness = LabelFitness<MentorComparison>;

impl MentorFitness {
    pub fn new(genome: Arc<Genome>, settings: MentorSettings, labels: &Labels) -> MentorFitness {
        let base = genome.weights(&genome.base_genes());
        let loss = MentorComparison::new(&settings, labels.scale, &base);
        let count = settings.positions_per_generation;
        LabelFitness::with_loss(genome, Box::new(settings), loss, count, labels)
    }
}
