//! The reference: the search itself, on the board, with the evaluation that plays.
//!
//! Beside its score a move has a line: the position whose evaluation the score is.

use shakmaty::{Move, MoveList};

use super::quiescence::{INFINITE, MATE, Quiescence, Scores, Standing, expand, moves_in_order};
use crate::eval::{Weights, evaluate_uncached};
use crate::position::Position;

/// A score, and what it rests on.
pub struct Line {
    pub score: i32,
    /// The position that was evaluated; none where the game is over.
    pub end: Option<Position>,
}

/// The scores of a position's moves, searched when they are asked for.
pub struct Searched<'a> {
    position: &'a Position,
    moves: MoveList,
    weights: &'a Weights,
    settings: Quiescence,
}

impl<'a> Searched<'a> {
    pub fn new(position: &'a Position, weights: &'a Weights, settings: Quiescence) -> Searched<'a> {
        Searched {
            position,
            moves: moves_in_order(position),
            weights,
            settings,
        }
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

    /// A move's score for whoever makes it, and what the score rests on.
    pub fn line(&self, number: usize, alpha: i32, beta: i32) -> Line {
        let m = self.moves[number];
        let line = self.quiescence(self.position.after(m), m, 0, -beta, -alpha);
        Line {
            score: -line.score,
            ..line
        }
    }

    fn quiescence(
        &self,
        position: Position,
        last: Move,
        ply: u32,
        mut alpha: i32,
        beta: i32,
    ) -> Line {
        let (standing, moves) = expand(&position, last, ply, self.settings);
        let mut best = match standing {
            Standing::Mated => ply as i32 - MATE,
            Standing::Stalemate => 0,
            Standing::InCheck => -INFINITE,
            Standing::Quiet => evaluate_uncached(&position, self.weights),
        };
        let mut end = None;
        alpha = alpha.max(best);
        for m in moves {
            if best >= beta {
                break;
            }
            let line = self.quiescence(position.after(m), m, ply + 1, -beta, -alpha);
            if -line.score > best {
                best = -line.score;
                end = Some(line.end);
                alpha = alpha.max(best);
            }
        }
        let own = (standing == Standing::Quiet).then_some(position);
        Line {
            score: best,
            end: end.unwrap_or(own),
        }
    }
}

impl Scores for Searched<'_> {
    fn count(&self) -> usize {
        self.moves.len()
    }

    fn score(&self, number: usize, alpha: i32, beta: i32) -> i32 {
        self.line(number, alpha, beta).score
    }
}
