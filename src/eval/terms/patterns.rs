//! Piece-piece and piece-king relations.
//!
//! The other families hold named chess concepts. This one holds the plain geometry of attacks
//! and squares: thousands of small weights that need training on very many positions. By default
//! all are zero, and the family costs nothing.

use shakmaty::{Bitboard, Color, Role, Square, attacks};

use super::attacks::Attacks;
use super::board::{FILE_A, Pieces, StaticColor, count, east, west};
use super::list::{Term, term};
use super::sink::Sink;
use super::squares::{self, mirror};

/// Accessor of a table of terms.
type Table = fn(usize) -> Term;

/// Reports the terms of side `S`.
#[inline(always)]
pub fn report<S: StaticColor>(
    pieces: &Pieces,
    attacks: &Attacks,
    turn: Color,
    sink: &mut impl Sink,
) {
    report_attacks_and_defences::<S>(pieces, attacks, turn, sink);
    report_xrays::<S>(pieces, sink);
    report_king_relative_squares::<S>(pieces, sink);
    report_king_zones::<S>(pieces, attacks, sink);
    report_pawns::<S>(pieces, sink);
    let mirror = mirror(pieces.king[S::US]);
    for square in attacks.any[S::US] {
        squares::report::<S>(square, mirror, term::control_square, sink);
    }
    for square in attacks.twice[S::US] {
        squares::report::<S>(square, mirror, term::control_square_twice, sink);
    }
}

/// Attacks and defences, by role of attacker and target.
#[inline(always)]
fn report_attacks_and_defences<S: StaticColor>(
    pieces: &Pieces,
    attacks: &Attacks,
    turn: Color,
    sink: &mut impl Sink,
) {
    let table = match turn == S::COLOR {
        true => term::attack_to_move,
        false => term::attack_waiting,
    };
    let defended = attacks.any[S::THEM];
    for attacker in Role::ALL {
        let row = attacker as usize - 1;
        let attacked = attacks.by(S::US, attacker);
        for target in Role::ALL {
            let hit = attacked & pieces.of_role(S::THEM, target);
            report_nonzero::<S>(table(pair(2 * row, target)), count(hit & !defended), sink);
            report_nonzero::<S>(
                table(pair(2 * row + 1, target)),
                count(hit & defended),
                sink,
            );
            let own = attacked & pieces.of_role(S::US, target);
            report_nonzero::<S>(term::guard(pair(row, target)), count(own), sink);
        }
    }
}

/// Attacks on the zones of both kings.
#[inline(always)]
fn report_king_zones<S: StaticColor>(pieces: &Pieces, attacks: &Attacks, sink: &mut impl Sink) {
    let tables: [(Square, Table); 2] = [
        (pieces.king[S::THEM], term::zone_attack),
        (pieces.king[S::US], term::zone_guard),
    ];
    for (king, table) in tables {
        let zone = zone(king);
        for role in Role::ALL {
            for square in attacks.by(S::US, role) & zone {
                // The zone begins two ranks behind the king: row 5 of 15.
                let cell = king_relative_index::<S>(king, square) - 8 * 5;
                let index = 15 * (role as usize - 1) + 3 * (cell >> 3) + (cell & 7);
                sink.add(S::COLOR, table(index), 1);
            }
        }
    }
}

/// The squares within two ranks and two files of the king.
#[inline(always)]
fn zone(king: Square) -> Bitboard {
    let near = attacks::king_attacks(king) | Bitboard::from_square(king);
    near.into_iter()
        .fold(near, |zone, square| zone | attacks::king_attacks(square))
}

