//! Material: piece values, pairs, piece values by number of pawns, and the tempo bonus.

use shakmaty::Role;

use super::board::{Pieces, StaticColor, count};
use super::list::term;
use super::sink::{Sink, Taper};

#[inline(always)]
pub fn report<S: StaticColor>(pieces: &Pieces, sink: &mut impl Sink) {
    let pawns = count(pieces.pawns(S::US));
    let knights = count(pieces.knights(S::US));
    let bishops = count(pieces.bishops(S::US));
    let rooks = count(pieces.rooks(S::US));
    let queens = count(pieces.queens(S::US));

    sink.add(S::COLOR, term::pawn(), pawns);
    sink.add(S::COLOR, term::knight(), knights);
    sink.add(S::COLOR, term::bishop(), bishops);
    sink.add(S::COLOR, term::rook(), rooks);
    sink.add(S::COLOR, term::queen(), queens);

    sink.add(S::COLOR, term::bishop_pair(), i32::from(bishops > 1));
    sink.add(S::COLOR, term::knight_pair(), i32::from(knights > 1));
    sink.add(S::COLOR, term::rook_pair(), i32::from(rooks > 1));

    let pawns = (pawns as usize).min(8);
    sink.add(S::COLOR, term::knight_with_pawns(pawns), knights);
    sink.add(S::COLOR, term::bishop_with_pawns(pawns), bishops);
    sink.add(S::COLOR, term::rook_with_pawns(pawns), rooks);
    let defenders = count(pieces.minors_and_majors(S::THEM) & !pieces.queens(S::THEM)) as usize;
    sink.add(
        S::COLOR,
        term::queen_against_pieces(defenders.min(8)),
        queens,
    );
}

/// The material key: hashes the number of pieces of each role. Six bits per number suffice.
#[inline(always)]
pub fn key(pieces: &Pieces) -> u64 {
    const ROLES: [Role; 5] = [
        Role::Pawn,
        Role::Knight,
        Role::Bishop,
        Role::Rook,
        Role::Queen,
    ];
    let mut counts = 0;
    for color in 0..2 {
        for role in ROLES {
            counts = counts << 6 | pieces.of_role(color, role).0.count_ones() as u64;
        }
    }
    // Both steps are invertible, so no two material balances share a key. They spread the
    // counts to the low bits, which select the slot.
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    u64::swap_bytes(counts.wrapping_mul(MULTIPLIER))
}

/// The game phase, from the minor and major pieces on the board.
#[inline]
pub fn phase(pieces: &Pieces) -> i32 {
    let minors_and_majors = pieces.minors_and_majors(0) | pieces.minors_and_majors(1);
    let rooks = pieces.rooks(0) | pieces.rooks(1);
    let queens = pieces.queens(0) | pieces.queens(1);
    // A minor piece counts 1, a rook 2, a queen 4.
    (count(minors_and_majors) + count(rooks) + 3 * count(queens)).min(Taper::FULL_PHASE)
}
