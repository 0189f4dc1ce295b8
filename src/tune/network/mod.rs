//! Training a network on labels by the ten million.
//!
//! A [`Trainer`] goes through the labels again and again, each time in another order, and moves
//! all weights against the gradient of the squared error between the network's win chance and its
//! target (AdamW). The target is the mentor's win chance, mixed with the result of the game by
//! `lambda`. Some games are kept for validation, the same ones in every run: the best network is
//! the one with the least loss on them. A generation of the run is a fixed number of batches.
//!
//! The shape of the network is a setting of the preset ([`NetworkGenome`]); all weights are one
//! flat vector ([`model::ModelLayout`]).
//!
//! A batch is divided into a fixed number of shares whose gradients are added in order, and the
//! [`kernels`] add in one order on every processor, so the same seed gives the same network
//! everywhere.

mod kernels;
mod model;
mod optimizer;
mod order;
mod preset;
mod start;

use std::time::Instant;

use rayon::prelude::*;

use super::genome::Candidate;
use super::run::{Figures, Learner, RunError};
use crate::data::{LabelSet, PackedLabel};
use crate::eval::{Architecture, Network, NetworkHeader, Score, Weights, WinModel};
use crate::hash::StableHasher;
use crate::random::mix;
use kernels::{Scratch, Simd, backpropagate, squared_error};
use model::{AlignedFloats, Example, Model, ModelLayout, SHARES, Target};
use optimizer::Optimizer;
use order::LabelOrder;
use start::Start;

pub use preset::{NetworkAdam, NetworkGenome, TrainingData, TrainingLoss, TrainingPreset};

/// Labels that are enough to measure the validation loss.
const VALIDATION: usize = 400_000;
/// Decides which games are kept for validation, in every run.
const VALIDATION_SEED: u64 = 1;
/// Validation labels with a result that are enough to fit a win model.
const WIN_MODEL_SAMPLE: usize = 50_000;
/// Examples that go through the network together: a block of their accumulators fits the cache.
const CHUNK: usize = 512;
/// How a checkpoint's state begins.
const MAGIC: &[u8] = b"finch trainer 2\n";

pub struct Trainer {
    preset: TrainingPreset,
    start: Start,
    labels: LabelSet,
    validation: Vec<PackedLabel>,
    simd: Simd,
    model: Model,
    optimizer: Optimizer,
    shares: Vec<Share>,
    best: BestModel,
}

/// The model with the least validation loss so far.
struct BestModel {
    generation: u64,
    loss: f64,
    model: Model,
}

/// One share of a batch: its gradient, and memory that is kept from batch to batch.
struct Share {
    gradient: AlignedFloats,
    labels: Vec<PackedLabel>,
    examples: Vec<Example>,
    scratch: Scratch,
    error: f64,
    count: usize,
}

impl Share {
    fn new(layout: ModelLayout) -> Share {
        Share {
            gradient: AlignedFloats::zeroed(layout.len()),
            labels: Vec::new(),
            examples: Vec::new(),
            scratch: Scratch::default(),
            error: 0.0,
            count: 0,
        }
    }
}

impl Trainer {
    pub fn new(preset: &TrainingPreset) -> Result<Trainer, RunError> {
        if preset.data.labels.is_empty() {
            return Err(no_labels(&preset.name));
        }
        let (start, model) = Start::new(preset)?;
        let layout = model.layout;
        let mut trainer = Trainer {
            labels: LabelSet::open(&preset.data.labels, preset.fitness.mentor_scale)?,
            preset: preset.clone(),
            start,
            validation: Vec::new(),
            simd: Simd::best(),
            best: BestModel {
                generation: 0,
                loss: f64::INFINITY,
                model: model.clone(),
            },
            model,
            optimizer: Optimizer::new(layout, preset.method.weight_decay),
            shares: (0..SHARES).map(|_| Share::new(layout)).collect(),
        };
        if trainer.count() == 0 {
            return Err(no_labels(&preset.data.labels[0].display().to_string()));
        }
        let order = LabelOrder::new(trainer.count() as u64, mix(VALIDATION_SEED, 0));
        let numbers = order.from(0).take(trainer.count());
        let kept = numbers
            .map(|number| trainer.label(number))
            .filter(|label| trainer.is_for_validation(label));
        trainer.validation = kept.take(VALIDATION).collect();
        Ok(trainer)
    }

