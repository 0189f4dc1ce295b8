//! What a searched node writes into the histories, the correction history and the TT.

use arrayvec::ArrayVec;
use shakmaty::Move;

use super::move_picker::is_tactical;
use super::negamax::Node;
use super::score::is_decisive;
use super::transposition::{Bound, Entry};
use super::{Search, history};
use crate::position::Position;
use crate::position::movegen::PackedMove;

/// Moves searched before the one that causes a cut-off, for the malus.
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
    /// Butterfly history of the previous quiet move by how the static evaluation changed: it was
    /// good if the opponent is worse off now.
    pub(super) fn update_eval_history(
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
            let gain = self.data.piece_values.tempo - before - static_eval;
            let gain = gain * self.params.eval_history_slope;
            let bonus = gain.clamp(-limit, limit);
            self.data
                .history
                .update_butterfly(!position.turn(), m, &context, bonus);
        }
    }

    /// Writes the result of a node into histories, correction history and TT.
    pub(super) fn update_after_search(
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
            self.update_cutoff_histories(position, node, best, tried);
        }
        if self.ply(node.ply).excluded.is_some() {
            return;
        }
        if best_score <= original_alpha && node.ply > 0 {
            self.reward_previous_quiet(position, node);
        }
        let bound = Bound::of(best_score, original_alpha, node.beta);
        // At the root, further lines of MultiPV and `searchmoves` leave moves out.
        let whole = node.ply > 0 || self.pv_index == 0 && self.request.searchmoves.is_empty();
        if whole {
            self.store(position, node, node.depth, best_score, bound, best_move);
        }
        let corrects_eval = match bound {
            Bound::Lower => best_score > node.static_eval,
            Bound::Upper => best_score < node.static_eval,
            _ => true,
        };
        let quiet = best_move.is_none_or(|m| !is_tactical(m));
        if whole && !node.in_check && quiet && corrects_eval && !is_decisive(best_score) {
            let (eval, depth) = (node.static_eval, node.depth);
            self.data
                .history
                .update_correction(position, &node.context, best_score, eval, depth);
        }
    }

    /// Fail low: the quiet move that led here gets a bonus.
    fn reward_previous_quiet(&mut self, position: &Position, node: &Node) {
        if let Some((m, context)) = self.ply(node.ply - 1).quiet {
            let bonus = history::bonus(&self.params, node.depth) / 2;
            self.data
                .history
                .update_quiet(!position.turn(), m, &context, bonus);
        }
    }

    /// Beta cut-off: the best move gets a bonus, the moves tried before it a malus.
    fn update_cutoff_histories(
        &mut self,
        position: &Position,
        node: &Node,
        best: Move,
        tried: &Tried,
    ) {
        let us = position.turn();
        let (bonus, malus) = (
            history::bonus(&self.params, node.depth),
            history::malus(&self.params, node.depth),
        );
        let history = &mut self.data.history;
        if is_tactical(best) {
            history.update_capture(us, best, bonus);
        } else {
            history.update_quiet(us, best, &node.context, bonus);
            for m in &tried.quiets {
                history.update_quiet(us, *m, &node.context, malus);
            }
            history.set_counter_move(node.context.continuation[0], best);
            let killers = &mut self.stack[node.ply + super::BEFORE_ROOT].killers;
            if !killers[0].is(best) {
                *killers = [PackedMove::new(best), killers[0]];
            }
        }
        for m in &tried.captures {
            history.update_capture(us, *m, malus);
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
            pv: node.tt_pv,
        };
        self.tt.store(position.key(), entry, node.ply);
    }
}
