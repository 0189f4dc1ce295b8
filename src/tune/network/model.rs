//! The network while it learns: the same shape as [`eval::Network`](crate::eval::Network), in
//! floating point.

use arrayvec::ArrayVec;
use rand::RngExt;
use shakmaty::{ByColor, Color, Role, Square};

use crate::data::PackedLabel;
use crate::eval::{
    FEATURES, MAX_OUTPUT_WEIGHT, Network, NetworkHeader, NetworkParameters, OUTPUT_BUCKETS,
    Perspective, QA, QB, output_bucket,
};
use crate::random::{Purpose, stream};

pub use crate::eval::{HIDDEN, KING_BUCKETS};

/// Where each part lies in the flat vector of all weights: the features come first.
pub const BIAS: usize = KING_BUCKETS * COMMON;
pub const OUTPUT: usize = BIAS + HIDDEN;
pub const OUTPUT_BIAS: usize = OUTPUT + OUTPUT_BUCKETS * 2 * HIDDEN;
/// The weights of the features in one king bucket.
pub const COMMON: usize = FEATURES * HIDDEN;
/// How many weights there are.
pub const WEIGHTS: usize = OUTPUT_BIAS + OUTPUT_BUCKETS;
/// Shares of a batch. Their gradients are added in order, so the number of threads does not
/// matter.
pub const SHARES: usize = 8;

/// The largest weight that the quantised network can hold.
const LARGEST: f32 = MAX_OUTPUT_WEIGHT as f32 / QB as f32;

/// Brings a weight within what the quantised network can hold.
#[inline(always)]
pub fn bounded(weight: f32) -> f32 {
    weight.clamp(-LARGEST, LARGEST)
}

/// Where the weights of an output bucket for one side begin; side 0 is the side to move.
#[inline(always)]
pub fn output_row(bucket: usize, side: usize) -> usize {
    OUTPUT + (2 * bucket + side) * HIDDEN
}

/// Every weight.
#[derive(Clone)]
pub struct Model(pub Vec<f32>);

impl Model {
    /// Small random weights, the same in all king buckets. Accumulators start where they have a
    /// gradient.
    pub fn random(seed: u64) -> Model {
        let mut random = stream(seed, Purpose::Initialisation, 0, 0);
        let mut weights = vec![0.0; WEIGHTS];
        for weight in &mut weights[..COMMON] {
            *weight = random.random_range(-0.1..0.1);
        }
        for bucket in 1..KING_BUCKETS {
            weights.copy_within(..COMMON, bucket * COMMON);
        }
        weights[BIAS..OUTPUT].fill(0.25);
        for weight in &mut weights[OUTPUT..OUTPUT_BIAS] {
            *weight = random.random_range(-0.1..0.1);
        }
        Model(weights)
    }

    /// The network that plays: the weights as whole numbers.
    pub fn quantised(&self, file: &str, header: NetworkHeader) -> Network {
        let whole = |weight: f32, one: i32| (weight * one as f32).round() as i16;
        let mut parameters = bytemuck::zeroed_box::<NetworkParameters>();
        let flat = parameters.feature_weights.as_flattened_mut();
        for (to, from) in flat.iter_mut().zip(&self.0[..BIAS]) {
            *to = whole(*from, QA);
        }
        for (to, from) in parameters
            .feature_bias
            .iter_mut()
            .zip(&self.0[BIAS..OUTPUT])
        {
            *to = whole(*from, QA);
        }
        let flat = parameters
            .output_weights
            .as_flattened_mut()
            .as_flattened_mut();
        for (to, from) in flat.iter_mut().zip(&self.0[OUTPUT..OUTPUT_BIAS]) {
            *to = whole(*from, QB);
        }
        let biases = parameters.output_bias.iter_mut();
        for (to, from) in biases.zip(&self.0[OUTPUT_BIAS..]) {
            *to = (from * (QA * QB) as f32).round() as i32;
        }
        Network::new(file, parameters, header)
    }
}

/// A label as the network sees it.
pub struct Example {
    /// The active features of the side to move, and of the other.
    pub features: [ArrayVec<u16, 32>; 2],
    /// The output bucket.
    pub bucket: usize,
    /// The mentor's win chance.
    pub target: f32,
}

