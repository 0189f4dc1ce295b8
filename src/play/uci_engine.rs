//! An outside UCI engine as a player, and all that can go wrong with one.
//!
//! The process is started when it is first needed and kept from game to game. Its output is read
//! by a thread of its own, which stamps each line with the time it came, so that a busy match
//! does not charge an engine for our delays. An engine that breaks off, hangs or cannot be
//! started loses the game; before the next one it is started again.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Color, Move};

use super::limits::{GameClocks, GameLimits, MoveLimits};
use super::player::{Fault, FaultKind, GameView, MoveRecord, Player};
use crate::eval::Centipawns;
use crate::position::{Game, Position};
use crate::search::Limits;
use crate::search::score::ReportedScore;

/// How to start an engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EngineCommand {
    pub command: String,
    pub arguments: Vec<String>,
    pub directory: Option<PathBuf>,
    pub options: Vec<(String, String)>,
    /// How long it may take to answer `uci` or `isready`, and to move when no time is set.
    pub timeout: Duration,
}

/// After the clock has run out, so much longer for the answer to arrive.
const GRACE: Duration = Duration::from_millis(100);
/// How long an engine may take to obey `quit`.
const FAREWELL: Duration = Duration::from_millis(500);

/// A line of output and when it came.
type Line = (Instant, String);

struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Line>,
    /// What it calls itself.
    name: String,
    /// How castling was last said to be written.
    mode: CastlingMode,
}

