//! The network while it learns: the same shape as [`eval::Network`](crate::eval::Network), in
//! floating point, and its slope.

use arrayvec::ArrayVec;
use rand::RngExt;
use shakmaty::{ByColor, Color, Role, Square};

use crate::data::{PackedLabel, win_chance};
use crate::eval::{
    FEATURES, HIDDEN, KING_BUCKETS, MAX_OUTPUT_WEIGHT, Network, NetworkHeader, NetworkParameters,
    OUTPUT_BUCKETS, Perspective, QA, QB, output_bucket,
};
use crate::random::{Purpose, stream};

/// Where each part lies in the flat vector of all weights.
const BIAS: usize = KING_BUCKETS * COMMON;
const OUTPUT: usize = BIAS + HIDDEN;
const OUTPUT_BIAS: usize = OUTPUT + OUTPUT_BUCKETS * 2 * HIDDEN;
/// The weights of the inputs in one zone.
pub const COMMON: usize = FEATURES * HIDDEN;
/// How many weights there are.
pub const WEIGHTS: usize = OUTPUT_BIAS + OUTPUT_BUCKETS;

/// What 16 bits hold safely, in floating point.
const LARGEST: f32 = MAX_OUTPUT_WEIGHT as f32 / QB as f32;

type Row = [f32; HIDDEN];

/// Every weight, or its slope.
#[derive(Clone)]
pub struct Model(pub Vec<f32>);

impl Model {
    pub fn zero() -> Model {
        Model(vec![0.0; WEIGHTS])
    }

    /// Small weights by chance, the same in all zones; sums that begin where they have a slope.
    pub fn by_chance(seed: u64) -> Model {
        let mut random = stream(seed, Purpose::Initialisation, 0, 0);
        let mut model = Model::zero();
        for weight in &mut model.0[..COMMON] {
            *weight = random.random_range(-0.1..0.1);
        }
        for zone in 1..KING_BUCKETS {
            model.0.copy_within(..COMMON, zone * COMMON);
        }
        model.0[BIAS..OUTPUT].fill(0.25);
        for weight in &mut model.0[OUTPUT..OUTPUT_BIAS] {
            *weight = random.random_range(-0.1..0.1);
        }
        model
    }

    fn input(&self, index: u16) -> &Row {
        row(&self.0, usize::from(index) * HIDDEN)
    }

    /// What [`Network`] can hold of a weight.
    pub fn bounded(weight: f32) -> f32 {
        weight.clamp(-LARGEST, LARGEST)
    }

    /// The network that plays, its weights rounded to whole numbers.
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

fn row(weights: &[f32], start: usize) -> &Row {
    weights[start..start + HIDDEN]
        .try_into()
        .unwrap_or(&[0.0; HIDDEN])
}

fn add(to: &mut [f32], row: &Row) {
    for (sum, weight) in to.iter_mut().zip(row) {
        *sum += weight;
    }
}

/// A label as the network sees it.
pub struct Example {
    /// The inputs of the side to move, and of the other.
    inputs: [ArrayVec<u16, 32>; 2],
    output: usize,
    /// The mentor's chance of winning.
    target: f32,
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
            inputs: [seen_by(turn), seen_by(!turn)],
            output: output_bucket(pieces.len() as u32),
            target: win_chance(f64::from(label.score), scale) as f32,
        }
    }
}

/// A model looking at one example after the other.
pub struct Look<'a> {
    model: &'a Model,
    sums: [Row; 2],
}

