//! Another engine as a player, behind the UCI protocol.
//!
//! The process is started when it is first needed and kept from game to game. An engine that ends,
//! hangs or cannot be started loses the game, and is started again for the next one. It is asked
//! one question at a time, as UCI requires; only [`UciEngine::probe`] can queue several, for callers
//! who have found out that the engine takes them.

mod option;
mod pool;
mod process;

use std::path::PathBuf;
use std::str::SplitWhitespace;
use std::time::{Duration, Instant};

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Color, Move};

use super::limits::{GameClocks, GameLimits, MoveLimits};
use super::player::{Fault, FaultKind, GameView, MoveRecord, Player};
use crate::eval::Centipawns;
use crate::position::{Game, Position};
use crate::search::Limits;
use crate::search::score::ReportedScore;
use process::{EngineProcess, ended};
pub use process::{find_program, similar_program};

pub use option::{DeclaredOption, OptionKind};
pub use pool::{EnginePool, PooledEngine};

/// How to start an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EngineCommand {
    pub command: String,
    pub arguments: Vec<String>,
    pub directory: Option<PathBuf>,
    pub options: Vec<(String, String)>,
    /// How long it may take to answer `uci` or `isready`, and to move without a time limit.
    pub timeout: Duration,
}

impl EngineCommand {
    /// A command with its arguments, separated by spaces outside of quotation marks; none without
    /// a command.
    pub fn parse(text: &str) -> Option<EngineCommand> {
        let mut words = super::player_config::words(text)?.into_iter();
        Some(EngineCommand {
            command: words.next()?,
            arguments: words.collect(),
            directory: None,
            options: Vec::new(),
            timeout: super::player_config::DEFAULT_TIMEOUT,
        })
    }

    /// Whether both start the same program in the same way, whatever its options.
    fn starts_same_program(&self, other: &EngineCommand) -> bool {
        self.command == other.command
            && self.arguments == other.arguments
            && self.directory == other.directory
    }
}

/// More scores than a search reports; an engine that prints without end must not fill the memory.
const MAX_SCORES: usize = 1 << 16;
/// Time for the answer to arrive after the clock has run out.
const GRACE: Duration = Duration::from_millis(100);

pub struct UciEngine {
    engine: EngineCommand,
    process: Option<EngineProcess>,
}

impl UciEngine {
    pub fn new(engine: EngineCommand) -> UciEngine {
        UciEngine {
            engine,
            process: None,
        }
    }

    /// Starts the process unless it runs already.
    pub fn start(&mut self) -> Result<(), Fault> {
        if self.process.is_none() {
            self.process = Some(EngineProcess::start(&self.engine)?);
        }
        Ok(())
    }

    /// Starts the engine and checks that it declares every option it is to be given, and takes the value.
    pub fn check(&mut self) -> Result<(), Fault> {
        self.start()?;
        let process = self.process.as_ref().ok_or_else(ended)?;
        let problem = |(name, value): &(String, String)| {
            let mut declared = process.options.iter();
            let option = declared.find(|option| option.name.eq_ignore_ascii_case(name));
            match option.map(|option| &option.kind) {
                None => Some(format!("{} has no option '{name}'", process.name)),
                Some(kind) if !kind.accepts(value) => Some(format!(
                    "{}: option '{name}' takes {kind}, not '{value}'",
                    process.name
                )),
                Some(_) => None,
            }
        };
        match self.engine.options.iter().find_map(problem) {
            Some(problem) => Err(Fault::new(FaultKind::Disconnect, problem)),
            None => Ok(()),
        }
    }

    /// Gives the engine other options; one that runs is told what changes.
    pub fn set_options(&mut self, options: &[(String, String)]) {
        let before = std::mem::replace(&mut self.engine.options, options.to_vec());
        let Some(process) = &mut self.process else {
            return;
        };
        let mut changed = options.iter().filter(|option| !before.contains(option));
        let told = changed.try_for_each(|(name, value)| process.set_option(name, value));
        // An option that is no longer given has its default again only in a new process.
        let is_given = |name: &String| options.iter().any(|(given, _)| given == name);
        if told.is_err() || before.iter().any(|(name, _)| !is_given(name)) {
            self.process = None;
        }
    }

