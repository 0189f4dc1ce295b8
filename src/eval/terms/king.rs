//! King safety.
//!
//! King danger is not linear: two attackers are worth more than twice one. All attack features
//! are summed into one index, in fixed units ([`KingDanger::index`]), and the index selects a
//! weight of the table `king_danger`. Each feature is also a term of its own, so that tuning can
//! correct the fixed units.
//!
//! Pawn shelter and pawn storm are evaluated file by file, from the own and the enemy pawn
//! nearest to the king.

use shakmaty::{Bitboard, Castles, CastlingSide, Role, Square, attacks};

use super::attacks::{Attacks, king_flank};
use super::board::{FILE_A, Pieces, StaticColor, beside, count, edge_distance};
use super::list::term;
use super::pawns::PawnStructure;
use super::sink::Sink;

/// Reports the king terms of side `S` that depend on pawns and kings alone.
#[inline(always)]
pub fn report_structure<S: StaticColor>(
    pieces: &Pieces,
    pawns: &PawnStructure,
    sink: &mut impl Sink,
) {
    let king = pieces.king[S::US];
    report_shelter_and_storm::<S>(king, pieces, sink);
    report_open_files::<S>(king, pawns, sink);
    if let Some(distance) = pawn_distance(king, pieces.pawns(S::US)) {
        sink.add(S::COLOR, term::king_pawn_distance(distance), 1);
    }
    let pawnless = ((pieces.pawns(0) | pieces.pawns(1)) & king_flank(king)).is_empty();
    sink.add(S::COLOR, term::king_flank_pawnless(), i32::from(pawnless));
}

/// Reports the king terms of side `S` that depend on attacks.
#[inline(always)]
pub fn report<S: StaticColor>(
    pieces: &Pieces,
    pawns: &PawnStructure,
    attacks: &Attacks,
    sink: &mut impl Sink,
) {
    let king = pieces.king[S::US];
    let danger = KingDanger::of::<S>(king, pieces, pawns, attacks);
    danger.report::<S>(sink);

    let safe = attacks::king_attacks(king) & !attacks.any[S::THEM] & !pieces.all[S::US];
    sink.add(S::COLOR, term::king_mobility(count(safe) as usize), 1);
}

#[inline(always)]
pub fn report_castling<S: StaticColor>(castles: &Castles, sink: &mut impl Sink) {
    let may = |side| i32::from(castles.has(S::COLOR, side));
    sink.add(
        S::COLOR,
        term::castling_king_side(),
        may(CastlingSide::KingSide),
    );
    sink.add(
        S::COLOR,
        term::castling_queen_side(),
        may(CastlingSide::QueenSide),
    );
}

/// Reports pawn shelter and pawn storm on the king's file and the adjacent files.
#[inline(always)]
fn report_shelter_and_storm<S: StaticColor>(king: Square, pieces: &Pieces, sink: &mut impl Sink) {
    let middle = (king.to_u32() & 7).clamp(1, 6);
    let in_front = S::ranks_from(S::rank(king));
    let own = pieces.pawns(S::US) & in_front;
    let enemy = pieces.pawns(S::THEM) & in_front;
    for file in middle - 1..=middle + 1 {
        let squares = Bitboard(FILE_A.0 << file);
        let nearest = |pawns: Bitboard| S::rearmost(pawns & squares).map_or(0, S::rank);
        let (shelter, storm) = (nearest(own), nearest(enemy));
        let row = 8 * edge_distance(Square::new(file));
        sink.add(S::COLOR, term::king_shelter(row + shelter), 1);
        let blocked = shelter != 0 && storm == shelter + 1;
        let storm = if blocked {
            term::king_storm_blocked(row + storm)
        } else {
            term::king_storm(row + storm)
        };
        sink.add(S::COLOR, storm, 1);
    }
}

/// Reports open and half-open files at the king.
#[inline(always)]
fn report_open_files<S: StaticColor>(king: Square, pawns: &PawnStructure, sink: &mut impl Sink) {
    let square = Bitboard::from_square(king);
    let (ours, theirs) = (pawns.files[S::US], pawns.files[S::THEM]);
    let neighbours = count(beside(square) & !ours);
    sink.add(
        S::COLOR,
        term::king_open_file(),
        count(square & !ours & !theirs),
    );
    sink.add(S::COLOR, term::king_half_open_file(), count(square & !ours));
    sink.add(S::COLOR, term::king_half_open_neighbour(), neighbours);
}

/// Chebyshev distance from the king to the nearest pawn.
#[inline(always)]
fn pawn_distance(king: Square, pawns: Bitboard) -> Option<usize> {
    if pawns.is_empty() {
        return None;
    }
    let mut reached = Bitboard::from_square(king);
    let mut distance = 0;
    while (reached & pawns).is_empty() {
        let row = reached | beside(reached);
        reached = row | Bitboard(row.0 << 8) | Bitboard(row.0 >> 8);
        distance += 1;
    }
    Some(distance)
}

/// The attack features of one king.
struct KingDanger {
    /// Enemy knights, bishops, rooks and queens that attack the king ring.
    attackers: [i32; 4],
    ring_attacks: i32,
    weak_squares: i32,
    /// Squares of safe checks, for the same roles.
    safe_checks: [i32; 4],
    unsafe_checks: i32,
    pinned: i32,
    flank_attacks: i32,
    flank_defence: i32,
    knight_defender: bool,
    enemy_queen: bool,
    /// The king's file and the adjacent ones without an own pawn.
    open_files: i32,
}

