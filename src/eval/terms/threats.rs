//! Threats: attacks on undefended and weakly defended pieces.

use shakmaty::{Bitboard, Role, attacks};

use super::attacks::Attacks;
use super::board::{Pieces, StaticColor, count};
use super::list::{Term, term};
use super::sink::Sink;

const MINORS_AND_MAJORS: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
const VICTIMS: [Role; 5] = [
    Role::Pawn,
    Role::Knight,
    Role::Bishop,
    Role::Rook,
    Role::Queen,
];

/// Reports the threats of side `S`.
#[inline(always)]
pub fn report<S: StaticColor>(pieces: &Pieces, attacks: &Attacks, sink: &mut impl Sink) {
    pawn_threats::<S>(pieces, attacks, sink);
    piece_threats::<S>(pieces, attacks, sink);
    queen_threats::<S>(pieces, attacks, sink);

    let protected = attacks.strongly_protected::<S::Them>();
    let restricted = attacks.any[S::THEM] & attacks.any[S::US] & !protected;
    sink.add(S::COLOR, term::threat_restricted(), count(restricted));

    let undefended = !attacks.any[S::US];
    let minors = pieces.knights(S::US) | pieces.bishops(S::US);
    sink.add(S::COLOR, term::loose_minor(), count(minors & undefended));
    sink.add(
        S::COLOR,
        term::loose_pawn(),
        count(pieces.pawns(S::US) & undefended),
    );
}

/// Reports the squares of a set by the role of the enemy piece on them.
#[inline(always)]
fn by_victim<S: StaticColor, const N: usize>(
    squares: Bitboard,
    roles: [Role; N],
    pieces: &Pieces,
    table: impl Fn(usize) -> Term,
    sink: &mut impl Sink,
) {
    for (index, role) in roles.into_iter().enumerate() {
        let victims = count(squares & pieces.of_role(S::THEM, role));
        sink.add(S::COLOR, table(index), victims);
    }
}

#[inline(always)]
fn pawn_threats<S: StaticColor>(pieces: &Pieces, attacks: &Attacks, sink: &mut impl Sink) {
    let minors_and_majors = pieces.minors_and_majors(S::THEM);
    let safe = !attacks.any[S::THEM] | attacks.any[S::US];
    let pawns = pieces.pawns(S::US) & safe;
    let attacked = S::pawn_attacks(pawns) & minors_and_majors;
    by_victim::<S, 4>(
        attacked,
        MINORS_AND_MAJORS,
        pieces,
        term::threat_by_pawn,
        sink,
    );

    let free = !pieces.occupied;
    let single = S::forward(pieces.pawns(S::US)) & free;
    let double = S::forward(single & S::rank_squares(2)) & free;
    let safe_pushes = (single | double) & !attacks.by(S::THEM, Role::Pawn) & safe;
    let pushed = S::pawn_attacks(safe_pushes) & minors_and_majors & !attacks.by(S::US, Role::Pawn);
    by_victim::<S, 4>(
        pushed,
        MINORS_AND_MAJORS,
        pieces,
        term::threat_by_push,
        sink,
    );
}

#[inline(always)]
fn piece_threats<S: StaticColor>(pieces: &Pieces, attacks: &Attacks, sink: &mut impl Sink) {
    let king = Bitboard::from_square(pieces.king[S::THEM]);
    let targets = pieces.all[S::THEM] & !king & attacks.any[S::US];
    let protected = attacks.strongly_protected::<S::Them>();
    let weak = targets & !protected;
    let minors = attacks.by_minors(S::US);

    by_victim::<S, 5>(weak & minors, VICTIMS, pieces, term::threat_by_minor, sink);
    let by_rook = weak & attacks.by(S::US, Role::Rook);
    by_victim::<S, 5>(by_rook, VICTIMS, pieces, term::threat_by_rook, sink);
    let by_king = weak & attacks.by(S::US, Role::King);
    sink.add(S::COLOR, term::threat_by_king(), i32::from(by_king.any()));
    let minors_and_majors = pieces.minors_and_majors(S::THEM);
    let by_queen = weak & minors_and_majors & attacks.by(S::US, Role::Queen);
    sink.add(S::COLOR, term::threat_by_queen(), count(by_queen));

    let majors = pieces.rooks(S::THEM) | pieces.queens(S::THEM);
    sink.add(
        S::COLOR,
        term::threat_minor_on_major(),
        count(targets & protected & majors & minors),
    );
    let undefended = !attacks.any[S::THEM];
    let hanging = weak & (undefended | (minors_and_majors & attacks.twice[S::US]));
    sink.add(S::COLOR, term::threat_hanging(), count(hanging));
    let by_queen_alone = weak & attacks.by(S::THEM, Role::Queen) & !attacks.twice[S::THEM];
    sink.add(
        S::COLOR,
        term::threat_guarded_by_queen(),
        count(by_queen_alone),
    );
}

/// Reports safe squares from which a piece could attack a single enemy queen.
#[inline(always)]
fn queen_threats<S: StaticColor>(pieces: &Pieces, attacks: &Attacks, sink: &mut impl Sink) {
    let Some(queen) = pieces.queens(S::THEM).single_square() else {
        return;
    };
    let safe = !attacks.strongly_protected::<S::Them>() & !pieces.pawns(S::US);
    let knight = attacks.by(S::US, Role::Knight) & attacks::knight_attacks(queen) & safe;
    sink.add(S::COLOR, term::threat_knight_on_queen(), count(knight));

    let diagonal = attacks::bishop_attacks(queen, pieces.occupied);
    let orthogonal = attacks::rook_attacks(queen, pieces.occupied);
    let sliders =
        (attacks.by(S::US, Role::Bishop) & diagonal) | (attacks.by(S::US, Role::Rook) & orthogonal);
    let supported = sliders & safe & attacks.twice[S::US];
    sink.add(S::COLOR, term::threat_slider_on_queen(), count(supported));
}
