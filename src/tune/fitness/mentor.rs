//! Fitness `mentor`: how closely the static score follows a stronger engine's scores.
//!
//! The loss is the mean absolute difference in the mentor's centipawns (David-Tabibi et al.), or
//! the mean squared difference of win chances, in which differences between lost positions count
//! little. Each position's features are traced once; scores are exactly those of the evaluation.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::features::FeatureVector;
use super::{
    Batch, BuiltFitness, CaseCounts, Fitness, FitnessConfig, FitnessError, FitnessInputs,
    ValueAndGradient, built_in_labels,
};
use crate::data::{self, DEFAULT_SCALE, Label, Labels, win_chance};
use crate::eval::{Family, trace_families};
use crate::tune::genome::{ColumnValues, Genome};
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
    /// The same for our own scores, in internal units.
    pub own_scale: f64,
    /// Positions drawn anew each generation; 0 takes all of them every time.
    pub positions_per_generation: usize,
}

impl Default for MentorSettings {
    fn default() -> MentorSettings {
        MentorSettings {
            name: Self::NAME.to_owned(),
            loss: MentorLoss::Centipawns,
            mentor_scale: None,
            own_scale: 182.0,
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
            ("mentor_scale", self.mentor_scale()),
            ("own_scale", self.own_scale),
        ];
        let is_bad = |(_, scale): &(&str, f64)| !(*scale > 0.0 && scale.is_finite());
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

    fn build(&self, inputs: FitnessInputs<'_>) -> Result<BuiltFitness, FitnessError> {
        let sources = inputs.sources(built_in_labels);
        let labels = data::collect_labels(&sources, inputs.selection)?;
        let counts = CaseCounts {
            tally: labels.tally.clone(),
            training: labels.training.len(),
            validation: labels.validation.len(),
        };
        let mentor = MentorFitness::new(inputs.genome, self.clone(), &labels);
        Ok(BuiltFitness::from_cases(mentor, &sources, counts))
    }
}

impl MentorSettings {
    /// The mentor's centipawns in one internal unit.
    fn unit(&self) -> f64 {
        self.mentor_scale() / self.own_scale
    }

    fn mentor_scale(&self) -> f64 {
        self.mentor_scale.unwrap_or(DEFAULT_SCALE)
    }

    /// The same settings for labels with this scale.
    pub fn for_scale(self, scale: f64) -> MentorSettings {
        MentorSettings {
            mentor_scale: self.mentor_scale.or(Some(scale)),
            ..self
        }
    }

    /// The loss of an internal score against the mentor's.
    pub fn loss(&self, own: f64, mentor: f64) -> f64 {
        match self.loss {
            MentorLoss::Centipawns => (own * self.unit() - mentor).abs(),
            MentorLoss::Chance => {
                let own = win_chance(own, self.own_scale);
                (own - win_chance(mentor, self.mentor_scale())).powi(2)
            }
        }
    }

    /// The derivative of the loss by the internal score.
    fn loss_derivative(&self, own: f64, mentor: f64) -> f64 {
        match self.loss {
            MentorLoss::Centipawns => self.unit() * (own * self.unit() - mentor).signum(),
            MentorLoss::Chance => {
                let expected = win_chance(own, self.own_scale);
                let error = expected - win_chance(mentor, self.mentor_scale());
                2.0 * error * expected * (1.0 - expected) / self.own_scale
            }
        }
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

/// A position's features and the mentor's score, both from White's point of view.
struct Case {
    features: FeatureVector,
    mentor: f64,
}

impl Case {
    fn new(label: &Label, genome: &Genome, families: &[Family]) -> Case {
        let trace = trace_families(&label.position, families);
        let score = f64::from(label.score);
        let is_white = label.position.turn().is_white();
        Case {
            features: FeatureVector::new(&trace, genome),
            mentor: if is_white { score } else { -score },
        }
    }
}

/// Chunks, and so the order of additions, do not depend on the number of threads.
const CHUNK: usize = 1024;

pub struct MentorFitness {
    genome: Arc<Genome>,
    settings: MentorSettings,
    training: Vec<Case>,
    validation: Vec<Case>,
}

impl MentorFitness {
    pub fn new(genome: Arc<Genome>, settings: MentorSettings, labels: &Labels) -> MentorFitness {
        let families = genome.families();
        let traced = |labels: &[Label]| -> Vec<Case> {
            labels
                .par_iter()
                .map(|label| Case::new(label, &genome, &families))
                .collect()
        };
        MentorFitness {
            settings: settings.for_scale(labels.scale),
            training: traced(&labels.training),
            validation: traced(&labels.validation),
            genome,
        }
    }

    fn cases<'s>(&'s self, batch: &Batch) -> Vec<&'s Case> {
        match batch {
            Batch::All => self.training.iter().collect(),
            Batch::Some(indices) => indices
                .iter()
                .map(|index| &self.training[*index as usize])
                .collect(),
        }
    }

    /// The mean loss with its sign changed: higher is better.
    fn mean(&self, cases: &[&Case], values: &ColumnValues) -> f64 {
        let loss = |case: &&Case| {
            self.settings
                .loss(case.features.score(values).into(), case.mentor)
        };
        let chunks: Vec<f64> = cases
            .par_chunks(CHUNK)
            .map(|chunk| chunk.iter().map(loss).sum::<f64>())
            .collect();
        -chunks.into_iter().sum::<f64>() / cases.len().max(1) as f64
    }

    /// The gradient by column, summed over some positions.
    fn gradient_of_chunk(&self, chunk: &[&Case], values: &ColumnValues) -> Vec<[f64; 2]> {
        let mut gradient = vec![[0.0; 2]; values.columns.len()];
        for case in chunk {
            let own = f64::from(case.features.score(values));
            let by_score = -self.settings.loss_derivative(own, case.mentor);
            case.features.add_gradient(values, by_score, &mut gradient);
        }
        gradient
    }
}

impl Fitness for MentorFitness {
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        let cases = self.cases(batch);
        let value = |genes: &&[f64]| self.mean(&cases, &self.genome.column_values(genes));
        individuals.par_iter().map(value).collect()
    }

    fn batch(&self, seed: u64, generation: u64) -> Batch {
        match self.settings.positions_per_generation {
            0 => Batch::All,
            count => Batch::sample(self.case_count(), count, seed, generation),
        }
    }

    fn is_fixed(&self) -> bool {
        self.settings.positions_per_generation == 0
    }

    fn validate(&self, individual: &[f64]) -> Option<f64> {
        let cases: Vec<&Case> = self.validation.iter().collect();
        let values = self.genome.column_values(individual);
        (!cases.is_empty()).then(|| self.mean(&cases, &values))
    }

    fn gradient(&self, individual: &[f64], batch: &Batch) -> Option<ValueAndGradient> {
        let values = self.genome.column_values(individual);
        let cases = self.cases(batch);
        let chunks: Vec<_> = cases
            .par_chunks(CHUNK)
            .map(|chunk| self.gradient_of_chunk(chunk, &values))
            .collect();
        let mut gradient = vec![0.0; self.genome.len()];
        let count = cases.len().max(1) as f64;
        for chunk in chunks {
            for (column, [midgame, endgame]) in self.genome.columns().iter().zip(chunk) {
                column.add_to_genes(midgame / count, endgame / count, &mut gradient);
            }
        }
        Some(ValueAndGradient {
            value: self.mean(&cases, &values),
            gradient,
        })
    }

    fn case_count(&self) -> usize {
        self.training.len()
    }

    fn config(&self) -> &dyn FitnessConfig {
        &self.settings
    }
}
