//! What pieces have to do with each other and with the kings.
//!
//! The other families name what chess players have names for. This one has none: it is the
//! plain geometry of attacks and places, thousands of small weights that only learning from
//! very many positions can set. It weighs nothing by default and then costs nothing.

use shakmaty::{Bitboard, Color, Role, Square, attacks};

use super::attacks::Attacks;
use super::board::{FILE_A, Pieces, Side, count, east, west};
use super::list::{Term, term};
use super::sink::Sink;
use super::squares::{self, mirror};

/// A table's accessor.
type Table = fn(usize) -> Term;

/// Reports side `S`; `turn` is whose move it is.
#[inline(always)]
pub fn report<S: Side>(pieces: &Pieces, attacks: &Attacks, turn: Color, sink: &mut impl Sink) {
    report_meetings::<S>(pieces, attacks, turn, sink);
    report_looks_through::<S>(pieces, sink);
    report_places::<S>(pieces, sink);
    report_zones::<S>(pieces, attacks, sink);
    report_pawns::<S>(pieces, sink);
    let mirror = mirror(pieces.king[S::US]);
    for square in attacks.any[S::US] {
        squares::report::<S>(square, mirror, term::control_square, sink);
    }
    for square in attacks.twice[S::US] {
        squares::report::<S>(square, mirror, term::control_square_twice, sink);
    }
}

/// Who attacks and guards whom, by kind.
#[inline(always)]
fn report_meetings<S: Side>(pieces: &Pieces, attacks: &Attacks, turn: Color, sink: &mut impl Sink) {
    let table = match turn == S::COLOR {
        true => term::attack_to_move,
        false => term::attack_waiting,
    };
    let guarded = attacks.any[S::THEM];
    for attacker in Role::ALL {
        let row = attacker as usize - 1;
        let attacked = attacks.by(S::US, attacker);
        for target in Role::ALL {
            let met = attacked & pieces.of_role(S::THEM, target);
            report_any::<S>(table(pair(2 * row, target)), count(met & !guarded), sink);
            report_any::<S>(table(pair(2 * row + 1, target)), count(met & guarded), sink);
            let own = attacked & pieces.of_role(S::US, target);
            report_any::<S>(term::guard(pair(row, target)), count(own), sink);
        }
    }
}

/// Who bears on the squares around the kings.
#[inline(always)]
fn report_zones<S: Side>(pieces: &Pieces, attacks: &Attacks, sink: &mut impl Sink) {
    let tables: [(Square, Table); 2] = [
        (pieces.king[S::THEM], term::zone_attack),
        (pieces.king[S::US], term::zone_guard),
    ];
    for (king, table) in tables {
        let zone = zone(king);
        for role in Role::ALL {
            for square in attacks.by(S::US, role) & zone {
                // Two ranks behind him are the fifth of fifteen, of which three files count.
                let cell = displacement::<S>(king, square) - 8 * 5;
                let place = 15 * (role as usize - 1) + 3 * (cell >> 3) + (cell & 7);
                sink.add(S::COLOR, table(place), 1);
            }
        }
    }
}

/// The squares within two ranks and two files.
#[inline(always)]
fn zone(king: Square) -> Bitboard {
    let near = attacks::king_attacks(king) | Bitboard::from_square(king);
    near.into_iter()
        .fold(near, |zone, square| zone | attacks::king_attacks(square))
}

/// How pawns stand to own and to enemy pawns close by, the board turned over as for tables of
/// squares.
#[inline(always)]
fn report_pawns<S: Side>(pieces: &Pieces, sink: &mut impl Sink) {
    let mirror = mirror(pieces.king[S::US]);
    let seen = |pawn: Square| {
        let place = S::relative(pawn) ^ mirror;
        (place & 7, (place >> 3) - 1)
    };
    for pawn in pieces.pawns(S::US) {
        let (file, rank) = seen(pawn);
        let own_file = Bitboard(FILE_A.0 << (pawn.to_u32() & 7));
        let beside = west(own_file) | east(own_file);
        for other in pieces.pawns(S::US) & beside {
            let (other_file, other_rank) = seen(other);
            // Each pair once, from the left.
            if other_file > file {
                let place = 36 * file + 6 * rank + other_rank;
                sink.add(S::COLOR, term::pawn_neighbours(place), 1);
            }
        }
        for enemy in pieces.pawns(S::THEM) & (own_file | beside) {
            let (enemy_file, enemy_rank) = seen(enemy);
            let files = 3 * file + enemy_file + 1 - file;
            let place = 36 * files + 6 * rank + enemy_rank;
            sink.add(S::COLOR, term::pawn_encounter(place), 1);
        }
    }
}

/// Which enemy pieces a slider would attack if the piece between them went away.
#[inline(always)]
fn report_looks_through<S: Side>(pieces: &Pieces, sink: &mut impl Sink) {
    type Reach = fn(Square, Bitboard) -> Bitboard;
    let sliders: [(Role, Reach); 3] = [
        (Role::Bishop, attacks::bishop_attacks),
        (Role::Rook, attacks::rook_attacks),
        (Role::Queen, attacks::queen_attacks),
    ];
    for (place, (role, reach)) in sliders.into_iter().enumerate() {
        for slider in pieces.of_role(S::US, role) {
            let near = reach(slider, pieces.occupied);
            let far = reach(slider, pieces.occupied & !near) & !near;
            for target in Role::ALL {
                let seen = count(far & pieces.of_role(S::THEM, target));
                report_any::<S>(term::look_through(pair(place, target)), seen, sink);
            }
        }
    }
}

/// Where each piece stands as seen from both kings.
#[inline(always)]
fn report_places<S: Side>(pieces: &Pieces, sink: &mut impl Sink) {
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
            let from = |king: Square| displacement::<S>(king, piece);
            sink.add(S::COLOR, own(from(pieces.king[S::US])), 1);
            sink.add(S::COLOR, enemy(from(pieces.king[S::THEM])), 1);
        }
    }
}

/// Fifteen rows, from seven ranks behind the king to seven ahead of him as the piece's side
/// sees it, of eight distances in files.
#[inline(always)]
fn displacement<S: Side>(king: Square, piece: Square) -> usize {
    let (king, piece) = (S::relative(king), S::relative(piece));
    let files = (piece & 7).abs_diff(king & 7);
    8 * (7 + (piece >> 3) - (king >> 3)) + files
}

#[inline(always)]
fn pair(row: usize, target: Role) -> usize {
    6 * row + target as usize - 1
}

/// Most counts are none: they need not be told.
#[inline(always)]
fn report_any<S: Side>(term: Term, count: i32, sink: &mut impl Sink) {
    if count != 0 {
        sink.add(S::COLOR, term, count);
    }
}
