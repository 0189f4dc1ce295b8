//! The reference search: one ply and quiescence on the board, with the evaluation that plays.
//!
//! Beside its score a move has a variation: the position whose evaluation the score is (the
//! principal variation leaf), and the alternatives that are nearly as good.

use shakmaty::{Move, MoveList};

use super::quiescence::{
    INFINITE, MATE, MoveScores, NodeKind, QuiescenceLimits, expand, moves_in_tie_break_order,
};
use crate::eval::{Weights, evaluate_uncached};
use crate::position::Position;

/// A position below a root move: its score for the side to move, and the evaluations that the score
/// depends on.
pub struct Variation {
    pub score: i32,
    pub standing: NodeKind,
    /// The position, if its own evaluation is within the slack of the best reply.
    pub evaluated: Option<Position>,
    /// The replies within the slack of the best.
    pub replies: Vec<Variation>,
}

/// The scores of a position's moves, searched on demand.
pub struct BoardSearch<'a> {
    position: &'a Position,
    moves: MoveList,
    weights: &'a Weights,
    settings: QuiescenceLimits,
    /// How much worse than the best a reply may be and still be kept in a variation.
    slack: i32,
}

impl<'a> BoardSearch<'a> {
    pub fn new(
        position: &'a Position,
        weights: &'a Weights,
        settings: QuiescenceLimits,
    ) -> BoardSearch<'a> {
        BoardSearch {
            position,
            moves: moves_in_tie_break_order(position),
            weights,
            settings,
            slack: 0,
        }
    }

    pub fn with_slack(self, slack: i32) -> BoardSearch<'a> {
        BoardSearch { slack, ..self }
    }

    pub fn moves(&self) -> &MoveList {
        &self.moves
    }

    /// The numbers of these moves, as [`MoveScores`] counts them.
    pub fn move_numbers(&self, wanted: &[Move]) -> Vec<u16> {
        let index = |m| self.moves.iter().position(|other| other == m);
        let found = wanted.iter().filter_map(index);
        found.map(|number| number as u16).collect()
    }

    /// The variation after a move. The bounds are those of [`MoveScores::score`].
    pub fn variation(&self, number: usize, alpha: i32, beta: i32) -> Variation {
        let m = self.moves[number];
        self.quiescence(self.position.after(m), m, 0, -beta, -alpha)
    }

    fn quiescence(
        &self,
        position: Position,
        last: Move,
        ply: u32,
        alpha: i32,
        beta: i32,
    ) -> Variation {
        let (standing, moves) = expand(&position, last, ply, self.settings);
        let own = match standing {
            NodeKind::Mated => ply as i32 - MATE,
            NodeKind::Stalemate => 0,
            NodeKind::InCheck => -INFINITE,
            NodeKind::StandPat => evaluate_uncached(&position, self.weights),
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
        let counts = standing == NodeKind::StandPat && own >= best - self.slack;
        Variation {
            score: best,
            standing,
            evaluated: counts.then_some(position),
            replies,
        }
    }
}

impl MoveScores for BoardSearch<'_> {
    fn count(&self) -> usize {
        self.moves.len()
    }

    fn score(&self, number: usize, alpha: i32, beta: i32) -> i32 {
        -self.variation(number, alpha, beta).score
    }
}