    /// The options that the running engine declares; none while it does not run.
    pub fn declared_options(&self) -> &[DeclaredOption] {
        let process = self.process.as_ref();
        process.map_or(&[], |process| &process.options)
    }

    /// What the running engine calls itself; the command while it does not run.
    pub fn name(&self) -> &str {
        let process = self.process.as_ref();
        process.map_or(&self.engine.command, |process| &process.name)
    }

    /// Searches a position that belongs to no game.
    pub fn analyse(
        &mut self,
        position: &Position,
        limits: GameLimits,
    ) -> Result<MoveRecord, Fault> {
        self.start()?;
        let view = GameView {
            game: &Game::new(position.clone()),
            start: position,
            moves: &[],
        };
        let process = self.process.as_mut().ok_or_else(ended)?;
        process.set_castling_mode(position.castles().mode())?;
        let both = ByColor::new_with(|_| limits);
        let limits = GameClocks::new(both, Duration::ZERO).move_limits(position.turn());
        self.think(&view, &limits)
    }

    /// Scores some moves in each of many positions. All questions are sent at once, so that the
    /// engine never waits for the next one. Some engines stop a search when the next `go` arrives:
    /// give them one question a call (`data::MentorPool` finds out which kind an engine is). An engine with a smaller `MultiPV` scores fewer moves.
    pub fn probe(
        &mut self,
        questions: &[(Position, Vec<Move>)],
        depth: u32,
    ) -> Result<Vec<Vec<(Move, ReportedScore)>>, Fault> {
        self.start()?;
        let answers = self.ask_all(questions, depth);
        answers.inspect_err(|_| self.process = None)
    }

    fn ask_all(
        &mut self,
        questions: &[(Position, Vec<Move>)],
        depth: u32,
    ) -> Result<Vec<Vec<(Move, ReportedScore)>>, Fault> {
        let process = self.process.as_mut().ok_or_else(ended)?;
        process.set_castling_mode(CastlingMode::Standard)?;
        let asked = questions.iter().map(|(position, moves)| {
            let moves = moves.iter().map(|m| format!(" {}", position.uci(*m)));
            let (fen, moves) = (position.fen(), moves.collect::<String>());
            format!("position fen {fen}\ngo depth {depth} searchmoves{moves}\n")
        });
        process.send(asked.collect::<String>().trim_end())?;
        let mut answers = Vec::with_capacity(questions.len());
        let mut lines = Vec::new();
        let mut deadline = Instant::now() + self.engine.timeout;
        while let Some((position, _)) = questions.get(answers.len()) {
            let (_, line) = process.receive(deadline)?;
            let mut words = line.split_whitespace();
            match words.next() {
                Some("info") => {
                    let scored = first_move_and_score(words)
                        .and_then(|(m, score)| Some((read_move(m, position).ok()?, score)));
                    lines.extend(scored.filter(|_| lines.len() < MAX_SCORES));
                }
                Some("bestmove") => {
                    answers.push(std::mem::take(&mut lines));
                    deadline = Instant::now() + self.engine.timeout;
                }
                _ => {}
            }
        }
        Ok(answers)
    }

    /// Searches a position that belongs to no game and forgets it. `observe` gets the first line
    /// of each iteration.
    pub fn analyse_position(
        &mut self,
        position: &Position,
        limits: Limits,
        observe: &mut (dyn FnMut(EngineLine) + Send),
    ) -> Result<Move, Fault> {
        self.new_game(position)?;
        let view = GameView {
            game: &Game::new(position.clone()),
            start: position,
            moves: &[],
        };
        let started = Instant::now();
        let limits = MoveLimits {
            search: limits,
            margin: self.engine.timeout,
        };
        let answer = self.ask(&view, &limits, &mut |at, words| {
            let line = EngineLine::read(words, position, at.duration_since(started));
            line.into_iter().for_each(&mut *observe);
        });
        Ok(answer.inspect_err(|_| self.process = None)?.m)
    }

    fn prepare(&mut self, start: &Position) -> Result<(), Fault> {
        let timeout = self.engine.timeout;
        self.start()?;
        let process = self.process.as_mut().ok_or_else(ended)?;
        process.set_castling_mode(start.castles().mode())?;
        process.send("ucinewgame")?;
        process.is_ready(timeout)
    }