impl Example {
    /// `scale`: the mentor's centipawns that multiply the odds by e.
    pub fn new(label: &PackedLabel, scale: f64) -> Example {
        let pieces: ArrayVec<_, 32> = label.pieces().collect();
        let turn = label.turn();
        let mut kings = ByColor::new_with(|_| Square::A1);
        for (square, piece) in &pieces {
            if piece.role == Role::King {
                *kings.get_mut(piece.color) = *square;
            }
        }
        let seen_by = |color: Color| {
            let perspective = Perspective::new(color, *kings.get(color));
            let number = |(square, piece): &(_, _)| perspective.feature(*piece, *square) as u16;
            pieces.iter().map(number).collect()
        };
        Example {
            features: [seen_by(turn), seen_by(!turn)],
            bucket: output_bucket(pieces.len() as u32),
            target: (1.0 / (1.0 + libm::exp(-f64::from(label.score) / scale))) as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernels::{Scratch, Simd, backpropagate, squared_error};
    use super::*;
    use crate::data::{GameId, Label, win_chance};
    use crate::eval::{Weights, evaluate_uncached};
    use crate::position::Position;

    const FENS: [&str; 3] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    ];

    fn example(fen: &str, score: i32) -> Example {
        let position = Position::from_fen(fen).unwrap();
        let label = Label::new(position, score, GameId(0));
        Example::new(&PackedLabel::new(&label), 100.0)
    }

    fn gradient_of(simd: Simd, model: &Model, examples: &[Example]) -> (f64, Vec<f32>) {
        let mut gradient = vec![0.0; WEIGHTS];
        let mut scratch = Scratch::default();
        let error = backpropagate(simd, &model.0, examples, &mut scratch, &mut gradient);
        (error, gradient)
    }

    #[test]
    fn the_gradient_is_the_derivative_of_the_squared_error() {
        let model = Model::random(1);
        for fen in FENS {
            let examples = [example(fen, 150)];
            let (_, gradient) = gradient_of(Simd::best(), &model, &examples);
            let steepest = (0..WEIGHTS).max_by(|a, b| gradient[*a].total_cmp(&gradient[*b]));
            for at in [
                steepest.unwrap(),
                BIAS + 3,
                OUTPUT_BIAS + examples[0].bucket,
            ] {
                let error = |step: f32| {
                    let mut moved = model.clone();
                    moved.0[at] += step;
                    let mut scratch = Scratch::default();
                    squared_error(Simd::best(), &moved.0, &examples, &mut scratch)
                };
                let measured = (error(1e-3) - error(-1e-3)) / 2e-3;
                let computed = f64::from(gradient[at]);
                assert!(
                    (measured - computed).abs() < 1e-4,
                    "{at}: {measured} {computed}"
                );
            }
        }
    }

    /// The gradient in plain loops, one number after the other, as the kernels must add it.
    fn scalar_gradient(model: &Model, examples: &[Example]) -> (f64, Vec<f32>) {
        use std::hint::black_box;
        let weights = &model.0;
        let mut gradient = vec![0.0_f32; WEIGHTS];
        let mut total = 0.0;
        let mut backs: Vec<(usize, usize, Vec<f32>)> = Vec::new();
        for (number, example) in examples.iter().enumerate() {
            let mut odds = weights[OUTPUT_BIAS + example.bucket];
            let mut sums = [[0.0_f32; HIDDEN]; 2];
            for (side, sums) in sums.iter_mut().enumerate() {
                let mut lanes = [0.0_f32; 16];
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum = weights[BIAS + at];
                    for feature in &example.features[side] {
                        *sum = black_box(*sum + weights[usize::from(*feature) * HIDDEN + at]);
                    }
                    let clipped = sum.clamp(0.0, 1.0);
                    let weight = weights[output_row(example.bucket, side) + at];
                    lanes[at % 16] = black_box(lanes[at % 16] + clipped * clipped * weight);
                }
                odds += lanes.iter().fold(0.0, |sum, lane| black_box(sum + lane));
            }
            let chance = 1.0 / (1.0 + libm::expf(-odds));
            let error = chance - example.target;
            total += f64::from(error * error);
            let by_odds = 2.0 * error * chance * (1.0 - chance);
            gradient[OUTPUT_BIAS + example.bucket] += by_odds;
            for (side, sums) in sums.iter().enumerate() {
                let row = output_row(example.bucket, side);
                let mut back = vec![0.0; HIDDEN];
                for at in 0..HIDDEN {
                    let clipped = sums[at].clamp(0.0, 1.0);
                    gradient[row + at] =
                        black_box(gradient[row + at] + by_odds * clipped * clipped);
                    if sums[at] == clipped {
                        back[at] = black_box(2.0 * by_odds * clipped * weights[row + at]);
                    }
                }
                backs.push((number, side, back));
            }
        }
        for (number, side, back) in &backs {
            for at in 0..HIDDEN {
                gradient[BIAS + at] = black_box(gradient[BIAS + at] + back[at]);
                for feature in &examples[*number].features[*side] {
                    let to = &mut gradient[usize::from(*feature) * HIDDEN + at];
                    *to = black_box(*to + back[at]);
                }
            }
        }
        (total, gradient)
    }

    #[test]
    fn every_simd_path_gives_the_bytes_of_plain_loops() {
        let model = Model::random(4);
        let scores = (-20..20).map(|tens| 35 * tens);
        let examples: Vec<Example> = scores
            .zip(FENS.iter().cycle())
            .map(|(score, fen)| example(fen, score))
            .collect();
        let bits = |(error, gradient): (f64, Vec<f32>)| {
            // A zero may have either sign: nothing is added to it.
            let plain = gradient.iter().map(|value| (value + 0.0).to_bits());
            (error.to_bits(), plain.collect::<Vec<_>>())
        };
        let expected = bits(scalar_gradient(&model, &examples));
        let paths = Simd::all();
        assert!(!paths.is_empty());
        for simd in paths {
            let found = bits(gradient_of(simd, &model, &examples));
            assert!(found == expected, "{simd:?} differs from plain loops");
        }
    }

    #[test]
    fn whole_numbers_say_nearly_the_same() {
        let model = Model::random(2);
        let mut weights = Weights::zero("network");
        let header = NetworkHeader::default();
        let scale = f64::from(header.scale);
        weights.network = Some(model.quantised("network", header));
        for fen in FENS {
            let mut example = example(fen, 0);
            example.target = 0.0;
            let mut scratch = Scratch::default();
            let squared = squared_error(Simd::best(), &model.0, &[example], &mut scratch);
            let chance = squared.sqrt();
            let position = Position::from_fen(fen).unwrap();
            let score = f64::from(evaluate_uncached(&position, &weights));
            let played = win_chance(score, scale);
            assert!((chance - played).abs() < 0.01, "{chance} {played}");
        }
    }
}
