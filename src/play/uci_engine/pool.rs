//! Engines that are kept between games and serve players that differ in options only.
//!
//! Many engines take up options only when they start, or keep scores that were made with other
//! ones: they are started again for other options.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{EngineCommand, UciEngine};
use crate::play::limits::MoveLimits;
use crate::play::player::{Fault, GameView, MoveRecord, Player};
use crate::position::Position;

/// Engines that wait for their next game. There are never more of them than played at once.
pub struct EnginePool {
    idle: Mutex<Vec<UciEngine>>,
    /// Whether an engine has to be started again for other options.
    restarts: bool,
}

impl EnginePool {
    pub fn new(restarts: bool) -> EnginePool {
        EnginePool {
            idle: Mutex::default(),
            restarts,
        }
    }

    /// An engine with these options: one that waits, or a new one in place of one that waits.
    pub fn take(self: &Arc<EnginePool>, command: &EngineCommand) -> PooledEngine {
        let mut idle = self.idle.lock();
        let same = idle.iter().position(|waiting| waiting.engine == *command);
        let similar = || {
            let mut idle = idle.iter();
            idle.position(|waiting| waiting.engine.starts_same_program(command))
        };
        let waiting = same.or_else(similar).map(|index| idle.remove(index));
        drop(idle);
        let engine = match waiting {
            Some(mut engine) if same.is_some() || !self.restarts => {
                engine.set_options(&command.options);
                engine
            }
            _ => UciEngine::new(command.clone()),
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