impl<'a> Look<'a> {
    pub fn new(model: &'a Model) -> Look<'a> {
        Look {
            model,
            sums: [[0.0; HIDDEN]; 2],
        }
    }

    /// The chance of winning it gives the side to move.
    pub fn chance(&mut self, example: &Example) -> f32 {
        let weights = &self.model.0;
        let mut odds = weights[OUTPUT_BIAS + example.output];
        for (side, inputs) in example.inputs.iter().enumerate() {
            let sums = &mut self.sums[side];
            *sums = *row(weights, BIAS);
            for index in inputs {
                add(sums, self.model.input(*index));
            }
            let output = row(weights, output_row(example.output, side));
            let mut lanes = [0.0; LANES];
            for (sums, output) in sums.chunks_exact(LANES).zip(output.chunks_exact(LANES)) {
                for (lane, (sum, weight)) in lanes.iter_mut().zip(sums.iter().zip(output)) {
                    let clipped = sum.clamp(0.0, 1.0);
                    *lane += clipped * clipped * weight;
                }
            }
            odds += lanes.iter().sum::<f32>();
        }
        1.0 / (1.0 + (-odds).exp())
    }

    /// Adds the slope of the squared error to `slope`; answers the error.
    pub fn learn(&mut self, example: &Example, slope: &mut Model) -> f32 {
        let chance = self.chance(example);
        let error = chance - example.target;
        let steepness = 2.0 * error * chance * (1.0 - chance);
        slope.0[OUTPUT_BIAS + example.output] += steepness;
        for (side, inputs) in example.inputs.iter().enumerate() {
            let start = output_row(example.output, side);
            let output = row(&self.model.0, start);
            let output_slope = &mut slope.0[start..start + HIDDEN];
            let mut back = [0.0; HIDDEN];
            for at in 0..HIDDEN {
                let sum = self.sums[side][at];
                let clipped = sum.clamp(0.0, 1.0);
                output_slope[at] += steepness * clipped * clipped;
                // A clipped sum does not move.
                let moves = f32::from(u8::from(sum == clipped));
                back[at] = moves * 2.0 * steepness * clipped * output[at];
            }
            add(&mut slope.0[BIAS..OUTPUT], &back);
            for index in inputs {
                let start = usize::from(*index) * HIDDEN;
                add(&mut slope.0[start..start + HIDDEN], &back);
            }
        }
        error * error
    }

    pub fn error(&mut self, example: &Example) -> f32 {
        (self.chance(example) - example.target).powi(2)
    }
}

/// Sums are added up side by side, always in the same order.
const LANES: usize = 16;

fn output_row(output: usize, side: usize) -> usize {
    OUTPUT + (2 * output + side) * HIDDEN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{GameId, Label};
    use crate::eval::{Weights, evaluate_uncached};
    use crate::position::Position;

    const FENS: [&str; 3] = [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    ];

    #[test]
    fn the_slope_is_the_change_of_the_error() {
        let model = Model::by_chance(1);
        for fen in FENS {
            let position = Position::from_fen(fen).unwrap();
            let example = Example::new(
                &PackedLabel::new(&Label::new(position.clone(), 150, GameId(0))),
                100.0,
            );
            let mut slope = Model::zero();
            Look::new(&model).learn(&example, &mut slope);
            let steepest = (0..WEIGHTS).max_by(|a, b| slope.0[*a].total_cmp(&slope.0[*b]));
            for at in [steepest.unwrap(), BIAS + 3, OUTPUT_BIAS + example.output] {
                let error = |step: f32| {
                    let mut moved = model.clone();
                    moved.0[at] += step;
                    f64::from(Look::new(&moved).error(&example))
                };
                let measured = (error(1e-3) - error(-1e-3)) / 2e-3;
                let told = f64::from(slope.0[at]);
                assert!((measured - told).abs() < 1e-4, "{at}: {measured} {told}");
            }
        }
    }

    #[test]
    fn whole_numbers_say_nearly_the_same() {
        let model = Model::by_chance(2);
        let mut weights = Weights::zero("network");
        let header = NetworkHeader::default();
        let scale = f64::from(header.scale);
        weights.network = Some(model.quantised("network", header));
        for fen in FENS {
            let position = Position::from_fen(fen).unwrap();
            let example = Example::new(
                &PackedLabel::new(&Label::new(position.clone(), 0, GameId(0))),
                100.0,
            );
            let chance = f64::from(Look::new(&model).chance(&example));
            let score = f64::from(evaluate_uncached(&position, &weights));
            let played = win_chance(score, scale);
            assert!((chance - played).abs() < 0.01, "{chance} {played}");
        }
    }
}
