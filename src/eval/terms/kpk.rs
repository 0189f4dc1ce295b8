//! The KPK bitbase: king and pawn against king.
//!
//! All 196,608 positions are solved once at start-up, by iteration from promotions and pawn
//! captures; one bit each. The bitbase holds positions with a white pawn on the files a to d;
//! all others are mirrored.

use std::sync::LazyLock;

use shakmaty::{Bitboard, Color, Square, attacks};

/// Two sides to move, two kings, 24 pawn squares (files a to d, ranks 2 to 7).
const POSITIONS: usize = 2 * 64 * 64 * 24;

static BITBASE: LazyLock<Vec<u64>> = LazyLock::new(solve);

/// Builds the bitbase now, so that it is not built during a game, on the clock.
pub fn init() {
    LazyLock::force(&BITBASE);
}

/// Whether the side with the pawn wins. `pawn_color` owns the pawn.
pub fn is_won(pawn_color: Color, strong: Square, weak: Square, pawn: Square, turn: Color) -> bool {
    let rank_flip = if pawn_color.is_white() { 0 } else { 56 };
    let file_flip = if pawn.to_u32() & 4 == 0 { 0 } else { 7 };
    let normalised = |square: Square| Square::new(square.to_u32() ^ rank_flip ^ file_flip);
    let index = KpkPosition {
        strong_to_move: turn == pawn_color,
        strong: normalised(strong),
        weak: normalised(weak),
        pawn: normalised(pawn),
    }
    .index();
    BITBASE[index / 64] >> (index % 64) & 1 != 0
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum KpkResult {
    Invalid,
    Unknown,
    Draw,
    Win,
}

#[derive(Clone, Copy)]
struct KpkPosition {
    strong_to_move: bool,
    strong: Square,
    weak: Square,
    pawn: Square,
}

impl KpkPosition {
    fn index(&self) -> usize {
        let pawn = (self.pawn.to_usize() >> 3) * 4 + (self.pawn.to_usize() & 3) - 4;
        let kings = self.strong.to_usize() + 64 * self.weak.to_usize();
        kings + 4096 * (pawn + 24 * usize::from(self.strong_to_move))
    }

    fn from_index(index: usize) -> KpkPosition {
        let square = |value: usize| Square::new((value & 63) as u32);
        let pawn = index / 4096 % 24 + 4;
        KpkPosition {
            strong_to_move: index / 4096 >= 24,
            strong: square(index),
            weak: square(index / 64),
            pawn: square(pawn / 4 * 8 + pawn % 4),
        }
    }

    /// The result without looking at successors.
    fn initial_result(&self) -> KpkResult {
        let pawn_attacks = attacks::pawn_attacks(Color::White, self.pawn);
        let overlap = self.strong == self.pawn || self.weak == self.pawn;
        let weak_in_check = pawn_attacks.contains(self.weak);
        if overlap || self.strong.distance(self.weak) <= 1 {
            return KpkResult::Invalid;
        }
        if self.strong_to_move && weak_in_check {
            return KpkResult::Invalid;
        }
        if self.strong_to_move {
            let promotion_square = Square::new(self.pawn.to_u32() + 8);
            let promotes = self.pawn.to_u32() >> 3 == 6
                && promotion_square != self.strong
                && promotion_square != self.weak
                && (self.weak.distance(promotion_square) > 1
                    || self.strong.distance(promotion_square) == 1);
            return if promotes {
                KpkResult::Win
            } else {
                KpkResult::Unknown
            };
        }
        let forbidden = attacks::king_attacks(self.strong) | pawn_attacks;
        let moves = attacks::king_attacks(self.weak) & !forbidden;
        let takes = moves.contains(self.pawn);
        if takes || (moves.is_empty() && !weak_in_check) {
            KpkResult::Draw
        } else {
            KpkResult::Unknown
        }
    }

    /// The result from the results of the successors.
    fn result_from_successors(&self, results: &[KpkResult]) -> KpkResult {
        let good = if self.strong_to_move {
            KpkResult::Win
        } else {
            KpkResult::Draw
        };
        let bad = if self.strong_to_move {
            KpkResult::Draw
        } else {
            KpkResult::Win
        };
        let mut unknown = false;
        for next in self.successors() {
            match results[next.index()] {
                result if result == good => return good,
                KpkResult::Unknown => unknown = true,
                _ => {}
            }
        }
        if unknown { KpkResult::Unknown } else { bad }
    }

    fn successors(&self) -> impl Iterator<Item = KpkPosition> {
        let next = KpkPosition {
            strong_to_move: !self.strong_to_move,
            ..*self
        };
        let king = if self.strong_to_move {
            self.strong
        } else {
            self.weak
        };
        let strong_to_move = self.strong_to_move;
        let king_moves = attacks::king_attacks(king).into_iter().map(move |to| {
            if strong_to_move {
                KpkPosition { strong: to, ..next }
            } else {
                KpkPosition { weak: to, ..next }
            }
        });
        let pushes = if self.strong_to_move {
            self.pushes()
        } else {
            Bitboard::EMPTY
        };
        king_moves.chain(
            pushes
                .into_iter()
                .map(move |pawn| KpkPosition { pawn, ..next }),
        )
    }

    /// Pawn pushes, without promotions.
    fn pushes(&self) -> Bitboard {
        let free = !Bitboard::from_square(self.strong) & !Bitboard::from_square(self.weak);
        let pawn = Bitboard::from_square(self.pawn);
        let single = Bitboard(pawn.0 << 8) & free & !Bitboard(0xff << 56);
        let double = Bitboard((single.0 & 0xff_0000) << 8) & free;
        single | double
    }
}

fn solve() -> Vec<u64> {
    let positions = (0..POSITIONS).map(KpkPosition::from_index);
    let mut results: Vec<_> = positions.map(|p| p.initial_result()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for index in 0..POSITIONS {
            if results[index] == KpkResult::Unknown {
                results[index] = KpkPosition::from_index(index).result_from_successors(&results);
                changed |= results[index] != KpkResult::Unknown;
            }
        }
    }
    let word = |chunk: &[KpkResult]| {
        let bits = chunk.iter().enumerate();
        bits.fold(0, |word, (bit, result)| {
            word | u64::from(*result == KpkResult::Win) << bit
        })
    };
    results.chunks(64).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Color::{Black, White};
    use Square::*;

    #[test]
    fn the_textbook_positions() {
        // The king on the sixth rank in front of its pawn wins, whoever is to move.
        assert!(is_won(White, E6, E8, E5, White));
        assert!(is_won(White, E6, E8, E5, Black));
        // With the opposition the defender holds.
        assert!(is_won(White, E5, E7, E4, Black));
        assert!(!is_won(White, E5, E7, E4, White));
        // A rook pawn against a king in the corner is a draw.
        assert!(!is_won(White, G6, H8, H5, White));
        // A pawn outside the square of the king wins, for either colour and wing.
        assert!(is_won(White, A1, A8, H5, White));
        assert!(is_won(Black, A8, A1, H4, Black));
        assert!(!is_won(White, A1, D7, H5, Black));
    }
}
