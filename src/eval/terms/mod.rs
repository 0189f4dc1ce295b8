//! The hand-crafted evaluation (HCE): a list of terms, and one file per family that reports them.
//!
//! - `list.rs` declares all terms; `sink.rs` has the sinks and the tapered score
//! - one file per family reports its terms: `material`, `squares`, `pawns`, `pieces`, `king`,
//!   `threats`, `passed`, `space`, `initiative`, `endgame`, `patterns`, `papers`
//! - `board.rs`, `attacks.rs` and `geometry.rs` have the bitboards that families share
//! - `cache.rs` has the pawn and material caches, `kpk.rs` the KPK bitbase, `moves.rs` the legal
//!   move counts of the papers
//! - `explain.rs` takes a score apart for display
//!
//! This file calls the families in turn.

mod attacks;
pub(super) mod board;
pub(super) mod cache;
pub(super) mod endgame;
pub(super) mod explain;
mod geometry;
mod initiative;
mod king;
pub(super) mod kpk;
mod list;
pub(super) mod material;
mod moves;
pub(super) mod papers;
mod passed;
mod patterns;
mod pawns;
mod pieces;
pub(super) mod sink;
mod space;
mod squares;
mod threats;

use crate::position::Position;
use attacks::Attacks;
use board::{BlackSide, Pieces, WhiteSide};
use pawns::PawnStructure;
use sink::{Sink, Taper};

pub use list::{Family, TERMS, Term, TermInfo, WEIGHT_COUNT, term};

/// Reports all terms of a position, without caches.
#[inline(always)]
pub(super) fn report_all(position: &Position, sink: &mut impl Sink) -> Taper {
    let pieces = Pieces::of(position);
    let pawns = PawnStructure::of(&pieces);
    report_structure(&pieces, &pawns, sink);
    report_material(&pieces, sink);
    report(position, &pieces, &pawns, material::phase(&pieces), sink)
}

/// Reports everything that depends on material alone, and is cached by the material key.
#[inline(always)]
fn report_material(pieces: &Pieces, sink: &mut impl Sink) {
    if sink.wants(Family::Material) {
        material::report::<WhiteSide>(pieces, sink);
        material::report::<BlackSide>(pieces, sink);
    }
}

/// Reports everything that depends on pawns and kings alone, and is cached by their key.
#[inline(always)]
fn report_structure(pieces: &Pieces, pawns: &PawnStructure, sink: &mut impl Sink) {
    if sink.wants(Family::Pawns) {
        pawns::report::<WhiteSide>(pieces, pawns, sink);
        pawns::report::<BlackSide>(pieces, pawns, sink);
    }
    if sink.wants(Family::Squares) {
        squares::report_structure::<WhiteSide>(pieces, sink);
        squares::report_structure::<BlackSide>(pieces, sink);
    }
    if sink.wants(Family::King) {
        king::report_structure::<WhiteSide>(pieces, pawns, sink);
        king::report_structure::<BlackSide>(pieces, pawns, sink);
    }
    if sink.wants(Family::Passed) {
        passed::report_structure::<WhiteSide>(pieces, pawns, sink);
        passed::report_structure::<BlackSide>(pieces, pawns, sink);
    }
    if sink.wants(Family::Initiative) {
        initiative::report_structure(pieces, pawns, sink);
    }
}

/// Families that need attack bitboards, or are reported in the same loop over the pieces.
const NEED_ATTACKS: [Family; 7] = [
    Family::Squares,
    Family::Pieces,
    Family::King,
    Family::Threats,
    Family::Passed,
    Family::Space,
    Family::Patterns,
];

/// Reports everything that [`report_structure`] and [`report_material`] do not, family by family
/// for both sides.
#[inline(always)]
pub(super) fn report(
    position: &Position,
    pieces: &Pieces,
    pawns: &PawnStructure,
    phase: i32,
    sink: &mut impl Sink,
) -> Taper {
    if sink.wants(Family::Material) {
        sink.add(position.turn(), term::tempo(), 1);
    }
    if NEED_ATTACKS.iter().any(|family| sink.wants(*family)) {
        report_attacks(position, pieces, pawns, sink);
    }
    if sink.wants(Family::Initiative) {
        initiative::report(pieces, sink);
    }
    let mut scale = [Taper::FULL_SCALE; 2];
    if sink.wants(Family::Endgame) {
        endgame::report::<WhiteSide>(pieces, position.turn(), sink);
        endgame::report::<BlackSide>(pieces, position.turn(), sink);
        scale = endgame::scales(pieces, pawns, position.turn());
    }
    if sink.wants(Family::Papers) {
        papers::report(position, pieces, pawns, sink);
    }
    Taper {
        phase,
        scale,
        turn: position.turn(),
    }
}

/// Reports the families that need attacks. Pieces come first, because they add the attacks.
#[inline(always)]
fn report_attacks(
    position: &Position,
    pieces: &Pieces,
    pawns: &PawnStructure,
    sink: &mut impl Sink,
) {
    let castles = position.castles();
    let mut attacks = Attacks::new(position, pieces, pawns);
    pieces::report::<WhiteSide>(pieces, pawns, castles, &mut attacks, sink);
    pieces::report::<BlackSide>(pieces, pawns, castles, &mut attacks, sink);
    if sink.wants(Family::King) {
        king::report::<WhiteSide>(pieces, pawns, &attacks, sink);
        king::report::<BlackSide>(pieces, pawns, &attacks, sink);
        king::report_castling::<WhiteSide>(castles, sink);
        king::report_castling::<BlackSide>(castles, sink);
    }
    if sink.wants(Family::Threats) {
        threats::report::<WhiteSide>(pieces, &attacks, sink);
        threats::report::<BlackSide>(pieces, &attacks, sink);
    }
    if sink.wants(Family::Passed) {
        passed::report::<WhiteSide>(pieces, pawns, &attacks, position.turn(), sink);
        passed::report::<BlackSide>(pieces, pawns, &attacks, position.turn(), sink);
    }
    if sink.wants(Family::Space) {
        space::report::<WhiteSide>(pieces, pawns, &attacks, sink);
        space::report::<BlackSide>(pieces, pawns, &attacks, sink);
    }
    if sink.wants(Family::Patterns) {
        patterns::report::<WhiteSide>(pieces, &attacks, position.turn(), sink);
        patterns::report::<BlackSide>(pieces, &attacks, position.turn(), sink);
    }
}
