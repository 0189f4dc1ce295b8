//! Mentors: UCI engines that score positions, one by one or in a [`MentorPool`].
//!
//! An engine that dies, hangs or answers nonsense is started again and asked once more. If that
//! fails too, a single position is skipped and counted, and a batch of them is an error. An engine
//! that cannot be started at all is an error at once.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use serde::{Deserialize, Serialize};
use shakmaty::Move;
use thiserror::Error;

use super::quiet::is_quiet_move;
use crate::eval::Centipawns;
use crate::play::player::Player;
use crate::play::player_config::{PlayerConfig, PlayerKind};
use crate::play::{EngineCommand, Fault, GameLimits, UciEngine};
use crate::position::{Position, movegen};
use crate::search::score::ReportedScore;

/// How long a mentor may take to answer, unless told otherwise.
pub const MENTOR_TIMEOUT: Duration = Duration::from_secs(20);

/// Which engine to ask, and how.
#[derive(Clone, Debug)]
pub struct MentorConfig {
    engine: EngineCommand,
    limits: GameLimits,
    /// Whether the engine forgets everything before each position, so that a label depends on
    /// nothing else.
    pub fresh: bool,
}

#[derive(Debug, Error)]
#[error("{command}: {problem}")]
pub struct MentorError {
    pub command: String,
    pub problem: String,
}

impl MentorConfig {
    /// A command with its arguments, or settings as in a match: `cmd=stockfish option.Hash=1
    /// depth=8`. A limit of its own overrides the common one.
    pub fn parse(
        text: &str,
        options: &[(String, String)],
        limits: GameLimits,
        timeout: Duration,
    ) -> Result<MentorConfig, MentorError> {
        let fail = |problem: &str| MentorError {
            command: text.to_owned(),
            problem: problem.to_owned(),
        };
        let (mut engine, own) = if text.contains("cmd=") {
            let player = PlayerConfig::parse(text).map_err(|error| fail(&error.to_string()))?;
            match player.kind {
                PlayerKind::Uci(engine) | PlayerKind::Pooled(engine, _) => (engine, player.limits),
                PlayerKind::InProcess { .. } => return Err(fail("no cmd= to start")),
            }
        } else {
            let engine = EngineCommand::parse(text).ok_or_else(|| fail("no command"))?;
            (engine, GameLimits::default())
        };
        engine.options.extend_from_slice(options);
        engine.timeout = timeout;
        let limits = if own.is_empty() { limits } else { own };
        if limits.depth.is_none() && limits.nodes.is_none() {
            return Err(fail("no limit: give a depth or a number of nodes"));
        }
        Ok(MentorConfig {
            engine,
            limits,
            fresh: false,
        })
    }

    /// Starts the engine, to find out whether it can be asked at all.
    pub fn start(&self) -> Result<MentorEngine, MentorError> {
        let mut engine = UciEngine::new(self.engine.clone());
        engine.start().map_err(|fault| self.error(&fault))?;
        Ok(MentorEngine {
            engine,
            config: self.clone(),
            queues: false,
        })
    }

    /// The engine's command.
    pub fn command(&self) -> &str {
        &self.engine.command
    }

    fn error(&self, fault: &Fault) -> MentorError {
        MentorError {
            command: self.command().to_owned(),
            problem: fault.detail.clone(),
        }
    }

    /// Whether the engine answers several questions that are sent at once as it answers them one
    /// by one. UCI does not ask for that: some engines queue them, others stop a search when the
    /// next `go` arrives, which would truncate labels. So it is tried out: at a depth that takes
    /// a moment, both ways must give the same lines.
    fn queues_questions(&self) -> bool {
        let mut command = self.engine.clone();
        command.timeout = command.timeout.min(QUEUE_CHECK_TIMEOUT);
        let mut engine = UciEngine::new(command);
        let questions: Vec<Question> = QUEUE_CHECK_FENS
            .iter()
            .filter_map(|fen| Position::from_fen(fen).ok())
            .map(|position| {
                let moves = movegen::legal_moves(&position)
                    .into_iter()
                    .take(4)
                    .collect();
                (position, moves)
            })
            .collect();
        let mut lines = |size: usize| -> Result<Vec<_>, Fault> {
            engine.new_game(&Position::default())?;
            let answers = questions
                .chunks(size)
                .map(|some| engine.probe(some, QUEUE_CHECK_DEPTH));
            Ok(answers.collect::<Result<Vec<_>, _>>()?.concat())
        };
        match (lines(1), lines(questions.len())) {
            (Ok(one_by_one), Ok(queued)) => one_by_one == queued,
            _ => false,
        }
    }
}

const QUEUE_CHECK_TIMEOUT: Duration = Duration::from_secs(5);
const QUEUE_CHECK_DEPTH: u32 = 8;
const QUEUE_CHECK_FENS: [&str; 3] = [
    "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];

/// A position, and moves whose scores are wanted.
pub type Question = (Position, Vec<Move>);

/// A running mentor.
pub struct MentorEngine {
    engine: UciEngine,
    config: MentorConfig,
    /// Whether several questions may be sent at once.
    queues: bool,
}

/// A mentor's answer about one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum Assessment {
    /// Centipawns seen by the side to move, and the depth of the search.
    Score {
        centipawns: i32,
        depth: u32,
        best_is_quiet: bool,
    },
    /// A mate has no centipawns.
    Mate,
    /// No usable answer, twice.
    None,
}

