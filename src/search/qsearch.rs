//! Quiescence search (qsearch): captures until the position is quiet, so that only quiet positions
//! are evaluated. The first ply includes quiet checks; in check all evasions are searched.

use shakmaty::Move;

use super::Search;
use super::history::Context;
use super::move_picker::{MovePicker, Refutations, is_tactical};
use super::negamax::{NodeType, adjusted_by_tt};
use super::score::{DECISIVE, DRAW, INFINITE, mated_in};
use super::transposition::{Bound, Entry};
use crate::position::Position;
use crate::position::movegen::PackedMove;

/// A side with no more men, its king included, may be unable to mate without one of them: taking it
/// changes the score by more than it is worth.
const MEN_TO_MATE: usize = 3;

impl Search<'_> {
    /// The quiescence search at the horizon of the main search.
    pub(super) fn qsearch<N: NodeType>(
        &mut self,
        position: &Position,
        ply: usize,
        alpha: i32,
        beta: i32,
    ) -> i32 {
        self.qsearch_node::<N>(position, ply, alpha, beta, true)
    }

    fn qsearch_node<N: NodeType>(
        &mut self,
        position: &Position,
        ply: usize,
        mut alpha: i32,
        beta: i32,
        is_first: bool,
    ) -> i32 {
        // 1. Stop when told to; draws by rule.
        if self.enter_node(ply) {
            return DRAW;
        }
        if let Some(score) = self.draw_by_rule(position, ply, &mut alpha, beta) {
            return score;
        }
        // 2. TT cut-off.
        let entry = self.tt.probe(position.key(), ply, position.halfmoves());
        if !N::PV
            && let Some(entry) = entry
            && entry.bound.decides(entry.score, beta)
        {
            return entry.score;
        }
        // 3. Stand pat: nobody has to capture.
        let in_check = position.in_check();
        let mut context = self.context(position, ply);
        if in_check {
            context.attacked = position.attacked_by(!position.turn());
        }
        let (raw_eval, stand_pat) = self.stand_pat(position, entry, &context, ply);
        if stand_pat >= beta {
            return stand_pat;
        }
        alpha = alpha.max(stand_pat);

        // 4. Captures that do not lose material, or all evasions.
        let tt_move = entry.and_then(|entry| entry.best.unpack(position));
        let mut picker = if in_check {
            MovePicker::new(tt_move, Refutations::default())
        } else {
            MovePicker::tactical(position, tt_move, 0)
        };
        if is_first && !in_check {
            picker.add_checks();
        }
        let mut best_score = stand_pat;
        let mut best_move = None;
        while let Some(m) = picker.next(position, &self.data.history, &context) {
            if best_score > -DECISIVE {
                if in_check && !is_tactical(m) {
                    // One quiet evasion is enough once it is not mate.
                    picker.skip_quiets();
                } else if !in_check
                    && let Some(score) = self.futile_capture(position, m, stand_pat, alpha)
                {
                    best_score = best_score.max(score);
                    continue;
                }
            }
            let child = self.make_move(position, ply, m, &context);
            let score = -self.qsearch_node::<N>(&child, ply + 1, -beta, -alpha, false);
            self.keys.pop();
            if self.aborted {
                return DRAW;
            }
            best_score = best_score.max(score);
            if score > alpha {
                best_move = Some(m);
                if N::PV {
                    self.update_pv(ply, m);
                }
                if score >= beta {
                    break;
                }
                alpha = score;
            }
        }
        // 5. No way out of check is mate.
        if in_check && best_score == -INFINITE {
            return mated_in(ply);
        }
        // 6. Never exact: that would take the place of a deep result of the same position.
        let entry = Entry {
            best: best_move.map_or(PackedMove::NONE, PackedMove::new),
            score: best_score,
            eval: raw_eval,
            depth: 0,
            bound: if best_score >= beta {
                Bound::Lower
            } else {
                Bound::Upper
            },
            pv: N::PV || entry.is_some_and(|entry| entry.pv),
        };
        self.tt.store(position.key(), entry, ply);
        best_score
    }

    /// Futility: the score after a capture that leaves it below alpha even if the piece is won for
    /// nothing.
    #[inline]
    fn futile_capture(
        &self,
        position: &Position,
        m: Move,
        stand_pat: i32,
        alpha: i32,
    ) -> Option<i32> {
        if !m.is_capture() || m.promotion().is_some() || position.them().count() <= MEN_TO_MATE {
            return None;
        }
        let gain = self.data.piece_values.capture(m) + self.params.quiescence_margin;
        Some(stand_pat + gain).filter(|&score| score <= alpha)
    }

    /// The raw evaluation, and the score of not capturing. There is no standing pat in check.
    fn stand_pat(
        &mut self,
        position: &Position,
        entry: Option<Entry>,
        context: &Context,
        ply: usize,
    ) -> (Option<i32>, i32) {
        let Some(raw) = self.raw_eval(position, entry, ply) else {
            return (None, -INFINITE);
        };
        let corrected = self.corrected(position, raw, context);
        (Some(raw), adjusted_by_tt(corrected, entry))
    }
}
