//! Piece activity: mobility, outposts, bad bishops, rooks on files, exposed queens.
//!
//! One loop over the pieces adds the attacks of each to [`Attacks`] (a pinned piece attacks only
//! along its pin) and reports its terms. Terms that need no loop are computed on whole sets
//! afterwards.

use shakmaty::{Bitboard, Castles, Role, Square, attacks};

use super::attacks::Attacks;
use super::board::{CENTRE_FILES, Pieces, StaticColor, count, file_fill};
use super::geometry::{diagonals, distance, orthogonals, path_to_centre};
use super::list::term;
use super::pawns::PawnStructure;
use super::sink::Sink;
use super::squares;

/// Bitboards that the terms of every piece of a side need.
struct PieceContext {
    /// Squares next to the enemy king.
    enemy_king: Bitboard,
    /// Holes: squares of the relative ranks 4 to 6 that no enemy pawn can ever attack.
    holes: Bitboard,
    /// Holes defended by an own pawn.
    outposts: Bitboard,
    /// Mirrors the piece-square tables: see `squares::mirror`.
    mirror: usize,
}

#[inline(always)]
pub fn report<S: StaticColor>(
    pieces: &Pieces,
    pawns: &PawnStructure,
    castles: &Castles,
    attacks: &mut Attacks,
    sink: &mut impl Sink,
) {
    let enemy_half = S::rank_squares(3) | S::rank_squares(4) | S::rank_squares(5);
    let holes = enemy_half & !pawns.attack_span[S::THEM];
    let context = PieceContext {
        enemy_king: attacks::king_attacks(pieces.king[S::THEM]),
        holes,
        outposts: holes & pawns.attacks[S::US],
        mirror: squares::mirror(pieces.king[S::US]),
    };
    knights::<S>(pieces, &context, attacks, sink);
    bishops::<S>(pieces, &context, attacks, sink);
    rooks::<S>(pieces, &context, castles, attacks, sink);
    queens::<S>(pieces, pawns, &context, attacks, sink);
    rook_files::<S>(pieces, pawns, attacks, sink);

    let minors = pieces.knights(S::US) | pieces.bishops(S::US);
    let shielded = minors & S::backward(pieces.pawns(S::US) | pieces.pawns(S::THEM));
    sink.add(S::COLOR, term::minor_behind_pawn(), count(shielded));
}

/// Restricts the attacks of a pinned piece to its pin line.
#[inline(always)]
fn restricted_by_pin<S: StaticColor>(
    square: Square,
    attacked: Bitboard,
    pieces: &Pieces,
    attacks: &Attacks,
) -> Bitboard {
    if attacks.pinned[S::US].contains(square) {
        attacked & attacks::ray(pieces.king[S::US], square)
    } else {
        attacked
    }
}

#[inline(always)]
fn knights<S: StaticColor>(
    pieces: &Pieces,
    context: &PieceContext,
    attacks: &mut Attacks,
    sink: &mut impl Sink,
) {
    let king = pieces.king[S::US];
    for square in pieces.knights(S::US) {
        let attacked =
            restricted_by_pin::<S>(square, attacks::knight_attacks(square), pieces, attacks);
        attacks.add_piece::<S>(Role::Knight, attacked, context.enemy_king);
        let mobility = count(attacked & attacks.mobility_area[S::US]) as usize;
        squares::report::<S>(square, context.mirror, term::knight_square, sink);
        sink.add(S::COLOR, term::knight_mobility(mobility), 1);
        let steps = distance(king, square);
        sink.add(S::COLOR, term::knight_king_distance(steps), 1);

        let reach = (attacked & context.outposts & !pieces.all[S::US]).any();
        let on_outpost = context.outposts.contains(square);
        sink.add(
            S::COLOR,
            term::knight_outpost_reach(),
            i32::from(reach && !on_outpost),
        );
    }
    let on_outpost = pieces.knights(S::US) & context.outposts;
    let unsupported = pieces.knights(S::US) & context.holes & !context.outposts;
    sink.add(S::COLOR, term::knight_outpost(), count(on_outpost));
    sink.add(S::COLOR, term::knight_hole(), count(unsupported));
}

