//! Quiescence: captures until nothing hangs, so that the evaluation is asked about quiet
//! positions only. The first move may be a quiet check; in check every evasion is looked at.

use super::Search;
use super::history::Context;
use super::negamax::{NodeType, refined};
use super::ordering::{Picker, Refutations, is_tactical};
use super::score::{DRAW, INFINITE, MATE_IN_MAX, mated_in};
use super::table::{Bound, Entry};
use crate::position::Position;
use crate::position::movegen::PackedMove;

impl Search<'_> {
    /// What a position is worth once it is quiet, seen from the last ply of the main search.
    pub(super) fn quiescence<N: NodeType>(
        &mut self,
        position: &Position,
        ply: usize,
        alpha: i32,
        beta: i32,
    ) -> i32 {
        self.calm_down::<N>(position, ply, alpha, beta, true)
    }

    fn calm_down<N: NodeType>(
        &mut self,
        position: &Position,
        ply: usize,
        mut alpha: i32,
        beta: i32,
        is_first: bool,
    ) -> i32 {
        // 1. Stop, draws.
        if self.enter_node(ply) {
            return DRAW;
        }
        if let Some(score) = self.settled(position, ply, &mut alpha, beta) {
            return score;
        }
        // 2. Known already?
        let entry = self.table.probe(position.key(), ply);
        if !N::PV
            && let Some(entry) = entry
            && entry.bound.decides(entry.score, beta)
        {
            return entry.score;
        }
        // 3. Standing pat: nobody has to capture.
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
        let table_move = entry.and_then(|entry| entry.best.unpack(position));
        let mut picker = if in_check {
            Picker::new(table_move, Refutations::default())
        } else {
            Picker::tactical(position, table_move, 0)
        };
        if is_first && !in_check {
            picker.add_checks();
        }
        let mut best_score = stand_pat;
        let mut best_move = None;
        while let Some(m) = picker.next(position, &self.data.history, &context) {
            if best_score > -MATE_IN_MAX {
                if in_check && !is_tactical(m) {
                    // One quiet way out of check is enough once it does not lose.
                    picker.skip_quiets();
                } else if !in_check && m.is_capture() && m.promotion().is_none() {
                    // Even winning the piece outright may leave the score below alpha.
                    let gain = self.data.yardstick.capture(m) + self.params.quiescence_margin;
                    if stand_pat + gain <= alpha {
                        best_score = best_score.max(stand_pat + gain);
                        continue;
                    }
                }
            }
            let child = self.make(position, ply, m, &context);
            let score = -self.calm_down::<N>(&child, ply + 1, -beta, -alpha, false);
            self.keys.pop();
            if self.aborted {
                return DRAW;
            }
            if score > best_score {
                best_score = score;
                if score > alpha {
                    best_move = Some(m);
                    if N::PV {
                        self.lengthen_line(ply, m);
                    }
                    if score >= beta {
                        break;
                    }
                    alpha = score;
                }
            }
        }
        // 5. No way out of check is mate.
        if in_check && best_score == -INFINITE {
            return mated_in(ply);
        }
        // Never exact: that would take the place of a deep result of the same position.
        let bound = match best_score {
            score if score >= beta => Bound::Lower,
            _ => Bound::Upper,
        };
        let entry = Entry {
            best: best_move.map_or(PackedMove::NONE, PackedMove::new),
            score: best_score,
            eval: raw_eval,
            depth: 0,
            bound,
            pv: N::PV || entry.is_some_and(|entry| entry.pv),
        };
        self.table.store(position.key(), entry, ply);
        best_score
    }

    /// What the side to move has without capturing: the evaluation as it is and at its best
    /// estimate. In check nobody can stand still.
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
        (Some(raw), refined(corrected, entry))
    }
}
