//! From accumulators to a score, with the instruction set chosen at run time.
//!
//! The code exists once, in functions that are always inlined. [`evaluate_stack`] and
//! [`evaluate_board`] are the entry points; each is compiled a second time with AVX2 and its
//! companions (x86-64-v3), and the network remembers which one this machine runs. All arithmetic
//! is in whole numbers without rounding or overflow, so every path gives the same score. A build
//! that may assume AVX2 anyway, such as one for the native CPU, has no dispatch.

use shakmaty::Color;

use super::accumulator::{Accumulator, AccumulatorStack, BoardSnapshot};
use super::architecture::{HIDDEN, NetworkParameters, QA, QB, output_bucket};
use super::{Network, Score};
use crate::eval::terms::sink::SCORE_LIMIT;

/// The instructions that inference uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// Whatever the build assumes.
    Portable,
    /// x86-64-v3. Made by [`InstructionSet::detect`] only, see the SAFETY comments below.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

/// The build assumes AVX2 already. Unit tests compare the paths, so they keep both.
const ASSUMES_AVX2: bool = cfg!(all(target_feature = "avx2", not(test)));

impl InstructionSet {
    /// The best of this machine.
    pub fn detect() -> InstructionSet {
        #[cfg(target_arch = "x86_64")]
        if !ASSUMES_AVX2
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
        {
            return InstructionSet::Avx2;
        }
        InstructionSet::Portable
    }
}

/// Brings the stack's accumulators of a ply up to date with the board and evaluates it.
#[inline]
pub(super) fn evaluate_stack(
    stack: &mut AccumulatorStack,
    network: &Network,
    board: &BoardSnapshot,
    turn: Color,
    ply: usize,
) -> Score {
    match network.instructions {
        // SAFETY: `detect` has found all the features with which the function is compiled.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 if !ASSUMES_AVX2 => unsafe {
            evaluate_stack_avx2(stack, network, board, turn, ply)
        },
        _ => evaluate_stack_generic(stack, network, board, turn, ply),
    }
}

/// Evaluates a board from scratch.
#[inline]
pub(super) fn evaluate_board(network: &Network, board: &BoardSnapshot, turn: Color) -> Score {
    match network.instructions {
        // SAFETY: as in `evaluate_stack`.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 if !ASSUMES_AVX2 => unsafe {
            evaluate_board_avx2(network, board, turn)
        },
        _ => evaluate_board_generic(network, board, turn),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn evaluate_stack_avx2(
    stack: &mut AccumulatorStack,
    network: &Network,
    board: &BoardSnapshot,
    turn: Color,
    ply: usize,
) -> Score {
    evaluate_stack_generic(stack, network, board, turn, ply)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn evaluate_board_avx2(network: &Network, board: &BoardSnapshot, turn: Color) -> Score {
    evaluate_board_generic(network, board, turn)
}

#[inline(always)]
fn evaluate_stack_generic(
    stack: &mut AccumulatorStack,
    network: &Network,
    board: &BoardSnapshot,
    turn: Color,
    ply: usize,
) -> Score {
    let [white, black] = stack.update(board, ply, &network.parameters);
    let (us, them) = match turn {
        Color::White => (white, black),
        Color::Black => (black, white),
    };
    output(
        &network.parameters,
        network.header.scale,
        us,
        them,
        board.count(),
    )
}

#[inline(always)]
fn evaluate_board_generic(network: &Network, board: &BoardSnapshot, turn: Color) -> Score {
    let parameters = &*network.parameters;
    let us = Accumulator::of(board, turn, parameters);
    let them = Accumulator::of(board, !turn, parameters);
    output(parameters, network.header.scale, &us, &them, board.count())
}

/// The output layer. Its result is the logarithm of the odds of winning; `scale` turns it into
/// internal units.
#[inline(always)]
fn output(
    parameters: &NetworkParameters,
    scale: i32,
    us: &Accumulator,
    them: &Accumulator,
    pieces: u32,
) -> Score {
    let bucket = output_bucket(pieces);
    let [our_weights, their_weights] = &parameters.output_weights[bucket];
    let sum = i64::from(screlu(us, our_weights)) + i64::from(screlu(them, their_weights));
    let log_odds = sum / i64::from(QA) + i64::from(parameters.output_bias[bucket]);
    let score = log_odds * i64::from(scale) / i64::from(QA * QB);
    score.clamp((-SCORE_LIMIT).into(), SCORE_LIMIT.into()) as Score
}

/// Squared clipped ReLU, weighed and summed. `architecture` asserts that nothing overflows.
#[inline(always)]
fn screlu(accumulator: &Accumulator, weights: &[i16; HIDDEN]) -> i32 {
    let mut total = 0;
    for (value, weight) in accumulator.0.iter().zip(weights) {
        let clipped = (*value).clamp(0, QA as i16);
        // The product fits 16 bits: twice as many lanes, and one multiply-add finishes the job.
        total += i32::from(clipped.wrapping_mul(*weight)) * i32::from(clipped);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::nnue::accumulator::tests::{random_network, random_positions};

    /// The value is the same for every build and instruction set.
    #[test]
    fn every_instruction_set_gives_the_same_scores() {
        let best = random_network();
        let mut portable = best.clone();
        portable.instructions = InstructionSet::Portable;
        let mut best_stack = AccumulatorStack::new(&best, 4);
        let mut portable_stack = AccumulatorStack::new(&portable, 4);
        let mut total = 0_i64;
        for (number, position) in random_positions(20).iter().enumerate() {
            let score = best.evaluate(position);
            assert_eq!(score, portable.evaluate(position));
            let ply = number % 4;
            assert_eq!(score, best_stack.evaluate(&best, position, ply));
            assert_eq!(score, portable_stack.evaluate(&portable, position, ply));
            total = total * 3 % 1_000_003 + i64::from(score);
        }
        assert_eq!(total, -528_050);
    }
}
