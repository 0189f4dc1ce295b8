//! Pawns that no enemy pawn can stop: how far they are, who stands in the way, who helps.

use shakmaty::{Bitboard, Color, Role, Square};

use super::attacks::Attacks;
use super::board::{Pieces, Side, beside, count, edge_distance};
use super::geometry::distance;
use super::list::term;
use super::pawns::PawnFacts;
use super::sink::Sink;

/// From this rank on (counted from 0) kings and pieces care about a passed pawn.
const ADVANCED: usize = 3;

/// What pawns and kings tell of the passed pawns.
#[inline(always)]
pub fn report_structure<S: Side>(pieces: &Pieces, pawns: &PawnFacts, sink: &mut impl Sink) {
    for pawn in pawns.passed[S::US] {
        let rank = S::rank(pawn);
        sink.add(S::COLOR, term::passed_rank(rank), 1);
        sink.add(S::COLOR, term::passed_file(edge_distance(pawn)), 1);
        let square = Bitboard::from_square(pawn);
        let comrades = (beside(square) & pieces.pawns(S::US)) | (square & pawns.attacks[S::US]);
        sink.add(
            S::COLOR,
            term::passed_connected(rank),
            i32::from(comrades.any()),
        );
        if rank >= ADVANCED {
            kings::<S>(pawn, rank, pieces, sink);
        }
    }
    outside::<S>(pieces, pawns, sink);
}

/// What the pieces mean to the passed pawns.
#[inline(always)]
pub fn report<S: Side>(
    pieces: &Pieces,
    pawns: &PawnFacts,
    attacks: &Attacks,
    turn: Color,
    sink: &mut impl Sink,
) {
    for pawn in pawns.passed[S::US] & S::ranks_from(ADVANCED) {
        let square = Bitboard::from_square(pawn);
        path::<S>(square, S::rank(pawn), pieces, attacks, sink);
    }
    if pieces.officers(S::THEM).is_empty() {
        for pawn in pawns.passed[S::US] {
            let caught = is_caught::<S>(pawn, pieces, turn);
            sink.add(S::COLOR, term::passed_unstoppable(), i32::from(!caught));
        }
    }
}

/// The nearer the goal, the more the kings' distances matter.
#[inline(always)]
fn kings<S: Side>(pawn: Square, rank: usize, pieces: &Pieces, sink: &mut impl Sink) {
    let eagerness = [0, 0, 0, 1, 2, 3, 4, 0][rank];
    let Some(next) = S::forward(Bitboard::from_square(pawn)).first() else {
        return;
    };
    let own = distance(pieces.king[S::US], next);
    let enemy = distance(pieces.king[S::THEM], next);
    sink.add(S::COLOR, term::passed_own_king(own), eagerness);
    sink.add(S::COLOR, term::passed_enemy_king(enemy), eagerness);
}

/// The way to promotion: blocked, attacked, guarded, free.
#[inline(always)]
fn path<S: Side>(
    pawn: Bitboard,
    rank: usize,
    pieces: &Pieces,
    attacks: &Attacks,
    sink: &mut impl Sink,
) {
    let next = S::forward(pawn);
    let way = S::ahead(pawn);
    let has = |condition: bool| i32::from(condition);
    // A rook or queen behind the pawn guards its whole way, or attacks all of it.
    let majors = |color| pieces.rooks(color) | pieces.queens(color);
    let behind = S::behind(pawn);
    let direct = |color: usize, role| attacks.by(color, role) & pawn;
    let supported = |color| {
        (majors(color) & behind).any()
            && (direct(color, Role::Rook) | direct(color, Role::Queen)).any()
    };
    let own_support = supported(S::US);
    let attacked = if supported(S::THEM) {
        way
    } else {
        attacks.any[S::THEM] & way
    };

    let blockaded = (next & pieces.all[S::THEM]).any();
    let step_free = (next & pieces.occupied).is_empty();
    let way_free = (way & pieces.occupied).is_empty();
    let guarded = own_support || (next & attacks.any[S::US]).any();
    sink.add(S::COLOR, term::passed_blockaded(rank), has(blockaded));
    sink.add(
        S::COLOR,
        term::passed_safe_step(rank),
        has(step_free && (next & attacked).is_empty()),
    );
    sink.add(
        S::COLOR,
        term::passed_guarded_step(rank),
        has(step_free && guarded),
    );
    sink.add(S::COLOR, term::passed_free_path(rank), has(way_free));
    sink.add(
        S::COLOR,
        term::passed_safe_path(rank),
        has(way_free && attacked.is_empty()),
    );
    sink.add(S::COLOR, term::passed_rook_support(rank), has(own_support));
}

/// The rule of the square: whether the enemy king, alone, reaches the pawn in time. A pawn on
/// its first square may step twice; an own piece in its way costs it the race.
#[inline(always)]
pub fn is_caught<S: Side>(pawn: Square, pieces: &Pieces, turn: Color) -> bool {
    let square = Bitboard::from_square(pawn);
    if (S::ahead(square) & pieces.all[S::US]).any() {
        return true;
    }
    let rank = S::rank(pawn).max(2);
    let steps = 7 - rank as u32;
    let goal = S::ahead(square) & S::rank_squares(7);
    let Some(goal) = goal.first() else {
        return true;
    };
    let head_start = u32::from(turn != S::COLOR);
    pieces.king[S::THEM]
        .distance(goal)
        .saturating_sub(head_start)
        <= steps
}

/// A passed pawn at least two files outside all other pawns draws the enemy king away.
#[inline(always)]
fn outside<S: Side>(pieces: &Pieces, pawns: &PawnFacts, sink: &mut impl Sink) {
    let passed = pawns.passed[S::US];
    if passed.is_empty() {
        return;
    }
    let passed_files = passed_bits(super::board::files_of(passed));
    let others = (pieces.pawns(0) | pieces.pawns(1)) & !passed;
    let other_files = passed_bits(super::board::files_of(others));
    if other_files == 0 {
        return;
    }
    let (left, right) = (
        other_files.trailing_zeros(),
        7 - other_files.leading_zeros(),
    );
    let (first, last) = (
        passed_files.trailing_zeros(),
        7 - passed_files.leading_zeros(),
    );
    let far = first + 2 <= left || last >= right + 2;
    sink.add(S::COLOR, term::passed_outside(), i32::from(far));
}

/// One bit for each file.
#[inline(always)]
fn passed_bits(files: Bitboard) -> u8 {
    debug_assert!(count(files) % 8 == 0);
    files.0 as u8
}
