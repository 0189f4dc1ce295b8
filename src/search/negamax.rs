//! One node of the main search: principal variation search with everything that makes it
//! selective, in numbered steps.

use std::sync::atomic::Ordering::Relaxed;

use shakmaty::Move;

use super::history::{Context, Played};
use super::learning::Tried;
use super::ordering::{Picker, Stage, is_tactical};
use super::reduction::{Circumstances, ONE_PLY};
use super::score::{DRAW, INFINITE, MATE_IN_MAX, MAX_EVAL, is_mate, mate_in, mated_in};
use super::table::{Bound, Entry};
use super::{Search, pruning, reduction};
use crate::position::movegen::PackedMove;
use crate::position::{Position, see_at_least};

/// What kind of node it is, known at compile time.
pub(super) trait NodeType {
    const ROOT: bool;
    const PV: bool;
}

/// Where the move is chosen.
pub(super) struct Root;
/// On the principal variation: an exact score is wanted.
pub(super) struct Pv;
/// Elsewhere: only whether the score is above or below a bound.
pub(super) struct NonPv;

impl NodeType for Root {
    const ROOT: bool = true;
    const PV: bool = true;
}
impl NodeType for Pv {
    const ROOT: bool = false;
    const PV: bool = true;
}
impl NodeType for NonPv {
    const ROOT: bool = false;
    const PV: bool = false;
}

/// What is known of a node before its moves are searched.
pub(super) struct Node {
    pub(super) ply: usize,
    pub(super) depth: i32,
    pub(super) alpha: i32,
    pub(super) beta: i32,
    pub(super) cut_node: bool,
    pub(super) in_check: bool,
    pub(super) improving: bool,
    /// Evaluation as the evaluator gave it; `None` in check.
    pub(super) raw_eval: Option<i32>,
    /// The same after correction; meaningless in check.
    pub(super) static_eval: i32,
    /// The best estimate: the static score or, where it says more, the table's.
    pub(super) estimate: i32,
    pub(super) entry: Option<Entry>,
    pub(super) table_move: Option<Move>,
    pub(super) table_pv: bool,
    pub(super) context: Context,
}

/// A move about to be searched.
struct Candidate {
    m: Move,
    /// Its place in the order, from one.
    number: usize,
    stage: Stage,
    history: i32,
    is_refutation: bool,
    /// By itself; discovered checks are missed.
    checks: bool,
}

/// What happens to a move before it is made.
enum Verdict {
    Search,
    Skip,
    SkipAllQuiets,
}

enum Extension {
    By(i32),
    /// Even without its best move the node beats beta.
    Multicut(i32),
}

const NODES_BETWEEN_CHECKS: u64 = 1024;

