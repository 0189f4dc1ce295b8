//! The reference: the search itself, on the board, with the evaluation that plays.
//!
//! Beside its score a move has a line: the position whose evaluation the score is, and what
//! might have been played instead without costing much.

use shakmaty::{Move, MoveList};

use super::quiescence::{INFINITE, MATE, Quiescence, Scores, Standing, expand, moves_in_order};
use crate::eval::{Weights, evaluate_uncached};
use crate::position::Position;

/// A position below a move that is judged: its score for the side to move, and what that
/// rests on.
pub struct Line {
    pub score: i32,
    pub standing: Standing,
    /// The position, if its own evaluation is as good as the best reply, or nearly so.
    pub evaluated: Option<Position>,
    /// The replies that are as good as the best, or nearly so.
    pub replies: Vec<Line>,
}

/// The scores of a position's moves, searched when they are asked for.
pub struct Searched<'a> {
    position: &'a Position,
    moves: MoveList,
    weights: &'a Weights,
    settings: Quiescence,
    /// How much worse than the best a reply may be and still belong to a line.
    slack: i32,
}

impl<'a> Searched<'a> {
    pub fn new(position: &'a Position, weights: &'a Weights, settings: Quiescence) -> Searched<'a> {
        Searched {
            position,
            moves: moves_in_order(position),
            weights,
            settings,
            slack: 0,
        }
    }

    pub fn with_slack(self, slack: i32) -> Searched<'a> {
        Searched { slack, ..self }
    }

    pub fn moves(&self) -> &MoveList {
        &self.moves
    }

    /// The numbers of some of the moves.
    pub fn places(&self, wanted: &[Move]) -> Vec<u16> {
        let place = |m| self.moves.iter().position(|other| other == m);
        let found = wanted.iter().filter_map(place);
        found.map(|number| number as u16).collect()
    }

    /// What a move leads to. The bounds are those of [`Scores::score`].
    pub fn line(&self, number: usize, alpha: i32, beta: i32) -> Line {
        let m = self.moves[number];
        self.quiescence(self.position.after(m), m, 0, -beta, -alpha)
    }

    fn quiescence(&self, position: Position, last: Move, ply: u32, alpha: i32, beta: i32) -> Line {
        let (standing, moves) = expand(&position, last, ply, self.settings);
        let own = match standing {
            Standing::Mated => ply as i32 - MATE,
            Standing::Stalemate => 0,
            Standing::InCheck => -INFINITE,
            Standing::Quiet => evaluate_uncached(&position, self.weights),
        };
        let mut best = own;
        let mut replies = Vec::new();
        for m in moves {
            if best >= beta {
                break;
            }
            let floor = alpha.max(best) - self.slack;
            let reply = self.quiescence(position.after(m), m, ply + 1, -beta, -floor);
            best = best.max(-reply.score);
            if -reply.score > floor {
                replies.push(reply);
            }
        }
        replies.retain(|reply| -reply.score >= best - self.slack);
        let counts = standing == Standing::Quiet && own >= best - self.slack;
        Line {
            score: best,
            standing,
            evaluated: counts.then_some(position),
            replies,
        }
    }
}

impl Scores for Searched<'_> {
    fn count(&self) -> usize {
        self.moves.len()
    }

    fn score(&self, number: usize, alpha: i32, beta: i32) -> i32 {
        -self.line(number, alpha, beta).score
    }
}