    /// `observe` gets the words of every `info` line and when it arrived.
    fn ask(
        &mut self,
        view: &GameView<'_>,
        limits: &MoveLimits,
        observe: &mut dyn FnMut(Instant, SplitWhitespace<'_>),
    ) -> Result<MoveRecord, Fault> {
        let mover = view.game.position().turn();
        let process = self.process.as_mut().ok_or_else(ended)?;
        // Lines that arrive late belong to the last move.
        process.discard_lines();
        process.send(&position_command(view))?;
        let started = Instant::now();
        process.send(&go_command(&limits.search))?;
        let allowance = limits.search.allowance(mover);
        let deadline = match allowance {
            Some(allowance) => started + allowance + limits.margin + GRACE,
            None => started + self.engine.timeout,
        };
        let mut info = Info::default();
        loop {
            let (at, line) = process
                .receive(deadline)
                .map_err(|fault| match fault.kind {
                    FaultKind::Stall if allowance.is_some() => {
                        Fault::new(FaultKind::Time, "no move before the time ran out")
                    }
                    _ => fault,
                })?;
            let mut words = line.split_whitespace();
            match words.next() {
                Some("info") => {
                    info.read(words.clone());
                    observe(at, words);
                }
                Some("bestmove") => {
                    let text = words.next().unwrap_or_default();
                    let m = read_move(text, view.game.position())?;
                    return Ok(info.record(m, at.duration_since(started)));
                }
                _ => {}
            }
        }
    }
}

impl Player for UciEngine {
    fn new_game(&mut self, start: &Position) -> Result<(), Fault> {
        // An engine that ended between games gets one restart.
        let kept = self.process.is_some();
        let prepared = self.prepare(start).or_else(|fault| {
            self.process = None;
            if kept {
                self.prepare(start)
            } else {
                Err(fault)
            }
        });
        prepared.inspect_err(|_| self.process = None)
    }

    fn think(&mut self, view: &GameView<'_>, limits: &MoveLimits) -> Result<MoveRecord, Fault> {
        let answer = self.ask(view, limits, &mut |_, _| {});
        answer.inspect_err(|fault| {
            // An engine that still searches, or has ended, cannot play the next game.
            if fault.kind != FaultKind::IllegalMove {
                self.process = None;
            }
        })
    }
}

fn read_move(text: &str, position: &Position) -> Result<Move, Fault> {
    let illegal = || {
        Fault::new(
            FaultKind::IllegalMove,
            format!("'{text}' in {}", position.fen()),
        )
    };
    let uci = UciMove::from_ascii(text.as_bytes()).map_err(|_| illegal())?;
    uci.to_move(position.chess()).map_err(|_| illegal())
}

fn position_command(view: &GameView<'_>) -> String {
    let initial = Position::default().fen();
    let start = view.start.fen();
    let mut text = if start == initial {
        "position startpos".to_owned()
    } else {
        format!("position fen {start}")
    };
    if !view.moves.is_empty() {
        text.push_str(" moves");
    }
    for m in view.moves {
        text.push(' ');
        text.push_str(&view.start.uci(*m).to_string());
    }
    text
}

fn go_command(limits: &Limits) -> String {
    let mut text = "go".to_owned();
    let mut add = |name: &str, value: Option<u128>| {
        if let Some(value) = value {
            text.push_str(&format!(" {name} {value}"));
        }
    };
    let time = |color: Color| limits.time.get(color).map(|time| time.as_millis());
    add("wtime", time(Color::White));
    add("btime", time(Color::Black));
    if limits.time.white.is_some() || limits.time.black.is_some() {
        add("winc", Some(limits.increment.white.as_millis()));
        add("binc", Some(limits.increment.black.as_millis()));
    }
    add("movestogo", limits.moves_to_go.map(u128::from));
    add("depth", limits.depth.map(u128::from));
    add("nodes", limits.nodes.map(u128::from));
    add("movetime", limits.move_time.map(|time| time.as_millis()));
    text
}

/// The last score, depth and node count an engine reported.
#[derive(Debug, Default)]
struct Info {
    score: Option<ReportedScore>,
    depth: u32,
    nodes: u64,
    is_bound: bool,
}

impl Info {
    fn read<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) {
        let mut found = Info::default();
        let mut first_line = true;
        while let Some(word) = words.next() {
            match word {
                "depth" => found.depth = number(words.next()).unwrap_or(0),
                "nodes" => found.nodes = number(words.next()).unwrap_or(0),
                "multipv" => first_line = number(words.next()) == Some(1),
                "score" => found.score = read_score(&mut words),
                "lowerbound" | "upperbound" => found.is_bound = true,
                "pv" | "string" => break,
                _ => {}
            }
        }
        if found.score.is_some() && first_line {
            *self = found;
        }
    }