    /// Whether this is the trainer of a preset.
    pub fn serves(&self, preset: &TrainingPreset) -> bool {
        self.preset == *preset
    }

    /// How many labels there are in all.
    fn count(&self) -> usize {
        self.labels.len()
    }

    /// Where the labels come from.
    fn origins(&self) -> String {
        self.labels.descriptions().join("; ")
    }

    /// The data in words.
    pub fn summary(&self) -> String {
        let validation = self.validation.len();
        let origins = self.origins();
        let architecture = self.model.layout.0;
        format!(
            "network: {architecture}; labels: {origins}; {validation} positions to validate with"
        )
    }

    /// 32 bits that tell validation sets apart.
    fn validation_hash(&self) -> u32 {
        let mut hasher = StableHasher::new();
        hasher.write(bytemuck::cast_slice(&self.validation));
        (hasher.finish() >> 32) as u32
    }

    fn target(&self) -> Target {
        Target {
            scale: self.labels.scale(),
            lambda: self.preset.fitness.lambda,
        }
    }

    /// The weights that play with a model. The terms of the start stay, for the last endings and
    /// the values of the pieces.
    fn weights(&self, model: &Model, generation: u64) -> Weights {
        let mut weights = self.start.weights.clone();
        let TrainingPreset {
            name, genome, run, ..
        } = &self.preset;
        weights.name = format!("{name}, seed {}", run.seed);
        let start = match &genome.start {
            Some(file) => file.display().to_string(),
            None => "random".to_owned(),
        };
        let provenance = [
            ("preset", name.clone()),
            ("start", start),
            ("labels", self.origins()),
            ("lambda", self.preset.fitness.lambda.to_string()),
            ("seed", run.seed.to_string()),
            ("generation", generation.to_string()),
            ("method", format!("{:?}", self.preset.method)),
            ("version", format!("Finch {}", env!("CARGO_PKG_VERSION"))),
            ("date", run.started.clone()),
        ];
        let header = NetworkHeader {
            provenance: provenance
                .map(|(key, value)| (key.to_owned(), value))
                .into(),
            ..self.start.header.clone()
        };
        let mut network = model.quantised("best.net", header);
        if let Some(fitted) = self.fitted_win_model(&network) {
            network.header.win_model = fitted;
        }
        weights.network = Some(network);
        weights
    }

    /// The win model of a network, from the results of the validation games; none if they do not
    /// tell.
    fn fitted_win_model(&self, network: &Network) -> Option<WinModel> {
        let known = self
            .validation
            .iter()
            .filter(|label| label.result().is_some());
        let known: Vec<&PackedLabel> = known.take(WIN_MODEL_SAMPLE).collect();
        let sample = |label: &&PackedLabel| -> Option<(Score, f64)> {
            let label = label.unpack().ok()?;
            Some((network.evaluate(&label.position), label.points()?))
        };
        let samples: Vec<Option<_>> = known.par_iter().map(sample).collect();
        let samples: Vec<_> = samples.into_iter().flatten().collect();
        WinModel::fit(&samples).map(WinModel::rounded)
    }

    /// The first batch of a generation; generation 0 has none.
    fn first_batch(&self, generation: u64) -> u64 {
        generation.saturating_sub(1) * self.preset.method.steps
    }

    /// Learns from one batch. Returns the sum of the squared errors and the number of examples.
    fn learn(&mut self, number: u64) -> (f64, usize) {
        let length = self.preset.method.batch / SHARES;
        let first = number as usize * self.preset.method.batch;
        let mut shares = std::mem::take(&mut self.shares);
        shares.par_iter_mut().enumerate().for_each(|(at, share)| {
            self.compute_gradient(share, first + at * length, length);
        });
        let error = shares.iter().map(|share| share.error).sum();
        let count = shares.iter().map(|share| share.count).sum();
        let rate = self.learning_rate(number);
        let gradients = shares.iter().map(|share| &share.gradient[..]);
        self.optimizer.step(
            self.simd,
            number,
            rate,
            count,
            &mut self.model,
            gradients.collect(),
        );
        self.shares = shares;
        (error, count)
    }

