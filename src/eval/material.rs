//! What is on the board: piece values, the bishop pair and the right to move.

use super::board::{Pieces, Side, count};
use super::sink::Sink;
use super::terms::term;

#[inline(always)]
pub fn report<S: Side>(pieces: &Pieces, sink: &mut impl Sink) {
    sink.add(S::COLOR, term::pawn(), count(pieces.pawns(S::US)));
    sink.add(S::COLOR, term::knight(), count(pieces.knights(S::US)));
    sink.add(S::COLOR, term::bishop(), count(pieces.bishops(S::US)));
    sink.add(S::COLOR, term::rook(), count(pieces.rooks(S::US)));
    sink.add(S::COLOR, term::queen(), count(pieces.queens(S::US)));
    let pair = pieces.bishops(S::US).more_than_one();
    sink.add(S::COLOR, term::bishop_pair(), i32::from(pair));
}

/// How much of the middlegame is left, by the officers on the board.
#[inline]
pub fn phase(pieces: &Pieces) -> i32 {
    let minors = pieces.knights(0) | pieces.knights(1) | pieces.bishops(0) | pieces.bishops(1);
    let rooks = pieces.rooks(0) | pieces.rooks(1);
    let queens = pieces.queens(0) | pieces.queens(1);
    (count(minors) + 2 * count(rooks) + 4 * count(queens)).min(super::sink::Frame::FULL_PHASE)
}
