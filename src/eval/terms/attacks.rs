//! Who attacks what: computed once per evaluation, read by every family after the pieces.
//!
//! [`Attacks::new`] knows what follows from pawns and kings alone. `pieces.rs` then enters each
//! piece as it meets it, and reports the piece on the way.

use shakmaty::{Bitboard, Role, Square, attacks};

use super::board::{BlackSide, CENTRE_FILES, KING_SIDE, Pieces, QUEEN_SIDE, Side, WhiteSide};
use super::geometry::{diagonals, straights};
use super::pawns::PawnFacts;
use crate::position::Position;

/// By colour throughout: the colour of the attacker, the ring's own king, the pinned pieces.
pub struct Attacks {
    by_role: [[Bitboard; 6]; 2],
    /// By any piece.
    pub any: [Bitboard; 2],
    /// By two pieces at least.
    pub twice: [Bitboard; 2],
    /// The king's square and the squares around him, a full block even at the edge, less what
    /// two own pawns guard.
    pub king_ring: [Bitboard; 2],
    /// Pieces that alone stand between their king and an enemy slider.
    pub pinned: [Bitboard; 2],
    /// Where a piece is worth going: not under a pawn's attack, not onto the own king or queen,
    /// nor onto pawns that cannot make way.
    pub safe_area: [Bitboard; 2],
    /// How many pieces of each role (knight to queen) attack the enemy king's ring.
    pub king_attackers: [[i32; 4]; 2],
    /// Attacks on the squares next to the enemy king, counted with each attacker.
    pub king_attack_count: [i32; 2],
}

impl Attacks {
    #[inline]
    pub fn new(position: &Position, pieces: &Pieces, pawns: &PawnFacts) -> Attacks {
        let empty = Bitboard::EMPTY;
        let mut attacks = Attacks {
            by_role: [[empty; 6]; 2],
            any: [empty; 2],
            twice: [empty; 2],
            king_ring: [empty; 2],
            pinned: [position.pinned(); 2],
            safe_area: [empty; 2],
            king_attackers: [[0; 4]; 2],
            king_attack_count: [0; 2],
        };
        // The position knows what is pinned on the side to move.
        let waiting = usize::from(position.turn().is_white());
        attacks.pinned[waiting] = pinned_pieces(pieces, waiting);
        attacks.begin::<WhiteSide>(pieces, pawns);
        attacks.begin::<BlackSide>(pieces, pawns);
        attacks
    }

    #[inline(always)]
    fn begin<S: Side>(&mut self, pieces: &Pieces, pawns: &PawnFacts) {
        let king = pieces.king[S::US];
        let king_attacks = attacks::king_attacks(king);
        let pawn_attacks = pawns.attacks[S::US];
        self.by_role[S::US][Role::Pawn as usize - 1] = pawn_attacks;
        self.by_role[S::US][Role::King as usize - 1] = king_attacks;
        self.any[S::US] = pawn_attacks | king_attacks;
        self.twice[S::US] = pawns.double_attacks[S::US] | (pawn_attacks & king_attacks);
        self.king_ring[S::US] = ring(king) & !pawns.double_attacks[S::US];

        let own = pieces.pawns(S::US);
        let stuck = own & (S::backward(pieces.occupied) | S::rank_squares(1) | S::rank_squares(2));
        let royal = pieces.queens(S::US) | Bitboard::from_square(king);
        self.safe_area[S::US] = !(stuck | royal | pawns.attacks[S::THEM]);
    }

    /// Enters what one piece attacks.
    #[inline(always)]
    pub fn enter<S: Side>(&mut self, role: Role, attacked: Bitboard, enemy_king: Bitboard) {
        self.by_role[S::US][role as usize - 1] |= attacked;
        self.twice[S::US] |= self.any[S::US] & attacked;
        self.any[S::US] |= attacked;
        let at_ring = (attacked & self.king_ring[S::THEM]).any();
        self.king_attackers[S::US][role as usize - 2] += i32::from(at_ring);
        let close = (attacked & enemy_king).0.count_ones() as i32;
        self.king_attack_count[S::US] += close;
    }

    #[inline(always)]
    pub fn by(&self, color: usize, role: Role) -> Bitboard {
        self.by_role[color][role as usize - 1]
    }

    #[inline(always)]
    pub fn by_minors(&self, color: usize) -> Bitboard {
        self.by(color, Role::Knight) | self.by(color, Role::Bishop)
    }

    /// What a side holds firmly: guarded by a pawn, or twice where the other attacks once.
    #[inline(always)]
    pub fn firmly_held<S: Side>(&self) -> Bitboard {
        self.by(S::US, Role::Pawn) | (self.twice[S::US] & !self.twice[S::THEM])
    }
}

/// Three by three squares around the king, moved inward from the edge.
#[inline(always)]
fn ring(king: Square) -> Bitboard {
    let (file, rank) = (king.to_u32() & 7, king.to_u32() >> 3);
    let (left, bottom) = (file.clamp(1, 6) - 1, rank.clamp(1, 6) - 1);
    Bitboard(0x0007_0707 << (8 * bottom + left))
}

/// Pieces of a colour that alone stand between their king and an enemy slider.
#[inline(always)]
pub fn pinned_pieces(pieces: &Pieces, color: usize) -> Bitboard {
    let (king, enemy) = (pieces.king[color], color ^ 1);
    let queens = pieces.queens(enemy);
    let rooks = straights(king) & (pieces.rooks(enemy) | queens);
    let bishops = diagonals(king) & (pieces.bishops(enemy) | queens);
    let mut pinned = Bitboard::EMPTY;
    for sniper in rooks | bishops {
        let between = attacks::between(king, sniper) & pieces.occupied;
        if !between.more_than_one() {
            pinned |= between;
        }
    }
    pinned & pieces.all[color]
}

/// The part of the board a king's safety is decided in: his wing, or the central files.
#[inline(always)]
pub fn king_flank(king: Square) -> Bitboard {
    match king.to_u32() & 7 {
        0..=2 => QUEEN_SIDE,
        3 | 4 => CENTRE_FILES,
        _ => KING_SIDE,
    }
}
