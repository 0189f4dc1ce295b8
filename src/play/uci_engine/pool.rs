//! Engines that are kept between games and serve players that differ in options only.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{EngineCommand, UciEngine};
use crate::play::limits::MoveLimits;
use crate::play::player::{Fault, GameView, MoveRecord, Player};
use crate::position::Position;

/// Engines that wait for their next game. There are never more of them than played at once.
#[derive(Default)]
pub struct EnginePool {
    idle: Mutex<Vec<UciEngine>>,
}

impl EnginePool {
    /// An engine with these options: one that waits, or a new one.
    pub fn take(self: &Arc<EnginePool>, command: &EngineCommand) -> PooledEngine {
        let mut idle = self.idle.lock();
        let found = idle
            .iter()
            .position(|engine| engine.engine.starts_same_program(command));
        let waiting = found.map(|index| idle.swap_remove(index));
        drop(idle);
        let engine = match waiting {
            Some(mut engine) => {
                engine.set_options(&command.options);
                engine
            }
            None => UciEngine::new(command.clone()),
        };
        PooledEngine {
            engine: Some(engine),
            pool: Arc::clone(self),
        }
    }
}

impl std::fmt::Debug for EnginePool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EnginePool({} idle)", self.idle.lock().len())
    }
}

/// An engine that returns to its pool when it is dropped.
pub struct PooledEngine {
    engine: Option<UciEngine>,
    pool: Arc<EnginePool>,
}

impl PooledEngine {
    fn engine(&mut self) -> Result<&mut UciEngine, Fault> {
        self.engine.as_mut().ok_or_else(super::ended)
    }
}

impl Drop for PooledEngine {
    fn drop(&mut self) {
        self.pool.idle.lock().extend(self.engine.take());
    }
}

impl Player for PooledEngine {
    fn new_game(&mut self, start: &Position) -> Result<(), Fault> {
        self.engine()?.new_game(start)
    }

    fn think(&mut self, view: &GameView<'_>, limits: &MoveLimits) -> Result<MoveRecord, Fault> {
        self.engine()?.think(view, limits)
    }
}
