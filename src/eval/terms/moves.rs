//! How many moves a side has, whether or not it is its turn: the mobility of the older papers.

use shakmaty::{Bitboard, CastlingSide, Position as _, Role, Square, attacks};

use super::attacks::pinned_pieces;
use super::board::{Pieces, Side, count};
use crate::position::Position;

/// The number of legal moves `S` would have on the move. En passant counts only for the side
/// that really is.
pub fn legal_moves<S: Side>(position: &Position, pieces: &Pieces) -> i32 {
    let king = pieces.king[S::US];
    let checkers = position
        .board()
        .attacks_to(king, S::Them::COLOR, pieces.occupied);
    let steps = count(king_moves::<S>(position, pieces));
    let targets = match checkers.single_square() {
        Some(checker) => checkers | attacks::between(king, checker),
        None if checkers.any() => return steps,
        None => Bitboard::FULL,
    };
    let pinned = pinned_pieces(pieces, S::US);
    let free = |square: Square| {
        if pinned.contains(square) {
            attacks::ray(king, square) & targets
        } else {
            targets
        }
    };
    let mut moves = steps;
    for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
        for square in pieces.of_role(S::US, role) {
            let attacked = attacks::attacks(square, role.of(S::COLOR), pieces.occupied);
            moves += count(attacked & !pieces.all[S::US] & free(square));
        }
    }
    let own_pawns = pieces.pawns(S::US);
    moves += unpinned_pawn_moves::<S>(own_pawns & !pinned, targets, pieces);
    for pawn in own_pawns & pinned {
        let goals = pawn_goals::<S>(Bitboard::from_square(pawn), pieces);
        moves += with_promotions::<S>(goals & free(pawn));
    }
    if position.turn() == S::COLOR {
        moves += position.chess().en_passant_moves().len() as i32;
    }
    if checkers.is_empty() {
        moves += castlings::<S>(position, pieces);
    }
    moves
}

/// Where the king can step.
pub fn king_moves<S: Side>(position: &Position, pieces: &Pieces) -> Bitboard {
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

/// The number of moves of some pawns, regardless of pins and checks.
pub fn pawn_moves<S: Side>(pawns: Bitboard, pieces: &Pieces) -> i32 {
    let each = pawns.into_iter().map(Bitboard::from_square);
    each.map(|pawn| with_promotions::<S>(pawn_goals::<S>(pawn, pieces)))
        .sum()
}

/// Where one pawn can step or capture.
fn pawn_goals<S: Side>(pawn: Bitboard, pieces: &Pieces) -> Bitboard {
    let single = S::forward(pawn) & !pieces.occupied;
    let double = S::forward(single & S::rank_squares(2)) & !pieces.occupied;
    single | double | (S::pawn_attacks(pawn) & pieces.all[S::THEM])
}

/// The moves of pawns that no pin binds, all at once.
fn unpinned_pawn_moves<S: Side>(pawns: Bitboard, targets: Bitboard, pieces: &Pieces) -> i32 {
    let single = S::forward(pawns) & !pieces.occupied;
    let double = S::forward(single & S::rank_squares(2)) & !pieces.occupied;
    let (left, right) = S::pawn_attack_halves(pawns);
    let victims = targets & pieces.all[S::THEM];
    with_promotions::<S>((single | double) & targets)
        + with_promotions::<S>(left & victims)
        + with_promotions::<S>(right & victims)
}

/// A promotion is four moves.
fn with_promotions<S: Side>(goals: Bitboard) -> i32 {
    count(goals) + 3 * count(goals & S::rank_squares(7))
}

fn castlings<S: Side>(position: &Position, pieces: &Pieces) -> i32 {
    let castles = position.castles();
    let king = pieces.king[S::US];
    let without_king = pieces.occupied & !Bitboard::from_square(king);
    let attacked = |square: Square, occupied: Bitboard| {
        position
            .board()
            .attacks_to(square, S::Them::COLOR, occupied)
            .any()
    };
    let possible = |side: &CastlingSide| {
        let Some(rook) = castles.rook(S::COLOR, *side) else {
            return false;
        };
        if (castles.path(S::COLOR, *side) & pieces.occupied).any() {
            return false;
        }
        let goal = side.king_to(S::COLOR);
        let rook_goal = side.rook_to(S::COLOR);
        let way = attacks::between(king, goal) | Bitboard::from_square(goal);
        let after =
            (without_king & !Bitboard::from_square(rook)) | Bitboard::from_square(rook_goal);
        !way.into_iter().any(|square| attacked(square, without_king)) && !attacked(goal, after)
    };
    CastlingSide::ALL
        .iter()
        .filter(|side| possible(side))
        .count() as i32
}
