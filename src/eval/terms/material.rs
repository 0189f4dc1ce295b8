//! What is on the board: piece values, pairs, how pieces get on with the number of pawns, and
//! the right to move.

use shakmaty::Role;

use super::board::{Pieces, Side, count};
use super::list::term;
use super::sink::{Sink, Taper};

#[inline(always)]
pub fn report<S: Side>(pieces: &Pieces, sink: &mut impl Sink) {
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
    let opponents = count(pieces.officers(S::THEM) & !pieces.queens(S::THEM)) as usize;
    sink.add(
        S::COLOR,
        term::queen_against_pieces(opponents.min(8)),
        queens,
    );
}

/// A key that tells the numbers of all pieces; six bits hold whatever a board can.
#[inline(always)]
pub fn key(pieces: &Pieces) -> u64 {
    const KINDS: [Role; 5] = [
        Role::Pawn,
        Role::Knight,
        Role::Bishop,
        Role::Rook,
        Role::Queen,
    ];
    let mut numbers = 0;
    for color in 0..2 {
        for role in KINDS {
            numbers = numbers << 6 | pieces.of_role(color, role).0.count_ones() as u64;
        }
    }
    // Both steps can be undone, so no two balances share a key; they bring all the numbers
    // into the low bits, which find the slot.
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    u64::swap_bytes(numbers.wrapping_mul(SPREAD))
}

/// How much of the middlegame is left, by the officers on the board.
#[inline]
pub fn phase(pieces: &Pieces) -> i32 {
    let officers = pieces.officers(0) | pieces.officers(1);
    let rooks = pieces.rooks(0) | pieces.rooks(1);
    let queens = pieces.queens(0) | pieces.queens(1);
    // A minor piece counts 1, a rook 2, a queen 4.
    (count(officers) + count(rooks) + 3 * count(queens)).min(Taper::FULL_PHASE)
}
