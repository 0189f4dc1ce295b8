//! Iterative deepening with aspiration windows.

use std::cmp::Reverse;
use std::time::Duration;

use shakmaty::Move;

use super::engine::Job;
use super::negamax::Root;
use super::score::{INFINITE, MATE, MAX_PLY, is_decisive, is_mate};
use super::time_management::IterationStats;
use super::{BEFORE_ROOT, Bound, RootMove, Search, SearchInfo, SearchResult};

/// Bounds and the current root move are only reported after this time: before it they would flood
/// the GUI.
const SLOW: Duration = Duration::from_secs(3);

/// The moves to choose from, those first that the tablebases rank first.
pub(super) fn root_moves(job: &Job) -> Vec<RootMove> {
    let ranked = |m: Move| {
        let moves = &job.ranking()?.moves;
        moves.iter().find(|ranked| ranked.m == m)
    };
    let root_move = |m: Move| RootMove {
        m,
        score: -INFINITE,
        bound: Bound::None,
        previous: -INFINITE,
        seldepth: 0,
        nodes: 0,
        pv: vec![m],
        rank: ranked(m).map_or(0, |ranked| ranked.rank),
        tablebase: ranked(m).map(|ranked| ranked.result),
    };
    let mut moves: Vec<RootMove> = job.legal_moves().into_iter().map(root_move).collect();
    moves.sort_by_key(RootMove::order);
    moves
}

impl RootMove {
    /// The best move has the smallest.
    fn order(&self) -> Reverse<(i32, i32)> {
        Reverse((self.rank, self.score))
    }

    /// The score of this iteration. If this was aborted before the score was exact: that of the
    /// iteration before, or a bound if that did not score the move.
    fn known_score(&self) -> (i32, Bound) {
        let exact_before = self.previous != -INFINITE;
        let known = self.score != -INFINITE;
        if known && (self.bound == Bound::Exact || !exact_before) {
            (self.score, self.bound)
        } else {
            (self.previous, Bound::Exact)
        }
    }
}

