//! Who plays: Finch itself with some weights, in this process, or an outside UCI engine.
//!
//! A player answers a situation with a thought or with a fault. Faults lose the game and nothing
//! else: at the next game the player is asked again and may have recovered.

use std::fmt;
use std::time::Duration;

use shakmaty::Move;

use super::limits::MoveLimits;
use crate::position::{Game, Position};
use crate::search::score::ReportedScore;

/// All a player may know about the game.
pub struct GameView<'a> {
    pub game: &'a Game,
    /// Where the game began, and every move since.
    pub start: &'a Position,
    pub moves: &'a [Move],
}

/// A move and what led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveRecord {
    pub m: Move,
    pub score: Option<ReportedScore>,
    pub depth: u32,
    pub nodes: u64,
    pub elapsed: Duration,
}

/// The ways in which a player can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// Could not be started, or ended in the middle of the game.
    Disconnect,
    /// Is there but does not answer.
    Stall,
    Time,
    IllegalMove,
}

impl FaultKind {
    pub const ALL: [FaultKind; 4] = [
        FaultKind::Time,
        FaultKind::Disconnect,
        FaultKind::Stall,
        FaultKind::IllegalMove,
    ];

    /// The PGN tag.
    pub fn termination(self) -> &'static str {
        match self {
            FaultKind::Disconnect => "abandoned",
            FaultKind::Stall => "stalled connection",
            FaultKind::Time => "time forfeit",
            FaultKind::IllegalMove => "illegal move",
        }
    }

    pub fn from_termination(text: &str) -> Option<FaultKind> {
        FaultKind::ALL
            .into_iter()
            .find(|kind| kind.termination() == text)
    }

    /// For counting: "2 crashes".
    pub fn plural(self) -> &'static str {
        match self {
            FaultKind::Disconnect => "crashes",
            FaultKind::Stall => "stalls",
            FaultKind::Time => "losses on time",
            FaultKind::IllegalMove => "illegal moves",
        }
    }
}

impl fmt::Display for FaultKind {
    /// Follows the name of the side.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultKind::Disconnect => " disconnects",
            FaultKind::Stall => "'s connection stalls",
            FaultKind::Time => " loses on time",
            FaultKind::IllegalMove => " makes an illegal move",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub detail: String,
}

impl Fault {
    pub fn new(kind: FaultKind, detail: impl Into<String>) -> Fault {
        Fault {
            kind,
            detail: detail.into(),
        }
    }
}

pub trait Player: Send {
    /// Forget the last game; be ready for one that starts here.
    fn new_game(&mut self, start: &Position) -> Result<(), Fault>;

    fn think(&mut self, situation: &GameView<'_>, limits: &MoveLimits)
    -> Result<MoveRecord, Fault>;
}
