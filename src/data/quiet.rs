//! Whether a position is quiet: nothing on the board changes the static score by much.

use crate::eval::{Weights, evaluate_uncached};
use crate::position::movegen::{self, MoveKind};
use crate::position::{Position, see_at_least};

/// Captures beyond this many plies are no longer about this position.
const DEEPEST: u32 = 12;

/// Whether the side to move is not in check and gains no more than `margin` centipawns over the
/// static score by captures and promotions.
pub fn is_quiet(position: &Position, weights: &Weights, margin: i32) -> bool {
    if position.in_check() {
        return false;
    }
    let limit = evaluate_uncached(position, weights) + margin;
    quiescence(position, weights, limit, limit + 1, DEEPEST) <= limit
}

fn quiescence(position: &Position, weights: &Weights, mut alpha: i32, beta: i32, left: u32) -> i32 {
    let mut best = evaluate_uncached(position, weights);
    if best >= beta || left == 0 {
        return best;
    }
    alpha = alpha.max(best);
    let mut moves = Vec::new();
    movegen::generate(position, MoveKind::Tactical, |m| {
        if see_at_least(position, m, 0) {
            moves.push(m);
        }
    });
    for m in moves {
        let after = position.after(m);
        best = best.max(-quiescence(&after, weights, -beta, -alpha, left - 1));
        if best >= beta {
            break;
        }
        alpha = alpha.max(best);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hanging_queen_a_check_and_a_promotion_are_not_quiet() {
        let weights = Weights::default();
        let quiet = |fen: &str| is_quiet(&Position::from_fen(fen).unwrap(), &weights, 30);
        assert!(quiet(
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
        ));
        assert!(!quiet(
            "rnb1kbnr/pppppppp/8/4q3/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 1"
        ));
        assert!(!quiet("4k3/4r3/8/8/8/8/8/4K3 w - - 0 1"));
        assert!(!quiet("8/P6k/8/8/8/8/8/4K3 w - - 0 1"));
    }
}
