//! The player of a game: Finch in this process, or another engine behind UCI.
//!
//! A player answers with a move or with a fault. A fault loses the game only: the player may have
//! recovered by the next one.

use std::fmt;
use std::time::Duration;

use shakmaty::Move;

use super::limits::MoveLimits;
use crate::position::{Game, Position};
use crate::search::score::ReportedScore;

/// The game as its players see it.
pub struct GameView<'a> {
    pub game: &'a Game,
    /// The position at the start, and every move since.
    pub start: &'a Position,
    pub moves: &'a [Move],
}

/// A move with the score, depth, nodes and time behind it.
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
    /// Runs but does not answer.
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

    /// The PGN tag `Termination`.
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
    /// Forgets the last game and prepares for one from this position.
    fn new_game(&mut self, start: &Position) -> Result<(), Fault>;

    fn think(&mut self, view: &GameView<'_>, limits: &MoveLimits) -> Result<MoveRecord, Fault>;
}
