//! Piece-square tables (PST), one per role.
//!
//! The tables assume the own king on the files e to h and are mirrored when it is on a to d. So
//! one table serves both castling sides, and separates the king's wing from the other.

use shakmaty::Square;

use super::board::{Pieces, StaticColor};
use super::list::{Term, term};
use super::sink::Sink;

/// Reports pawns and the king.
#[inline(always)]
pub fn report_structure<S: StaticColor>(pieces: &Pieces, sink: &mut impl Sink) {
    let king = pieces.king[S::US];
    let mirror = mirror(king);
    for pawn in pieces.pawns(S::US) {
        report::<S>(pawn, mirror, term::pawn_square, sink);
    }
    let cell = diagram_cell::<S>(king) ^ mirror;
    sink.add(S::COLOR, term::king_square((cell >> 3) * 4 + (cell & 3)), 1);
}

/// The XOR mask that mirrors a square horizontally when the own king is on the files a to d.
#[inline(always)]
pub fn mirror(king: Square) -> usize {
    if king.to_usize() & 4 == 0 { 7 } else { 0 }
}

/// Reports one piece in a piece-square table. `pieces.rs` calls it in its own loop, because a
/// second loop over the pieces would cost more than the tables.
#[inline(always)]
pub fn report<S: StaticColor>(
    square: Square,
    mirror: usize,
    table: impl Fn(usize) -> Term,
    sink: &mut impl Sink,
) {
    sink.add(S::COLOR, table(diagram_cell::<S>(square) ^ mirror), 1);
}

/// Tables begin with the eighth rank, as board diagrams do.
#[inline(always)]
fn diagram_cell<S: StaticColor>(square: Square) -> usize {
    S::relative(square) ^ 56
}
