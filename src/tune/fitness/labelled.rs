//! A fitness that compares the static score of labelled positions with what their labels say.
//!
//! Each position's features are traced once. One pass over them gives the mean loss, another its
//! gradient. The fitnesses `mentor` and `results` differ in what they compare only ([`ScoreLoss`]).

use std::sync::Arc;

use rayon::prelude::*;

use super::features::{ColumnGradient, ColumnWeights, FeatureSet};
use super::{Batch, Fitness, FitnessConfig, ValueAndGradient};
use crate::data::{Label, Labels, win_chance};
use crate::tune::genome::Genome;

/// What White's score is compared with, and how.
pub trait ScoreLoss: Sync {
    /// What the label says, from White's point of view.
    fn target(&self, label: &Label) -> f64;

    /// The loss of White's internal score, and its derivative by the score.
    fn loss(&self, score: f64, target: f64) -> LossAt;
}

/// A loss and its derivative.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossAt {
    pub value: f64,
    pub derivative: f64,
}

impl LossAt {
    /// The squared error of the win chance that a score stands for.
    #[inline]
    pub fn squared_chance(score: f64, scale: f64, target: f64) -> LossAt {
        let chance = win_chance(score, scale);
        let error = chance - target;
        LossAt {
            value: error * error,
            derivative: 2.0 * error * chance * (1.0 - chance) / scale,
        }
    }

    /// The cross-entropy of the win chance that a score stands for.
    #[inline]
    pub fn cross_entropy(score: f64, scale: f64, target: f64) -> LossAt {
        let log_odds = score / scale;
        // The logarithm of 1 + exp(log_odds), without overflow.
        let softplus = log_odds.max(0.0) + (-log_odds.abs()).exp().ln_1p();
        LossAt {
            value: softplus - target * log_odds,
            derivative: (win_chance(score, scale) - target) / scale,
        }
    }
}

/// Traced positions with their targets.
pub struct LabelledPositions {
    pub features: FeatureSet,
    pub targets: Vec<f64>,
}

/// Chunks, and so the order of additions, do not depend on the number of threads. Few large ones
/// keep the sums of gradients small beside the positions.
const MOST_CHUNKS: usize = 64;
const SMALLEST_CHUNK: usize = 1024;

impl LabelledPositions {
    pub fn new(labels: &[Label], genome: &Genome, loss: &impl ScoreLoss) -> LabelledPositions {
        let positions = labels.par_iter().map(|label| &label.position);
        LabelledPositions {
            features: FeatureSet::new(positions, genome),
            targets: labels.iter().map(|label| loss.target(label)).collect(),
        }
    }

    /// Runs `work` on each chunk of the batch: it gets the indices of the chunk's positions.
    fn by_chunks<T: Send>(
        &self,
        batch: &Batch,
        work: impl Fn(&mut dyn Iterator<Item = usize>) -> T + Sync,
    ) -> Vec<T> {
        let size = |count: usize| count.div_ceil(MOST_CHUNKS).max(SMALLEST_CHUNK);
        match batch {
            Batch::All => {
                let count = self.targets.len();
                let starts = (0..count).into_par_iter().step_by(size(count));
                let chunk = |start: usize| start..(start + size(count)).min(count);
                starts.map(|start| work(&mut chunk(start))).collect()
            }
            Batch::Some(indices) => {
                let chunks = indices.par_chunks(size(indices.len()));
                let indices = |chunk: &[u32]| work(&mut chunk.iter().map(|index| *index as usize));
                chunks.map(indices).collect()
            }
        }
    }

    fn count(&self, batch: &Batch) -> f64 {
        let count = match batch {
            Batch::All => self.targets.len(),
            Batch::Some(indices) => indices.len(),
        };
        count.max(1) as f64
    }

    /// The mean loss.
    pub fn mean_loss(&self, loss: &impl ScoreLoss, weights: &ColumnWeights, batch: &Batch) -> f64 {
        let sum = |indices: &mut dyn Iterator<Item = usize>| {
            let one = |index: usize| {
                let score = f64::from(self.features.score(index, weights));
                loss.loss(score, self.targets[index]).value
            };
            indices.map(one).sum::<f64>()
        };
        self.by_chunks(batch, sum).into_iter().sum::<f64>() / self.count(batch)
    }

