//! Complexity: how hard the position is to draw.
//!
//! These terms belong to neither side. Their sum moves the endgame score away from zero or
//! toward it, never across: see `Totals::endgame_with_complexity`.

use super::board::{BlackSide, KING_SIDE, Pieces, QUEEN_SIDE, StaticColor, WhiteSide, count};
use super::list::term;
use super::pawns::PawnStructure;
use super::sink::Sink;

/// Reports the terms that depend on pawns and kings alone.
#[inline(always)]
pub fn report_structure(pieces: &Pieces, pawns: &PawnStructure, sink: &mut impl Sink) {
    let all_pawns = pieces.pawns(0) | pieces.pawns(1);
    let [white, black] = pieces
        .king
        .map(|king| (king.to_usize() & 7, king.to_usize() >> 3));
    let outflanking = white.0.abs_diff(black.0) as i32 - white.1.abs_diff(black.1) as i32;
    let both_wings = (all_pawns & QUEEN_SIDE).any() && (all_pawns & KING_SIDE).any();
    let infiltrated = WhiteSide::rank(pieces.king[0]) > 3 || BlackSide::rank(pieces.king[1]) > 3;
    let almost_drawn = outflanking < 0 && !both_wings;

    sink.add_complexity(term::complexity_base(), 1);
    sink.add_complexity(term::complexity_pawns(), count(all_pawns));
    let passed = count(pawns.passed[0] | pawns.passed[1]);
    sink.add_complexity(term::complexity_passed(), passed);
    sink.add_complexity(term::complexity_outflanking(), outflanking);
    sink.add_complexity(term::complexity_both_wings(), i32::from(both_wings));
    sink.add_complexity(term::complexity_infiltration(), i32::from(infiltrated));
    sink.add_complexity(term::complexity_still(), i32::from(almost_drawn));
}

/// Reports the terms that depend on the other pieces.
#[inline(always)]
pub fn report(pieces: &Pieces, sink: &mut impl Sink) {
    let pawn_ending = (pieces.minors_and_majors(0) | pieces.minors_and_majors(1)).is_empty();
    sink.add_complexity(term::complexity_pawn_ending(), i32::from(pawn_ending));
}
