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
const SCORE_LIMIT: i32 = 3_000;

/// The log-likelihood of the answers; its derivative by the columns is added to `gradient`
/// unless that is empty.
pub fn of_tree(tree: &Tree, player: &Player, temperature: f64, gradient: &mut [[f64; 2]]) -> f64 {
    let seen = tree.seen_by(player);
    let horizon = (HORIZON * temperature) as i32;
    let mut best = -INFINITE;
    let mut moves = Vec::with_capacity(seen.count());
    let mut look = |number: usize, alpha: i32| {
        let (score, leaf) = seen.principal(number, alpha, INFINITE);
        let score = score.clamp(-SCORE_LIMIT, SCORE_LIMIT);
        best = best.max(score);
        moves.push((number, score, leaf));
        best - horizon
    };
    let is_answer = |number: usize| tree.answers().contains(&(number as u16));
    // The answers come first: their scores are wanted however bad they are.
    let mut alpha = -INFINITE;
    for &answer in tree.answers() {
        alpha = look(usize::from(answer), -INFINITE);
    }
    for number in (0..seen.count()).filter(|number| !is_answer(*number)) {
        alpha = look(number, alpha);
    }
    let likely = |score: i32| (f64::from(score - best) / temperature).exp();
    let (mut all, mut right) = (0.0, 0.0);
    for &(number, score, _) in &moves {
        all += likely(score);
        right += if is_answer(number) {
            likely(score)
        } else {
            0.0
        };
    }
    let value = (right / all).ln();
    if value < LOWEST || !value.is_finite() {
        return LOWEST;
    }
    if gradient.is_empty() {
        return value;
    }
    let (mut midgame, mut endgame) = (0.0, 0.0);
    let side = tree.sign_of_mover();
    for (number, score, leaf) in moves {
        let Some(leaf) = leaf else { continue };
        let among_right = if is_answer(number) {
            likely(score) / right
        } else {
            0.0
        };
        let factor = side * (among_right - likely(score) / all) / temperature;
        if factor.abs() > 1e-9 {
            let slope = seen.add_slope(leaf, factor, gradient);
            midgame += factor * slope.midgame;
            endgame += factor * slope.endgame;
        }
    }
    seen.add_root_slope(midgame, endgame, gradient);
    value
}
