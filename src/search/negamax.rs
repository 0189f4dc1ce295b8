//! One node of the main search: principal variation search with everything that makes it
//! selective, in numbered steps.

use arrayvec::ArrayVec;
use shakmaty::{Move, Role, attacks};

use super::cuckoo::upcoming_repetition;
use super::history::{self, Context, Played};
use super::ordering::{Picker, Stage, is_tactical};
use super::reduction::{Circumstances, ONE_PLY};
use super::score::{DRAW, INFINITE, MATE_IN_MAX, MAX_EVAL, MAX_PLY, is_mate, mate_in, mated_in};
use super::table::{Bound, Entry};
use super::{Search, params, pruning, reduction};
use crate::position::movegen::{self, PackedMove};
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
struct Node {
    ply: usize,
    depth: i32,
    alpha: i32,
    beta: i32,
    cut_node: bool,
    in_check: bool,
    improving: bool,
    /// Evaluation as the evaluator gave it; `None` in check.
    raw_eval: Option<i32>,
    /// The same after correction; meaningless in check.
    static_eval: i32,
    /// The best estimate: the static score or, where it says more, the table's.
    estimate: i32,
    entry: Option<Entry>,
    table_move: Option<Move>,
    table_pv: bool,
    context: Context,
}

/// A move about to be searched.
struct Candidate {
    m: Move,
    /// Its place in the order, from one.
    number: usize,
    stage: Stage,
    history: i32,
    is_refutation: bool,
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
        // 7. Internal iterative reduction: without a table move, learn one more cheaply.
        if (N::PV || cut_node) && node.depth >= params::iir_depth() && node.table_move.is_none() {
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
            let out_of_time = self.id == 0
                && !self.control.is_pondering()
                && (self.clock.past_hard_limit() || self.nodes_used_up(self.control.nodes()));
            if out_of_time {
                self.control.stop();
            }
            self.aborted |= self.control.is_stopped();
        }
        self.aborted |= self.nodes_used_up(self.nodes);
        // The first iteration always ends, so that there is a move and a score.
        self.aborted &= self.completed_depth > 0;
        self.aborted
    }

    #[inline]
    fn nodes_used_up(&self, nodes: u64) -> bool {
        self.request
            .limits
            .nodes
            .is_some_and(|limit| nodes >= limit)
    }

    /// Draws that need no search, and the lift of alpha where a repetition is in reach.
    #[inline]
    pub(super) fn settled(
        &self,
        position: &Position,
        ply: usize,
        alpha: &mut i32,
        beta: i32,
    ) -> Option<i32> {
        if self.is_draw(position, ply) {
            return Some(DRAW);
        }
        if ply >= MAX_PLY - 1 {
            return Some(DRAW);
        }
        if *alpha < DRAW
            && upcoming_repetition(position, &self.keys, self.reversible(position, ply), ply)
        {
            *alpha = DRAW;
            if *alpha >= beta {
                return Some(DRAW);
            }
        }
        None
    }

    #[inline]
    fn reversible(&self, position: &Position, ply: usize) -> usize {
        (position.halfmoves() as usize).min(self.ply(ply).since_null)
    }

    fn is_draw(&self, position: &Position, ply: usize) -> bool {
        if position.is_insufficient_material() {
            return true;
        }
        // Mate on the hundredth ply is mate.
        if position.halfmoves() >= 100 {
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
        let raw_eval = match entry.and_then(|entry| entry.eval) {
            _ if in_check => None,
            Some(eval) => Some(eval),
            None => Some(self.memory.evaluator.evaluate(position)),
        };
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

    /// The evaluation mended by what the search learned, fading as the fifty moves run out.
    pub(super) fn corrected(&self, position: &Position, raw: i32, context: &Context) -> i32 {
        let faded = raw * (220 - position.halfmoves().min(100) as i32) / 220;
        let correction = self.memory.history.correction(position, context);
        (faded + correction).clamp(-MAX_EVAL, MAX_EVAL)
    }

    /// A quiet move that left the opponent worse off than before was a good one.
    fn judge_previous_move(&mut self, position: &Position, ply: usize, static_eval: i32) {
        if ply == 0 {
            return;
        }
        let previous = self.ply(ply - 1);
        if let (Some((m, context)), Some(before)) = (previous.quiet, previous.static_eval) {
            let limit = params::eval_history_limit();
            let gain = -(before + static_eval) * params::eval_history_slope();
            let bonus = gain.clamp(-limit, limit);
            self.memory
                .history
                .update_squares(!position.turn(), m, &context, bonus);
        }
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

    /// Rules that decide a node without looking at its moves.
    fn prune_node(&mut self, position: &Position, node: &Node) -> Option<i32> {
        let &Node {
            depth,
            alpha,
            beta,
            estimate,
            improving,
            ..
        } = node;
        if pruning::razoring(depth, estimate, alpha) {
            let score = self.quiescence::<NonPv>(position, node.ply, alpha, alpha + 1);
            if score <= alpha {
                return Some(score);
            }
        }
        if !node.table_pv && pruning::reverse_futility(depth, improving, estimate, beta) {
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
            || !position.has_pieces(position.turn())
            || !pruning::null_move(depth, estimate, static_eval, beta)
        {
            return None;
        }
        let reduced = depth - pruning::null_move_reduction(depth, estimate, beta);
        let child = position.after_null();
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
        if depth < params::null_move_verify_depth() || self.null_move_from > 0 {
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
        let raised = beta + params::probcut_margin();
        let refuted = node
            .entry
            .is_some_and(|entry| entry.depth >= depth - 3 && entry.score < raised);
        if depth < params::probcut_depth() || is_mate(beta) || refuted {
            return None;
        }
        let mut picker = Picker::tactical(position, node.table_move, raised - static_eval);
        while let Some(m) = picker.next(position, &self.memory.history, &node.context) {
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
    fn descend(
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
        self.ply_mut(ply + 1).since_null = since_null;
    }

    fn search_moves<N: NodeType>(&mut self, position: &Position, mut node: Node) -> i32 {
        let ply = node.ply;
        let excluded = self.ply(ply).excluded;
        let original_alpha = node.alpha;
        let refutations = self.refutations(ply, &node.context);
        let mut picker = Picker::new(node.table_move, refutations);
        let mut tried = Tried::default();
        let mut best_score = -INFINITE;
        let mut best_move = None;
        let mut number = 0;

        while let Some(m) = picker.next(position, &self.memory.history, &node.context) {
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
            };
            if N::ROOT {
                self.announce_root_move(m, number);
            } else if best_score > -MATE_IN_MAX && position.has_pieces(position.turn()) {
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
                }
            }
            tried.push(m);
        }
        // 13. No move: mate or stalemate, unless the only move was left out.
        if number == 0 {
            return match (excluded.is_some(), node.in_check) {
                (true, _) => node.alpha,
                (false, true) => mated_in(ply),
                (false, false) => DRAW,
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
            self.memory.history.counter(context.answered[0]),
        ]
    }

    fn history_of(&self, position: &Position, node: &Node, m: Move) -> i32 {
        let learned = &self.memory.history;
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
        if is_tactical(m) || checks_directly(position, m) {
            let loses = stage > Stage::GoodCaptures
                && pruning::capture_exchange_limit(depth)
                    .is_some_and(|limit| !see_at_least(position, m, limit));
            return if loses {
                Verdict::Skip
            } else {
                Verdict::Search
            };
        }
        if number > pruning::late_move_limit(depth, improving) {
            return Verdict::SkipAllQuiets;
        }
        let reduction =
            reduction::base(depth, number) - history / params::reduction_history_divisor();
        let reduced = (depth - reduction / ONE_PLY).max(0);
        if !in_check && pruning::futility(reduced, static_eval, alpha) {
            return Verdict::SkipAllQuiets;
        }
        if pruning::bad_history(reduced, depth, history)
            || !see_at_least(position, m, pruning::quiet_exchange_limit(reduced))
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
            && depth >= params::singular_depth()
            && node.table_move == Some(m)
            && !self.ply(ply).excluded.is_some()
            && entry.depth >= depth - 3
            && matches!(entry.bound, Bound::Lower | Bound::Exact)
            && !is_mate(entry.score)
            && ply < 2 * self.root_depth as usize;
        if !applies {
            return Extension::By(0);
        }
        let target = entry.score - depth * params::singular_margin() / 16;
        self.ply_mut(ply).excluded = PackedMove::new(m);
        let others =
            self.negamax::<NonPv>(position, ply, target - 1, target, (depth - 1) / 2, cut_node);
        self.ply_mut(ply).excluded = PackedMove::NONE;
        if self.aborted {
            return Extension::By(0);
        }
        if others < target {
            let far_worse = !N::PV && others < target - params::singular_double_margin();
            let allowed = self.ply(ply).double_extensions < params::singular_double_limit();
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
        let doubles = self.ply(ply).double_extensions + i32::from(extension >= 2);
        self.ply_mut(ply + 1).double_extensions = doubles;
        let depth = node.depth - 1 + extension;

        let mut score = alpha + 1;
        if node.depth >= 2 && number > 1 + usize::from(N::PV) && !(is_tactical(m) && number < 4) {
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
        let base = reduction::base(node.depth, candidate.number);
        reduction::adjusted(base, &circumstances)
    }

    /// Much better than expected: one deeper. Barely better: one shallower.
    fn depth_after_surprise(&self, score: i32, alpha: i32, depth: i32, reduced: i32) -> i32 {
        let deeper = score > alpha + params::deeper_margin() + 2 * (depth - reduced);
        let shallower = score < alpha + params::shallower_margin();
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

    /// Writes the result into histories, correction and table.
    fn learn(
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
        // The second and further lines of MultiPV are not the root's best.
        if node.ply > 0 || self.pv_index == 0 {
            self.store(position, node, node.depth, best_score, bound, best_move);
        }
        let tells_about_eval = match bound {
            Bound::Lower => best_score > node.static_eval,
            Bound::Upper => best_score < node.static_eval,
            _ => true,
        };
        let quiet = best_move.is_none_or(|m| !is_tactical(m));
        if !node.in_check && quiet && tells_about_eval && !is_mate(best_score) {
            let (eval, depth) = (node.static_eval, node.depth);
            self.memory
                .history
                .correct(position, &node.context, best_score, eval, depth);
        }
    }

    /// Nothing works here: the quiet move that led here deserves the credit.
    fn reward_previous_move(&mut self, position: &Position, node: &Node) {
        if let Some((m, context)) = self.ply(node.ply - 1).quiet {
            let bonus = history::bonus(node.depth) / 2;
            self.memory
                .history
                .update_quiet(!position.turn(), m, &context, bonus);
        }
    }

    /// The refuting move gains, the moves tried before it lose.
    fn reward(&mut self, position: &Position, node: &Node, best: Move, tried: &Tried) {
        let us = position.turn();
        let (bonus, malus) = (history::bonus(node.depth), history::malus(node.depth));
        let learned = &mut self.memory.history;
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

    fn store(
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

/// The table's score is the better estimate when its bound points the right way.
fn refined(static_eval: i32, entry: Option<Entry>) -> i32 {
    match entry {
        Some(entry) if !is_mate(entry.score) && entry.bound.decides(entry.score, static_eval) => {
            entry.score
        }
        _ => static_eval,
    }
}

/// Whether the moved piece itself attacks the king; discovered checks are rare enough to miss.
fn checks_directly(position: &Position, m: Move) -> bool {
    let king = position.king(!position.turn());
    let role = m.promotion().unwrap_or(m.role());
    match role {
        Role::Pawn => attacks::pawn_attacks(position.turn(), m.to()).contains(king),
        _ => movegen::attacks_of(role, m.to(), position.board().occupied()).contains(king),
    }
}

/// Moves searched without success, for the malus when one succeeds.
#[derive(Default)]
struct Tried {
    quiets: ArrayVec<Move, 48>,
    captures: ArrayVec<Move, 24>,
}

impl Tried {
    fn push(&mut self, m: Move) {
        // The rest of a very long list is not worth remembering.
        let _ = if is_tactical(m) {
            self.captures.try_push(m)
        } else {
            self.quiets.try_push(m)
        };
    }
}
