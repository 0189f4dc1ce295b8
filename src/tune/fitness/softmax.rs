//! A smooth substitute for "plays the master's move": the softmax over the scores of all moves.
//!
//! A move that is better by `temperature` centipawns is e times as likely. The log-likelihood of
//! the master's move (minus the cross-entropy loss) is smooth in the weights. Its gradient is that
//! of the principal variation leaves.

use super::quiescence::{INFINITE, MoveScores};
use super::quiescence_tree::{Phenotype, QuiescenceTree};

/// Moves this many temperatures below the best are ignored (one in three million).
const HORIZON: f64 = 15.0;
/// The lowest log-likelihood, so that one position cannot outweigh all others.
const LOWEST: f64 = -30.0;
/// Scores are clamped to this many centipawns; mates too.
pub const SCORE_LIMIT: i32 = 3_000;

/// The moves of a position that matter, each with its score and its principal variation leaf.
struct SoftmaxMoves<'a> {
    moves: Vec<(usize, i32, Option<u32>)>,
    answers: &'a [u16],
    best: i32,
    temperature: f64,
}

impl<'a> SoftmaxMoves<'a> {
    fn at(
        count: usize,
        answers: &'a [u16],
        temperature: f64,
        principal: impl Fn(usize, i32) -> (i32, Option<u32>),
    ) -> SoftmaxMoves<'a> {
        let mut softmax = SoftmaxMoves {
            moves: Vec::with_capacity(count),
            answers,
            best: -INFINITE,
            temperature,
        };
        let horizon = (HORIZON * temperature) as i32;
        let mut visit = |number: usize, alpha: i32| {
            let (score, leaf) = principal(number, alpha);
            let score = score.clamp(-SCORE_LIMIT, SCORE_LIMIT);
            softmax.best = softmax.best.max(score);
            softmax.moves.push((number, score, leaf));
            softmax.best - horizon
        };
        // The answers come first: their scores are needed however low they are.
        let mut alpha = -INFINITE;
        for &answer in answers {
            alpha = visit(usize::from(answer), -INFINITE);
        }
        for number in (0..count).filter(|number| !answers.contains(&(*number as u16))) {
            alpha = visit(number, alpha);
        }
        softmax
    }

    fn is_answer(&self, number: usize) -> bool {
        self.answers.contains(&(number as u16))
    }

    fn likely(&self, score: i32) -> f64 {
        (f64::from(score - self.best) / self.temperature).exp()
    }

    /// The sum over all moves and the sum over the answers; the best move counts 1.
    fn sums(&self) -> (f64, f64) {
        let (mut all, mut right) = (0.0, 0.0);
        for &(number, score, _) in &self.moves {
            let likely = self.likely(score);
            all += likely;
            right += if self.is_answer(number) { likely } else { 0.0 };
        }
        (all, right)
    }
}

/// The logarithm of the share, or none below the lowest that counts.
fn logarithm(right: f64, all: f64) -> Option<f64> {
    let value = (right / all).ln();
    (value >= LOWEST && value.is_finite()).then_some(value)
}

/// The log-likelihood of the answers, the moves being searched on the board.
pub fn log_likelihood_of_scores(
    scores: &impl MoveScores,
    answers: &[u16],
    temperature: f64,
) -> f64 {
    let principal = |number, alpha| (scores.score(number, alpha, INFINITE), None);
    let softmax = SoftmaxMoves::at(scores.count(), answers, temperature, principal);
    let (all, right) = softmax.sums();
    logarithm(right, all).unwrap_or(LOWEST)
}

/// The log-likelihood of the answers. Its derivative by the columns is added to `gradient`, unless
/// that is empty.
pub fn log_likelihood_of_tree(
    tree: &QuiescenceTree,
    player: &Phenotype,
    temperature: f64,
    gradient: &mut [[f64; 2]],
) -> f64 {
    let evaluated = tree.evaluated_by(player);
    let principal = |number, alpha| evaluated.principal(number, alpha, INFINITE);
    let softmax = SoftmaxMoves::at(evaluated.count(), tree.answers(), temperature, principal);
    let (all, right) = softmax.sums();
    let Some(value) = logarithm(right, all) else {
        return LOWEST;
    };
    if gradient.is_empty() {
        return value;
    }
    let (mut midgame, mut endgame) = (0.0, 0.0);
    let side = tree.sign_of_mover();
    for &(number, score, leaf) in &softmax.moves {
        let Some(leaf) = leaf else { continue };
        let likely = softmax.likely(score);
        let among_right = if softmax.is_answer(number) {
            likely / right
        } else {
            0.0
        };
        let factor = side * (among_right - likely / all) / temperature;
        if factor.abs() > 1e-9 {
            let derivative = evaluated.add_gradient(leaf, factor, gradient);
            midgame += factor * derivative.midgame;
            endgame += factor * derivative.endgame;
        }
    }
    evaluated.add_root_gradient(midgame, endgame, gradient);
    value
}