    fn record(&self, m: Move, elapsed: Duration) -> MoveRecord {
        MoveRecord {
            m,
            score: self.score,
            depth: self.depth,
            nodes: self.nodes,
            elapsed,
        }
    }
}

/// What an engine reports after an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineLine {
    pub depth: u32,
    pub score: ReportedScore,
    pub nodes: u64,
    pub elapsed: Duration,
    /// As far as its moves are legal.
    pub pv: Vec<Move>,
}

impl EngineLine {
    /// Reads an `info` line about a position, as [`UciEngine::analyse_position`] does.
    pub fn parse(line: &str, position: &Position) -> Option<EngineLine> {
        let mut words = line.split_whitespace();
        let info = words.next() == Some("info");
        info.then(|| EngineLine::read(words, position, Duration::ZERO))?
    }

    /// Reads an `info` line; nothing if it is a bound, a further line or has no moves.
    fn read(
        words: SplitWhitespace<'_>,
        position: &Position,
        elapsed: Duration,
    ) -> Option<EngineLine> {
        let mut info = Info::default();
        info.read(words.clone());
        let mut words = words.skip_while(|word| !matches!(*word, "pv" | "string"));
        let mut after = position.clone();
        let mut pv = Vec::new();
        if words.next() == Some("pv") {
            for word in words {
                let Ok(m) = read_move(word, &after) else {
                    break;
                };
                after.play(m);
                pv.push(m);
            }
        }
        let line = EngineLine {
            depth: info.depth,
            score: info.score.filter(|_| !info.is_bound)?,
            nodes: info.nodes,
            elapsed,
            pv,
        };
        (!line.pv.is_empty()).then_some(line)
    }
}

/// The first move and the score of a line; nothing if it is only a bound.
fn first_move_and_score<'a>(
    mut words: impl Iterator<Item = &'a str>,
) -> Option<(&'a str, ReportedScore)> {
    let mut score = None;
    while let Some(word) = words.next() {
        match word {
            "score" => score = read_score(&mut words),
            "lowerbound" | "upperbound" | "string" => return None,
            "pv" => return Some((words.next()?, score?)),
            _ => {}
        }
    }
    None
}

fn read_score<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<ReportedScore> {
    match words.next() {
        Some("cp") => number(words.next())
            .map(Centipawns)
            .map(ReportedScore::Centipawns),
        Some("mate") => number(words.next()).map(ReportedScore::Mate),
        _ => None,
    }
}

fn number<T: std::str::FromStr>(word: Option<&str>) -> Option<T> {
    word?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_keeps_the_last_score_of_the_first_line() {
        let mut info = Info::default();
        for line in [
            "depth 7 seldepth 9 multipv 1 score cp 31 nodes 812 nps 5 pv e2e4 score",
            "depth 7 multipv 2 score cp -5 nodes 900",
            "depth 8 currmove e2e4",
            "string score cp 999",
            "depth x score cp y",
        ] {
            info.read(line.split_whitespace());
        }
        assert_eq!(info.score, Some(ReportedScore::Centipawns(Centipawns(31))));
        assert_eq!((info.depth, info.nodes), (7, 812));
    }

    #[test]
    fn scores_look_as_in_other_runners_pgn() {
        assert_eq!(
            ReportedScore::Centipawns(Centipawns(25)).to_string(),
            "+0.25"
        );
        assert_eq!(
            ReportedScore::Centipawns(Centipawns(-131)).to_string(),
            "-1.31"
        );
        assert_eq!(ReportedScore::Centipawns(Centipawns(0)).to_string(), "0.00");
        assert_eq!(ReportedScore::Mate(2).to_string(), "+M3");
        assert_eq!(ReportedScore::Mate(-2).to_string(), "-M4");
    }
}