    /// The gradient of the labels at some places of the order.
    fn compute_gradient(&self, share: &mut Share, first: usize, length: usize) {
        let Share {
            gradient,
            labels,
            examples,
            scratch,
            ..
        } = share;
        let (architecture, target) = (self.model.layout.0, self.target());
        let order = self.order(first / self.count());
        let mut numbers = order.from(first).take(length);
        let (mut error, mut count) = (0.0, 0);
        for chunk in 0..length.div_ceil(CHUNK) {
            // Labels come from far apart. Read one after the other, they are waited for together.
            labels.clear();
            labels.extend(
                numbers
                    .by_ref()
                    .take(CHUNK)
                    .map(|number| self.label(number)),
            );
            labels.retain(|label| !self.is_for_validation(label));
            examples.clear();
            let example = |label: &PackedLabel| Example::new(label, architecture, target);
            examples.extend(labels.iter().map(example));
            count += examples.len();
            let fresh = chunk == 0;
            error += backpropagate(self.simd, &self.model, examples, fresh, scratch, gradient);
        }
        (share.error, share.count) = (error, count);
    }

    /// A cosine from the first to the last learning rate, after a linear warm-up.
    fn learning_rate(&self, batch: u64) -> f64 {
        let method = &self.preset.method;
        let [first, last] = method.learning_rate;
        let batches = (self.preset.run.generations * method.steps).max(1) as f64;
        let time = batch as f64 / batches;
        let share = (1.0 + libm::cos(std::f64::consts::PI * time)) / 2.0;
        let warm_up = method.warm_up * method.steps as f64;
        let warmth = match warm_up > 0.0 {
            true => (batch as f64 / warm_up).min(1.0),
            false => 1.0,
        };
        (last + (first - last) * share) * warmth
    }

    /// The mean squared error on the validation labels; none if there are none.
    fn validation_loss(&self) -> Option<f64> {
        let (architecture, target) = (self.model.layout.0, self.target());
        let example = |label: &PackedLabel| Example::new(label, architecture, target);
        let chunks = self.validation.par_chunks(CHUNK).map_init(
            || (Vec::with_capacity(CHUNK), Scratch::default()),
            |(examples, scratch), labels| {
                examples.clear();
                examples.extend(labels.iter().map(example));
                squared_error(self.simd, &self.model, examples, scratch)
            },
        );
        let errors: Vec<f64> = chunks.collect();
        let count = self.validation.len();
        (count > 0).then(|| errors.iter().sum::<f64>() / count as f64)
    }

    /// The order of an epoch.
    fn order(&self, epoch: usize) -> LabelOrder {
        let random = mix(self.preset.run.seed, epoch as u64);
        LabelOrder::new(self.count() as u64, random)
    }

    /// A label by its number, counted over all files.
    fn label(&self, number: usize) -> PackedLabel {
        let label = self.labels.get(number);
        label.unwrap_or_else(|| unreachable!("an order stays within the files"))
    }

    /// Whether a label's game is kept for validation.
    fn is_for_validation(&self, label: &PackedLabel) -> bool {
        let drawn = mix(VALIDATION_SEED, label.game.into()) as f64 / u64::MAX as f64;
        drawn < self.preset.data.validation_share
    }

    /// Everything that is saved, in its order.
    fn parts(&self) -> [&[f32]; 6] {
        let [first, second, factor_first, factor_second] = self.optimizer.parts();
        let (model, best) = (&self.model.weights, &self.best.model.weights);
        [model, first, second, factor_first, factor_second, best]
    }

