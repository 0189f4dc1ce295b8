//! King and pawn against king, exactly.
//!
//! Every position is solved once, before the first game, by working backward from promotions and
//! captures: about 200,000 positions, one bit each. The pawn is thought white and on the files
//! a to d; other positions are mirrored onto these.

use std::sync::LazyLock;

use shakmaty::{Bitboard, Color, Square, attacks};

/// Two sides to move, two kings, 24 pawn squares (files a to d, ranks 2 to 7).
const POSITIONS: usize = 2 * 64 * 64 * 24;

static BITBASE: LazyLock<Vec<u64>> = LazyLock::new(solve);

/// Solves now what would otherwise be solved in the middle of a game, on the clock.
pub fn prepare() {
    LazyLock::force(&BITBASE);
}

/// Whether the side with the pawn wins. `pawn_color` owns the pawn.
pub fn is_won(pawn_color: Color, strong: Square, weak: Square, pawn: Square, turn: Color) -> bool {
    let rank_flip = if pawn_color.is_white() { 0 } else { 56 };
    let file_flip = if pawn.to_u32() & 4 == 0 { 0 } else { 7 };
    let seen = |square: Square| Square::new(square.to_u32() ^ rank_flip ^ file_flip);
    let index = Case {
        strong_to_move: turn == pawn_color,
        strong: seen(strong),
        weak: seen(weak),
        pawn: seen(pawn),
    }
    .index();
    BITBASE[index / 64] >> (index % 64) & 1 != 0
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Impossible,
    Unknown,
    Draw,
    Win,
}

#[derive(Clone, Copy)]
struct Case {
    strong_to_move: bool,
    strong: Square,
    weak: Square,
    pawn: Square,
}

impl Case {
    fn index(&self) -> usize {
        let pawn = (self.pawn.to_usize() >> 3) * 4 + (self.pawn.to_usize() & 3) - 4;
        let kings = self.strong.to_usize() + 64 * self.weak.to_usize();
        kings + 4096 * (pawn + 24 * usize::from(self.strong_to_move))
    }

    fn from_index(index: usize) -> Case {
        let square = |value: usize| Square::new((value & 63) as u32);
        let pawn = index / 4096 % 24 + 4;
        Case {
            strong_to_move: index / 4096 >= 24,
            strong: square(index),
            weak: square(index / 64),
            pawn: square(pawn / 4 * 8 + pawn % 4),
        }
    }

    /// What can be said without looking at successors.
    fn at_sight(&self) -> Verdict {
        let pawn_attacks = attacks::pawn_attacks(Color::White, self.pawn);
        let overlap = self.strong == self.pawn || self.weak == self.pawn;
        let weak_in_check = pawn_attacks.contains(self.weak);
        if overlap || self.strong.distance(self.weak) <= 1 {
            return Verdict::Impossible;
        }
        if self.strong_to_move && weak_in_check {
            return Verdict::Impossible;
        }
        if self.strong_to_move {
            let goal = Square::new(self.pawn.to_u32() + 8);
            let promotes = self.pawn.to_u32() >> 3 == 6
                && goal != self.strong
                && goal != self.weak
                && (self.weak.distance(goal) > 1 || self.strong.distance(goal) == 1);
            return if promotes {
                Verdict::Win
            } else {
                Verdict::Unknown
            };
        }
        let forbidden = attacks::king_attacks(self.strong) | pawn_attacks;
        let moves = attacks::king_attacks(self.weak) & !forbidden;
        let takes = moves.contains(self.pawn);
        if takes || (moves.is_empty() && !weak_in_check) {
            Verdict::Draw
        } else {
            Verdict::Unknown
        }
    }

    /// What the verdicts on the successors say.
    fn by_successors(&self, verdicts: &[Verdict]) -> Verdict {
        let good = if self.strong_to_move {
            Verdict::Win
        } else {
            Verdict::Draw
        };
        let bad = if self.strong_to_move {
            Verdict::Draw
        } else {
            Verdict::Win
        };
        let mut open = false;
        for next in self.successors() {
            match verdicts[next.index()] {
                verdict if verdict == good => return good,
                Verdict::Unknown => open = true,
                _ => {}
            }
        }
        if open { Verdict::Unknown } else { bad }
    }

    fn successors(&self) -> impl Iterator<Item = Case> {
        let case = Case {
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
                Case { strong: to, ..case }
            } else {
                Case { weak: to, ..case }
            }
        });
        let pushes = if self.strong_to_move {
            self.pushes()
        } else {
            Bitboard::EMPTY
        };
        king_moves.chain(pushes.into_iter().map(move |pawn| Case { pawn, ..case }))
    }

    /// Where the pawn can step, short of promotion.
    fn pushes(&self) -> Bitboard {
        let free = !Bitboard::from_square(self.strong) & !Bitboard::from_square(self.weak);
        let pawn = Bitboard::from_square(self.pawn);
        let single = Bitboard(pawn.0 << 8) & free & !Bitboard(0xff << 56);
        let double = Bitboard((single.0 & 0xff_0000) << 8) & free;
        single | double
    }
}

fn solve() -> Vec<u64> {
    let cases = || (0..POSITIONS).map(Case::from_index);
    let mut verdicts: Vec<_> = cases().map(|case| case.at_sight()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for index in 0..POSITIONS {
            if verdicts[index] == Verdict::Unknown {
                verdicts[index] = Case::from_index(index).by_successors(&verdicts);
                changed |= verdicts[index] != Verdict::Unknown;
            }
        }
    }
    let word = |chunk: &[Verdict]| {
        let bits = chunk.iter().enumerate();
        bits.fold(0, |word, (bit, verdict)| {
            word | u64::from(*verdict == Verdict::Win) << bit
        })
    };
    verdicts.chunks(64).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Color::{Black, White};
    use Square::*;

    #[test]
    fn the_textbook_positions() {
        // The king on the sixth before his pawn wins whoever moves.
        assert!(is_won(White, E6, E8, E5, White));
        assert!(is_won(White, E6, E8, E5, Black));
        // With the opposition the defender holds.
        assert!(is_won(White, E5, E7, E4, Black));
        assert!(!is_won(White, E5, E7, E4, White));
        // A rook pawn before a king in the corner.
        assert!(!is_won(White, G6, H8, H5, White));
        // A pawn that outruns the king, for either colour and wing.
        assert!(is_won(White, A1, A8, H5, White));
        assert!(is_won(Black, A8, A1, H4, Black));
        assert!(!is_won(White, A1, D7, H5, Black));
    }
}
