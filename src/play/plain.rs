//! Finch without its cunning, as a player in this process: the plain search of the papers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::engine_player::thought;
use super::limits::MoveLimits;
use super::player::{Fault, FaultKind, GameView, MoveRecord, Player};
use crate::position::Position;
use crate::search::full_width::FullWidthSearch;

impl Player for FullWidthSearch {
    fn new_game(&mut self, _start: &Position) -> Result<(), Fault> {
        self.clear();
        Ok(())
    }

    fn think(
        &mut self,
        situation: &GameView<'_>,
        _limits: &MoveLimits,
    ) -> Result<MoveRecord, Fault> {
        let started = Instant::now();
        // A bug in the search costs a game, not the match.
        let result = catch_unwind(AssertUnwindSafe(|| self.run(situation.game)))
            .map_err(|_| Fault::new(FaultKind::Disconnect, "the search failed"))?;
        thought(&result, self.weights(), started)
    }
}
