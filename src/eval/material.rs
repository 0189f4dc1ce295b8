//! What is on the board: piece values, pairs, how pieces get on with the number of pawns, and
//! the right to move.

use super::board::{Pieces, Side, count};
use super::sink::{Frame, Sink};
use super::terms::term;

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

/// How much of the middlegame is left, by the officers on the board.
#[inline]
pub fn phase(pieces: &Pieces) -> i32 {
    let officers = pieces.officers(0) | pieces.officers(1);
    let rooks = pieces.rooks(0) | pieces.rooks(1);
    let queens = pieces.queens(0) | pieces.queens(1);
    // A minor piece counts 1, a rook 2, a queen 4.
    (count(officers) + count(rooks) + 3 * count(queens)).min(Frame::FULL_PHASE)
}