    /// The mean loss and its gradient by column.
    pub fn mean_loss_and_gradient(
        &self,
        loss: &impl ScoreLoss,
        weights: &ColumnWeights,
        batch: &Batch,
    ) -> (f64, Vec<[f64; 2]>) {
        let sum = |indices: &mut dyn Iterator<Item = usize>| {
            let mut gradient = ColumnGradient::zero();
            let mut value = 0.0;
            for index in indices {
                let derivative = |score: i32| {
                    let at = loss.loss(score.into(), self.targets[index]);
                    value += at.value;
                    at.derivative
                };
                self.features
                    .add_gradient(index, weights, &mut gradient, derivative);
            }
            (value, gradient)
        };
        let count = self.count(batch);
        let chunks = self.by_chunks(batch, sum);
        let mut gradient = vec![[0.0; 2]; weights.count()];
        for (_, chunk) in &chunks {
            for (total, [midgame, endgame]) in gradient.iter_mut().zip(chunk.columns()) {
                *total = [total[0] + midgame / count, total[1] + endgame / count];
            }
        }
        let value = chunks.iter().map(|(value, _)| value).sum::<f64>();
        (value / count, gradient)
    }

    /// Reads all traces once, with the same threads and chunks as a pass.
    pub fn sum_bytes(&self) -> u64 {
        let sum = |indices: &mut dyn Iterator<Item = usize>| {
            let Some(first) = indices.next() else {
                return 0;
            };
            let last = indices.last().unwrap_or(first);
            self.features.sum_bytes(first..last + 1)
        };
        let chunks = self.by_chunks(&Batch::All, sum);
        chunks.into_iter().fold(0, u64::wrapping_add)
    }
}

/// The fitness: the mean loss with its sign changed, so that higher is better.
pub struct LabelFitness<L> {
    pub(super) genome: Arc<Genome>,
    pub(super) settings: Box<dyn FitnessConfig + Send + Sync>,
    pub(super) loss: L,
    /// Positions drawn anew each generation; 0 takes all of them every time.
    pub(super) positions_per_generation: usize,
    pub(super) training: LabelledPositions,
    pub(super) validation: LabelledPositions,
}

impl<L: ScoreLoss> LabelFitness<L> {
    pub(super) fn with_loss(
        genome: Arc<Genome>,
        settings: Box<dyn FitnessConfig + Send + Sync>,
        loss: L,
        positions_per_generation: usize,
        labels: &Labels,
    ) -> LabelFitness<L> {
        LabelFitness {
            training: LabelledPositions::new(&labels.training, &genome, &loss),
            validation: LabelledPositions::new(&labels.validation, &genome, &loss),
            genome,
            settings,
            loss,
            positions_per_generation,
        }
    }

    fn weights(&self, individual: &[f64]) -> ColumnWeights {
        (&self.genome.column_values(individual)).into()
    }
}

impl<L: ScoreLoss> Fitness for LabelFitness<L> {
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        let value = |genes: &&[f64]| {
            let weights = self.weights(genes);
            -self.training.mean_loss(&self.loss, &weights, batch)
        };
        individuals.par_iter().map(value).collect()
    }

    fn batch(&self, seed: u64, generation: u64) -> Batch {
        match self.positions_per_generation {
            0 => Batch::All,
            count => Batch::sample(self.case_count(), count, seed, generation),
        }
    }

    fn is_fixed(&self) -> bool {
        self.positions_per_generation == 0
    }

    fn validate(&self, individual: &[f64]) -> Option<f64> {
        let weights = self.weights(individual);
        let loss = || self.validation.mean_loss(&self.loss, &weights, &Batch::All);
        (!self.validation.targets.is_empty()).then(|| -loss())
    }

    fn gradient(&self, individual: &[f64], batch: &Batch) -> Option<ValueAndGradient> {
        let weights = self.weights(individual);
        let (loss, columns) = self
            .training
            .mean_loss_and_gradient(&self.loss, &weights, batch);
        let mut gradient = vec![0.0; self.genome.len()];
        for (column, [midgame, endgame]) in self.genome.columns().iter().zip(columns) {
            column.add_to_genes(-midgame, -endgame, &mut gradient);
        }
        Some(ValueAndGradient {
            value: -loss,
            gradient,
        })
    }

    fn case_count(&self) -> usize {
        self.training.targets.len()
    }

    fn config(&self) -> &dyn FitnessConfig {
        &*self.settings
    }
}
