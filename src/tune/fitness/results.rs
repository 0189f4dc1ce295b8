//! Fitness `results`: how well the static score predicts who wins (Texel's method).
//!
//! The score becomes a win chance by a logistic curve, `1 / (1 + 10^(-K * score / 400))`, and is
//! compared with the points of the game: 1, ½ or 0. K is fitted once, to the weights that tuning
//! starts from; after that the weights have to fit the curve.

use std::f64::consts::LN_10;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::labelled::{LabelFitness, LossAt, ScoreLoss};
use super::{
    BuiltFitness, CaseCounts, FitnessConfig, FitnessError, FitnessInputs, built_in_labels,
};
use crate::data::{
    self, Label, LabelNeeds, Labels, fit_scale, fit_scale_to_chances, is_scale, win_chance,
};
use crate::tune::genome::Genome;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[fitness]` of a preset that says `name = "results"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResultsSettings {
    pub name: String,
    pub loss: ResultsLoss,
    /// The share of the game's result in the target: 1 is the result alone, 0 the win chance that
    /// the label's score stands for.
    pub lambda: f64,
    /// Texel's K; fitted to the base weights if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<f64>,
    /// The centipawns of the labels that multiply the odds of winning by e; by default what the
    /// files say. Used if `lambda` is below 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mentor_scale: Option<f64>,
    /// Positions drawn anew each generation; 0 takes all of them every time.
    pub positions_per_generation: usize,
}

impl Default for ResultsSettings {
    fn default() -> ResultsSettings {
        ResultsSettings {
            name: Self::NAME.to_owned(),
            loss: ResultsLoss::Squared,
            lambda: 1.0,
            k: None,
            mentor_scale: None,
            positions_per_generation: 0,
        }
    }
}

impl NamedSettings for ResultsSettings {
    const NAME: &'static str = "results";
}

