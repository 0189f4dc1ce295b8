//! From accumulators to a score, with the instruction set chosen at run time.
//!
//! The code exists once, in functions that are always inlined. [`evaluate_stack`] and
//! [`evaluate_board`] are the entry points. What they lead to is compiled for each width of a
//! network, and a second time with AVX2 and its companions (x86-64-v3); the network remembers
//! which one this machine runs. All arithmetic is in whole numbers without rounding or overflow,
//! so every path gives the same score. A build that may assume AVX2 anyway, such as one for the
//! native CPU, has no dispatch by instructions.

use shakmaty::Color;

use super::accumulator::{Accumulator, AccumulatorStack, BoardSnapshot, accumulate};
use super::architecture::{OUTPUT_BLOCK, QA, QB, with_width};
use super::parameters::Rows;
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
    let width = network.architecture().width();
    match network.instructions {
        // SAFETY: `detect` has found all the features with which the function is compiled.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 if !ASSUMES_AVX2 => with_width!(width, W => unsafe {
            evaluate_stack_avx2::<W>(stack, network, board, turn, ply)
        }),
        _ => with_width!(width, W => {
            evaluate_stack_generic::<W>(stack, network, board, turn, ply)
        }),
    }
}

/// Evaluates a board from scratch.
#[inline]
pub(super) fn evaluate_board(network: &Network, board: &BoardSnapshot, turn: Color) -> Score {
    let width = network.architecture().width();
    match network.instructions {
        // SAFETY: as in `evaluate_stack`.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 if !ASSUMES_AVX2 => with_width!(width, W => unsafe {
            evaluate_board_avx2::<W>(network, board, turn)
        }),
        _ => with_width!(width, W => evaluate_board_generic::<W>(network, board, turn)),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn evaluate_stack_avx2<const W: usize>(
    stack: &mut AccumulatorStack,
    network: &Network,
    board: &BoardSnapshot,
    turn: Color,
    ply: usize,
) -> Score {
    evaluate_stack_body::<W>(stack, network, board, turn, ply)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn evaluate_board_avx2<const W: usize>(
    network: &Network,
    board: &BoardSnapshot,
    turn: Color,
) -> Score {
    evaluate_board_body::<W>(network, board, turn)
}

// One function for each width: together they would share one large frame.
#[inline(never)]
fn evaluate_stack_generic<const W: usize>(
    stack: &mut AccumulatorStack,
    network: &Network,
    board: &BoardSnapshot,
    turn: Color,
    ply: usize,
) -> Score {
    evaluate_stack_body::<W>(stack, network, board, turn, ply)
}

#[inline(never)]
fn evaluate_board_generic<const W: usize>(
    network: &Network,
    board: &BoardSnapshot,
    turn: Color,
) -> Score {
    evaluate_board_body::<W>(network, board, turn)
}

#[inline(always)]
fn evaluate_stack_body<const W: usize>(
    stack: &mut AccumulatorStack,
    network: &Network,
    board: &BoardSnapshot,
    turn: Color,
    ply: usize,
) -> Score {
    let rows = network.parameters.rows::<W>();
    let [white, black] = stack.update(board, ply, rows);
    let (us, them) = match turn {
        Color::White => (white, black),
        Color::Black => (black, white),
    };
    output(rows, network.header.scale, us, them, board.count())
}

#[inline(always)]
fn evaluate_board_body<const W: usize>(
    network: &Network,
    board: &BoardSnapshot,
    turn: Color,
) -> Score {
    let rows = network.parameters.rows::<W>();
    let us = accumulate(board, turn, rows);
    let them = accumulate(board, !turn, rows);
    output(rows, network.header.scale, &us, &them, board.count())
}

/// The output layer. Its result is the logarithm of the odds of winning; `scale` turns it into
/// internal units.
#[inline(always)]
fn output<const W: usize>(
    rows: Rows<'_, W>,
    scale: i32,
    us: &Accumulator<W>,
    them: &Accumulator<W>,
    pieces: u32,
) -> Score {
    let bucket = rows.architecture.output_bucket(pieces);
    let (our_weights, their_weights, bias) = rows.output(bucket);
    let sum = screlu(us, our_weights) + screlu(them, their_weights);
    let log_odds = sum / i64::from(QA) + i64::from(bias);
    let score = log_odds * i64::from(scale) / i64::from(QA * QB);
    score.clamp((-SCORE_LIMIT).into(), SCORE_LIMIT.into()) as Score
}

/// Squared clipped ReLU, weighed and summed.
#[inline(always)]
fn screlu<const W: usize>(accumulator: &Accumulator<W>, weights: &[i16; W]) -> i64 {
    if W <= OUTPUT_BLOCK {
        return screlu_block(accumulator, weights).into();
    }
    let (accumulator, _) = accumulator.as_chunks::<OUTPUT_BLOCK>();
    let (weights, _) = weights.as_chunks::<OUTPUT_BLOCK>();
    let blocks = accumulator.iter().zip(weights);
    let sums = blocks.map(|(values, weights)| i64::from(screlu_block(values, weights)));
    sums.sum()
}

/// The same for so few numbers that nothing overflows, as `architecture` asserts.
#[inline(always)]
fn screlu_block<const N: usize>(values: &[i16; N], weights: &[i16; N]) -> i32 {
    let mut total = 0;
    for (value, weight) in values.iter().zip(weights) {
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
    use crate::eval::nnue::{NetworkHeader, NetworkParameters};
    use crate::position::Position;

    use crate::eval::nnue::architecture::Architecture;

    /// A number for all scores of a network.
    fn checked_scores(best: &Network, positions: &[Position]) -> i64 {
        let mut portable = best.clone();
        portable.instructions = InstructionSet::Portable;
        let mut best_stack = AccumulatorStack::new(best, 4);
        let mut portable_stack = AccumulatorStack::new(&portable, 4);
        let mut total = 0_i64;
        for (number, position) in positions.iter().enumerate() {
            let score = best.evaluate(position);
            assert_eq!(score, portable.evaluate(position));
            let ply = number % 4;
            assert_eq!(score, best_stack.evaluate(best, position, ply));
            assert_eq!(score, portable_stack.evaluate(&portable, position, ply));
            total = total * 3 % 1_000_003 + i64::from(score);
        }
        total
    }

    /// The value is the same for every build and instruction set.
    #[test]
    fn every_instruction_set_gives_the_same_scores() {
        let positions = random_positions(20);
        let today = random_network(Architecture::default());
        assert_eq!(checked_scores(&today, &positions), -528_050);
        for architecture in Architecture::all() {
            let few = &positions[..200];
            assert_ne!(checked_scores(&random_network(architecture), few), 0);
        }
    }

    /// Weights at their bounds, the worst case of every sum, against plain 64-bit arithmetic.
    #[test]
    fn the_largest_weights_do_not_overflow() {
        for architecture in Architecture::all() {
            let all = std::iter::repeat(i16::MAX);
            let parameters = NetworkParameters::new(architecture, all, []);
            let header = NetworkHeader {
                scale: 1,
                ..NetworkHeader::default()
            };
            let network = Network::new("largest", parameters, header);
            let sum = 2 * i64::from(QA).pow(2) * 127 * architecture.width() as i64;
            let expected = sum / i64::from(QA) / i64::from(QA * QB);
            let score = network.evaluate(&Position::default());
            assert_eq!(i64::from(score), expected, "{architecture}");
        }
    }
}