/// Pairs of pawns on the same or adjacent files, with the board mirrored as for piece-square
/// tables.
#[inline(always)]
fn report_pawns<S: StaticColor>(pieces: &Pieces, sink: &mut impl Sink) {
    let mirror = mirror(pieces.king[S::US]);
    let coordinates = |pawn: Square| {
        let square = S::relative(pawn) ^ mirror;
        (square & 7, (square >> 3) - 1)
    };
    for pawn in pieces.pawns(S::US) {
        let (file, rank) = coordinates(pawn);
        let own_file = Bitboard(FILE_A.0 << (pawn.to_u32() & 7));
        let beside = west(own_file) | east(own_file);
        for other in pieces.pawns(S::US) & beside {
            let (other_file, other_rank) = coordinates(other);
            // Each pair once.
            if other_file > file {
                let index = 36 * file + 6 * rank + other_rank;
                sink.add(S::COLOR, term::pawn_neighbours(index), 1);
            }
        }
        for enemy in pieces.pawns(S::THEM) & (own_file | beside) {
            let (enemy_file, enemy_rank) = coordinates(enemy);
            let files = 3 * file + enemy_file + 1 - file;
            let index = 36 * files + 6 * rank + enemy_rank;
            sink.add(S::COLOR, term::pawn_encounter(index), 1);
        }
    }
}

/// X-ray attacks: enemy pieces that a slider would attack if its nearest blockers were removed.
#[inline(always)]
fn report_xrays<S: StaticColor>(pieces: &Pieces, sink: &mut impl Sink) {
    type SliderAttacks = fn(Square, Bitboard) -> Bitboard;
    let sliders: [(Role, SliderAttacks); 3] = [
        (Role::Bishop, attacks::bishop_attacks),
        (Role::Rook, attacks::rook_attacks),
        (Role::Queen, attacks::queen_attacks),
    ];
    for (row, (role, slider_attacks)) in sliders.into_iter().enumerate() {
        for slider in pieces.of_role(S::US, role) {
            let near = slider_attacks(slider, pieces.occupied);
            let far = slider_attacks(slider, pieces.occupied & !near) & !near;
            for target in Role::ALL {
                let targets = count(far & pieces.of_role(S::THEM, target));
                report_nonzero::<S>(term::look_through(pair(row, target)), targets, sink);
            }
        }
    }
}

/// The square of each piece relative to both kings.
#[inline(always)]
fn report_king_relative_squares<S: StaticColor>(pieces: &Pieces, sink: &mut impl Sink) {
    let tables: [(Role, Table, Table); 5] = [
        (
            Role::Pawn,
            term::pawn_from_own_king,
            term::pawn_from_enemy_king,
        ),
        (
            Role::Knight,
            term::knight_from_own_king,
            term::knight_from_enemy_king,
        ),
        (
            Role::Bishop,
            term::bishop_from_own_king,
            term::bishop_from_enemy_king,
        ),
        (
            Role::Rook,
            term::rook_from_own_king,
            term::rook_from_enemy_king,
        ),
        (
            Role::Queen,
            term::queen_from_own_king,
            term::queen_from_enemy_king,
        ),
    ];
    for (role, own, enemy) in tables {
        for piece in pieces.of_role(S::US, role) {
            let from = |king: Square| king_relative_index::<S>(king, piece);
            sink.add(S::COLOR, own(from(pieces.king[S::US])), 1);
            sink.add(S::COLOR, enemy(from(pieces.king[S::THEM])), 1);
        }
    }
}

/// Index of a square relative to a king: 15 rows, from seven ranks behind the king to seven
/// ranks ahead of it (relative to the piece's side), with 8 file distances each.
#[inline(always)]
fn king_relative_index<S: StaticColor>(king: Square, piece: Square) -> usize {
    let (king, piece) = (S::relative(king), S::relative(piece));
    let files = (piece & 7).abs_diff(king & 7);
    8 * (7 + (piece >> 3) - (king >> 3)) + files
}

#[inline(always)]
fn pair(row: usize, target: Role) -> usize {
    6 * row + target as usize - 1
}

/// Skips counts of zero, which are the most frequent.
#[inline(always)]
fn report_nonzero<S: StaticColor>(term: Term, count: i32, sink: &mut impl Sink) {
    if count != 0 {
        sink.add(S::COLOR, term, count);
    }
}
