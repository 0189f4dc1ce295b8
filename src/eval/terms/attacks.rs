//! Attack bitboards: computed once per evaluation and read by all families after `pieces.rs`.
//!
//! [`Attacks::new`] sets the attacks of pawns and kings. `pieces.rs` then loops over the other
//! pieces once, adds the attacks of each with [`Attacks::add_piece`] and reports its terms.

use shakmaty::{Bitboard, Role, Square, attacks};

use super::board::{
    BlackSide, CENTRE_FILES, KING_SIDE, Pieces, QUEEN_SIDE, StaticColor, WhiteSide,
};
use super::geometry::{diagonals, orthogonals};
use super::pawns::PawnStructure;
use crate::position::Position;

/// All arrays are indexed by colour: of the attacker, of the ring's king, of the pinned pieces.
pub struct Attacks {
    by_role: [[Bitboard; 6]; 2],
    /// Squares attacked by any piece.
    pub any: [Bitboard; 2],
    /// Squares attacked by at least two pieces.
    pub twice: [Bitboard; 2],
    /// The king ring: a three by three block around the king, moved inward at the edge of the
    /// board, without squares that two own pawns defend.
    pub king_ring: [Bitboard; 2],
    /// Absolutely pinned pieces.
    pub pinned: [Bitboard; 2],
    /// The mobility area: squares that no enemy pawn attacks, without the own king and queen and
    /// without own pawns that are blocked or on their first two ranks.
    pub mobility_area: [Bitboard; 2],
    /// How many pieces of each role (knight to queen) attack the enemy king ring.
    pub king_attackers: [[i32; 4]; 2],
    /// Attacks on squares adjacent to the enemy king, summed over the attackers.
    pub king_attack_count: [i32; 2],
}

impl Attacks {
    #[inline]
    pub fn new(position: &Position, pieces: &Pieces, pawns: &PawnStructure) -> Attacks {
        let empty = Bitboard::EMPTY;
        let mut attacks = Attacks {
            by_role: [[empty; 6]; 2],
            any: [empty; 2],
            twice: [empty; 2],
            king_ring: [empty; 2],
            pinned: [position.pinned(); 2],
            mobility_area: [empty; 2],
            king_attackers: [[0; 4]; 2],
            king_attack_count: [0; 2],
        };
        // The position already has the pinned pieces of the side to move.
        let opponent = usize::from(position.turn().is_white());
        attacks.pinned[opponent] = pinned_pieces(pieces, opponent);
        attacks.init_side::<WhiteSide>(pieces, pawns);
        attacks.init_side::<BlackSide>(pieces, pawns);
        attacks
    }

    #[inline(always)]
    fn init_side<S: StaticColor>(&mut self, pieces: &Pieces, pawns: &PawnStructure) {
        let king = pieces.king[S::US];
        let king_attacks = attacks::king_attacks(king);
        let pawn_attacks = pawns.attacks[S::US];
        self.by_role[S::US][Role::Pawn as usize - 1] = pawn_attacks;
        self.by_role[S::US][Role::King as usize - 1] = king_attacks;
        self.any[S::US] = pawn_attacks | king_attacks;
        self.twice[S::US] = pawns.double_attacks[S::US] | (pawn_attacks & king_attacks);
        self.king_ring[S::US] = ring(king) & !pawns.double_attacks[S::US];

        let own = pieces.pawns(S::US);
        let blocked =
            own & (S::backward(pieces.occupied) | S::rank_squares(1) | S::rank_squares(2));
        let royal = pieces.queens(S::US) | Bitboard::from_square(king);
        self.mobility_area[S::US] = !(blocked | royal | pawns.attacks[S::THEM]);
    }

    /// Adds the attacks of one piece.
    #[inline(always)]
    pub fn add_piece<S: StaticColor>(
        &mut self,
        role: Role,
        attacked: Bitboard,
        enemy_king: Bitboard,
    ) {
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

    /// Squares that a pawn defends, or that are defended twice and attacked at most once.
    #[inline(always)]
    pub fn strongly_protected<S: StaticColor>(&self) -> Bitboard {
        self.by(S::US, Role::Pawn) | (self.twice[S::US] & !self.twice[S::THEM])
    }
}

/// Three by three squares around the king, moved inward at the edge of the board.
#[inline(always)]
fn ring(king: Square) -> Bitboard {
    let (file, rank) = (king.to_u32() & 7, king.to_u32() >> 3);
    let (left, bottom) = (file.clamp(1, 6) - 1, rank.clamp(1, 6) - 1);
    Bitboard(0x0007_0707 << (8 * bottom + left))
}

/// Pieces of a colour that are the only blocker between their king and an enemy slider.
#[inline(always)]
pub fn pinned_pieces(pieces: &Pieces, color: usize) -> Bitboard {
    let (king, enemy) = (pieces.king[color], color ^ 1);
    let queens = pieces.queens(enemy);
    let rooks = orthogonals(king) & (pieces.rooks(enemy) | queens);
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

/// The files that matter to king safety: a to d, e to h, or c to f for a king in the centre.
#[inline(always)]
pub fn king_flank(king: Square) -> Bitboard {
    match king.to_u32() & 7 {
        0..=2 => QUEEN_SIDE,
        3 | 4 => CENTRE_FILES,
        _ => KING_SIDE,
    }
}
