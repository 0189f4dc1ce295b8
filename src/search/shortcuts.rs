//! Deciding a node without searching its moves: razoring, reverse futility, null move, probcut.
//! When each applies is in [`pruning`].

use super::history::Played;
use super::negamax::{Node, NonPv};
use super::ordering::Picker;
use super::score::{DRAW, is_mate};
use super::table::Bound;
use super::{Search, pruning};
use crate::position::Position;

impl Search<'_> {
    /// Rules that decide a node without looking at its moves.
    pub(super) fn prune_node(&mut self, position: &Position, node: &Node) -> Option<i32> {
        let &Node {
            depth,
            alpha,
            beta,
            estimate,
            improving,
            ..
        } = node;
        if pruning::razoring(&self.params, depth, estimate, alpha) {
            let score = self.quiescence::<NonPv>(position, node.ply, alpha, alpha + 1);
            if score <= alpha {
                return Some(score);
            }
        }
        if !node.table_pv
            && pruning::reverse_futility(&self.params, depth, improving, estimate, beta)
        {
            return Some((estimate + beta) / 2);
        }
        self.try_null_move(position, node)
            .or_else(|| self.probcut(position, node))
    }

    /// If passing still beats beta, a real move will. Zugzwang is guarded against by asking for
    /// pieces and, at high depth, by a second search without null moves.
    fn try_null_move(&mut self, position: &Position, node: &Node) -> Option<i32> {
        let &Node {
            ply,
            depth,
            beta,
            estimate,
            static_eval,
            ..
        } = node;
        if node.context.answered[0] == Played::NOTHING
            || ply < self.null_move_from
            || !position.has_non_pawn_material(position.turn())
            || !pruning::null_move(depth, estimate, static_eval, beta)
        {
            return None;
        }
        let reduced = depth - pruning::null_move_reduction(&self.params, depth, estimate, beta);
        let child = position.after_null_move();
        self.table.prefetch(child.key());
        self.descend(position, ply, Played::NOTHING, None, 0);
        let score =
            -self.negamax::<NonPv>(&child, ply + 1, -beta, -beta + 1, reduced, !node.cut_node);
        self.keys.pop();
        if self.aborted || score < beta {
            return None;
        }
        // A mate by passing proves nothing but that beta holds.
        let score = if is_mate(score) { beta } else { score };
        if depth < self.params.null_move_verify_depth || self.null_move_from > 0 {
            return Some(score);
        }
        self.null_move_from = ply + (3 * reduced / 4).max(1) as usize;
        let verified = self.negamax::<NonPv>(position, ply, beta - 1, beta, reduced, false);
        self.null_move_from = 0;
        (verified >= beta).then_some(score)
    }

    /// A good capture that beats beta by a margin at reduced depth would beat it at full depth.
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
            .entry
            .is_some_and(|entry| entry.depth >= depth - 3 && entry.score < raised);
        if depth < self.params.probcut_depth || is_mate(beta) || refuted {
            return None;
        }
        let mut picker = Picker::tactical(position, node.table_move, raised - static_eval);
        while let Some(m) = picker.next(position, &self.data.history, &node.context) {
            let child = self.make(position, ply, m, &node.context);
            let mut score = -self.quiescence::<NonPv>(&child, ply + 1, -raised, -raised + 1);
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
