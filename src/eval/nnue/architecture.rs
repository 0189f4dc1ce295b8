//! The shape of the network, its features and its quantisation.

use bytemuck::{Pod, Zeroable};
use shakmaty::{Color, Piece, Square};

/// Width of the hidden layer: numbers in one side's accumulator.
pub const HIDDEN: usize = 256;
/// Features of one king bucket: pieces of either side by role and square.
pub const FEATURES: usize = 768;
/// King buckets: the corner, the rest of the first rank, the second rank, everything beyond.
pub const KING_BUCKETS: usize = 4;
/// Output buckets, by the number of pieces on the board.
pub const OUTPUT_BUCKETS: usize = 8;
/// Quantisation of the hidden layer: the whole number that stands for an activation of 1.
pub const QA: i32 = 255;
/// Quantisation of the output layer: the whole number that stands for a weight of 1.
pub const QB: i32 = 64;

/// Bounds of the quantised weights.
pub const MAX_FEATURE_WEIGHT: i16 = 900;
pub const MAX_OUTPUT_WEIGHT: i16 = 127;
const MAX_OUTPUT_BIAS: i32 = 1 << 24;
/// A legal position has no more pieces.
const MAX_PIECES: i32 = 32;

// No sum of bounded weights overflows. An accumulator holds the bias, one weight a piece, and
// while it is updated two more before the old ones are subtracted.
const _: () = assert!((1 + MAX_PIECES + 2) * MAX_FEATURE_WEIGHT as i32 <= i16::MAX as i32);
// SCReLU multiplies the weight by the clipped value in 16 bits first.
const _: () = assert!(QA * MAX_OUTPUT_WEIGHT as i32 <= i16::MAX as i32);
// One side's half of the output is summed in 32 bits.
const _: () =
    assert!(QA as i64 * QA as i64 * MAX_OUTPUT_WEIGHT as i64 * HIDDEN as i64 <= i32::MAX as i64);
// Kernels process whole vectors of up to 32 numbers.
const _: () = assert!(HIDDEN.is_multiple_of(32));
// Parameters are copied from a little-endian file as they are.
const _: () = assert!(cfg!(target_endian = "little"));

/// All weights, as they are in a file.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct NetworkParameters {
    pub feature_weights: [[i16; HIDDEN]; KING_BUCKETS * FEATURES],
    pub feature_bias: [i16; HIDDEN],
    /// For the side to move, then for the other.
    pub output_weights: [[[i16; HIDDEN]; 2]; OUTPUT_BUCKETS],
    pub output_bias: [i32; OUTPUT_BUCKETS],
    pub padding: [i32; 8],
}

impl NetworkParameters {
    /// Whether all weights are within the bounds that exclude overflow.
    pub fn is_sound(&self) -> bool {
        let within = |weights: &[i16], most: i16| {
            let range = -most..=most;
            weights.iter().all(|weight| range.contains(weight))
        };
        let biases = -MAX_OUTPUT_BIAS..=MAX_OUTPUT_BIAS;
        let output_weights = self.output_weights.as_flattened().as_flattened();
        within(self.feature_weights.as_flattened(), MAX_FEATURE_WEIGHT)
            && within(&self.feature_bias, MAX_FEATURE_WEIGHT)
            && within(output_weights, MAX_OUTPUT_WEIGHT)
            && self.output_bias.iter().all(|bias| biases.contains(bias))
    }

    /// Brings all weights within their bounds.
    pub fn clamp(&mut self) {
        let clamp = |weights: &mut [i16], most: i16| {
            for weight in weights {
                *weight = (*weight).clamp(-most, most);
            }
        };
        clamp(self.feature_weights.as_flattened_mut(), MAX_FEATURE_WEIGHT);
        clamp(&mut self.feature_bias, MAX_FEATURE_WEIGHT);
        let output_weights = self.output_weights.as_flattened_mut();
        clamp(output_weights.as_flattened_mut(), MAX_OUTPUT_WEIGHT);
        for bias in &mut self.output_bias {
            *bias = (*bias).clamp(-MAX_OUTPUT_BIAS, MAX_OUTPUT_BIAS);
        }
    }
}

/// The output bucket of a board with so many pieces.
#[inline(always)]
pub fn output_bucket(pieces: u32) -> usize {
    (pieces.clamp(1, 32) as usize - 1) / 4
}

/// How one side sees the board: from its own end, mirrored if its king stands on the files e to
/// h, with the weights of its king's bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perspective {
    color: Color,
    king_bucket: usize,
    mirrored: bool,
}

impl Perspective {
    /// How many differ for one colour.
    pub(super) const COUNT: usize = 2 * KING_BUCKETS;

    #[inline(always)]
    pub fn new(color: Color, king: Square) -> Perspective {
        let file = king.file() as u32;
        let rank = king.rank() as u32 ^ if color.is_white() { 0 } else { 7 };
        let king_bucket = match rank {
            0 if file.min(7 - file) < 2 => 0,
            0 => 1,
            1 => 2,
            _ => 3,
        };
        Perspective {
            color,
            king_bucket,
            mirrored: file >= 4,
        }
    }

    /// The number of this perspective among those of its colour.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        2 * self.king_bucket + usize::from(self.mirrored)
    }

    /// The feature that a piece on a square is.
    #[inline(always)]
    pub fn feature(self, piece: Piece, square: Square) -> usize {
        let flip = if self.color.is_white() { 0 } else { 56 } ^ if self.mirrored { 7 } else { 0 };
        let theirs = if piece.color == self.color { 0 } else { 384 };
        let feature = theirs + 64 * (piece.role as usize - 1) + (square.to_usize() ^ flip);
        FEATURES * self.king_bucket + feature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_biases_of_any_size_are_checked() {
        let mut parameters = bytemuck::zeroed_box::<NetworkParameters>();
        assert!(parameters.is_sound());
        for bias in [i32::MIN, i32::MAX, (1 << 24) + 1] {
            parameters.output_bias[3] = bias;
            assert!(!parameters.is_sound(), "{bias}");
        }
        parameters.clamp();
        assert!(parameters.is_sound());
    }

    #[test]
    fn perspectives_mirror_each_other() {
        let white = Perspective::new(Color::White, Square::G1);
        let black = Perspective::new(Color::Black, Square::G8);
        let knight = |color| Piece {
            color,
            role: shakmaty::Role::Knight,
        };
        assert_eq!(
            white.feature(knight(Color::White), Square::F3),
            black.feature(knight(Color::Black), Square::F6)
        );
        assert_ne!(
            white.index(),
            Perspective::new(Color::White, Square::B1).index()
        );
    }
}
