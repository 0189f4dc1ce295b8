//! A smooth stand-in for "plays the master's move".
//!
//! Let a player choose among all moves at random, a better move the likelier: e times as
//! likely for each `temperature` of centipawns. The logarithm of the likelihood that he plays
//! the master's move rises and falls smoothly with his weights, and its derivative is that of
//! the evaluations the scores of the moves rest on.

use super::quiescence::{INFINITE, Scores};
use super::tree::{Player, Tree};

/// Moves this many temperatures below the best have no say (one in three million).
const HORIZON: f64 = 15.0;
/// No log-likelihood below this: one position cannot outweigh all others.
const LOWEST: f64 = -30.0;
/// Mates are worth no more than this many centipawns here.
pub const SCORE_LIMIT: i32 = 3_000;

/// The moves of a position as far as they matter, with their scores and what these rest on.
struct Looked<'a> {
    moves: Vec<(usize, i32, Option<u32>)>,
    answers: &'a [u16],
    best: i32,
    temperature: f64,
}

impl<'a> Looked<'a> {
    fn at(
        count: usize,
        answers: &'a [u16],
        temperature: f64,
        principal: impl Fn(usize, i32) -> (i32, Option<u32>),
    ) -> Looked<'a> {
        let mut looked = Looked {
            moves: Vec::with_capacity(count),
            answers,
            best: -INFINITE,
            temperature,
        };
        let horizon = (HORIZON * temperature) as i32;
        let mut look = |number: usize, alpha: i32| {
            let (score, leaf) = principal(number, alpha);
            let score = score.clamp(-SCORE_LIMIT, SCORE_LIMIT);
            looked.best = looked.best.max(score);
            looked.moves.push((number, score, leaf));
            looked.best - horizon
        };
        // The answers come first: their scores are wanted however bad they are.
        let mut alpha = -INFINITE;
        for &answer in answers {
            alpha = look(usize::from(answer), -INFINITE);
        }
        for number in (0..count).filter(|number| !answers.contains(&(*number as u16))) {
            alpha = look(number, alpha);
        }
        looked
    }

    fn is_answer(&self, number: usize) -> bool {
        self.answers.contains(&(number as u16))
    }

    fn likely(&self, score: i32) -> f64 {
        (f64::from(score - self.best) / self.temperature).exp()
    }

    /// How likely all moves are together, and the answers among them, the best being 1.
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

/// The logarithm, or the lowest that counts.
fn logarithm(right: f64, all: f64) -> Option<f64> {
    let value = (right / all).ln();
    (value >= LOWEST && value.is_finite()).then_some(value)
}

/// The log-likelihood of the answers among moves that are searched on the board.
pub fn of_scores(scores: &impl Scores, answers: &[u16], temperature: f64) -> f64 {
    let principal = |number, alpha| (scores.score(number, alpha, INFINITE), None);
    let looked = Looked::at(scores.count(), answers, temperature, principal);
    let (all, right) = looked.sums();
    logarithm(right, all).unwrap_or(LOWEST)
}

/// The log-likelihood of the answers; its derivative by the columns is added to `gradient`
/// unless that is empty.
pub fn of_tree(tree: &Tree, player: &Player, temperature: f64, gradient: &mut [[f64; 2]]) -> f64 {
    let seen = tree.seen_by(player);
    let principal = |number, alpha| seen.principal(number, alpha, INFINITE);
    let looked = Looked::at(seen.count(), tree.answers(), temperature, principal);
    let (all, right) = looked.sums();
    let Some(value) = logarithm(right, all) else {
        return LOWEST;
    };
    if gradient.is_empty() {
        return value;
    }
    let (mut midgame, mut endgame) = (0.0, 0.0);
    let side = tree.sign_of_mover();
    for &(number, score, leaf) in &looked.moves {
        let Some(leaf) = leaf else { continue };
        let likely = looked.likely(score);
        let among_right = if looked.is_answer(number) {
            likely / right
        } else {
            0.0
        };
        let factor = side * (among_right - likely / all) / temperature;
        if factor.abs() > 1e-9 {
            let slope = seen.add_slope(leaf, factor, gradient);
            midgame += factor * slope.midgame;
            endgame += factor * slope.endgame;
        }
    }
    seen.add_root_slope(midgame, endgame, gradient);
    value
}