#[inline(always)]
fn bishops<S: StaticColor>(
    pieces: &Pieces,
    context: &PieceContext,
    attacks: &mut Attacks,
    sink: &mut impl Sink,
) {
    let king = pieces.king[S::US];
    let occupied = pieces.occupied & !pieces.queens(0) & !pieces.queens(1);
    let (own, enemy) = (pieces.pawns(S::US), pieces.pawns(S::THEM));
    let blocked = own & S::backward(enemy) & CENTRE_FILES;
    for square in pieces.bishops(S::US) {
        let attacked = attacks::bishop_attacks(square, occupied);
        let attacked = restricted_by_pin::<S>(square, attacked, pieces, attacks);
        attacks.add_piece::<S>(Role::Bishop, attacked, context.enemy_king);
        let mobility = count(attacked & attacks.mobility_area[S::US]) as usize;
        squares::report::<S>(square, context.mirror, term::bishop_square, sink);
        sink.add(S::COLOR, term::bishop_mobility(mobility), 1);
        let trapped = mobility == 0 && S::rank(square) > 0;
        sink.add(S::COLOR, term::bishop_trapped(), i32::from(trapped));
        let steps = distance(king, square);
        sink.add(S::COLOR, term::bishop_king_distance(steps), 1);

        let reach = (attacked & context.outposts & !pieces.all[S::US]).any();
        let on_outpost = context.outposts.contains(square);
        sink.add(
            S::COLOR,
            term::bishop_outpost_reach(),
            i32::from(reach && !on_outpost),
        );

        let blockers = path_to_centre(square) & (own | enemy | Bitboard::from_square(square));
        sink.add(
            S::COLOR,
            term::bishop_long_diagonal(),
            i32::from(blockers.is_empty()),
        );

        let colour = if Bitboard::DARK_SQUARES.contains(square) {
            Bitboard::DARK_SQUARES
        } else {
            !Bitboard::DARK_SQUARES
        };
        sink.add(S::COLOR, term::bishop_bad(), count(own & colour));
        sink.add(
            S::COLOR,
            term::bishop_bad_blocked(),
            count(blocked & colour),
        );
        sink.add(
            S::COLOR,
            term::bishop_xray_pawns(),
            count(diagonals(square) & enemy),
        );
    }
    let on_outpost = pieces.bishops(S::US) & context.outposts;
    sink.add(S::COLOR, term::bishop_outpost(), count(on_outpost));
}

#[inline(always)]
fn rooks<S: StaticColor>(
    pieces: &Pieces,
    context: &PieceContext,
    castles: &Castles,
    attacks: &mut Attacks,
    sink: &mut impl Sink,
) {
    /// With at most this mobility a rook is trapped.
    const TRAPPED_MOBILITY: usize = 3;
    let rooks = pieces.rooks(S::US);
    let occupied = pieces.occupied & !pieces.queens(0) & !pieces.queens(1) & !rooks;
    let king_file = pieces.king[S::US].to_u32() & 7;
    let trapped_term = if castles.has_color(S::COLOR) {
        term::rook_boxed()
    } else {
        term::rook_trapped()
    };
    for square in rooks {
        let attacked = attacks::rook_attacks(square, occupied);
        let attacked = restricted_by_pin::<S>(square, attacked, pieces, attacks);
        attacks.add_piece::<S>(Role::Rook, attacked, context.enemy_king);
        let mobility = count(attacked & attacks.mobility_area[S::US]) as usize;
        squares::report::<S>(square, context.mirror, term::rook_square, sink);
        sink.add(S::COLOR, term::rook_mobility(mobility), 1);

        let file = square.to_u32() & 7;
        let outside_king = if king_file < 4 {
            file < king_file
        } else {
            file > king_file
        };
        let trapped = i32::from(mobility <= TRAPPED_MOBILITY && outside_king);
        sink.add(S::COLOR, trapped_term, trapped);
    }
}