impl Process {
    fn start(engine: &EngineCommand) -> Result<Process, Fault> {
        let mut command = Command::new(&engine.command);
        command
            .args(&engine.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(directory) = &engine.directory {
            command.current_dir(directory);
        }
        // Ctrl-C is for the match to answer, not for its engines to die of.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let failed = |why: String| {
            Fault::new(
                FaultKind::Disconnect,
                format!("cannot start '{}': {why}", engine.command),
            )
        };
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("it has no pipes".to_owned()));
        };
        let (sender, lines) = unbounded();
        thread::spawn(move || listen(BufReader::new(output), &sender));
        let mut process = Process {
            child,
            input,
            lines,
            name: engine.command.clone(),
            mode: CastlingMode::Standard,
        };
        process.shake_hands(engine)?;
        Ok(process)
    }

    fn shake_hands(&mut self, engine: &EngineCommand) -> Result<(), Fault> {
        self.say("uci")?;
        self.wait_for("uciok", engine.timeout)?;
        for (name, value) in &engine.options {
            self.say(&format!("setoption name {name} value {value}"))?;
        }
        self.is_ready(engine.timeout)
    }

    fn is_ready(&mut self, timeout: Duration) -> Result<(), Fault> {
        self.say("isready")?;
        self.wait_for("readyok", timeout)
    }

    /// Engines keep the mode until told otherwise.
    fn write_castling_as(&mut self, mode: CastlingMode) -> Result<(), Fault> {
        if self.mode != mode {
            self.mode = mode;
            let on = mode == CastlingMode::Chess960;
            self.say(&format!("setoption name UCI_Chess960 value {on}"))?;
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), Fault> {
        writeln!(self.input, "{text}")
            .and_then(|()| self.input.flush())
            .map_err(|_| gone())
    }

    fn hear(&self, deadline: Instant) -> Result<Line, Fault> {
        self.lines
            .recv_deadline(deadline)
            .map_err(|error| match error {
                RecvTimeoutError::Timeout => Fault::new(FaultKind::Stall, "no answer"),
                RecvTimeoutError::Disconnected => gone(),
            })
    }

    fn wait_for(&mut self, word: &str, timeout: Duration) -> Result<(), Fault> {
        let deadline = Instant::now() + timeout;
        loop {
            let (_, line) = self.hear(deadline).map_err(|fault| Fault {
                detail: format!("{} while waiting for '{word}'", fault.detail),
                ..fault
            })?;
            if line.trim() == word {
                return Ok(());
            }
            if let Some(name) = line.strip_prefix("id name ") {
                self.name = name.trim().to_owned();
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.say("quit");
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // It had its chance; either may fail only because it is gone by now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn gone() -> Fault {
    Fault::new(FaultKind::Disconnect, "the engine ended")
}

/// Passes lines on until the engine closes its output; bytes that are no text become question
/// marks instead of trouble.
fn listen(mut output: impl BufRead, lines: &Sender<Line>) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match output.read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        if lines.send((Instant::now(), text)).is_err() {
            return;
        }
    }
}

pub struct UciEngine {
    engine: EngineCommand,
    process: Option<Process>,
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
            self.process = Some(Process::start(&self.engine)?);
        }
        Ok(())
    }

    /// What the running engine calls itself; the command as long as it does not run.
    pub fn name(&self) -> &str {
        let process = self.process.as_ref();
        process.map_or(&self.engine.command, |process| &process.name)
    }

    /// Asks about a position that belongs to no game.
    pub fn consult(
        &mut self,
        position: &Position,
        limits: GameLimits,
    ) -> Result<MoveRecord, Fault> {
        self.start()?;
        let situation = GameView {
            game: &Game::new(position.clone()),
            start: position,
            moves: &[],
        };
        let process = self.process.as_mut().ok_or_else(gone)?;
        process.write_castling_as(position.castles().mode())?;
        let both = ByColor::new_with(|_| limits);
        let limits = GameClocks::new(both, Duration::ZERO).move_limits(position.turn());
        self.think(&situation, &limits)
    }

    /// Asks of many positions what some moves are worth, all at once: no time is lost between a
    /// question and the next. An engine that shows fewer lines tells of fewer moves.
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
        let process = self.process.as_mut().ok_or_else(gone)?;
        process.write_castling_as(CastlingMode::Standard)?;
        let asked = questions.iter().map(|(position, moves)| {
            let moves = moves.iter().map(|m| format!(" {}", position.uci(*m)));
            let (fen, moves) = (position.fen(), moves.collect::<String>());
            format!("position fen {fen}\ngo depth {depth} searchmoves{moves}\n")
        });
        process.say(asked.collect::<String>().trim_end())?;
        let mut answers = Vec::with_capacity(questions.len());
        let mut lines = Vec::new();
        while let Some((position, _)) = questions.get(answers.len()) {
            let (_, line) = process.hear(Instant::now() + self.engine.timeout)?;
            let mut words = line.split_whitespace();
            match words.next() {
                Some("info") => {
                    let told = first_move_and_score(words);
                    let told =
                        told.and_then(|(m, score)| Some((read_move(m, position).ok()?, score)));
                    lines.extend(told);
                }
                Some("bestmove") => answers.push(std::mem::take(&mut lines)),
                _ => {}
            }
        }
        Ok(answers)
    }

    fn prepare(&mut self, start: &Position) -> Result<(), Fault> {
        let timeout = self.engine.timeout;
        self.start()?;
        let process = self.process.as_mut().ok_or_else(gone)?;
        process.write_castling_as(start.castles().mode())?;
        process.say("ucinewgame")?;
        process.is_ready(timeout)
    }

    fn ask(&mut self, situation: &GameView<'_>, limits: &MoveLimits) -> Result<MoveRecord, Fault> {
        let mover = situation.game.position().turn();
        let process = self.process.as_mut().ok_or_else(gone)?;
        // What it still had to say about the last move is no answer to this one.
        while process.lines.try_recv().is_ok() {}
        process.say(&position_command(situation))?;
        let started = Instant::now();
        process.say(&go_command(&limits.search))?;
        let allowance = limits.search.allowance(mover);
        let deadline = match allowance {
            Some(allowance) => started + allowance + limits.margin + GRACE,
            None => started + self.engine.timeout,
        };
        let mut info = Info::default();
        loop {
            let (at, line) = process.hear(deadline).map_err(|fault| match fault.kind {
                FaultKind::Stall if allowance.is_some() => {
                    Fault::new(FaultKind::Time, "no move when the time was up")
                }
                _ => fault,
            })?;
            let mut words = line.split_whitespace();
            match words.next() {
                Some("info") => info.read(words),
                Some("bestmove") => {
                    let text = words.next().unwrap_or_default();
                    let m = read_move(text, situation.game.position())?;
                    return Ok(info.thought(m, at.duration_since(started)));
                }
                _ => {}
            }
        }
    }
}

impl Player for UciEngine {
    fn new_game(&mut self, start: &Position) -> Result<(), Fault> {
        // An engine may have died between games: that is worth one fresh start.
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

    fn think(
        &mut self,
        situation: &GameView<'_>,
        limits: &MoveLimits,
    ) -> Result<MoveRecord, Fault> {
        self.ask(situation, limits).inspect_err(|fault| {
            // An engine that still thinks, or is gone, is of no use to the next game.
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

fn position_command(situation: &GameView<'_>) -> String {
    let initial = Position::default().fen();
    let start = situation.start.fen();
    let mut text = if start == initial {
        "position startpos".to_owned()
    } else {
        format!("position fen {start}")
    };
    if !situation.moves.is_empty() {
        text.push_str(" moves");
    }
    for m in situation.moves {
        text.push(' ');
        text.push_str(&situation.start.uci(*m).to_string());
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
                "pv" | "string" => break,
                _ => {}
            }
        }
        if found.score.is_some() && first_line {
            *self = found;
        }
    }

    fn thought(&self, m: Move, elapsed: Duration) -> MoveRecord {
        MoveRecord {
            m,
            score: self.score,
            depth: self.depth,
            nodes: self.nodes,
            elapsed,
        }
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
