//! What a searched node teaches: histories of moves, the correction of the evaluation, the table.

use arrayvec::ArrayVec;
use shakmaty::Move;

use super::negamax::Node;
use super::ordering::is_tactical;
use super::score::is_mate;
use super::table::{Bound, Entry};
use super::{Search, history};
use crate::position::Position;
use crate::position::movegen::PackedMove;

/// Moves searched without success, for the malus when one succeeds.
#[derive(Default)]
pub(super) struct Tried {
    quiets: ArrayVec<Move, 48>,
    captures: ArrayVec<Move, 24>,
}

impl Tried {
    pub(super) fn push(&mut self, m: Move) {
        // The rest of a very long list is not worth remembering.
        let _ = if is_tactical(m) {
            self.captures.try_push(m)
        } else {
            self.quiets.try_push(m)
        };
    }
}

impl Search<'_> {
    /// A quiet move that left the opponent worse off than before was a good one.
    pub(super) fn judge_previous_move(
        &mut self,
        position: &Position,
        ply: usize,
        static_eval: i32,
    ) {
        if ply == 0 {
            return;
        }
        let previous = self.ply(ply - 1);
        if let (Some((m, context)), Some(before)) = (previous.quiet, previous.static_eval) {
            let limit = self.params.eval_history_limit;
            let gain = self.data.yardstick.tempo - before - static_eval;
            let gain = gain * self.params.eval_history_slope;
            let bonus = gain.clamp(-limit, limit);
            self.data
                .history
                .update_squares(!position.turn(), m, &context, bonus);
        }
    }

    /// Writes the result into histories, correction and table.
    pub(super) fn learn(
        &mut self,
        position: &Position,
        node: &Node,
        best_score: i32,
        best_move: Option<Move>,
        original_alpha: i32,
        tried: &Tried,
    ) {
        let cut = best_score >= node.beta;
        if let (true, Some(best)) = (cut, best_move) {
            self.ply_mut(node.ply).cutoffs += 1;
            self.reward(position, node, best, tried);
        }
        if self.ply(node.ply).excluded.is_some() {
            return;
        }
        if best_score <= original_alpha && node.ply > 0 {
            self.reward_previous_move(position, node);
        }
        let bound = match best_score {
            score if score >= node.beta => Bound::Lower,
            score if score > original_alpha => Bound::Exact,
            _ => Bound::Upper,
        };
        // At the root, further lines of MultiPV and a choice of moves say less than all moves.
        let whole = node.ply > 0 || self.pv_index == 0 && self.request.searchmoves.is_empty();
        if whole {
            self.store(position, node, node.depth, best_score, bound, best_move);
        }
        let tells_about_eval = match bound {
            Bound::Lower => best_score > node.static_eval,
            Bound::Upper => best_score < node.static_eval,
            _ => true,
        };
        let quiet = best_move.is_none_or(|m| !is_tactical(m));
        if whole && !node.in_check && quiet && tells_about_eval && !is_mate(best_score) {
            let (eval, depth) = (node.static_eval, node.depth);
            self.data
                .history
                .correct(position, &node.context, best_score, eval, depth);
        }
    }

    /// Nothing works here: the quiet move that led here deserves the credit.
    fn reward_previous_move(&mut self, position: &Position, node: &Node) {
        if let Some((m, context)) = self.ply(node.ply - 1).quiet {
            let bonus = history::bonus(&self.params, node.depth) / 2;
            self.data
                .history
                .update_quiet(!position.turn(), m, &context, bonus);
        }
    }

    /// The refuting move gains, the moves tried before it lose.
    fn reward(&mut self, position: &Position, node: &Node, best: Move, tried: &Tried) {
        let us = position.turn();
        let (bonus, malus) = (
            history::bonus(&self.params, node.depth),
            history::malus(&self.params, node.depth),
        );
        let learned = &mut self.data.history;
        if is_tactical(best) {
            learned.update_capture(us, best, bonus);
        } else {
            learned.update_quiet(us, best, &node.context, bonus);
            for m in &tried.quiets {
                learned.update_quiet(us, *m, &node.context, malus);
            }
            learned.set_counter(node.context.answered[0], best);
            let killers = &mut self.stack[node.ply + super::BEFORE_ROOT].killers;
            if !killers[0].is(best) {
                *killers = [PackedMove::new(best), killers[0]];
            }
        }
        for m in &tried.captures {
            learned.update_capture(us, *m, malus);
        }
    }

    pub(super) fn store(
        &self,
        position: &Position,
        node: &Node,
        depth: i32,
        score: i32,
        bound: Bound,
        best: Option<Move>,
    ) {
        let entry = Entry {
            best: best.map_or(PackedMove::NONE, PackedMove::new),
            score,
            eval: node.raw_eval,
            depth,
            bound,
            pv: node.table_pv,
        };
        self.table.store(position.key(), entry, node.ply);
    }
}