impl Search<'_> {
    /// Searches until a limit is reached or the control says stop.
    pub fn run(&mut self) -> SearchResult {
        if !self.root_moves.is_empty() {
            self.iterative_deepening();
        }
        self.control.publish(self.id, self.nodes, self.tb_hits);
        self.report_table_damage();
        self.result()
    }

    fn iterative_deepening(&mut self) {
        let lines = self.settings.multi_pv.clamp(1, self.root_moves.len());
        let mut stable_iterations = 0;
        let mut previous: Option<(Move, i32)> = None;

        for depth in 1..=self.max_depth() {
            self.root_depth = depth;
            for root in &mut self.root_moves {
                root.previous = root.score;
                root.score = -INFINITE;
            }
            for pv_index in 0..lines {
                self.pv_index = pv_index;
                self.seldepth = 0;
                self.aspiration_search();
                if self.aborted {
                    break;
                }
                // A later line may turn out better than an earlier one.
                self.root_moves[..=pv_index].sort_by_key(RootMove::order);
            }
            if self.aborted {
                self.report_new_best_move(previous);
                break;
            }
            self.completed_depth = depth;
            if self.id != 0 {
                continue;
            }
            for line in 0..lines {
                self.report(line);
            }
            let best = &self.root_moves[0];
            stable_iterations = match previous {
                Some((m, _)) if m == best.m => stable_iterations + 1,
                _ => 0,
            };
            let stats = IterationStats {
                stable_iterations,
                score_drop: previous.map_or(0, |(_, score)| score - best.score),
                best_move_share: best.nodes as f64 / self.nodes.max(1) as f64,
            };
            previous = Some((best.m, best.score));
            if self.is_done(&stats) {
                break;
            }
        }
    }

    fn max_depth(&self) -> i32 {
        let deepest = MAX_PLY as i32 - 1;
        self.request
            .limits
            .depth
            .map_or(deepest, |depth| depth.clamp(1, deepest as u32) as i32)
    }

    /// Whether the iteration just finished was the last one.
    fn is_done(&self, stats: &IterationStats) -> bool {
        let best = &self.root_moves[0];
        let mate_found = self.request.limits.mate.is_some_and(|moves| {
            is_mate(best.score) && MATE - best.score.abs() <= 2 * moves as i32
        });
        let choices = match self.settings.multi_pv {
            1 => self.contenders().len(),
            _ => self.root_moves.len(),
        };
        let no_choice = choices == 1 && self.time.is_timed();
        let is_over = self.time.past_soft_limit(stats) || no_choice;
        if is_over && self.control.is_pondering() {
            self.control.set_overdue();
        }
        // Checked last: the ponder hit may have come in the meantime.
        let waits = self.control.is_pondering() || self.request.limits.infinite;
        mate_found || is_over && !waits
    }

    /// Searches the root with a window around the score of the iteration before, wider each
    /// time the score falls outside.
    fn aspiration_search(&mut self) {
        let expected = self.root_moves[self.pv_index].previous;
        let mut width = self.params.aspiration_width;
        let (mut alpha, mut beta) = if self.root_depth >= 4 && !is_decisive(expected) {
            (expected - width, expected + width)
        } else {
            (-INFINITE, INFINITE)
        };
        let mut depth = self.root_depth;
        let position = self.request.game.position().clone();

        loop {
            let score = self.negamax::<Root>(&position, 0, alpha, beta, depth, false);
            // A stable sort keeps the order of moves that were not resolved this time.
            self.root_moves[self.pv_index..].sort_by_key(RootMove::order);
            if self.aborted {
                return;
            }
            if score <= alpha {
                self.report_if_slow(Bound::Upper);
                beta = (alpha + beta) / 2;
                alpha = (score - width).max(-INFINITE);
                depth = self.root_depth;
            } else if score >= beta {
                self.report_if_slow(Bound::Lower);
                beta = (score + width).min(INFINITE);
                if !is_decisive(score) {
                    depth = (depth - 1).max(self.root_depth - 3).max(1);
                }
            } else {
                return;
            }
            width += width / 2;
            if width > 600 {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
        }
    }

    fn report_if_slow(&self, bound: Bound) {
        if self.id == 0 && self.time.elapsed() >= SLOW {
            let root = &self.root_moves[self.pv_index];
            self.control.publish(self.id, self.nodes, self.tb_hits);
            self.observer.info(&SearchInfo {
                score: self.reported(root, root.score),
                bound,
                ..self.describe(self.pv_index)
            });
        }
    }

    /// An aborted iteration may already have found a better move: the last PV a GUI sees must
    /// begin with the move played.
    fn report_new_best_move(&self, previous: Option<(Move, i32)>) {
        let best = &self.root_moves[0];
        if self.id == 0 && previous.is_some_and(|(m, _)| m != best.m) {
            self.report(0);
        }
    }

    fn report(&self, line: usize) {
        self.control.publish(self.id, self.nodes, self.tb_hits);
        if self.observer.listens() {
            self.observer.info(&self.describe(line));
        }
    }

    fn describe(&self, line: usize) -> SearchInfo {
        let root = &self.root_moves[line];
        let (score, bound) = root.known_score();
        SearchInfo {
            depth: self.root_depth,
            seldepth: root.seldepth,
            multi_pv: line + 1,
            score: self.reported(root, score),
            bound: self.reported_bound(root, bound),
            nodes: self.control.nodes(),
            hashfull: self.tt.hashfull(),
            tb_hits: self.control.tb_hits(),
            elapsed: self.time.elapsed(),
            pv: root.pv.clone(),
        }
    }

    pub(super) fn best_line(&self) -> Option<SearchInfo> {
        (!self.root_moves.is_empty()).then(|| self.describe(0))
    }

    pub(super) fn announce_root_move(&self, m: Move, number: usize) {
        if self.id == 0 && self.time.elapsed() >= SLOW {
            self.observer
                .current_move(self.root_depth, m, number + self.pv_index);
        }
    }

    pub(super) fn is_excluded_at_root(&self, m: Move) -> bool {
        let contenders = self.contenders();
        let all = self.pv_index == 0
            && self.request.searchmoves.is_empty()
            && contenders.len() == self.root_moves.len();
        // Short searches would spend much of their time looking for each move in the list.
        !all && !contenders.iter().any(|root| root.m == m)
    }

    /// The moves that compete for the current line: of those left, the ones that the tablebases
    /// rank first.
    fn contenders(&self) -> &[RootMove] {
        let left = &self.root_moves[self.pv_index..];
        let of_first_rank = left.partition_point(|root| root.rank == left[0].rank);
        &left[..of_first_rank]
    }

    /// Keeps the result of a root move. A move that did not raise alpha has no known score; the
    /// stable sort then leaves it behind the others.
    pub(super) fn record_root_move(&mut self, m: Move, found: Option<(i32, Bound)>, nodes: u64) {
        let line = &self.stack[BEFORE_ROOT + 1].pv;
        let mut contenders = self.root_moves[self.pv_index..].iter_mut();
        let Some(root) = contenders.find(|root| root.m == m) else {
            return;
        };
        root.nodes += nodes;
        if let Some((score, bound)) = found {
            root.score = score;
            root.bound = bound;
            root.seldepth = self.seldepth;
            root.pv.clear();
            root.pv.push(m);
            root.pv.extend_from_slice(line);
        } else {
            root.score = -INFINITE;
        }
    }

    fn result(&self) -> SearchResult {
        let Some(root) = self.root_moves.first() else {
            return SearchResult::default();
        };
        let (score, bound) = root.known_score();
        SearchResult {
            best_move: Some(root.m),
            ponder: root.pv.get(1).copied(),
            score: self.reported(root, score),
            bound: self.reported_bound(root, bound),
            depth: self.completed_depth,
            nodes: self.nodes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{EngineSettings, Limits, SearchRequest, Silent, ThreadData};

    /// Searches the root once with this window, as an iteration does that is aborted after it.
    fn result_of(previous: Option<i32>, alpha: i32, beta: i32) -> SearchResult {
        let request = SearchRequest::new(Default::default(), Limits::default());
        let job = Job::new(EngineSettings::default(), request).unwrap();
        let mut data = ThreadData::new(&job.settings);
        let mut search = Search::new(&job, &Silent, &mut data, 0);
        search.root_depth = 2;
        for root in &mut search.root_moves {
            root.previous = previous.unwrap_or(-INFINITE);
        }
        let position = job.request.game.position();
        search.negamax::<Root>(position, 0, alpha, beta, 2, false);
        search.root_moves.sort_by_key(|root| -root.score);
        assert_eq!(search.best_line().unwrap().bound, search.result().bound);
        search.result()
    }

    #[test]
    fn a_fail_high_of_an_aborted_iteration_is_a_lower_bound() {
        let result = result_of(None, -3_001, -3_000);
        assert_eq!(result.bound, Bound::Lower);
        assert!(result.score >= -3_000);
    }

    #[test]
    fn an_aborted_iteration_without_an_exact_score_gives_that_of_the_one_before() {
        for (alpha, beta) in [(-3_001, -3_000), (3_000, 3_001)] {
            let result = result_of(Some(17), alpha, beta);
            assert_eq!((result.score, result.bound), (17, Bound::Exact));
        }
        let inside = result_of(Some(17), -INFINITE, INFINITE);
        assert_eq!(inside.bound, Bound::Exact);
        assert_ne!(inside.score, 17);
    }
}
