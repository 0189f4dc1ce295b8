//! The network while it learns: the same shape as [`eval::Network`](crate::eval::Network), in
//! floating point.

use std::ops::{Deref, DerefMut};

use arrayvec::ArrayVec;
use bytemuck::{Pod, Zeroable};
use rand::RngExt;
use shakmaty::{ByColor, Color, Role, Square};

use crate::data::PackedLabel;
use crate::eval::{
    Architecture, FEATURES, MAX_OUTPUT_WEIGHT, Network, NetworkHeader, NetworkParameters,
    Perspective, QA, QB,
};
use crate::random::{Purpose, stream};

/// Columns of the feature weights that lie together.
pub const BLOCK: usize = 64;
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

/// Columns of one block.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Row(pub [f32; BLOCK]);

/// Numbers in whole rows. Rows begin with a cache line: one that straddles two costs twice.
#[derive(Clone)]
pub struct AlignedFloats(Vec<Row>);

impl AlignedFloats {
    /// Zeros; the length is rounded up to whole rows.
    pub fn zeroed(length: usize) -> AlignedFloats {
        AlignedFloats(vec![Row::zeroed(); length.div_ceil(BLOCK)])
    }
}

impl Deref for AlignedFloats {
    type Target = [f32];

    #[inline(always)]
    fn deref(&self) -> &[f32] {
        bytemuck::cast_slice(&self.0)
    }
}

impl DerefMut for AlignedFloats {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// Where each weight lies in the flat vector of all weights.
///
/// The feature weights come first, in blocks of [`BLOCK`] columns: those of all features, then
/// the next columns of all features. Examples read the rows of features in random order; the rows
/// of one block fit the cache of a core, those of all columns do not. The feature bias, the
/// output weights and the output biases follow, and zeros that fill the last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelLayout(pub Architecture);

impl ModelLayout {
    #[inline(always)]
    pub fn width(self) -> usize {
        self.0.width()
    }

    /// Blocks of columns.
    #[inline(always)]
    pub fn blocks(self) -> usize {
        self.width() / BLOCK
    }

    /// Features of all king buckets.
    #[inline(always)]
    pub fn features(self) -> usize {
        self.0.features()
    }

    /// The weights of the features in one king bucket.
    pub fn common(self) -> usize {
        FEATURES * self.width()
    }

    /// Where the feature bias begins.
    #[inline(always)]
    pub fn bias(self) -> usize {
        self.features() * self.width()
    }

    /// Where the output weights begin.
    #[inline(always)]
    pub fn output(self) -> usize {
        self.bias() + self.width()
    }

    /// Where the output biases begin.
    #[inline(always)]
    pub fn output_bias(self) -> usize {
        self.output() + 2 * self.0.output_buckets() * self.width()
    }

    /// How many weights there are, with those that fill the last row.
    pub fn len(self) -> usize {
        (self.output_bias() + self.0.output_buckets()).next_multiple_of(BLOCK)
    }

    /// Where the weights of an output bucket for one side begin; side 0 is the side to move.
    #[inline(always)]
    pub fn output_row(self, bucket: usize, side: usize) -> usize {
        self.output() + (2 * bucket + side) * self.width()
    }

    /// The place of a feature's weight in a column.
    #[inline(always)]
    pub fn feature(self, feature: usize, column: usize) -> usize {
        (column / BLOCK * self.features() + feature) * BLOCK + column % BLOCK
    }

    /// The places of all feature weights, row after row as a network has them.
    fn feature_places(self) -> impl Iterator<Item = usize> {
        let row = move |feature| (0..self.width()).map(move |column| self.feature(feature, column));
        (0..self.features()).flat_map(row)
    }
}

/// Every weight.
#[derive(Clone)]
pub struct Model {
    pub layout: ModelLayout,
    pub weights: AlignedFloats,
}

impl Model {
    /// Small random weights, the same in all king buckets. Accumulators start where they have a
    /// gradient.
    pub fn random(architecture: Architecture, seed: u64) -> Model {
        let layout = ModelLayout(architecture);
        let mut random = stream(seed, Purpose::Initialisation, 0, 0);
        let mut weights = AlignedFloats::zeroed(layout.len());
        for feature in 0..FEATURES {
            for column in 0..layout.width() {
                let weight = random.random_range(-0.1..0.1);
                for bucket in 0..architecture.king_buckets() {
                    weights[layout.feature(bucket * FEATURES + feature, column)] = weight;
                }
            }
        }
        weights[layout.bias()..layout.output()].fill(0.25);
        for weight in &mut weights[layout.output()..layout.output_bias()] {
            *weight = random.random_range(-0.1..0.1);
        }
        Model { layout, weights }
    }

