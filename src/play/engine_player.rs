//! Finch as a player in this process: no pipe, no text, one thread.
//!
//! Table and histories are kept from game to game but emptied at the start of each, so that a
//! game depends on nothing but its players, its opening and its limits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use shakmaty::Color;

use super::limits::MoveLimits;
use super::player::{Fault, FaultKind, GameView, MoveRecord, Player};
use crate::eval::Weights;
use crate::position::Position;
use crate::search::clock::Limits;
use crate::search::score::ReportedScore;
use crate::search::table::OutOfMemory;
use crate::search::{Control, Memory, Outcome, Request, Search, Silent, Table};

/// Kept in hand at each move when there is a clock: other games share the processor.
const OVERHEAD: Duration = Duration::from_millis(10);

pub struct EnginePlayer {
    weights: Arc<Weights>,
    table: Table,
    memory: Memory,
}

impl EnginePlayer {
    /// A player with a table of its own, in MiB.
    pub fn new(weights: Arc<Weights>, hash: usize) -> Result<EnginePlayer, OutOfMemory> {
        Ok(EnginePlayer {
            table: Table::new(hash)?,
            memory: Memory::new(weights.clone()),
            weights,
        })
    }

    /// Lets someone else take the seat; takes effect at the next game.
    pub fn set_weights(&mut self, weights: Arc<Weights>) {
        self.weights = weights;
    }

    fn search(&mut self, request: &Request) -> Outcome {
        self.table.next_search();
        // One of its own: what stopped the last search must not stop this one.
        let control = Control::new(1);
        Search::new(request, &self.table, &control, &Silent, &mut self.memory, 0).run()
    }
}

impl Player for EnginePlayer {
    fn new_game(&mut self, _start: &Position) -> Result<(), Fault> {
        self.table.clear(1);
        self.memory.clear();
        Ok(())
    }

    fn think(
        &mut self,
        situation: &GameView<'_>,
        limits: &MoveLimits,
    ) -> Result<MoveRecord, Fault> {
        let started = Instant::now();
        let limits = search_limits(limits, situation.game.position().turn());
        let mut request = Request::new(situation.game.clone(), limits, self.weights.clone());
        request.overhead = OVERHEAD;
        // A bug in the search costs a game, not the match.
        let Ok(outcome) = catch_unwind(AssertUnwindSafe(|| self.search(&request))) else {
            self.memory = Memory::new(self.weights.clone());
            return Err(Fault::new(FaultKind::Disconnect, "the search failed"));
        };
        thought(&outcome, &self.weights, started)
    }
}

/// What a search came to, as a player says it.
pub(super) fn thought(
    outcome: &Outcome,
    weights: &Weights,
    started: Instant,
) -> Result<MoveRecord, Fault> {
    let no_move = || Fault::new(FaultKind::IllegalMove, "no move");
    Ok(MoveRecord {
        m: outcome.best.ok_or_else(no_move)?,
        score: Some(ReportedScore::new(outcome.score, &weights.win_model())),
        depth: outcome.depth.max(0) as u32,
        nodes: outcome.nodes,
        elapsed: started.elapsed(),
    })
}

fn search_limits(limits: &MoveLimits, mover: Color) -> Limits {
    Limits {
        depth: limits
            .game
            .depth
            .map(|depth| i32::try_from(depth).unwrap_or(i32::MAX)),
        nodes: limits.game.nodes,
        move_time: limits.game.move_time,
        remaining: *limits.remaining.get(mover),
        increment: *limits.increment.get(mover),
        moves_to_go: limits.moves_to_go,
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::limits::{GameClocks, GameLimits};
    use crate::position::Game;
    use shakmaty::ByColor;

    #[test]
    fn running_out_of_time_once_does_not_cut_later_moves_short() {
        let mut player = EnginePlayer::new(Arc::new(Weights::default()), 1).unwrap();
        let game = Game::default();
        let situation = GameView {
            start: game.position(),
            game: &game,
            moves: &[],
        };
        let mut think = |limits: GameLimits| {
            let clocks = GameClocks::new(ByColor::new_with(|_| limits), Duration::ZERO);
            player
                .think(&situation, &clocks.move_limits(Color::White))
                .unwrap()
        };
        think(GameLimits {
            move_time: Some(Duration::from_millis(30)),
            ..GameLimits::default()
        });
        assert!(think(GameLimits::nodes(5_000)).nodes >= 5_000);
    }
}
