//! Finch as a player in this process, on the thread of the game.
//!
//! The transposition table and the histories are cleared before each game, so a game depends only
//! on its players, its opening and its limits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::limits::MoveLimits;
use super::player::{Fault, FaultKind, GameView, MoveRecord, Player};
use crate::eval::Weights;
use crate::position::Position;
use crate::search::score::ReportedScore;
use crate::search::{Engine, EngineError, EngineSettings, SearchRequest, SearchResult};

pub struct EnginePlayer {
    engine: Engine,
}

impl EnginePlayer {
    pub fn new(settings: EngineSettings) -> Result<EnginePlayer, EngineError> {
        let engine = Engine::new(settings)?;
        Ok(EnginePlayer { engine })
    }
}

impl Player for EnginePlayer {
    fn new_game(&mut self, _start: &Position) -> Result<(), Fault> {
        self.engine.new_game();
        Ok(())
    }

    fn think(&mut self, view: &GameView<'_>, limits: &MoveLimits) -> Result<MoveRecord, Fault> {
        let request = SearchRequest::new(view.game.clone(), limits.search);
        let started = request.started;
        // A bug in the search costs a game, not the match.
        let searched = catch_unwind(AssertUnwindSafe(|| self.engine.search(request)));
        let result =
            searched.map_err(|_| Fault::new(FaultKind::Disconnect, "the search failed"))?;
        move_record(&result, &self.engine.settings().weights, started)
    }
}

/// The result of a search as a move of a game.
pub(super) fn move_record(
    result: &SearchResult,
    weights: &Weights,
    started: Instant,
) -> Result<MoveRecord, Fault> {
    let no_move = || Fault::new(FaultKind::IllegalMove, "no move");
    Ok(MoveRecord {
        m: result.best_move.ok_or_else(no_move)?,
        score: Some(ReportedScore::new(result.score, &weights.win_model())),
        depth: result.depth.max(0) as u32,
        nodes: result.nodes,
        elapsed: started.elapsed(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::limits::{GameClocks, GameLimits};
    use crate::position::Game;
    use shakmaty::{ByColor, Color};
    use std::time::Duration;

    #[test]
    fn running_out_of_time_once_does_not_cut_later_moves_short() {
        let mut player = EnginePlayer::new(EngineSettings::default()).unwrap();
        let game = Game::default();
        let view = GameView {
            start: game.position(),
            game: &game,
            moves: &[],
        };
        let mut think = |limits: GameLimits| {
            let clocks = GameClocks::new(ByColor::new_with(|_| limits), Duration::ZERO);
            player
                .think(&view, &clocks.move_limits(Color::White))
                .unwrap()
        };
        think(GameLimits {
            move_time: Some(Duration::from_millis(30)),
            ..GameLimits::default()
        });
        assert!(think(GameLimits::nodes(5_000)).nodes >= 5_000);
    }
}
