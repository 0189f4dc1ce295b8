//! Where the pieces stand: one table of squares per piece.
//!
//! A side's tables are drawn with its king on the right half of the board and mirrored when it
//! stands on the left, so one table serves both castlings and knows the king's side of the
//! board from the other.

use shakmaty::{Bitboard, Square};

use super::board::{Pieces, Side};
use super::sink::Sink;
use super::terms::{Term, term};

#[inline(always)]
pub fn report_structure<S: Side>(pieces: &Pieces, sink: &mut impl Sink) {
    let king = pieces.king[S::US];
    let mirror = mirror(king);
    add::<S>(pieces.pawns(S::US), mirror, term::pawn_square, sink);
    let cell = diagram_cell::<S>(king) ^ mirror;
    sink.add(S::COLOR, term::king_square((cell >> 3) * 4 + (cell & 3)), 1);
}

#[inline(always)]
pub fn report<S: Side>(pieces: &Pieces, sink: &mut impl Sink) {
    let mirror = mirror(pieces.king[S::US]);
    add::<S>(pieces.knights(S::US), mirror, term::knight_square, sink);
    add::<S>(pieces.bishops(S::US), mirror, term::bishop_square, sink);
    add::<S>(pieces.rooks(S::US), mirror, term::rook_square, sink);
    add::<S>(pieces.queens(S::US), mirror, term::queen_square, sink);
}

/// What turns the tables over for a king on the left half.
#[inline(always)]
fn mirror(king: Square) -> usize {
    if king.to_usize() & 4 == 0 { 7 } else { 0 }
}

#[inline(always)]
fn add<S: Side>(
    squares: Bitboard,
    mirror: usize,
    table: impl Fn(usize) -> Term,
    sink: &mut impl Sink,
) {
    for square in squares {
        sink.add(S::COLOR, table(diagram_cell::<S>(square) ^ mirror), 1);
    }
}

/// Tables begin with the eighth rank, as diagrams do.
#[inline(always)]
fn diagram_cell<S: Side>(square: Square) -> usize {
    S::relative(square) ^ 56
}
