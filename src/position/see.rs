//! Static exchange evaluation (SEE): the material result of a capture sequence on one square.
//! Both sides capture with their least valuable attacker first and may stop at any time.

use shakmaty::{Bitboard, Board, Color, Move, Role, Square, attacks};

use super::movegen::{self, MoveKind};
use super::{Position, see_value};

/// Whether the SEE of `m` is at least `threshold`. Castling, en passant and promotions count as
/// zero.
pub fn see_at_least(position: &Position, m: Move, threshold: i32) -> bool {
    let Move::Normal {
        role,
        from,
        capture,
        to,
        promotion: None,
    } = m
    else {
        return threshold <= 0;
    };

    let gain = capture.map_or(0, see_value);
    let mut balance = gain - threshold;
    if balance < 0 {
        return false;
    }
    // The threshold is met even if the moved piece is lost.
    balance -= see_value(role);
    if balance >= 0 {
        return true;
    }
    mover_wins_exchange(position.board(), position.turn(), from, to, balance)
}

/// Quiet moves that give check, discovered checks included, and do not lose material.
pub fn safe_quiet_checks(position: &Position, mut emit: impl FnMut(Move)) {
    movegen::generate(position, MoveKind::Quiet, |m| {
        if see_at_least(position, m, 0) && position.after(m).in_check() {
            emit(m);
        }
    });
}

/// Plays out the captures on `target`. `balance` is the mover's, if its piece is captured, and is
/// negative. The side that cannot capture without ending below zero loses the exchange.
fn mover_wins_exchange(
    board: &Board,
    mover: Color,
    from: Square,
    target: Square,
    mut balance: i32,
) -> bool {
    let diagonal = board.bishops_and_queens();
    let orthogonal = board.rooks_and_queens();
    let mut occupied = board.occupied() ^ Bitboard::from(from);
    occupied.add(target);
    let mut attackers = all_attackers(board, target, occupied);
    let mut side = !mover;

    loop {
        attackers &= occupied;
        let ours = attackers & board.by_color(side);
        let Some((role, square)) = least_valuable(board, ours) else {
            break;
        };
        // A king cannot capture a defended piece.
        if role == Role::King && (attackers & board.by_color(!side)).any() {
            break;
        }
        occupied.discard(square);
        side = !side;
        balance = -balance - 1 - see_value(role);
        if balance >= 0 {
            break;
        }
        // Add X-ray attackers behind the capturing piece.
        if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
            attackers |= attacks::bishop_attacks(target, occupied) & diagonal;
        }
        if matches!(role, Role::Rook | Role::Queen) {
            attackers |= attacks::rook_attacks(target, occupied) & orthogonal;
        }
    }
    side != mover
}

/// Attackers of both sides, with one lookup per kind of slider.
fn all_attackers(board: &Board, target: Square, occupied: Bitboard) -> Bitboard {
    let pawns = |color: Color| {
        attacks::pawn_attacks(!color, target) & board.pawns() & board.by_color(color)
    };
    pawns(Color::White)
        | pawns(Color::Black)
        | attacks::knight_attacks(target) & board.knights()
        | attacks::bishop_attacks(target, occupied) & board.bishops_and_queens()
        | attacks::rook_attacks(target, occupied) & board.rooks_and_queens()
        | attacks::king_attacks(target) & board.kings()
}

#[inline]
fn least_valuable(board: &Board, candidates: Bitboard) -> Option<(Role, Square)> {
    if candidates.is_empty() {
        return None;
    }
    Role::ALL
        .into_iter()
        .find_map(|role| Some((role, (candidates & board.by_role(role)).first()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::movegen;

    fn wins(fen: &str, uci: &str, threshold: i32) -> bool {
        let position = Position::from_fen(fen).unwrap();
        let m = movegen::legal_moves(&position)
            .into_iter()
            .find(|m| position.uci(*m).to_string() == uci)
            .unwrap();
        see_at_least(&position, m, threshold)
    }

    /// Checks the exact SEE from both sides of the threshold.
    fn assert_see(fen: &str, uci: &str, see: i32) {
        assert!(wins(fen, uci, see), "{uci} wins at least {see}");
        assert!(!wins(fen, uci, see + 1), "{uci} wins no more than {see}");
    }

    #[test]
    fn undefended_pawn_is_a_pawn() {
        assert_see("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - -", "e1e5", 100);
    }

    #[test]
    fn defenders_behind_defenders_count() {
        assert_see(
            "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -",
            "d3e5",
            100 - 310,
        );
    }

    #[test]
    fn king_does_not_capture_a_guarded_piece() {
        assert_see("8/8/3k4/3p4/8/8/3R4/3RK3 w - -", "d2d5", 100);
        assert_see("8/8/3k4/r2p4/8/8/3R4/3RK3 w - -", "d2d5", 100 - 500);
    }

    #[test]
    fn quiet_move_to_an_attacked_square_loses_the_piece() {
        assert_see("4k3/2p5/8/8/8/4N3/8/4K3 w - -", "e3d5", 0);
        assert_see("4k3/2p5/8/8/8/2N5/8/4K3 w - -", "c3b5", 0);
        assert_see("4k3/2p1p3/8/8/8/2N5/8/4K3 w - -", "c3d5", 0);
        assert_see("4k3/8/4p3/8/8/2N5/8/4K3 w - -", "c3d5", -310);
    }
}
