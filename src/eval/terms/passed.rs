//! Passed pawns: advancement, blockers, king distances, support.

use shakmaty::{Bitboard, Color, Role, Square};

use super::attacks::Attacks;
use super::board::{Pieces, StaticColor, beside, count, edge_distance, file_fill};
use super::geometry::distance;
use super::list::term;
use super::pawns::PawnStructure;
use super::sink::Sink;

/// The first relative rank (from 0) on which kings and pieces matter to a passed pawn.
const ADVANCED: usize = 3;

/// Reports the terms that depend on pawns and kings alone.
#[inline(always)]
pub fn report_structure<S: StaticColor>(
    pieces: &Pieces,
    pawns: &PawnStructure,
    sink: &mut impl Sink,
) {
    for pawn in pawns.passed[S::US] {
        let rank = S::rank(pawn);
        sink.add(S::COLOR, term::passed_rank(rank), 1);
        sink.add(S::COLOR, term::passed_file(edge_distance(pawn)), 1);
        let square = Bitboard::from_square(pawn);
        let connected = (beside(square) & pieces.pawns(S::US)) | (square & pawns.attacks[S::US]);
        sink.add(
            S::COLOR,
            term::passed_connected(rank),
            i32::from(connected.any()),
        );
        if rank >= ADVANCED {
            report_king_distances::<S>(pawn, rank, pieces, sink);
        }
    }
    report_outside::<S>(pieces, pawns, sink);
}

/// Reports the terms that depend on the other pieces.
#[inline(always)]
pub fn report<S: StaticColor>(
    pieces: &Pieces,
    pawns: &PawnStructure,
    attacks: &Attacks,
    turn: Color,
    sink: &mut impl Sink,
) {
    for pawn in pawns.passed[S::US] & S::ranks_from(ADVANCED) {
        let square = Bitboard::from_square(pawn);
        report_path::<S>(square, S::rank(pawn), pieces, attacks, sink);
    }
    if pieces.minors_and_majors(S::THEM).is_empty() {
        for pawn in pawns.passed[S::US] {
            let caught = is_caught::<S>(pawn, pieces, turn);
            sink.add(S::COLOR, term::passed_unstoppable(), i32::from(!caught));
        }
    }
}

/// Reports the distances of the kings; they count more on higher ranks.
#[inline(always)]
fn report_king_distances<S: StaticColor>(
    pawn: Square,
    rank: usize,
    pieces: &Pieces,
    sink: &mut impl Sink,
) {
    let factor = [0, 0, 0, 1, 2, 3, 4, 0][rank];
    let Some(next) = S::forward(Bitboard::from_square(pawn)).first() else {
        return;
    };
    let own = distance(pieces.king[S::US], next);
    let enemy = distance(pieces.king[S::THEM], next);
    sink.add(S::COLOR, term::passed_own_king(own), factor);
    sink.add(S::COLOR, term::passed_enemy_king(enemy), factor);
}

/// Reports the path to promotion: blocked, attacked, defended, free.
#[inline(always)]
fn report_path<S: StaticColor>(
    pawn: Bitboard,
    rank: usize,
    pieces: &Pieces,
    attacks: &Attacks,
    sink: &mut impl Sink,
) {
    let next = S::forward(pawn);
    let path = S::front_span(pawn);
    // A rook or queen behind the pawn defends, or attacks, the whole path.
    let majors = |color| pieces.rooks(color) | pieces.queens(color);
    let behind = S::rear_span(pawn);
    let direct = |color: usize, role| attacks.by(color, role) & pawn;
    let supported = |color| {
        (majors(color) & behind).any()
            && (direct(color, Role::Rook) | direct(color, Role::Queen)).any()
    };
    let own_support = supported(S::US);
    let attacked = if supported(S::THEM) {
        path
    } else {
        attacks.any[S::THEM] & path
    };

    let blockaded = (next & pieces.all[S::THEM]).any();
    let step_free = (next & pieces.occupied).is_empty();
    let path_free = (path & pieces.occupied).is_empty();
    let guarded = own_support || (next & attacks.any[S::US]).any();
    sink.add(S::COLOR, term::passed_blockaded(rank), i32::from(blockaded));
    sink.add(
        S::COLOR,
        term::passed_safe_step(rank),
        i32::from(step_free && (next & attacked).is_empty()),
    );
    sink.add(
        S::COLOR,
        term::passed_guarded_step(rank),
        i32::from(step_free && guarded),
    );
    sink.add(S::COLOR, term::passed_free_path(rank), i32::from(path_free));
    sink.add(
        S::COLOR,
        term::passed_safe_path(rank),
        i32::from(path_free && attacked.is_empty()),
    );
    sink.add(
        S::COLOR,
        term::passed_rook_support(rank),
        i32::from(own_support),
    );
}

/// The rule of the square: whether the enemy king alone catches the pawn. A pawn on its initial
/// square may advance two squares; a pawn blocked by an own piece counts as caught.
#[inline(always)]
pub fn is_caught<S: StaticColor>(pawn: Square, pieces: &Pieces, turn: Color) -> bool {
    let square = Bitboard::from_square(pawn);
    if (S::front_span(square) & pieces.all[S::US]).any() {
        return true;
    }
    let rank = S::rank(pawn).max(2);
    let steps = 7 - rank as u32;
    let promotion_square = S::front_span(square) & S::rank_squares(7);
    let Some(promotion_square) = promotion_square.first() else {
        return true;
    };
    let extra_move = u32::from(turn != S::COLOR);
    pieces.king[S::THEM]
        .distance(promotion_square)
        .saturating_sub(extra_move)
        <= steps
}

/// Reports an outside passed pawn: at least two files outside all other pawns.
#[inline(always)]
fn report_outside<S: StaticColor>(pieces: &Pieces, pawns: &PawnStructure, sink: &mut impl Sink) {
    let passed = pawns.passed[S::US];
    if passed.is_empty() {
        return;
    }
    let passed_files = file_bits(file_fill(passed));
    let others = (pieces.pawns(0) | pieces.pawns(1)) & !passed;
    let other_files = file_bits(file_fill(others));
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
fn file_bits(files: Bitboard) -> u8 {
    debug_assert!(count(files) % 8 == 0);
    files.0 as u8
}
