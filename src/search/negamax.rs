//! One node of the main search: principal variation search with everything that makes it
//! selective, in numbered steps.

use std::sync::atomic::Ordering::Relaxed;

use shakmaty::Move;

use super::history::{Context, PieceTo};
use super::history_update::Tried;
use super::lmr::{LmrContext, ONE_PLY};
use super::move_picker::{MovePicker, PickStage, is_tactical};
use super::score::{DECISIVE, DRAW, INFINITE, MAX_EVAL, is_decisive, mate_in, mated_in};
use super::transposition::{Bound, Entry};
use super::{Search, lmr, pruning};
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

/// What is known about a node before its moves are searched.
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
    /// The static evaluation, or the TT score where its bound makes it the better estimate.
    pub(super) eval: i32,
    pub(super) tt_entry: Option<Entry>,
    pub(super) tt_move: Option<Move>,
    pub(super) tt_pv: bool,
    pub(super) context: Context,
}

/// A move about to be searched.
struct Candidate {
    m: Move,
    /// Counted from one in the order of search.
    number: usize,
    stage: PickStage,
    history: i32,
    is_refutation: bool,
    /// By itself; discovered checks are missed.
    checks: bool,
}

/// Whether a move is searched.
enum MovePruning {
    Search,
    Skip,
    SkipQuiets,
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
        // 1. Qsearch at the horizon.
        if depth <= 0 {
            return self.qsearch::<N>(position, ply, alpha, beta);
        }
        // 2. Count the node; stop when told to.
        if self.enter_node(ply) {
            return DRAW;
        }
        if !N::ROOT {
            // 3. Draws by rule, and mate distance pruning.
            if let Some(score) = self.draw_by_rule(position, ply, &mut alpha, beta) {
                return score;
            }
            alpha = alpha.max(mated_in(ply));
            beta = beta.min(mate_in(ply + 1));
            if alpha >= beta {
                return alpha;
            }
        }
        // 4. TT cut-off.
        let excluded = self.ply(ply).excluded;
        let entry = match excluded.is_some() {
            true => None,
            false => self.tt.probe(position.key(), ply, position.halfmoves()),
        };
        if !N::PV
            && let Some(entry) = entry
            && entry.depth >= depth
            && entry.bound.decides(entry.score, beta)
            && position.halfmoves() < 90
        {
            return entry.score;
        }
        // 5. Tablebases, after a capture or a pawn move.
        if self.tb_men > 0
            && !N::ROOT
            && !excluded.is_some()
            && let Some(score) = self.probe_tablebases(position, ply, depth)
        {
            return score;
        }
        // 6. Static evaluation.
        let mut node = self.evaluate_node::<N>(position, ply, entry, depth, cut_node);
        (node.alpha, node.beta) = (alpha, beta);
        // 7. Whole-node pruning, away from the principal variation.
        if !N::PV
            && !node.in_check
            && !excluded.is_some()
            && let Some(score) = self.prune_node(position, &node)
        {
            return score;
        }
        // 8. Internal iterative reduction (IIR): without a TT move, find one with a shallower
        // search. A singular search has none because it excludes it.
        let unknown = node.tt_move.is_none() && !excluded.is_some();
        if (N::PV || cut_node) && node.depth >= self.params.iir_depth && unknown {
            node.depth -= 1;
        }
        // 9. The moves.
        node.context.attacked = position.attacked_by(!position.turn());
        self.search_moves::<N>(position, node)
    }

    /// Counts a node and checks the limits now and then. True when the search is over.
    #[inline]
    pub(super) fn enter_node(&mut self, ply: usize) -> bool {
        self.nodes += 1;
        self.seldepth = self.seldepth.max(ply + 1);
        self.ply_mut(ply).pv.clear();
        if self.nodes.is_multiple_of(NODES_BETWEEN_CHECKS) {
            self.control.publish(self.id, self.nodes, self.tb_hits);
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

    /// A limit is reached, or the request's stop flag is set.
    fn must_stop(&self) -> bool {
        let stop = self.request.stop.as_ref();
        stop.is_some_and(|stop| stop.load(Relaxed))
            || !self.control.is_pondering()
                && (self.time.past_hard_limit() || self.nodes_used_up(self.control.nodes()))
    }

    #[inline]
    fn nodes_used_up(&self, nodes: u64) -> bool {
        self.node_limit.is_some_and(|limit| nodes >= limit)
    }

    /// Static evaluation and everything else known before the moves are searched.
    fn evaluate_node<N: NodeType>(
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
            self.update_eval_history(position, ply, static_eval);
        }
        let tt_move = match entry {
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
            eval: adjusted_by_tt(static_eval, entry),
            tt_entry: entry,
            tt_move,
            tt_pv: N::PV || entry.is_some_and(|entry| entry.pv),
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
        Some(known.unwrap_or_else(|| {
            let eval = self.data.evaluator.evaluate_at(position, ply);
            match &self.handicap {
                Some(handicap) => handicap.blurred(eval, position.key(), self.centipawn),
                None => eval,
            }
        }))
    }

    /// The evaluation with correction history, scaled down as the fifty moves run out.
    pub(super) fn corrected(&self, position: &Position, raw: i32, context: &Context) -> i32 {
        let scaled = raw * (220 - position.halfmoves().min(100) as i32) / 220;
        let correction = self
            .data
            .history
            .correction(&self.params, position, context);
        (scaled + correction).clamp(-MAX_EVAL, MAX_EVAL)
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

    /// Makes a move: the child position, with key history, search stack and TT prefetch.
    #[inline]
    pub(super) fn make_move(
        &mut self,
        position: &Position,
        ply: usize,
        m: Move,
        context: &Context,
    ) -> Position {
        let child = position.after(m);
        self.tt.prefetch(child.key());
        let since_null = self.ply(ply).since_null + 1;
        let quiet = (!is_tactical(m)).then_some((m, *context));
        let played = PieceTo::new(position.turn(), m);
        self.push_ply(position, ply, played, quiet, since_null);
        child
    }

    #[inline]
    pub(super) fn push_ply(
        &mut self,
        position: &Position,
        ply: usize,
        played: PieceTo,
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
        let mut picker = MovePicker::new(node.tt_move, refutations);
        let check_squares = position.check_squares();
        let mut tried = Tried::default();
        let mut best_score = -INFINITE;
        let mut best_move = None;
        let mut number = 0;

        while let Some(m) = picker.next(position, &self.data.history, &node.context) {
            if excluded.is(m) || N::ROOT && self.is_excluded_at_root(m) {
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
            } else if best_score > -DECISIVE && position.has_non_pawn_material(position.turn()) {
                // 10. Late move pruning (LMP), futility, history and SEE pruning.
                match self.prune_move(position, &node, &candidate) {
                    MovePruning::Search => {}
                    MovePruning::Skip => continue,
                    MovePruning::SkipQuiets => {
                        picker.skip_quiets();
                        continue;
                    }
                }
            }
            // 11. Singular extension and multicut.
            let extension = match self.extension::<N>(position, &node, m) {
                Extension::By(plies) => plies,
                Extension::Multicut(score) => return score,
            };
            // 12. Late move reductions (LMR) and principal variation search (PVS).
            let nodes_before = self.nodes;
            let score = self.search_child::<N>(position, &node, &candidate, extension);
            self.keys.pop();
            if self.aborted {
                return DRAW;
            }
            if N::ROOT {
                let is_best = number == 1 || score > node.alpha;
                let found = is_best.then(|| (score, Bound::of(score, node.alpha, node.beta)));
                self.record_root_move(m, found, self.nodes - nodes_before);
            }
            // 13. Best move and beta cut-off.
            if score > best_score {
                best_score = score;
                if score > node.alpha {
                    best_move = Some(m);
                    if N::PV && !N::ROOT {
                        self.update_pv(ply, m);
                    }
                    if score >= node.beta {
                        break;
                    }
                    node.alpha = score;
                    // The remaining moves must beat a good move.
                    if pruning::less_after_improvement(&self.params, node.depth)
                        && !is_decisive(score)
                    {
                        node.depth -= 1;
                    }
                }
            }
            tried.push(m);
        }
        // 14. No move: mate or stalemate, unless the only move is excluded.
        if number == 0 {
            return match (excluded.is_some(), node.in_check) {
                (true, _) => node.alpha,
                (false, true) => mated_in(ply),
                (false, false) => self.draw_score(ply),
            };
        }
        self.update_after_search(
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
            self.data.history.counter_move(context.continuation[0]),
        ]
    }

    fn history_of(&self, position: &Position, node: &Node, m: Move) -> i32 {
        let history = &self.data.history;
        if is_tactical(m) {
            history.capture(position.turn(), m)
        } else {
            history.quiet(position.turn(), m, &node.context)
        }
    }

    /// The rules that skip single moves at low depth.
    fn prune_move(&self, position: &Position, node: &Node, candidate: &Candidate) -> MovePruning {
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
            let loses = stage > PickStage::GoodCaptures
                && pruning::capture_see_limit(&self.params, depth)
                    .is_some_and(|limit| !see_at_least(position, m, limit));
            return if loses {
                MovePruning::Skip
            } else {
                MovePruning::Search
            };
        }
        if number > pruning::late_move_limit(&self.params, depth, improving) {
            return MovePruning::SkipQuiets;
        }
        let reduction = self.data.lmr.reduction(depth, number)
            - history / self.params.reduction_history_divisor;
        let reduced = (depth - reduction / ONE_PLY).max(0);
        if !in_check && pruning::futility(&self.params, reduced, static_eval, alpha) {
            return MovePruning::SkipQuiets;
        }
        if pruning::bad_history(&self.params, reduced, depth, history)
            || !see_at_least(position, m, pruning::quiet_see_limit(&self.params, reduced))
        {
            return MovePruning::Skip;
        }
        MovePruning::Search
    }

    /// Singular extension: if all other moves are clearly worse than the TT move, it is extended;
    /// if they too beat beta, the node is cut (multicut).
    fn extension<N: NodeType>(&mut self, position: &Position, node: &Node, m: Move) -> Extension {
        let &Node {
            ply,
            depth,
            beta,
            cut_node,
            ..
        } = node;
        let Some(entry) = node.tt_entry else {
            return Extension::By(0);
        };
        let applies = !N::ROOT
            && depth >= self.params.singular_depth
            && node.tt_move == Some(m)
            && !self.ply(ply).excluded.is_some()
            && entry.depth >= depth - 3
            && matches!(entry.bound, Bound::Lower | Bound::Exact)
            && !is_decisive(entry.score)
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

    /// Makes the move and searches it: reduced first if late, then at full depth, then with the
    /// full window. The caller pops the key.
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
        let child = self.make_move(position, ply, m, &node.context);
        let checks = child.in_check();
        let checked_on_pv = N::PV && checks && extension == 0 && see_at_least(position, m, 0);
        let extension = if checked_on_pv { 1 } else { extension };
        self.ply_mut(ply + 1).double_extensions += i32::from(extension >= 2);
        let depth = node.depth - 1 + extension;

        let mut score = alpha + 1;
        // Captures near the principal variation are not reduced.
        let spared = is_tactical(m) && (number < 4 || node.tt_pv && !cut_node);
        if node.depth >= 2 && number > 1 + usize::from(N::PV) && !spared {
            // A reduced search that fails high is repeated at full depth.
            let reduction = self.reduction::<N>(node, candidate, checks);
            let reduced = (depth - reduction / ONE_PLY).clamp(1, depth.max(1));
            score = -self.negamax::<NonPv>(&child, ply + 1, -alpha - 1, -alpha, reduced, true);
            if score > alpha && reduced < depth {
                let depth = self.research_depth(score, alpha, depth, reduced);
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
        let context = LmrContext {
            pv: N::PV,
            tt_pv: node.tt_pv,
            cut_node: node.cut_node,
            improving: node.improving,
            tt_move_is_capture: node.tt_move.is_some_and(Move::is_capture),
            is_refutation: candidate.is_refutation,
            gives_check,
            child_cutoffs: self.ply(node.ply + 1).cutoffs,
            history: candidate.history,
        };
        let base = self.data.lmr.reduction(node.depth, candidate.number);
        lmr::adjusted(&self.params, base, &context)
    }

    /// Depth of the search after a reduced one failed high: deeper if by much, shallower if by
    /// little.
    fn research_depth(&self, score: i32, alpha: i32, depth: i32, reduced: i32) -> i32 {
        let deeper = score > alpha + self.params.deeper_margin + 2 * (depth - reduced);
        let shallower = score < alpha + self.params.shallower_margin;
        depth + i32::from(deeper) - i32::from(shallower)
    }

    /// The PV of this ply becomes `m` and the PV of the next.
    pub(super) fn update_pv(&mut self, ply: usize, m: Move) {
        let here = ply + super::BEFORE_ROOT;
        let (upper, lower) = self.stack.split_at_mut(here + 1);
        let pv = &mut upper[here].pv;
        pv.clear();
        pv.push(m);
        pv.extend_from_slice(&lower[0].pv);
    }
}

/// The evaluation adjusted by the TT: its score is the better estimate if its bound allows it.
pub(super) fn adjusted_by_tt(static_eval: i32, entry: Option<Entry>) -> i32 {
    match entry {
        Some(entry)
            if !is_decisive(entry.score) && entry.bound.decides(entry.score, static_eval) =>
        {
            entry.score
        }
        _ => static_eval,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Game;
    use crate::search::engine::Job;
    use crate::search::score::is_mate;
    use crate::search::{EngineSettings, Limits, SearchRequest, Silent, ThreadData};

    /// A node of rook and king against king, whose TT entry says that the rook mates in 25 plies.
    fn score_at(halfmoves: u32) -> i32 {
        let fen = format!("8/8/8/3k4/8/8/8/R3K3 w - - {halfmoves} 60");
        let position = Position::from_fen(&fen).unwrap();
        let request = SearchRequest::new(Game::new(position.clone()), Limits::default());
        let job = Job::new(EngineSettings::default(), request).unwrap();
        let entry = Entry {
            best: PackedMove::NONE,
            score: mate_in(25),
            eval: None,
            depth: 30,
            bound: Bound::Lower,
            pv: false,
        };
        job.tt.store(position.key(), entry, 0);
        let mut data = ThreadData::new(&job.settings);
        let mut search = Search::new(&job, &Silent, &mut data, 0);
        search.negamax::<NonPv>(&position, 1, 4_999, 5_000, 2, true)
    }

    #[test]
    fn a_mate_of_the_table_that_comes_after_the_fifty_moves_is_not_believed() {
        assert!(is_mate(score_at(70)));
        assert!(!is_mate(score_at(80)));
    }
}
