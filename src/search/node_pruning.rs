//! Pruning of whole nodes: razoring, reverse futility pruning (RFP), null move pruning (NMP),
//! ProbCut. Conditions and margins are in [`pruning`].

use super::history::PieceTo;
use super::move_picker::MovePicker;
use super::negamax::{Node, NonPv};
use super::score::{DRAW, is_decisive};
use super::transposition::Bound;
use super::{Search, pruning};
use crate::position::Position;

impl Search<'_> {
    /// A score that makes searching the moves of the node unnecessary.
    pub(super) fn prune_node(&mut self, position: &Position, node: &Node) -> Option<i32> {
        let &Node {
            depth,
            alpha,
            beta,
            eval,
            improving,
            ..
        } = node;
        if pruning::razoring(&self.params, depth, eval, alpha) {
            let score = self.qsearch::<NonPv>(position, node.ply, alpha, alpha + 1);
            if score <= alpha {
                return Some(score);
            }
        }
        if !node.tt_pv && pruning::reverse_futility(&self.params, depth, improving, eval, beta) {
            return Some((eval + beta) / 2);
        }
        self.null_move_pruning(position, node)
            .or_else(|| self.probcut(position, node))
    }

    /// Null move pruning: if passing still beats beta, a real move will. Guards against zugzwang:
    /// the side must have pieces, and at high depth a search without null moves verifies.
    fn null_move_pruning(&mut self, position: &Position, node: &Node) -> Option<i32> {
        let &Node {
            ply,
            depth,
            beta,
            eval,
            static_eval,
            ..
        } = node;
        if node.context.continuation[0] == PieceTo::NONE
            || ply < self.null_move_from
            || !position.has_non_pawn_material(position.turn())
            || !pruning::null_move(depth, eval, static_eval, beta)
        {
            return None;
        }
        let reduced = depth - pruning::null_move_reduction(&self.params, depth, eval, beta);
        let child = position.after_null_move();
        self.tt.prefetch(child.key());
        self.push_ply(position, ply, PieceTo::NONE, None, 0);
        let score =
            -self.negamax::<NonPv>(&child, ply + 1, -beta, -beta + 1, reduced, !node.cut_node);
        self.keys.pop();
        if self.aborted || score < beta {
            return None;
        }
        // A mate or tablebase win after passing only proves that beta holds.
        let score = if is_decisive(score) { beta } else { score };
        if depth < self.params.null_move_verify_depth || self.null_move_from > 0 {
            return Some(score);
        }
        self.null_move_from = ply + (3 * reduced / 4).max(1) as usize;
        let verified = self.negamax::<NonPv>(position, ply, beta - 1, beta, reduced, false);
        self.null_move_from = 0;
        (verified >= beta).then_some(score)
    }

    /// ProbCut: a good capture that beats beta by a margin at reduced depth would beat it at full
    /// depth.
    fn probcut(&mut self, position: &Position, node: &Node) -> Option<i32> {
        let &Node {
            ply,
            depth,
            beta,
            static_eval,
            ..
        } = node;
        let raised = beta + self.params.probcut_margin;
        let refuted = node
            .tt_entry
            .is_some_and(|entry| entry.depth >= depth - 3 && entry.score < raised);
        if depth < self.params.probcut_depth || is_decisive(beta) || refuted {
            return None;
        }
        let mut picker = MovePicker::tactical(position, node.tt_move, raised - static_eval);
        while let Some(m) = picker.next(position, &self.data.history, &node.context) {
            let child = self.make_move(position, ply, m, &node.context);
            let mut score = -self.qsearch::<NonPv>(&child, ply + 1, -raised, -raised + 1);
            if score >= raised && depth > 4 {
                let reduced = depth - 4;
                score = -self.negamax::<NonPv>(
                    &child,
                    ply + 1,
                    -raised,
                    -raised + 1,
                    reduced,
                    !node.cut_node,
                );
            }
            self.keys.pop();
            if self.aborted {
                return Some(DRAW);
            }
            if score >= raised {
                self.store(position, node, depth - 3, score, Bound::Lower, Some(m));
                return Some(score);
            }
        }
        None
    }
}
