//! How an engine uses tablebases: the values of its `Syzygy` options.

use std::sync::Arc;

use super::{RootRanking, TablebaseResult, Tablebases};
use crate::position::{Game, Position};
use shakmaty::Move;

#[derive(Clone, Debug)]
pub struct SyzygySettings {
    pub tables: Option<Arc<Tablebases>>,
    /// Positions with as many men as the limit are probed from this depth on, positions with
    /// fewer at any depth.
    pub probe_depth: i32,
    /// The most men, kings included, that are probed.
    pub probe_limit: usize,
    /// Cursed wins and blessed losses are draws.
    pub fifty_move_rule: bool,
}

impl Default for SyzygySettings {
    fn default() -> SyzygySettings {
        SyzygySettings {
            tables: None,
            probe_depth: SyzygySettings::DEFAULT_PROBE_DEPTH,
            probe_limit: SyzygySettings::MAX_MEN,
            fifty_move_rule: true,
        }
    }
}

impl SyzygySettings {
    pub const DEFAULT_PROBE_DEPTH: i32 = 1;
    /// Syzygy tables have up to seven men.
    pub const MAX_MEN: usize = 7;

    /// The most men that can be probed; zero without tables.
    pub fn men(&self) -> usize {
        let tables = self.tables.as_ref();
        tables.map_or(0, |tables| tables.max_men().min(self.probe_limit))
    }

    /// The result of a position right after a capture or a pawn move, if it is in the tables.
    pub fn probe(&self, position: &Position) -> Option<TablebaseResult> {
        let wdl = self.tables.as_ref()?.probe_wdl(position)?;
        Some(TablebaseResult::new(wdl, self.fifty_move_rule))
    }

    /// What the tables say about the moves of the current position, if it is in them.
    pub fn rank_root_moves(&self, game: &Game, moves: &[Move]) -> Option<RootRanking> {
        let tables = self.tables.as_ref()?;
        let men = game.position().board().occupied().count();
        if men > self.men() {
            return None;
        }
        RootRanking::new(tables, game, moves, self.fifty_move_rule)
    }
}
