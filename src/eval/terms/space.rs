//! Space behind the pawns, and control of the centre.
//!
//! Space is worth more with more pieces, so its tables are indexed by the number of own minor
//! and major pieces.

use shakmaty::Role;

use super::attacks::Attacks;
use super::board::{CENTRE, CENTRE_FILES, Pieces, StaticColor, count};
use super::list::term;
use super::pawns::PawnStructure;
use super::sink::Sink;

#[inline(always)]
pub fn report<S: StaticColor>(
    pieces: &Pieces,
    pawns: &PawnStructure,
    attacks: &Attacks,
    sink: &mut impl Sink,
) {
    let own = pieces.pawns(S::US);
    let area = CENTRE_FILES & (S::rank_squares(1) | S::rank_squares(2) | S::rank_squares(3));
    let safe = area & !own & !attacks.by(S::THEM, Role::Pawn);
    let behind = safe & pawns.rear_span[S::US] & !attacks.any[S::THEM];
    let minors_and_majors = (count(pieces.minors_and_majors(S::US)) as usize).min(7);
    sink.add(S::COLOR, term::space_safe(minors_and_majors), count(safe));
    sink.add(
        S::COLOR,
        term::space_behind_pawns(minors_and_majors),
        count(behind),
    );

    let centre = count(CENTRE & attacks.any[S::US]) + count(CENTRE & attacks.twice[S::US]);
    sink.add(S::COLOR, term::space_centre_attacks(), centre);
    sink.add(S::COLOR, term::space_centre_pawns(), count(CENTRE & own));
}
