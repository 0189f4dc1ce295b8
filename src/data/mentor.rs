//! Asking a mentor: any UCI engine's score for a position.
//!
//! An engine that dies, hangs or answers nonsense is started again and the position asked once
//! more; if that fails too the position is skipped and counted. An engine that cannot even be
//! started is an error: nothing that follows could go better.

use std::time::Duration;

use shakmaty::Move;
use thiserror::Error;

use crate::eval::Centipawns;
use crate::play::player::Player;
use crate::play::player_config::{PlayerConfig, PlayerKind};
use crate::play::{EngineCommand, Fault, GameLimits, UciEngine};
use crate::position::Position;
use crate::search::score::ReportedScore;

/// How long a mentor may be silent, unless it is told otherwise.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Who is asked, and how.
#[derive(Clone, Debug)]
pub struct MentorPlan {
    engine: EngineCommand,
    limits: GameLimits,
    /// Whether it forgets everything before each position, so that a label depends on nothing
    /// else.
    pub fresh: bool,
}

#[derive(Debug, Error)]
#[error("{command}: {problem}")]
pub struct MentorError {
    pub command: String,
    pub problem: String,
}

impl MentorPlan {
    /// A command with its arguments, or settings as in a match: `cmd=stockfish option.Hash=1
    /// depth=8`. A limit of its own comes before the common one.
    pub fn parse(
        text: &str,
        options: &[(String, String)],
        limits: GameLimits,
        patience: Duration,
    ) -> Result<MentorPlan, MentorError> {
        let fail = |problem: String| MentorError {
            command: text.to_owned(),
            problem,
        };
        let (mut engine, own) = if text.contains("cmd=") {
            let player = PlayerConfig::parse(text).map_err(|error| fail(error.to_string()))?;
            match player.kind {
                PlayerKind::Uci(engine) => (engine, player.limits),
                PlayerKind::InProcess { .. } => return Err(fail("no cmd= to start".to_owned())),
            }
        } else {
            (
                plain(text).ok_or_else(|| fail("no command".to_owned()))?,
                GameLimits::default(),
            )
        };
        engine.options.extend_from_slice(options);
        engine.timeout = patience;
        let limits = if own == GameLimits::default() {
            limits
        } else {
            own
        };
        if limits.depth.is_none() && limits.nodes.is_none() {
            return Err(fail(
                "no depth and no number of nodes to look at".to_owned(),
            ));
        }
        Ok(MentorPlan {
            engine,
            limits,
            fresh: false,
        })
    }

    /// Starts the engine, to know at once whether it can be asked at all.
    pub fn start(&self) -> Result<Mentor, MentorError> {
        let mut outside = UciEngine::new(self.engine.clone());
        outside.start().map_err(|fault| MentorError {
            command: self.command().to_owned(),
            problem: fault.detail,
        })?;
        Ok(Mentor {
            outside,
            plan: self.clone(),
        })
    }

    pub fn command(&self) -> &str {
        &self.engine.command
    }
}

fn plain(text: &str) -> Option<EngineCommand> {
    let mut words = text.split_whitespace().map(str::to_owned);
    Some(EngineCommand {
        command: words.next()?,
        arguments: words.collect(),
        directory: None,
        options: Vec::new(),
        timeout: Duration::ZERO,
    })
}

pub struct Mentor {
    outside: UciEngine,
    plan: MentorPlan,
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
    /// Its name and version, limit and options, for the head of a file.
    pub fn description(&self) -> String {
        let limits = &self.plan.limits;
        let limit = match (limits.depth, limits.nodes) {
            (Some(depth), _) => format!("depth {depth}"),
            (None, nodes) => format!("{} nodes", nodes.unwrap_or_default()),
        };
        let options = self.plan.engine.options.iter();
        let options: Vec<_> = options
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let fresh = if self.plan.fresh { "; each alone" } else { "" };
        format!(
            "{}; {limit}; options: {}{fresh}",
            self.outside.name(),
            options.join(", ")
        )
    }

    /// What it would play and what that is worth; nothing for a mate, or without an answer.
    pub fn choose(&mut self, position: &Position) -> Option<(Move, i32)> {
        let thought = self.outside.consult(position, self.plan.limits).ok()?;
        match thought.score {
            Some(ReportedScore::Centipawns(Centipawns(centipawns))) => {
                Some((thought.m, centipawns))
            }
            _ => None,
        }
    }

    /// What some moves are worth in each position, in centipawns, mates left out. Asked all at
    /// once.
    pub fn probe(&mut self, questions: &[(Position, Vec<Move>)]) -> Option<Vec<Vec<(Move, i32)>>> {
        let depth = self.plan.limits.depth?;
        let answers = self.outside.probe(questions, depth);
        let answers = answers
            .or_else(|_| self.outside.probe(questions, depth))
            .ok()?;
        let centipawns = |(m, score): (Move, ReportedScore)| match score {
            ReportedScore::Centipawns(Centipawns(centipawns)) => Some((m, centipawns)),
            ReportedScore::Mate(_) => None,
        };
        let answers = answers.into_iter();
        Some(
            answers
                .map(|lines| lines.into_iter().filter_map(centipawns).collect())
                .collect(),
        )
    }

    /// What follows does not depend on what was before.
    pub fn forget(&mut self) -> Result<(), Fault> {
        self.outside.new_game(&Position::default())
    }

    pub fn ask(&mut self, position: &Position) -> Asked {
        self.try_once(position)
            .or_else(|_| self.try_once(position))
            .unwrap_or(Asked::Nothing)
    }

    fn try_once(&mut self, position: &Position) -> Result<Asked, Fault> {
        if self.plan.fresh {
            self.outside.new_game(position)?;
        }
        let thought = self.outside.consult(position, self.plan.limits)?;
        Ok(match thought.score {
            Some(ReportedScore::Centipawns(Centipawns(centipawns))) => Asked::Score {
                centipawns,
                depth: thought.depth,
                best_is_quiet: !thought.m.is_conversion(),
            },
            Some(ReportedScore::Mate(_)) => Asked::Mate,
            None => Asked::Nothing,
        })
    }
}