/// Reports rooks on files and on the seventh rank.
#[inline(always)]
fn rook_files<S: StaticColor>(
    pieces: &Pieces,
    pawns: &PawnStructure,
    attacks: &Attacks,
    sink: &mut impl Sink,
) {
    let rooks = pieces.rooks(S::US);
    let (ours, theirs) = (pawns.files[S::US], pawns.files[S::THEM]);
    let behind_own = pawns.rear_span[S::US];
    sink.add(
        S::COLOR,
        term::rook_open_file(),
        count(rooks & !ours & !theirs),
    );
    sink.add(
        S::COLOR,
        term::rook_half_open_file(),
        count(rooks & !ours & theirs),
    );
    sink.add(
        S::COLOR,
        term::rook_own_file(),
        count(rooks & ours & !theirs),
    );
    let closed = rooks & ours & theirs;
    sink.add(
        S::COLOR,
        term::rook_closed_behind(),
        count(closed & behind_own),
    );
    sink.add(
        S::COLOR,
        term::rook_closed_ahead(),
        count(closed & !behind_own),
    );

    let seventh = rooks & S::rank_squares(6);
    let cuts_off = S::rank(pieces.king[S::THEM]) == 7;
    let active = cuts_off || (pieces.pawns(S::THEM) & S::rank_squares(6)).any();
    sink.add(S::COLOR, term::rook_on_seventh(), count(seventh));
    sink.add(
        S::COLOR,
        term::rook_on_seventh_active(),
        count(seventh) * i32::from(active),
    );

    let connected = rooks & attacks.by(S::US, Role::Rook);
    sink.add(S::COLOR, term::rook_connected(), count(connected));
    let behind_passer = rooks & pawns.behind_passed[S::US];
    sink.add(S::COLOR, term::rook_behind_passer(), count(behind_passer));
    let behind_enemy = rooks & pawns.behind_passed[S::THEM];
    sink.add(
        S::COLOR,
        term::rook_behind_enemy_passer(),
        count(behind_enemy),
    );
    let facing = rooks & file_fill(pieces.queens(S::THEM));
    sink.add(S::COLOR, term::rook_on_queen_file(), count(facing));
}

#[inline(always)]
fn queens<S: StaticColor>(
    pieces: &Pieces,
    pawns: &PawnStructure,
    context: &PieceContext,
    attacks: &mut Attacks,
    sink: &mut impl Sink,
) {
    let queens = pieces.queens(S::US);
    for square in queens {
        let attacked = attacks::queen_attacks(square, pieces.occupied);
        let attacked = restricted_by_pin::<S>(square, attacked, pieces, attacks);
        attacks.add_piece::<S>(Role::Queen, attacked, context.enemy_king);
        let mobility = count(attacked & attacks.mobility_area[S::US]) as usize;
        squares::report::<S>(square, context.mirror, term::queen_square, sink);
        sink.add(S::COLOR, term::queen_mobility(mobility.min(27)), 1);
        let exposed = is_exposed::<S>(square, pieces);
        sink.add(S::COLOR, term::queen_exposed(), i32::from(exposed));
    }
    let own_half =
        S::rank_squares(0) | S::rank_squares(1) | S::rank_squares(2) | S::rank_squares(3);
    let infiltrated = queens & !own_half & !pawns.attack_span[S::THEM];
    sink.add(S::COLOR, term::queen_infiltrated(), count(infiltrated));

    let home = S::rank_squares(0);
    let out = queens & !home & !S::rank_squares(1);
    let undeveloped = (pieces.knights(S::US) | pieces.bishops(S::US)) & home;
    sink.add(
        S::COLOR,
        term::queen_early(),
        count(out) * count(undeveloped),
    );
}

/// Whether an enemy bishop or rook attacks the queen through exactly one blocker.
#[inline(always)]
fn is_exposed<S: StaticColor>(queen: Square, pieces: &Pieces) -> bool {
    let orthogonal = orthogonals(queen) & pieces.rooks(S::THEM);
    let diagonal = diagonals(queen) & pieces.bishops(S::THEM);
    (orthogonal | diagonal).into_iter().any(|sniper| {
        let between = attacks::between(queen, sniper) & pieces.occupied;
        between.any() && !between.more_than_one()
    })
}