impl KingDanger {
    #[inline(always)]
    fn of<S: StaticColor>(
        king: Square,
        pieces: &Pieces,
        pawns: &PawnStructure,
        attacks: &Attacks,
    ) -> KingDanger {
        let square = Bitboard::from_square(king);
        let (ours, theirs) = (attacks.any[S::US], attacks.any[S::THEM]);
        let by_royals_at_most =
            !ours | attacks.by(S::US, Role::King) | attacks.by(S::US, Role::Queen);
        let weak = theirs & !attacks.twice[S::US] & by_royals_at_most;
        let ring = attacks.king_ring[S::US];
        let flank = king_flank(king) & !S::ranks_from(5);
        let (safe_checks, unsafe_checks) = checks::<S>(king, pieces, attacks, weak);
        KingDanger {
            attackers: attacks.king_attackers[S::THEM],
            ring_attacks: attacks.king_attack_count[S::THEM],
            weak_squares: count(ring & weak),
            safe_checks,
            unsafe_checks,
            pinned: count(attacks.pinned[S::US]),
            flank_attacks: count(flank & theirs) + count(flank & attacks.twice[S::THEM]),
            flank_defence: count(flank & ours),
            knight_defender: (attacks.by(S::US, Role::Knight) & attacks.by(S::US, Role::King))
                .any(),
            enemy_queen: pieces.queens(S::THEM).any(),
            open_files: count((square | beside(square)) & !pawns.files[S::US]),
        }
    }

    /// The features as one index. The units are fixed, so that a trace does not depend on weights.
    #[inline(always)]
    fn index(&self) -> usize {
        let [knights, bishops, rooks, queens] = self.attackers;
        let attackers = knights + bishops + rooks + queens;
        let attack_units = 4 * knights + 3 * bishops + 4 * rooks + 5 * queens;
        let [knight, bishop, rook, queen] = self.safe_checks.map(|squares| squares.min(2));
        let checks = 12 * knight + 8 * bishop + 14 * rook + 11 * queen;
        let units = attack_units * attackers / 2
            + 2 * self.ring_attacks
            + 4 * self.weak_squares
            + checks
            + 2 * self.unsafe_checks
            + 3 * self.pinned
            + self.flank_attacks
            - self.flank_defence / 2
            + 3 * self.open_files
            - 4 * i32::from(self.knight_defender)
            - 26 * i32::from(!self.enemy_queen)
            - 8;
        (units.clamp(0, 127) / 2) as usize
    }

    #[inline(always)]
    fn report<S: StaticColor>(&self, sink: &mut impl Sink) {
        sink.add(S::COLOR, term::king_danger(self.index()), 1);
        let [knights, bishops, rooks, queens] = self.attackers;
        sink.add(S::COLOR, term::king_attacked_by_knight(), knights);
        sink.add(S::COLOR, term::king_attacked_by_bishop(), bishops);
        sink.add(S::COLOR, term::king_attacked_by_rook(), rooks);
        sink.add(S::COLOR, term::king_attacked_by_queen(), queens);
        sink.add(S::COLOR, term::king_ring_attacks(), self.ring_attacks);
        sink.add(S::COLOR, term::king_weak_squares(), self.weak_squares);
        let [knight, bishop, rook, queen] = self.safe_checks;
        sink.add(S::COLOR, term::king_safe_knight_check(), knight);
        sink.add(S::COLOR, term::king_safe_bishop_check(), bishop);
        sink.add(S::COLOR, term::king_safe_rook_check(), rook);
        sink.add(S::COLOR, term::king_safe_queen_check(), queen);
        sink.add(S::COLOR, term::king_unsafe_checks(), self.unsafe_checks);
        sink.add(S::COLOR, term::king_pinned_pieces(), self.pinned);
        sink.add(S::COLOR, term::king_flank_attacks(), self.flank_attacks);
        sink.add(S::COLOR, term::king_flank_defence(), self.flank_defence);
        sink.add(
            S::COLOR,
            term::king_knight_defender(),
            i32::from(self.knight_defender),
        );
    }
}

/// Squares from which the enemy could give check: safe ones by role, and the number of unsafe
/// ones.
#[inline(always)]
fn checks<S: StaticColor>(
    king: Square,
    pieces: &Pieces,
    attacks: &Attacks,
    weak: Bitboard,
) -> ([i32; 4], i32) {
    let through_queen = pieces.occupied & !pieces.queens(S::US);
    let orthogonal = attacks::rook_attacks(king, through_queen);
    let diagonal = attacks::bishop_attacks(king, through_queen);
    let reachable = !pieces.all[S::THEM];
    let safe = reachable & (!attacks.any[S::US] | (weak & attacks.twice[S::THEM]));

    let knight = attacks::knight_attacks(king) & attacks.by(S::THEM, Role::Knight) & reachable;
    let bishop = diagonal & attacks.by(S::THEM, Role::Bishop) & reachable;
    let rook = orthogonal & attacks.by(S::THEM, Role::Rook) & reachable;
    // A queen check counts where no rook gives the same check and where the own queen cannot
    // trade queens.
    let queen = (orthogonal | diagonal)
        & attacks.by(S::THEM, Role::Queen)
        & reachable
        & !attacks.by(S::US, Role::Queen)
        & !(rook & safe);
    let safe_checks = [knight, bishop, rook, queen].map(|squares| count(squares & safe));
    let unsafe_checks = count((knight | bishop | rook) & !safe);
    (safe_checks, unsafe_checks)
}