impl FitnessConfig for ResultsSettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("lambda", self.lambda, 0.0..=1.0)?;
        if !self.k.is_none_or(is_scale) {
            return Err(SettingError::new("k", "must be above 0"));
        }
        if !self.mentor_scale.is_none_or(is_scale) {
            return Err(SettingError::new("mentor_scale", "must be above 0"));
        }
        Ok(())
    }

    /// The loss, lower is better: the fitness with its sign changed.
    fn format(&self, value: f64) -> String {
        format!("{:.6}", 0.0 - value)
    }

    fn format_reference(&self, figure: f64) -> String {
        self.format(-figure)
    }

    fn measure(&self) -> &'static str {
        "error of the win chance"
    }

    fn is_error(&self) -> bool {
        true
    }

    fn fitness_of_reference(&self, figure: f64) -> f64 {
        -figure
    }

    fn build(&self, inputs: FitnessInputs<'_>) -> Result<BuiltFitness, FitnessError> {
        let sources = inputs.sources(built_in_labels);
        let needs = LabelNeeds {
            score: self.lambda < 1.0,
            result: self.lambda > 0.0,
        };
        let labels = data::collect_labels(&sources, inputs.selection, needs)?;
        let counts = CaseCounts::from(&labels);
        let results = ResultsFitness::new(inputs.genome, self.clone(), &labels)?;
        let k = format!("K = {:.4}", results.k());
        Ok(BuiltFitness::from_cases(results, &sources, counts).with_note(&k))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResultsLoss {
    /// Mean squared error of the win chance.
    #[default]
    Squared,
    /// Mean cross-entropy: the negative log-likelihood of the results.
    Logistic,
}

/// How a score is compared with a result.
pub struct ResultsComparison {
    loss: ResultsLoss,
    lambda: f64,
    mentor_scale: f64,
    /// Internal units that multiply the odds of winning by e: 400 / (K ln 10).
    scale: f64,
}

impl ScoreLoss for ResultsComparison {
    fn target(&self, label: &Label) -> f64 {
        let score = win_chance(label.score.into(), self.mentor_scale);
        // Labels without a result are read only if lambda is 0.
        let points = label.points().unwrap_or(score);
        let target = self.lambda * points + (1.0 - self.lambda) * score;
        match label.position.turn().is_white() {
            true => target,
            false => 1.0 - target,
        }
    }

    fn loss(&self, score: f64, target: f64) -> LossAt {
        match self.loss {
            ResultsLoss::Squared => LossAt::squared_chance(score, self.scale, target),
            ResultsLoss::Logistic => LossAt::cross_entropy(score, self.scale, target),
        }
    }
}

pub type ResultsFitness = LabelFitness<ResultsComparison>;

/// More positions do not change K.
const POSITIONS_FOR_K: usize = 100_000;

impl ResultsFitness {
    pub fn new(
        genome: Arc<Genome>,
        settings: ResultsSettings,
        labels: &Labels,
    ) -> Result<ResultsFitness, SettingError> {
        let loss = ResultsComparison {
            loss: settings.loss,
            lambda: settings.lambda,
            mentor_scale: settings.mentor_scale.unwrap_or(labels.scale),
            scale: scale_of_k(settings.k.unwrap_or(1.0)),
        };
        let count = settings.positions_per_generation;
        let is_given = settings.k.is_some();
        let mut fitness = LabelFitness::with_loss(genome, Box::new(settings), loss, count, labels);
        if !is_given {
            fitness.loss.scale = fitness.fitted_scale()?;
        }
        Ok(fitness)
    }

    /// Texel's K.
    pub fn k(&self) -> f64 {
        // The same formula leads back.
        scale_of_k(self.loss.scale)
    }

    /// The scale at which the base weights predict the targets best.
    fn fitted_scale(&self) -> Result<f64, SettingError> {
        let values = self.genome.column_values(&self.genome.base_genes());
        let weights = (&values).into();
        let targets = self.training.targets.iter().take(POSITIONS_FOR_K);
        let samples: Vec<(f64, f64)> = targets
            .enumerate()
            .map(|(index, target)| {
                let score = self.training.features.score(index, &weights);
                (score.into(), *target)
            })
            .collect();
        if samples.iter().all(|(score, _)| *score == 0.0) {
            let problem = "cannot be fitted, as the base weights score every position 0; set it";
            return Err(SettingError::new("k", problem));
        }
        let least_squares = || fit_scale_to_chances(&samples);
        Ok(match self.loss.loss {
            ResultsLoss::Squared => least_squares(),
            ResultsLoss::Logistic => fit_scale(&samples).unwrap_or_else(least_squares),
        })
    }
}

/// The scale that belongs to Texel's K, in the score's own units.
fn scale_of_k(k: f64) -> f64 {
    400.0 / (k * LN_10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_losses() {
        for loss in [ResultsLoss::Squared, ResultsLoss::Logistic] {
            let comparison = ResultsComparison {
                loss,
                lambda: 1.0,
                mentor_scale: 100.0,
                scale: scale_of_k(1.2),
            };
            for (score, target) in [(0.0, 1.0), (-150.0, 0.5), (700.0, 0.0), (90.0, 0.3)] {
                let at = |score: f64| comparison.loss(score, target);
                let measured = (at(score + 0.01).value - at(score - 0.01).value) / 0.02;
                let error = (at(score).derivative - measured).abs();
                assert!(error < 1e-8, "{loss:?} {score} {target}");
            }
        }
    }

    #[test]
    fn losses_of_certain_scores_are_finite() {
        let won = LossAt::cross_entropy(20_000.0, 10.0, 1.0);
        let lost = LossAt::cross_entropy(20_000.0, 10.0, 0.0);
        assert_eq!(won.value, 0.0);
        assert!((lost.value - 2000.0).abs() < 1e-9);
        assert!((lost.derivative - 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_k_of_one_is_400_units_for_odds_of_ten() {
        let chance = win_chance(400.0, scale_of_k(1.0));
        assert!((chance - 10.0 / 11.0).abs() < 1e-12);
        assert!((scale_of_k(scale_of_k(0.7)) - 0.7).abs() < 1e-12);
    }
}