    /// The weights of a network, to learn on from them.
    pub fn from_network(network: &Network) -> Model {
        let layout = ModelLayout(network.architecture());
        let parameters = network.parameters();
        let mut weights = AlignedFloats::zeroed(layout.len());
        let whole = parameters.weights();
        let (features, rest) = whole.split_at(layout.bias());
        for (place, weight) in layout.feature_places().zip(features) {
            weights[place] = bounded(f32::from(*weight) / QA as f32);
        }
        let rest = (layout.bias()..).zip(rest);
        for (place, weight) in rest {
            let one = if place < layout.output() { QA } else { QB };
            weights[place] = bounded(f32::from(*weight) / one as f32);
        }
        let biases = (layout.output_bias()..).zip(parameters.output_bias());
        for (place, bias) in biases {
            weights[place] = bounded(*bias as f32 / (QA * QB) as f32);
        }
        Model { layout, weights }
    }

    /// The network that plays: the weights as whole numbers.
    pub fn quantised(&self, file: &str, header: NetworkHeader) -> Network {
        let whole = |weight: f32, one: i32| (weight * one as f32).round() as i16;
        let Model { layout, weights } = self;
        let features = layout.feature_places().map(|place| weights[place]);
        let bias = &weights[layout.bias()..layout.output()];
        let hidden = features.chain(bias.iter().copied());
        let outputs = &weights[layout.output()..layout.output_bias()];
        let outputs = outputs.iter().map(|weight| whole(*weight, QB));
        let biases = weights[layout.output_bias()..].iter();
        let biases = biases.take(layout.0.output_buckets());
        let parameters = NetworkParameters::new(
            layout.0,
            hidden.map(|weight| whole(weight, QA)).chain(outputs),
            biases.map(|bias| (bias * (QA * QB) as f32).round() as i32),
        );
        Network::new(file, parameters, header)
    }
}

/// What the network learns to say about a label.
#[derive(Clone, Copy)]
pub struct Target {
    /// The mentor's centipawns that multiply the odds of winning by e.
    pub scale: f64,
    /// The share of the game's result, where it is known; the score has the rest.
    pub lambda: f64,
}

impl Target {
    /// The expected points of the side to move.
    fn of(&self, label: &PackedLabel) -> f32 {
        let by_score = 1.0 / (1.0 + libm::exp(-f64::from(label.score) / self.scale));
        let points = label.points().unwrap_or(by_score);
        (by_score + self.lambda * (points - by_score)) as f32
    }
}

/// A label as the network sees it.
pub struct Example {
    /// The active features of the side to move, and of the other.
    pub features: [ArrayVec<u16, 32>; 2],
    /// The output bucket.
    pub bucket: usize,
    /// The points that the side to move can expect.
    pub target: f32,
}

impl Example {
    pub fn new(label: &PackedLabel, architecture: Architecture, target: Target) -> Example {
        let pieces: ArrayVec<_, 32> = label.pieces().collect();
        let turn = label.turn();
        let mut kings = ByColor::new_with(|_| Square::A1);
        for (square, piece) in &pieces {
            if piece.role == Role::King {
                *kings.get_mut(piece.color) = *square;
            }
        }
        let seen_by = |color: Color| {
            let perspective = Perspective::new(color, *kings.get(color), architecture);
            let number = |(square, piece): &(_, _)| perspective.feature(*piece, *square) as u16;
            pieces.iter().map(number).collect()
        };
        Example {
            features: [seen_by(turn), seen_by(!turn)],
            bucket: architecture.output_bucket(pieces.len() as u32),
            target: target.of(label),
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::KnownOutcome;

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

    fn label(fen: &str, score: i32) -> Label {
        Label::new(Position::from_fen(fen).unwrap(), score, GameId(0))
    }

    fn example(fen: &str, score: i32, architecture: Architecture) -> Example {
        let target = Target {
            scale: 100.0,
            lambda: 0.0,
        };
        Example::new(&PackedLabel::new(&label(fen, score)), architecture, target)
    }

    fn gradient_of(simd: Simd, model: &Model, examples: &[Example]) -> (f64, AlignedFloats) {
        let mut gradient = AlignedFloats::zeroed(model.layout.len());
        gradient.fill(f32::NAN);
        let mut scratch = Scratch::default();
        let error = backpropagate(simd, model, examples, true, &mut scratch, &mut gradient);
        (error, gradient)
    }

    #[test]
    fn a_target_mixes_score_and_result() {
        let mut label = label(FENS[0], 100);
        let target = |label: &Label, lambda: f64| {
            let scale = 100.0;
            f64::from(Target { scale, lambda }.of(&PackedLabel::new(label)))
        };
        let by_score = win_chance(100.0, 100.0);
        for lambda in [0.0, 0.3, 1.0] {
            assert!(
                (target(&label, lambda) - by_score).abs() < 1e-6,
                "no result"
            );
        }
        // Black moves.
        for (winner, points) in [(Color::White, 0.0), (Color::Black, 1.0)] {
            label.result = Some(KnownOutcome::Decisive { winner });
            assert!((target(&label, 0.0) - by_score).abs() < 1e-6);
            assert!((target(&label, 1.0) - points).abs() < 1e-6);
            let mixed = 0.75 * by_score + 0.25 * points;
            assert!((target(&label, 0.25) - mixed).abs() < 1e-6);
        }
        label.result = Some(KnownOutcome::Draw);
        assert!((target(&label, 1.0) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn the_gradient_is_the_derivative_of_the_squared_error() {
        for architecture in Architecture::all().filter(|one| one.width() <= 128) {
            let model = Model::random(architecture, 1);
            let layout = model.layout;
            for fen in FENS {
                let examples = [example(fen, 150, architecture)];
                let (_, gradient) = gradient_of(Simd::best(), &model, &examples);
                let steepest =
                    (0..layout.len()).max_by(|a, b| gradient[*a].total_cmp(&gradient[*b]));
                for at in [
                    steepest.unwrap(),
                    layout.bias() + 3,
                    layout.output_bias() + examples[0].bucket,
                ] {
                    let error = |step: f32| {
                        let mut moved = model.clone();
                        moved.weights[at] += step;
                        let mut scratch = Scratch::default();
                        squared_error(Simd::best(), &moved, &examples, &mut scratch)
                    };
                    let measured = (error(1e-3) - error(-1e-3)) / 2e-3;
                    let computed = f64::from(gradient[at]);
                    assert!(
                        (measured - computed).abs() < 1e-4,
                        "{architecture}, {at}: {measured} {computed}"
                    );
                }
            }
        }
    }

    /// The gradient in plain loops, one number after the other, as the kernels must add it.
    fn scalar_gradient(model: &Model, examples: &[Example]) -> (f64, AlignedFloats) {
        use std::hint::black_box;
        let Model { layout, weights } = model;
        let (layout, width) = (*layout, layout.width());
        let mut gradient = AlignedFloats::zeroed(layout.len());
        let mut total = 0.0;
        let mut backs: Vec<(usize, usize, Vec<f32>)> = Vec::new();
        for (number, example) in examples.iter().enumerate() {
            let mut odds = weights[layout.output_bias() + example.bucket];
            let mut sums = [(); 2].map(|()| vec![0.0_f32; width]);
            for (side, sums) in sums.iter_mut().enumerate() {
                let mut lanes = [0.0_f32; 16];
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum = weights[layout.bias() + at];
                    for feature in &example.features[side] {
                        *sum = black_box(*sum + weights[layout.feature((*feature).into(), at)]);
                    }
                    let clipped = sum.clamp(0.0, 1.0);
                    let weight = weights[layout.output_row(example.bucket, side) + at];
                    lanes[at % 16] = black_box(lanes[at % 16] + clipped * clipped * weight);
                }
                odds += lanes.iter().fold(0.0, |sum, lane| black_box(sum + lane));
            }
            let chance = 1.0 / (1.0 + libm::expf(-odds));
            let error = chance - example.target;
            total += f64::from(error * error);
            let by_odds = 2.0 * error * chance * (1.0 - chance);
            gradient[layout.output_bias() + example.bucket] += by_odds;
            for (side, sums) in sums.iter().enumerate() {
                let row = layout.output_row(example.bucket, side);
                let mut back = vec![0.0; width];
                for at in 0..width {
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
            for at in 0..width {
                let bias = &mut gradient[layout.bias() + at];
                *bias = black_box(*bias + back[at]);
                for feature in &examples[*number].features[*side] {
                    let to = &mut gradient[layout.feature((*feature).into(), at)];
                    *to = black_box(*to + back[at]);
                }
            }
        }
        (total, gradient)
    }

    #[test]
    fn every_simd_path_gives_the_bytes_of_plain_loops() {
        let bits = |(error, gradient): (f64, AlignedFloats)| {
            // A zero may have either sign: nothing is added to it.
            let plain = gradient.iter().map(|value| (value + 0.0).to_bits());
            (error.to_bits(), plain.collect::<Vec<_>>())
        };
        for shape in [
            [64, 1, 1],
            [64, 8, 8],
            [128, 1, 8],
            [256, 4, 8],
            [512, 4, 1],
        ] {
            let [width, king_buckets, output_buckets] = shape;
            let architecture = Architecture::new(width, king_buckets, output_buckets).unwrap();
            let model = Model::random(architecture, 4);
            let examples: Vec<Example> = (-10..10)
                .zip(FENS.iter().cycle())
                .map(|(tens, fen)| example(fen, 70 * tens, architecture))
                .collect();
            let expected = bits(scalar_gradient(&model, &examples));
            for simd in Simd::all() {
                let found = bits(gradient_of(simd, &model, &examples));
                assert!(found == expected, "{simd:?} differs for {architecture}");
            }
        }
    }

    #[test]
    fn later_chunks_are_added_to_the_gradient() {
        let architecture = Architecture::new(64, 4, 8).unwrap();
        let model = Model::random(architecture, 4);
        let examples: Vec<_> = FENS.map(|fen| example(fen, 90, architecture)).into();
        let (_, mut sum) = gradient_of(Simd::best(), &model, &examples[..1]);
        let mut scratch = Scratch::default();
        let rest = &examples[1..];
        backpropagate(Simd::best(), &model, rest, false, &mut scratch, &mut sum);
        let (_, whole) = gradient_of(Simd::best(), &model, &examples);
        for (one, other) in sum.iter().zip(&*whole) {
            assert!((one - other).abs() < 1e-6, "{one} {other}");
        }
    }

    #[test]
    fn whole_numbers_say_nearly_the_same() {
        for architecture in Architecture::all() {
            let model = Model::random(architecture, 2);
            let width = architecture.width() as f64;
            let mut weights = Weights::zero("network");
            let header = NetworkHeader::default();
            let scale = f64::from(header.scale);
            weights.network = Some(model.quantised("network", header));
            for fen in FENS {
                let mut example = example(fen, 0, architecture);
                example.target = 0.0;
                let mut scratch = Scratch::default();
                let squared = squared_error(Simd::best(), &model, &[example], &mut scratch);
                let chance = squared.sqrt();
                let position = Position::from_fen(fen).unwrap();
                let score = f64::from(evaluate_uncached(&position, &weights));
                let played = win_chance(score, scale);
                // Rounding errors of random weights add up with the width.
                let tolerance = 0.01_f64.max(width / 20_000.0);
                assert!((chance - played).abs() < tolerance, "{chance} {played}");
            }
        }
    }

    #[test]
    fn a_network_survives_as_a_start() {
        for architecture in Architecture::all() {
            let network = Model::random(architecture, 5).quantised("a", NetworkHeader::default());
            let again = Model::from_network(&network).quantised("a", NetworkHeader::default());
            assert!(network == again, "{architecture}");
        }
    }
}
