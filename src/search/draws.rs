//! Draws by rule: repetition, fifty moves, material that cannot mate.

use super::Search;
use super::cuckoo::upcoming_repetition;
use super::score::{DRAW, FIFTY_MOVES, MAX_PLY};
use crate::eval::Score;
use crate::position::{Position, movegen};

impl Search<'_> {
    /// The score of a draw by rule; raises alpha to it where a repetition is one move away.
    #[inline]
    pub(super) fn draw_by_rule(
        &self,
        position: &Position,
        ply: usize,
        alpha: &mut i32,
        beta: i32,
    ) -> Option<i32> {
        let draw = self.draw_score(ply);
        if self.is_draw(position, ply) || ply >= MAX_PLY - 1 {
            return Some(draw);
        }
        if *alpha < draw
            && upcoming_repetition(position, &self.keys, self.reversible(position, ply), ply)
        {
            *alpha = draw;
            if *alpha >= beta {
                return Some(draw);
            }
        }
        None
    }

    /// The score of a draw to the side to move, with contempt for the side at the root.
    #[inline]
    pub(super) fn draw_score(&self, ply: usize) -> i32 {
        let contempt = self.contempt;
        DRAW + if ply.is_multiple_of(2) {
            -contempt
        } else {
            contempt
        }
    }

    /// What a root score is reported as: a draw is 0, whatever it is worth to the search, so that
    /// GUIs and match runners recognise it.
    pub(super) fn without_contempt(&self, score: Score) -> Score {
        if score == self.draw_score(0) {
            DRAW
        } else {
            score
        }
    }

    /// Plies back within which a position can repeat.
    #[inline]
    fn reversible(&self, position: &Position, ply: usize) -> usize {
        (position.halfmoves() as usize).min(self.ply(ply).since_null)
    }

    fn is_draw(&self, position: &Position, ply: usize) -> bool {
        if position.is_insufficient_material() {
            return true;
        }
        // Mate on the hundredth ply is mate.
        if position.halfmoves() as usize >= FIFTY_MOVES {
            return !position.in_check() || movegen::has_legal_move(position);
        }
        self.is_repetition(position, ply)
    }

    /// Once within the search is enough; positions from before the root must have stood twice.
    fn is_repetition(&self, position: &Position, ply: usize) -> bool {
        let reversible = self.reversible(position, ply).min(self.keys.len());
        let mut seen_before_root = false;
        let mut distance = 4;
        while distance <= reversible {
            if self.keys[self.keys.len() - distance] == position.key() {
                if distance < ply || seen_before_root {
                    return true;
                }
                seen_before_root = true;
            }
            distance += 2;
        }
        false
    }
}