    fn parts_mut(&mut self) -> [&mut [f32]; 6] {
        let [first, second, factor_first, factor_second] = self.optimizer.parts_mut();
        let (model, best) = (&mut self.model.weights, &mut self.best.model.weights);
        [model, first, second, factor_first, factor_second, best]
    }
}

/// The network that a run with this seed starts from.
pub fn random_network(architecture: Architecture, seed: u64, header: NetworkHeader) -> Network {
    Model::random(architecture, seed).quantised("random.net", header)
}

fn no_labels(path: &str) -> RunError {
    RunError::File {
        path: path.to_owned(),
        reason: "no labels to learn from; name files with labels".to_owned(),
    }
}

impl Learner for Trainer {
    fn columns(&self) -> Vec<String> {
        [
            "positions",
            "training_loss",
            "validation_loss",
            "learning_rate",
            "positions_per_second",
            "validation_positions",
            "validation_hash",
        ]
        .map(str::to_owned)
        .into()
    }

    fn advance(&mut self, generation: u64) -> Figures {
        let started = Instant::now();
        let steps = match generation {
            0 => 0,
            _ => self.preset.method.steps,
        };
        let first = self.first_batch(generation);
        let (mut error, mut count) = (0.0, 0);
        for batch in first..first + steps {
            let (sum, examples) = self.learn(batch);
            error += sum;
            count += examples;
        }
        let seconds = started.elapsed().as_secs_f64();
        let validation = self.validation_loss();
        if validation.is_none_or(|loss| loss < self.best.loss) {
            self.best = BestModel {
                generation,
                loss: validation.unwrap_or(f64::INFINITY),
                model: self.model.clone(),
            };
        }
        let positions = (first + steps) * self.preset.method.batch as u64;
        let trained = |value: f64| (count > 0).then_some(value);
        vec![
            Some(positions as f64),
            trained(error / count.max(1) as f64),
            validation,
            trained(self.learning_rate(first + steps.saturating_sub(1))),
            trained((count as f64 / seconds.max(1e-9)).round()),
            Some(self.validation.len() as f64),
            Some(self.validation_hash().into()),
        ]
    }

    fn best_generation(&self) -> u64 {
        self.best.generation
    }

    fn best(&self) -> Candidate {
        Candidate::Weights(self.weights(&self.best.model, self.best.generation))
    }

    fn describe(&self, figures: &Figures) -> String {
        let shown = |name: &str, at: usize, digits: usize| {
            let value = figures.get(at).copied().flatten();
            value.map_or(String::new(), |value| format!("{name} {value:.digits$}  "))
        };
        let text = shown("training loss", 1, 6)
            + &shown("validation loss", 2, 6)
            + &shown("learning rate", 3, 6)
            + &shown("positions/s", 4, 0);
        text.trim_end().to_owned()
    }

    fn save(&self) -> Result<Vec<u8>, String> {
        let mut state = MAGIC.to_vec();
        state.extend_from_slice(&self.best.generation.to_le_bytes());
        state.extend_from_slice(&self.best.loss.to_le_bytes());
        for part in self.parts() {
            state.extend_from_slice(bytemuck::cast_slice(part));
        }
        Ok(state)
    }

    fn restore(&mut self, state: &[u8], _last: &dyn Fn(&str) -> Option<f64>) -> Result<(), String> {
        let other = || "of another network".to_owned();
        let earlier = || "of another version of Finch; start again in a new folder".to_owned();
        let rest = state.strip_prefix(MAGIC).ok_or_else(earlier)?;
        let (generation, rest) = rest.split_first_chunk().ok_or_else(other)?;
        let (loss, mut rest) = rest.split_first_chunk().ok_or_else(other)?;
        let weights: usize = self.parts().iter().map(|part| part.len()).sum();
        if rest.len() != 4 * weights {
            return Err(other());
        }
        self.best.generation = u64::from_le_bytes(*generation);
        self.best.loss = f64::from_le_bytes(*loss);
        for part in self.parts_mut() {
            let (from, after) = rest.split_at(4 * part.len());
            bytemuck::cast_slice_mut(part).copy_from_slice(from);
            rest = after;
        }
        Ok(())
    }
}