impl Search<'_> {
    pub(super) fn negamax<N: NodeType>(
        &mut self,
        position: &Position,
        ply: usize,
        mut alpha: i32,
        mut beta: i32,
        depth: i32,
        cut_node: bool,
    ) -> i32 {
        // 1. At the horizon, wait until it is quiet.
        if depth <= 0 {
            return self.quiescence::<N>(position, ply, alpha, beta);
        }
        // 2. Count the node; stop when told to.
        if self.enter_node(ply) {
            return DRAW;
        }
        if !N::ROOT {
            // 3. Draws by rule, and lines longer than a mate already found.
            if let Some(score) = self.settled(position, ply, &mut alpha, beta) {
                return score;
            }
            alpha = alpha.max(mated_in(ply));
            beta = beta.min(mate_in(ply + 1));
            if alpha >= beta {
                return alpha;
            }
        }
        // 4. Has the position been searched before?
        let excluded = self.ply(ply).excluded;
        let entry = match excluded.is_some() {
            true => None,
            false => self.table.probe(position.key(), ply),
        };
        if !N::PV
            && let Some(entry) = entry
            && entry.depth >= depth
            && entry.bound.decides(entry.score, beta)
            && position.halfmoves() < 90
        {
            return entry.score;
        }
        // 5. Static evaluation.
        let mut node = self.assess::<N>(position, ply, entry, depth, cut_node);
        (node.alpha, node.beta) = (alpha, beta);
        // 6. Whole-node pruning, away from the principal variation.
        if !N::PV
            && !node.in_check
            && !excluded.is_some()
            && let Some(score) = self.prune_node(position, &node)
        {
            return score;
        }
        // 7. Internal iterative reduction: without a table move, learn one more cheaply. Where
        // one is left out on purpose there is nothing to learn.
        let unknown = node.table_move.is_none() && !excluded.is_some();
        if (N::PV || cut_node) && node.depth >= self.params.iir_depth && unknown {
            node.depth -= 1;
        }
        // 8. The moves.
        node.context.attacked = position.attacked_by(!position.turn());
        self.search_moves::<N>(position, node)
    }

    /// Counts a node and looks up now and then whether to go on. True when the search is over.
    #[inline]
    pub(super) fn enter_node(&mut self, ply: usize) -> bool {
        self.nodes += 1;
        self.seldepth = self.seldepth.max(ply + 1);
        self.ply_mut(ply).line.clear();
        if self.nodes.is_multiple_of(NODES_BETWEEN_CHECKS) {
            self.control.publish(self.id, self.nodes);
            if self.id == 0 && self.must_stop() {
                self.control.stop();
            }
            self.aborted |= self.control.is_stopped();
        }
        self.aborted |= self.nodes_used_up(self.nodes);
        // The first iteration always ends, so that there is a move and a score.
        self.aborted &= self.completed_depth > 0;
        self.aborted
    }

    /// A limit is reached, or the caller has lost interest.
    fn must_stop(&self) -> bool {
        let told = self.request.stop.as_ref();
        told.is_some_and(|stop| stop.load(Relaxed))
            || !self.control.is_pondering()
                && (self.clock.past_hard_limit() || self.nodes_used_up(self.control.nodes()))
    }

    #[inline]
    fn nodes_used_up(&self, nodes: u64) -> bool {
        self.request
            .limits
            .nodes
            .is_some_and(|limit| nodes >= limit)
    }

    /// Gathers what is known about the node without searching it.
    fn assess<N: NodeType>(
        &mut self,
        position: &Position,
        ply: usize,
        entry: Option<Entry>,
        depth: i32,
        cut_node: bool,
    ) -> Node {
        let in_check = position.in_check();
        let context = self.context(position, ply);
        let raw_eval = self.raw_eval(position, entry, ply);
        let static_eval = raw_eval.map_or(-MAX_EVAL, |raw| self.corrected(position, raw, &context));
        self.ply_mut(ply).static_eval = raw_eval.map(|_| static_eval);
        if !in_check && !self.ply(ply).excluded.is_some() {
            self.judge_previous_move(position, ply, static_eval);
        }
        let table_move = match entry {
            _ if N::ROOT => Some(self.root_moves[self.pv_index].m),
            Some(entry) => entry.best.unpack(position),
            None => None,
        };
        self.ply_mut(ply + 2).cutoffs = 0;
        Node {
            ply,
            depth,
            alpha: 0,
            beta: 0,
            cut_node,
            in_check,
            improving: !in_check && self.is_improving(ply, static_eval),
            raw_eval,
            static_eval,
            estimate: refined(static_eval, entry),
            entry,
            table_move,
            table_pv: N::PV || entry.is_some_and(|entry| entry.pv),
            context,
        }
    }

    /// The evaluation as the evaluator gives it, from the table if it is there; none in check.
    pub(super) fn raw_eval(
        &mut self,
        position: &Position,
        entry: Option<Entry>,
        ply: usize,
    ) -> Option<i32> {
        if position.in_check() {
            return None;
        }
        let known = entry.and_then(|entry| entry.eval);
        Some(known.unwrap_or_else(|| self.data.evaluator.evaluate_at(position, ply)))
    }

    /// The evaluation mended by what the search learned, fading as the fifty moves run out.
    pub(super) fn corrected(&self, position: &Position, raw: i32, context: &Context) -> i32 {
        let faded = raw * (220 - position.halfmoves().min(100) as i32) / 220;
        let correction = self
            .data
            .history
            .correction(&self.params, position, context);
        (faded + correction).clamp(-MAX_EVAL, MAX_EVAL)
    }

    fn is_improving(&self, ply: usize, static_eval: i32) -> bool {
        let earlier = |plies: usize| {
            (ply >= plies)
                .then(|| self.ply(ply - plies).static_eval)
                .flatten()
        };
        earlier(2)
            .or_else(|| earlier(4))
            .is_some_and(|before| static_eval > before)
    }

    /// Plays `m` for the search: the child position, with path and prefetch taken care of.
    #[inline]
    pub(super) fn make(
        &mut self,
        position: &Position,
        ply: usize,
        m: Move,
        context: &Context,
    ) -> Position {
        let child = position.after(m);
        self.table.prefetch(child.key());
        let since_null = self.ply(ply).since_null + 1;
        let quiet = (!is_tactical(m)).then_some((m, *context));
        let played = Played::new(position.turn(), m);
        self.descend(position, ply, played, quiet, since_null);
        child
    }

    #[inline]
    pub(super) fn descend(
        &mut self,
        position: &Position,
        ply: usize,
        played: Played,
        quiet: Option<(Move, Context)>,
        since_null: usize,
    ) {
        self.keys.push(position.key());
        let here = self.ply_mut(ply);
        here.played = played;
        here.quiet = quiet;
        let double_extensions = here.double_extensions;
        let below = self.ply_mut(ply + 1);
        below.since_null = since_null;
        below.double_extensions = double_extensions;
    }

    fn search_moves<N: NodeType>(&mut self, position: &Position, mut node: Node) -> i32 {
        let ply = node.ply;
        let excluded = self.ply(ply).excluded;
        let original_alpha = node.alpha;
        let refutations = self.refutations(ply, &node.context);
        let mut picker = Picker::new(node.table_move, refutations);
        let check_squares = position.check_squares();
        let mut tried = Tried::default();
        let mut best_score = -INFINITE;
        let mut best_move = None;
        let mut number = 0;

        while let Some(m) = picker.next(position, &self.data.history, &node.context) {
            if excluded.is(m) || N::ROOT && self.is_settled_at_root(m) {
                continue;
            }
            number += 1;
            let candidate = Candidate {
                m,
                number,
                stage: picker.stage(),
                history: self.history_of(position, &node, m),
                is_refutation: refutations.iter().any(|packed| packed.is(m)),
                checks: check_squares.include(m),
            };
            if N::ROOT {
                self.announce_root_move(m, number);
            } else if best_score > -MATE_IN_MAX && position.has_non_pawn_material(position.turn()) {
                // 9. Moves not worth making.
                match self.judge(position, &node, &candidate) {
                    Verdict::Search => {}
                    Verdict::Skip => continue,
                    Verdict::SkipAllQuiets => {
                        picker.skip_quiets();
                        continue;
                    }
                }
            }
            // 10. Extensions.
            let extension = match self.extension::<N>(position, &node, m) {
                Extension::By(plies) => plies,
                Extension::Multicut(score) => return score,
            };
            // 11. Search it.
            let nodes_before = self.nodes;
            let score = self.search_child::<N>(position, &node, &candidate, extension);
            self.keys.pop();
            if self.aborted {
                return DRAW;
            }
            if N::ROOT {
                let is_best = number == 1 || score > node.alpha;
                self.record_root_move(m, is_best, score, self.nodes - nodes_before);
            }
            // 12. Is it the best so far?
            if score > best_score {
                best_score = score;
                if score > node.alpha {
                    best_move = Some(m);
                    if N::PV && !N::ROOT {
                        self.lengthen_line(ply, m);
                    }
                    if score >= node.beta {
                        break;
                    }
                    node.alpha = score;
                    // What is better still would have to be better than a good move.
                    if pruning::less_after_improvement(&self.params, node.depth) && !is_mate(score)
                    {
                        node.depth -= 1;
                    }
                }
            }
            tried.push(m);
        }
        // 13. No move: mate or stalemate, unless the only move was left out.
        if number == 0 {
            return match (excluded.is_some(), node.in_check) {
                (true, _) => node.alpha,
                (false, true) => mated_in(ply),
                (false, false) => self.draw_score(ply),
            };
        }
        self.learn(
            position,
            &node,
            best_score,
            best_move,
            original_alpha,
            &tried,
        );
        best_score
    }

    fn refutations(&self, ply: usize, context: &Context) -> [PackedMove; 3] {
        let [first, second] = self.ply(ply).killers;
        [
            first,
            second,
            self.data.history.counter(context.answered[0]),
        ]
    }

    fn history_of(&self, position: &Position, node: &Node, m: Move) -> i32 {
        let learned = &self.data.history;
        if is_tactical(m) {
            learned.capture(position.turn(), m)
        } else {
            learned.quiet(position.turn(), m, &node.context)
        }
    }

    /// The rules that skip single moves at low depth.
    fn judge(&self, position: &Position, node: &Node, candidate: &Candidate) -> Verdict {
        let &Node {
            depth,
            alpha,
            static_eval,
            improving,
            in_check,
            ..
        } = node;
        let &Candidate {
            m,
            number,
            stage,
            history,
            ..
        } = candidate;
        if is_tactical(m) || candidate.checks {
            let loses = stage > Stage::GoodCaptures
                && pruning::capture_exchange_limit(&self.params, depth)
                    .is_some_and(|limit| !see_at_least(position, m, limit));
            return if loses {
                Verdict::Skip
            } else {
                Verdict::Search
            };
        }
        if number > pruning::late_move_limit(&self.params, depth, improving) {
            return Verdict::SkipAllQuiets;
        }
        let reduction = self.data.lmr.reduction(depth, number)
            - history / self.params.reduction_history_divisor;
        let reduced = (depth - reduction / ONE_PLY).max(0);
        if !in_check && pruning::futility(&self.params, reduced, static_eval, alpha) {
            return Verdict::SkipAllQuiets;
        }
        if pruning::bad_history(&self.params, reduced, depth, history)
            || !see_at_least(
                position,
                m,
                pruning::quiet_exchange_limit(&self.params, reduced),
            )
        {
            return Verdict::Skip;
        }
        Verdict::Search
    }

    /// Singular extension: if all other moves are clearly worse than the table move, it deserves
    /// a deeper look; if they too beat beta, the node is settled (multicut).
    fn extension<N: NodeType>(&mut self, position: &Position, node: &Node, m: Move) -> Extension {
        let &Node {
            ply,
            depth,
            beta,
            cut_node,
            ..
        } = node;
        let Some(entry) = node.entry else {
            return Extension::By(0);
        };
        let applies = !N::ROOT
            && depth >= self.params.singular_depth
            && node.table_move == Some(m)
            && !self.ply(ply).excluded.is_some()
            && entry.depth >= depth - 3
            && matches!(entry.bound, Bound::Lower | Bound::Exact)
            && !is_mate(entry.score)
            && ply < 2 * self.root_depth as usize;
        if !applies {
            return Extension::By(0);
        }
        let target = entry.score - depth * self.params.singular_margin / 16;
        self.ply_mut(ply).excluded = PackedMove::new(m);
        let others =
            self.negamax::<NonPv>(position, ply, target - 1, target, (depth - 1) / 2, cut_node);
        self.ply_mut(ply).excluded = PackedMove::NONE;
        if self.aborted {
            return Extension::By(0);
        }
        if others < target {
            let far_worse = !N::PV && others < target - self.params.singular_double_margin;
            let allowed = self.ply(ply).double_extensions < self.params.singular_double_limit;
            Extension::By(if far_worse && allowed { 2 } else { 1 })
        } else if target >= beta {
            Extension::Multicut(target)
        } else if entry.score >= beta {
            Extension::By(-2)
        } else {
            Extension::By(if cut_node { -1 } else { 0 })
        }
    }

    /// Makes the move and searches it: reduced first when late, then as deep as it deserves.
    /// The caller takes the key off the path.
    fn search_child<N: NodeType>(
        &mut self,
        position: &Position,
        node: &Node,
        candidate: &Candidate,
        extension: i32,
    ) -> i32 {
        let &Candidate { m, number, .. } = candidate;
        let &Node {
            ply,
            alpha,
            beta,
            cut_node,
            ..
        } = node;
        let child = self.make(position, ply, m, &node.context);
        let checks = child.in_check();
        let checked_on_pv = N::PV && checks && extension == 0 && see_at_least(position, m, 0);
        let extension = if checked_on_pv { 1 } else { extension };
        self.ply_mut(ply + 1).double_extensions += i32::from(extension >= 2);
        let depth = node.depth - 1 + extension;

        let mut score = alpha + 1;
        // Near the principal variation a sacrifice is looked at as closely as anything.
        let spared = is_tactical(m) && (number < 4 || node.table_pv && !cut_node);
        if node.depth >= 2 && number > 1 + usize::from(N::PV) && !spared {
            // Late moves are looked at less deeply; a surprise is looked at again.
            let reduction = self.reduction::<N>(node, candidate, checks);
            let reduced = (depth - reduction / ONE_PLY).clamp(1, depth.max(1));
            score = -self.negamax::<NonPv>(&child, ply + 1, -alpha - 1, -alpha, reduced, true);
            if score > alpha && reduced < depth {
                let depth = self.depth_after_surprise(score, alpha, depth, reduced);
                if reduced < depth {
                    score = -self.negamax::<NonPv>(
                        &child,
                        ply + 1,
                        -alpha - 1,
                        -alpha,
                        depth,
                        !cut_node,
                    );
                }
            }
        } else if !N::PV || number > 1 {
            score = -self.negamax::<NonPv>(&child, ply + 1, -alpha - 1, -alpha, depth, !cut_node);
        }
        if N::PV && (number == 1 || score > alpha) {
            score = -self.negamax::<Pv>(&child, ply + 1, -beta, -alpha, depth, false);
        }
        score
    }

    fn reduction<N: NodeType>(&self, node: &Node, candidate: &Candidate, gives_check: bool) -> i32 {
        let circumstances = Circumstances {
            pv: N::PV,
            table_pv: node.table_pv,
            cut_node: node.cut_node,
            improving: node.improving,
            table_move_is_capture: node.table_move.is_some_and(Move::is_capture),
            is_refutation: candidate.is_refutation,
            gives_check,
            child_cutoffs: self.ply(node.ply + 1).cutoffs,
            history: candidate.history,
        };
        let base = self.data.lmr.reduction(node.depth, candidate.number);
        reduction::adjusted(&self.params, base, &circumstances)
    }

    /// Much better than expected: one deeper. Barely better: one shallower.
    fn depth_after_surprise(&self, score: i32, alpha: i32, depth: i32, reduced: i32) -> i32 {
        let deeper = score > alpha + self.params.deeper_margin + 2 * (depth - reduced);
        let shallower = score < alpha + self.params.shallower_margin;
        depth + i32::from(deeper) - i32::from(shallower)
    }

    /// The line of this ply becomes `m` and the line of the next.
    pub(super) fn lengthen_line(&mut self, ply: usize, m: Move) {
        let here = ply + super::BEFORE_ROOT;
        let (upper, lower) = self.stack.split_at_mut(here + 1);
        let line = &mut upper[here].line;
        line.clear();
        line.push(m);
        line.extend_from_slice(&lower[0].line);
    }
}

/// The table's score is the better estimate when its bound points the right way.
pub(super) fn refined(static_eval: i32, entry: Option<Entry>) -> i32 {
    match entry {
        Some(entry) if !is_mate(entry.score) && entry.bound.decides(entry.score, static_eval) => {
            entry.score
        }
        _ => static_eval,
    }
}
