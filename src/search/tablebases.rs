//! Syzygy tablebases in the search: which root moves compete, probes in the tree, and the scores
//! that are reported.

use super::engine::Job;
use super::score::{DRAW, tablebase_loss_in, tablebase_win_in};
use super::transposition::{Bound, Entry};
use super::{RootMove, Search};
use crate::eval::Score;
use crate::position::Position;
use crate::position::movegen::PackedMove;
use crate::tablebase::TablebaseResult;

/// A result of the tables outweighs a search this many plies deeper.
const DEPTH_BONUS: i32 = 6;

/// The probes of the root moves; the main thread counts them.
pub(super) fn root_hits(job: &Job, id: usize) -> u64 {
    let ranked = job.ranking().filter(|_| id == 0);
    ranked.map_or(0, |ranking| ranking.moves.len() as u64)
}

/// The most men for which the tree is probed. If the root is in the tables, its moves keep the
/// result anyway, and the search is for the way to mate; but WDL tables alone do not know how to
/// make progress in a win.
pub(super) fn men_in_tree(job: &Job) -> usize {
    match job.ranking() {
        Some(ranking) if ranking.by_dtz || ranking.result() != Some(TablebaseResult::Win) => 0,
        _ => job.settings.syzygy.men(),
    }
}

impl Search<'_> {
    /// The score of a position right after a capture or a pawn move, if it is in the tables.
    pub(super) fn probe_tablebases(
        &mut self,
        position: &Position,
        ply: usize,
        depth: i32,
    ) -> Option<Score> {
        let syzygy = &self.settings.syzygy;
        let men = position.board().occupied().count();
        let is_wanted = men < self.tb_men || men == self.tb_men && depth >= syzygy.probe_depth;
        if position.halfmoves() > 0 || !is_wanted {
            return None;
        }
        let result = syzygy.probe(position)?;
        self.tb_hits += 1;
        let (score, bound) = match result {
            TablebaseResult::Win => (tablebase_win_in(ply), Bound::Lower),
            TablebaseResult::Draw => (self.draw_score(ply), Bound::Exact),
            TablebaseResult::Loss => (tablebase_loss_in(ply), Bound::Upper),
        };
        let entry = Entry {
            best: PackedMove::NONE,
            score,
            eval: None,
            depth: depth + DEPTH_BONUS,
            bound,
            pv: false,
        };
        self.tt.store(position.key(), entry, ply);
        Some(score)
    }

    /// The score to report for a root move: what the tables say, unless the search has seen a
    /// mate.
    pub(super) fn reported(&self, root: &RootMove, score: Score) -> Score {
        match root.tablebase {
            None => self.without_contempt(score),
            Some(TablebaseResult::Draw) => DRAW,
            Some(TablebaseResult::Win) => score.max(tablebase_win_in(0)),
            Some(TablebaseResult::Loss) => score.min(tablebase_loss_in(0)),
        }
    }

    /// What the tables say is exact.
    pub(super) fn reported_bound(&self, root: &RootMove, bound: Bound) -> Bound {
        match root.tablebase {
            Some(_) => Bound::Exact,
            None => bound,
        }
    }

    /// Tells once, on the main thread, that a table turned out to be damaged.
    pub(super) fn report_table_damage(&self) {
        let tables = self.settings.syzygy.tables.as_ref();
        let tables = tables.filter(|_| self.id == 0);
        if let Some(damage) = tables.and_then(|tables| tables.new_damage()) {
            self.observer.message(damage);
        }
    }
}
