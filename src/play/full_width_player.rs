//! The full-width search of the papers as a player in this process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::engine_player::move_record;
use super::limits::MoveLimits;
use super::player::{Fault, FaultKind, GameView, MoveRecord, Player};
use crate::position::Position;
use crate::search::full_width::FullWidthSearch;

impl Player for FullWidthSearch {
    fn new_game(&mut self, _start: &Position) -> Result<(), Fault> {
        self.clear();
        Ok(())
    }

    fn think(&mut self, view: &GameView<'_>, _limits: &MoveLimits) -> Result<MoveRecord, Fault> {
        let started = Instant::now();
        // A bug in the search costs a game, not the match.
        let result = catch_unwind(AssertUnwindSafe(|| self.run(view.game)))
            .map_err(|_| Fault::new(FaultKind::Disconnect, "the search failed"))?;
        move_record(&result, self.weights(), started)
    }
}