impl MentorEngine {
    /// Name and version, limit and options, for the header of a file.
    pub fn description(&self) -> String {
        let limits = &self.config.limits;
        let limit = match (limits.depth, limits.nodes) {
            (Some(depth), _) => format!("depth {depth}"),
            (None, nodes) => format!("{} nodes", nodes.unwrap_or_default()),
        };
        let options = self.config.engine.options.iter();
        let options: Vec<_> = options
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let fresh = if self.config.fresh {
            "; each alone"
        } else {
            ""
        };
        let name = self.engine.name();
        let text = format!("{name}; {limit}; options: {}{fresh}", options.join(", "));
        // Headers are read without trailing spaces.
        text.trim_end().to_owned()
    }

    /// The move the mentor would play, with its score.
    pub fn best_move(
        &mut self,
        position: &Position,
    ) -> Result<(Move, Option<ReportedScore>), MentorError> {
        let limits = self.config.limits;
        let mut analyse = || self.engine.analyse(position, limits);
        let record = analyse().or_else(|_| analyse());
        let record = record.map_err(|fault| self.config.error(&fault))?;
        Ok((record.m, record.score))
    }

    /// The scores of some moves in each position, in centipawns seen by the side that makes them;
    /// mates are left out. The answers do not depend on what was asked before.
    pub fn probe(&mut self, questions: &[Question]) -> Result<Vec<Vec<(Move, i32)>>, MentorError> {
        let mut answer = || self.try_probe(questions);
        let answers = answer().or_else(|_| answer());
        let answers = answers.map_err(|fault| self.config.error(&fault))?;
        let centipawns = |(m, score): (Move, ReportedScore)| match score {
            ReportedScore::Centipawns(Centipawns(centipawns)) => Some((m, centipawns)),
            ReportedScore::Mate(_) => None,
        };
        let answers = answers.into_iter();
        Ok(answers
            .map(|lines| lines.into_iter().filter_map(centipawns).collect())
            .collect())
    }

    fn try_probe(
        &mut self,
        questions: &[Question],
    ) -> Result<Vec<Vec<(Move, ReportedScore)>>, Fault> {
        let depth = self.config.limits.depth.unwrap_or(1);
        self.engine.new_game(&Position::default())?;
        let at_once = if self.queues {
            questions.len().max(1)
        } else {
            1
        };
        let answers = questions
            .chunks(at_once)
            .map(|some| self.engine.probe(some, depth));
        Ok(answers.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Makes the mentor forget what it has seen.
    pub fn new_game(&mut self) -> Result<(), MentorError> {
        let ready = self.engine.new_game(&Position::default());
        ready.map_err(|fault| self.config.error(&fault))
    }

    /// Scores a position that belongs to no game.
    pub fn assess(&mut self, position: &Position) -> Assessment {
        self.try_assess(position)
            .or_else(|_| self.try_assess(position))
            .unwrap_or(Assessment::None)
    }

    fn try_assess(&mut self, position: &Position) -> Result<Assessment, Fault> {
        if self.config.fresh {
            self.engine.new_game(position)?;
        }
        let record = self.engine.analyse(position, self.config.limits)?;
        Ok(match record.score {
            Some(ReportedScore::Centipawns(Centipawns(centipawns))) => Assessment::Score {
                centipawns,
                depth: record.depth,
                best_is_quiet: is_quiet_move(record.m),
            },
            Some(ReportedScore::Mate(_)) => Assessment::Mate,
            None => Assessment::None,
        })
    }
}

/// Several processes of one mentor. Each does one thing at a time.
pub struct MentorPool {
    description: String,
    size: usize,
    queues: bool,
    idle: Receiver<MentorEngine>,
    give_back: Sender<MentorEngine>,
}

impl MentorPool {
    pub fn start(config: &MentorConfig, size: usize) -> Result<MentorPool, MentorError> {
        MentorPool::start_with(config, size, false)
    }

    /// A pool for [`MentorEngine::probe`]: finds out whether questions may be queued.
    pub fn start_for_probes(config: &MentorConfig, size: usize) -> Result<MentorPool, MentorError> {
        // Whether it can be started at all is known sooner.
        config.start()?;
        let queues = config.queues_questions();
        let how = if queues { "in batches" } else { "one by one" };
        log::info!("{}: questions are asked {how}", config.command());
        MentorPool::start_with(config, size, queues)
    }

    fn start_with(
        config: &MentorConfig,
        size: usize,
        queues: bool,
    ) -> Result<MentorPool, MentorError> {
        let (give_back, idle) = unbounded();
        let mut description = String::new();
        for _ in 0..size {
            let mut mentor = config.start()?;
            mentor.queues = queues;
            description = mentor.description();
            // The receiver is in the same hands.
            let _ = give_back.send(mentor);
        }
        Ok(MentorPool {
            description,
            size,
            queues,
            idle,
            give_back,
        })
    }

    /// Name and version, limit and options.
    pub fn description(&self) -> &str {
        &self.description
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether the engine may be sent several questions at once.
    pub fn queues(&self) -> bool {
        self.queues
    }

    /// Waits for an idle engine and works with it; `None` if there is none left.
    pub fn with<T>(&self, work: impl FnOnce(&mut MentorEngine) -> T) -> Option<T> {
        let mut mentor = self.idle.recv().ok()?;
        let result = work(&mut mentor);
        let _ = self.give_back.send(mentor);
        Some(result)
    }
}
