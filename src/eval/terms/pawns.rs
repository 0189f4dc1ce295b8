//! Pawn structure.
//!
//! All of it depends on the pawns alone, so it is cached by the pawn key. Most terms are computed
//! for whole sets of pawns, with shifts and population counts.

use shakmaty::{Bitboard, Square};

use super::board::{BlackSide, Pieces, StaticColor, WhiteSide, beside, count, file_fill};
use super::list::{Term, term};
use super::sink::Sink;

/// Pawn bitboards that other families use, by colour.
#[derive(Clone, Copy, Default)]
pub struct PawnStructure {
    pub attacks: [Bitboard; 2],
    /// Squares attacked by two pawns.
    pub double_attacks: [Bitboard; 2],
    /// Squares the pawns attack or could attack after advancing.
    pub attack_span: [Bitboard; 2],
    pub passed: [Bitboard; 2],
    /// Squares behind the pawns, and behind the passed pawns, on their files.
    pub rear_span: [Bitboard; 2],
    pub behind_passed: [Bitboard; 2],
    /// Files with at least one pawn of the colour.
    pub files: [Bitboard; 2],
}

impl PawnStructure {
    #[inline]
    pub fn of(pieces: &Pieces) -> PawnStructure {
        let mut structure = PawnStructure::default();
        structure.collect::<WhiteSide>(pieces);
        structure.collect::<BlackSide>(pieces);
        structure
    }

    #[inline(always)]
    fn collect<S: StaticColor>(&mut self, pieces: &Pieces) {
        let (own, enemy) = (pieces.pawns(S::US), pieces.pawns(S::THEM));
        let (left, right) = S::pawn_attack_halves(own);
        self.attacks[S::US] = left | right;
        self.double_attacks[S::US] = left & right;
        self.attack_span[S::US] = S::pawn_attacks(S::forward_fill(own));
        self.files[S::US] = file_fill(own);
        let stopped = S::Them::front_span(enemy);
        self.rear_span[S::US] = S::rear_span(own);
        self.passed[S::US] = own & !stopped & !beside(stopped) & !self.rear_span[S::US];
        self.behind_passed[S::US] = S::rear_span(self.passed[S::US]);
    }

    #[inline(always)]
    pub fn isolated<S: StaticColor>(&self, pieces: &Pieces) -> Bitboard {
        pieces.pawns(S::US) & !beside(self.files[S::US])
    }

    /// Backward pawns: an enemy pawn attacks the stop square, and no own pawn can ever defend it.
    #[inline(always)]
    pub fn backward<S: StaticColor>(&self, pieces: &Pieces) -> Bitboard {
        let own = pieces.pawns(S::US);
        let stops = S::forward(own) & self.attacks[S::THEM] & !self.attack_span[S::US];
        S::backward(stops) & own & beside(self.files[S::US])
    }
}

#[inline(always)]
pub fn report<S: StaticColor>(pieces: &Pieces, structure: &PawnStructure, sink: &mut impl Sink) {
    report_weak::<S>(pieces, structure, sink);
    report_connected::<S>(pieces, structure, sink);

    let own = pieces.pawns(S::US);
    let files = structure.files[S::US].0 & 0xff;
    let islands = (files & !(files << 1)).count_ones() as i32;
    sink.add(S::COLOR, term::pawn_islands(), islands);
    sink.add(S::COLOR, term::pawns_none(), i32::from(own.is_empty()));

    let blocked = own & S::backward(pieces.pawns(S::THEM));
    by_rank::<S>(blocked, term::pawn_blocked, sink);
    by_rank::<S>(
        candidates::<S>(pieces, structure),
        term::pawn_candidate,
        sink,
    );
    let levers = own & structure.attacks[S::THEM];
    by_rank::<S>(levers, term::pawn_lever, sink);
    let forked = own & structure.double_attacks[S::THEM] & !structure.attacks[S::US];
    sink.add(S::COLOR, term::pawn_weak_lever(), count(forked));
}

#[inline(always)]
fn report_weak<S: StaticColor>(pieces: &Pieces, structure: &PawnStructure, sink: &mut impl Sink) {
    let (own, enemy) = (pieces.pawns(S::US), pieces.pawns(S::THEM));
    let unopposed = !S::rear_span(enemy);
    let isolated = structure.isolated::<S>(pieces);
    let backward = structure.backward::<S>(pieces);
    let doubled = own & S::rear_span(own);
    let unsupported = own & S::backward(own) & !structure.attacks[S::US];

    sink.add(S::COLOR, term::pawn_isolated(), count(isolated));
    sink.add(
        S::COLOR,
        term::pawn_isolated_unopposed(),
        count(isolated & unopposed),
    );
    sink.add(S::COLOR, term::pawn_doubled(), count(doubled));
    sink.add(S::COLOR, term::pawn_doubled_close(), count(unsupported));
    sink.add(
        S::COLOR,
        term::pawn_doubled_isolated(),
        count(doubled & isolated),
    );
    sink.add(S::COLOR, term::pawn_backward(), count(backward));
    sink.add(
        S::COLOR,
        term::pawn_backward_unopposed(),
        count(backward & unopposed),
    );
}

#[inline(always)]
fn report_connected<S: StaticColor>(
    pieces: &Pieces,
    structure: &PawnStructure,
    sink: &mut impl Sink,
) {
    let own = pieces.pawns(S::US);
    let phalanx = own & beside(own);
    let supported = own & structure.attacks[S::US];
    let unopposed = (phalanx | supported) & !S::rear_span(pieces.pawns(S::THEM));
    by_rank::<S>(phalanx, term::pawn_phalanx, sink);
    by_rank::<S>(supported, term::pawn_supported, sink);
    by_rank::<S>(unopposed, term::pawn_connected_unopposed, sink);
}

/// Candidate passed pawns: no pawn in front on the same file, and on the adjacent files at least
/// as many helpers (own pawns beside or behind) as sentries (enemy pawns in front).
#[inline(always)]
fn candidates<S: StaticColor>(pieces: &Pieces, structure: &PawnStructure) -> Bitboard {
    let (own, enemy) = (pieces.pawns(S::US), pieces.pawns(S::THEM));
    let free = own & !S::rear_span(enemy) & !S::rear_span(own) & !structure.passed[S::US];
    let has_helpers = |pawn: &Square| {
        let square = Bitboard::from_square(*pawn);
        let sentries = enemy & beside(S::front_span(square));
        let helpers = own & beside(square | S::rear_span(square));
        count(helpers) >= count(sentries)
    };
    free.into_iter()
        .filter(has_helpers)
        .map(Bitboard::from_square)
        .fold(Bitboard::EMPTY, |all, one| all | one)
}

/// Reports each pawn of a set by its relative rank.
#[inline(always)]
pub fn by_rank<S: StaticColor>(
    pawns: Bitboard,
    table: impl Fn(usize) -> Term,
    sink: &mut impl Sink,
) {
    for pawn in pawns {
        sink.add(S::COLOR, table(S::rank(pawn)), 1);
    }
}
