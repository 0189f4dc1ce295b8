//! Asking a mentor: any UCI engine's score for a position.
//!
//! An engine that dies, hangs or answers nonsense is started again and the position asked once
//! more; if that fails too the position is skipped and counted. An engine that cannot even be
//! started is an error: nothing that follows could go better.

use std::time::Duration;

use thiserror::Error;

use crate::play::{Engine, Fault, Outside, Pace, PlayerScore};
use crate::position::Position;

/// How a mentor is asked.
pub struct Mentor {
    outside: Outside,
    pace: Pace,
}

#[derive(Debug, Error)]
#[error("{command}: {problem}")]
pub struct MentorError {
    pub command: String,
    pub problem: String,
}

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Centipawns seen by the side to move, and the depth it was searched to.
    Score {
        centipawns: i32,
        depth: u32,
        best_is_quiet: bool,
    },
    /// A mate is no centipawn.
    Mate,
    /// Twice no usable answer.
    Nothing,
}

impl Mentor {
    /// Starts the engine, to know at once whether it can be asked at all.
    pub fn start(
        command: &str,
        options: Vec<(String, String)>,
        pace: Pace,
        patience: Duration,
    ) -> Result<Mentor, MentorError> {
        let mut words = command.split_whitespace().map(str::to_owned);
        let fail = |problem: String| MentorError {
            command: command.to_owned(),
            problem,
        };
        let engine = Engine {
            command: words.next().ok_or_else(|| fail("no command".to_owned()))?,
            arguments: words.collect(),
            directory: None,
            options,
            patience,
        };
        let mut outside = Outside::new(engine);
        outside.start().map_err(|fault| fail(fault.detail))?;
        Ok(Mentor { outside, pace })
    }

    /// The name it gave itself.
    pub fn name(&self) -> &str {
        self.outside.name()
    }

    pub fn ask(&mut self, position: &Position) -> Asked {
        self.try_once(position)
            .or_else(|_| self.try_once(position))
            .unwrap_or(Asked::Nothing)
    }

    fn try_once(&mut self, position: &Position) -> Result<Asked, Fault> {
        let thought = self.outside.consult(position, self.pace)?;
        Ok(match thought.score {
            Some(PlayerScore::Centipawns(centipawns)) => Asked::Score {
                centipawns,
                depth: thought.depth,
                best_is_quiet: !thought.m.is_conversion(),
            },
            Some(PlayerScore::Mate(_)) => Asked::Mate,
            None => Asked::Nothing,
        })
    }
}
