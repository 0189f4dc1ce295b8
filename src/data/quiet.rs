//! What a quiet position is: one whose static evaluation means something, because nothing is about
//! to be won. All definitions of the crate are here; a quiescence search leads to such positions.

use shakmaty::Move;

use crate::position::movegen::{self, MoveKind};
use crate::position::{Position, see_at_least};

/// Whether the side to move is not in check, cannot promote, and gains no more than `margin`
/// centipawns by any capture, as static exchange evaluation counts them.
pub fn is_quiet(position: &Position, margin: i32) -> bool {
    if position.in_check() {
        return false;
    }
    let mut quiet = true;
    movegen::generate(position, MoveKind::Tactical, |m| {
        let gains = see_at_least(position, m, margin.saturating_add(1));
        quiet &= m.promotion().is_none() && !gains;
    });
    quiet
}

/// The same for a position whose best move is known from a search: that is quiet, too.
pub fn is_quiet_with_best(position: &Position, best: Move) -> bool {
    is_quiet_move(best) && is_quiet(position, 0)
}

/// Less than that: the best move is quiet and the side to move is not in check, but a capture may
/// still win something.
pub fn has_quiet_best(position: &Position, best: Move) -> bool {
    is_quiet_move(best) && !position.in_check()
}

/// Whether a move neither captures nor promotes.
pub fn is_quiet_move(m: Move) -> bool {
    !m.is_conversion()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hanging_queen_a_check_and_a_promotion_are_not_quiet() {
        let quiet = |fen: &str| is_quiet(&Position::from_fen(fen).unwrap(), 30);
        assert!(quiet(
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
        ));
        assert!(!quiet(
            "rnb1kbnr/pppppppp/8/4q3/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 1"
        ));
        assert!(!quiet("4k3/4r3/8/8/8/8/8/4K3 w - - 0 1"));
        assert!(!quiet("8/P6k/8/8/8/8/8/4K3 w - - 0 1"));
        // A defended knight may be taken by a bishop: that gains nothing.
        assert!(quiet("4k3/3p4/2n5/1B6/8/8/8/4K3 w - - 0 1"));
    }
}
