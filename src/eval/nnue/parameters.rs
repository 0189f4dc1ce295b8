//! The weights of a network, as they are in its file.

use bytemuck::{Pod, Zeroable};
use shakmaty::{Piece, Square};

use super::architecture::{
    Architecture, MAX_FEATURE_WEIGHT, MAX_OUTPUT_BIAS, MAX_OUTPUT_WEIGHT, Perspective,
};

/// A row of a network begins at the beginning of a cache line.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct CacheLine([i16; 32]);

/// Cache lines for so many numbers; every width is a multiple of a line.
pub(super) fn zeroed_lines(numbers: usize) -> Vec<CacheLine> {
    vec![CacheLine::zeroed(); numbers.div_ceil(32)]
}

/// All weights of a network: rows of its width (one for each feature, the feature bias, two for
/// each output bucket, side to move first), then a cache line with the output biases.
#[derive(Clone, PartialEq, Eq)]
pub struct NetworkParameters {
    architecture: Architecture,
    lines: Vec<CacheLine>,
}

impl NetworkParameters {
    /// The weights of all rows in order, and the output biases. Missing ones are zero; they are
    /// brought within the bounds that exclude overflow.
    pub fn new(
        architecture: Architecture,
        weights: impl IntoIterator<Item = i16>,
        output_bias: impl IntoIterator<Item = i32>,
    ) -> NetworkParameters {
        let lines = zeroed_lines(number_of_rows(architecture) * architecture.width() + 32);
        let mut parameters = NetworkParameters {
            architecture,
            lines,
        };
        let first_output = parameters.first_output();
        let (rows, bias) = parameters.split_mut();
        for (at, (to, weight)) in rows.iter_mut().zip(weights).enumerate() {
            let most = match at < first_output {
                true => MAX_FEATURE_WEIGHT,
                false => MAX_OUTPUT_WEIGHT,
            };
            *to = weight.clamp(-most, most);
        }
        for (to, bias) in bias.iter_mut().zip(output_bias) {
            *to = bias.clamp(-MAX_OUTPUT_BIAS, MAX_OUTPUT_BIAS);
        }
        parameters
    }

    /// The parameters of a file; nothing if a weight is out of bounds. The error is the number of
    /// bytes that the architecture has.
    pub(super) fn from_bytes(
        architecture: Architecture,
        bytes: &[u8],
    ) -> Result<Option<NetworkParameters>, usize> {
        let mut parameters = NetworkParameters::new(architecture, [], []);
        let own = bytemuck::cast_slice_mut(&mut parameters.lines);
        if own.len() != bytes.len() {
            return Err(own.len());
        }
        own.copy_from_slice(bytes);
        Ok(parameters.is_sound().then_some(parameters))
    }

    /// The parameters as a file has them.
    pub(super) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.lines)
    }

    #[inline(always)]
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The weights of all rows.
    pub fn weights(&self) -> &[i16] {
        bytemuck::cast_slice(&self.lines[..self.lines.len() - 1])
    }

    pub fn output_bias(&self) -> &[i32] {
        let line: &[i32] = bytemuck::cast_slice(&self.lines[self.lines.len() - 1..]);
        &line[..self.architecture.output_buckets()]
    }

    fn split_mut(&mut self) -> (&mut [i16], &mut [i32]) {
        let last = self.lines.len() - 1;
        let (rows, last) = self.lines.split_at_mut(last);
        let bias: &mut [i32] = bytemuck::cast_slice_mut(last);
        let buckets = self.architecture.output_buckets();
        (bytemuck::cast_slice_mut(rows), &mut bias[..buckets])
    }

    /// Where the weights of the output layer begin.
    pub(super) fn first_output(&self) -> usize {
        (self.architecture.features() + 1) * self.architecture.width()
    }

    /// Whether all weights are within the bounds that exclude overflow.
    fn is_sound(&self) -> bool {
        let within = |weights: &[i16], most: i16| {
            let range = -most..=most;
            weights.iter().all(|weight| range.contains(weight))
        };
        let biases = -MAX_OUTPUT_BIAS..=MAX_OUTPUT_BIAS;
        let (features, outputs) = self.weights().split_at(self.first_output());
        within(features, MAX_FEATURE_WEIGHT)
            && within(outputs, MAX_OUTPUT_WEIGHT)
            && self.output_bias().iter().all(|bias| biases.contains(bias))
    }

    /// The parameters in rows; `W` is the architecture's width.
    #[inline(always)]
    pub(super) fn rows<const W: usize>(&self) -> Rows<'_, W> {
        debug_assert_eq!(W, self.architecture.width());
        let (lines, last) = self.lines.split_at(self.lines.len() - 1);
        Rows {
            architecture: self.architecture,
            rows: bytemuck::cast_slice(lines),
            output_bias: bytemuck::cast_slice(last),
        }
    }
}

fn number_of_rows(architecture: Architecture) -> usize {
    architecture.features() + 1 + 2 * architecture.output_buckets()
}

/// The parameters of a network of a width, as the kernels read them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, const W: usize> {
    pub architecture: Architecture,
    rows: &'a [[i16; W]],
    output_bias: &'a [i32],
}

impl<'a, const W: usize> Rows<'a, W> {
    /// The weights of a piece on a square.
    #[inline(always)]
    pub fn feature(&self, perspective: Perspective, piece: Piece, square: Square) -> &'a [i16; W] {
        &self.rows[perspective.feature(piece, square)]
    }

    #[inline(always)]
    pub fn feature_bias(&self) -> &'a [i16; W] {
        &self.rows[self.architecture.features()]
    }

    /// The weights of an output bucket for the side to move and for the other, and its bias.
    #[inline(always)]
    pub fn output(&self, bucket: usize) -> (&'a [i16; W], &'a [i16; W], i32) {
        let first = self.architecture.features() + 1 + 2 * bucket;
        (
            &self.rows[first],
            &self.rows[first + 1],
            self.output_bias[bucket],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_any_size_are_checked() {
        for architecture in Architecture::all() {
            let sound = NetworkParameters::new(architecture, [], []);
            assert!(sound.is_sound());
            let outputs = sound.first_output();
            for bias in [i32::MIN, i32::MAX, MAX_OUTPUT_BIAS + 1] {
                let mut parameters = sound.clone();
                parameters.split_mut().1[architecture.output_buckets() - 1] = bias;
                assert!(!parameters.is_sound(), "{bias}");
            }
            for (at, weight) in [(0, 901), (outputs - 1, i16::MIN), (outputs, 128)] {
                let mut parameters = sound.clone();
                parameters.split_mut().0[at] = weight;
                assert!(!parameters.is_sound(), "{at} {weight}");
            }
            let all = std::iter::repeat(i16::MIN);
            let clamped = NetworkParameters::new(architecture, all, [i32::MIN; 8]);
            assert!(clamped.is_sound());
        }
    }
}
