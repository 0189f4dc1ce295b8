//! Legal move counts for either side, to move or not: the mobility of the older papers.

use shakmaty::{Bitboard, CastlingSide, Position as _, Role, Square, attacks};

use super::attacks::pinned_pieces;
use super::board::{Pieces, StaticColor, count};
use crate::position::Position;

/// The number of legal moves that `S` would have if it were to move. En passant counts only for
/// the side that is to move.
pub fn legal_moves<S: StaticColor>(position: &Position, pieces: &Pieces) -> i32 {
    let king = pieces.king[S::US];
    let checkers = position
        .board()
        .attacks_to(king, S::Them::COLOR, pieces.occupied);
    let king_moves = count(king_moves::<S>(position, pieces));
    let targets = match checkers.single_square() {
        Some(checker) => checkers | attacks::between(king, checker),
        None if checkers.any() => return king_moves,
        None => Bitboard::FULL,
    };
    let pinned = pinned_pieces(pieces, S::US);
    let allowed = |square: Square| {
        if pinned.contains(square) {
            attacks::ray(king, square) & targets
        } else {
            targets
        }
    };
    let mut moves = king_moves;
    for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        for square in pieces.of_role(S::US, role) {
            let attacked = attacks::attacks(square, role.of(S::COLOR), pieces.occupied);
            moves += count(attacked & !pieces.all[S::US] & allowed(square));
        }
    }
    let own_pawns = pieces.pawns(S::US);
    moves += unpinned_pawn_moves::<S>(own_pawns & !pinned, targets, pieces);
    for pawn in own_pawns & pinned {
        let pawn_targets = pawn_targets::<S>(Bitboard::from_square(pawn), pieces);
        moves += with_promotions::<S>(pawn_targets & allowed(pawn));
    }
    if position.turn() == S::COLOR {
        moves += position.chess().en_passant_moves().len() as i32;
    }
    if checkers.is_empty() {
        moves += castling_moves::<S>(position, pieces);
    }
    moves
}

/// Squares the king can legally move to, without castling.
pub fn king_moves<S: StaticColor>(position: &Position, pieces: &Pieces) -> Bitboard {
    let king = pieces.king[S::US];
    let without_king = pieces.occupied & !Bitboard::from_square(king);
    let is_safe = |to: &Square| {
        let attackers = position
            .board()
            .attacks_to(*to, S::Them::COLOR, without_king);
        attackers.is_empty()
    };
    let steps = attacks::king_attacks(king) & !pieces.all[S::US];
    steps.into_iter().filter(is_safe).collect()
}

/// The number of pseudo-legal moves of some pawns, without en passant.
pub fn pawn_moves<S: StaticColor>(pawns: Bitboard, pieces: &Pieces) -> i32 {
    let each = pawns.into_iter().map(Bitboard::from_square);
    each.map(|pawn| with_promotions::<S>(pawn_targets::<S>(pawn, pieces)))
        .sum()
}

/// Squares one pawn can push to or capture on.
fn pawn_targets<S: StaticColor>(pawn: Bitboard, pieces: &Pieces) -> Bitboard {
    let single = S::forward(pawn) & !pieces.occupied;
    let double = S::forward(single & S::rank_squares(2)) & !pieces.occupied;
    single | double | (S::pawn_attacks(pawn) & pieces.all[S::THEM])
}

/// The number of moves of all unpinned pawns.
fn unpinned_pawn_moves<S: StaticColor>(pawns: Bitboard, targets: Bitboard, pieces: &Pieces) -> i32 {
    let single = S::forward(pawns) & !pieces.occupied;
    let double = S::forward(single & S::rank_squares(2)) & !pieces.occupied;
    let (left, right) = S::pawn_attack_halves(pawns);
    let victims = targets & pieces.all[S::THEM];
    with_promotions::<S>((single | double) & targets)
        + with_promotions::<S>(left & victims)
        + with_promotions::<S>(right & victims)
}

/// Counts each promotion as four moves.
fn with_promotions<S: StaticColor>(targets: Bitboard) -> i32 {
    count(targets) + 3 * count(targets & S::rank_squares(7))
}

fn castling_moves<S: StaticColor>(position: &Position, pieces: &Pieces) -> i32 {
    let castles = position.castles();
    let king = pieces.king[S::US];
    let without_king = pieces.occupied & !Bitboard::from_square(king);
    let attacked = |square: Square, occupied: Bitboard| {
        position
            .board()
            .attacks_to(square, S::Them::COLOR, occupied)
            .any()
    };
    let is_legal = |side: &CastlingSide| {
        let Some(rook) = castles.rook(S::COLOR, *side) else {
            return false;
        };
        if (castles.path(S::COLOR, *side) & pieces.occupied).any() {
            return false;
        }
        let king_to = side.king_to(S::COLOR);
        let rook_to = side.rook_to(S::COLOR);
        let path = attacks::between(king, king_to) | Bitboard::from_square(king_to);
        let after = (without_king & !Bitboard::from_square(rook)) | Bitboard::from_square(rook_to);
        !path
            .into_iter()
            .any(|square| attacked(square, without_king))
            && !attacked(king_to, after)
    };
    CastlingSide::ALL
        .iter()
        .filter(|side| is_legal(side))
        .count() as i32
}
