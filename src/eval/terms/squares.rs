//! Where the pieces stand: one table of squares per piece.
//!
//! A side's tables are drawn with its king on the right half of the board and mirrored when it
//! stands on the left, so one table serves both castlings and knows the king's side of the
//! board from the other.

use shakmaty::Square;

use super::board::{Pieces, Side};
use super::list::{Term, term};
use super::sink::Sink;

/// Reports pawns and king.
#[inline(always)]
pub fn report_structure<S: Side>(pieces: &Pieces, sink: &mut impl Sink) {
    let king = pieces.king[S::US];
    let mirror = mirror(king);
    for pawn in pieces.pawns(S::US) {
        report::<S>(pawn, mirror, term::pawn_square, sink);
    }
    let cell = diagram_cell::<S>(king) ^ mirror;
    sink.add(S::COLOR, term::king_square((cell >> 3) * 4 + (cell & 3)), 1);
}

/// What turns the tables over for a king on the left half.
#[inline(always)]
pub fn mirror(king: Square) -> usize {
    if king.to_usize() & 4 == 0 { 7 } else { 0 }
}

/// Reports one piece in the table of its kind. `pieces.rs` does so on its own walk over the
/// pieces: a second one would cost more than the tables.
#[inline(always)]
pub fn report<S: Side>(
    square: Square,
    mirror: usize,
    table: impl Fn(usize) -> Term,
    sink: &mut impl Sink,
) {
    sink.add(S::COLOR, table(diagram_cell::<S>(square) ^ mirror), 1);
}

/// Tables begin with the eighth rank, as diagrams do.
#[inline(always)]
fn diagram_cell<S: Side>(square: Square) -> usize {
    S::relative(square) ^ 56
}
