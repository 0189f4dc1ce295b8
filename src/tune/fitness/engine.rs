//! Any UCI engine on the same positions: asked for its move at a fixed depth.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, unbounded};
use shakmaty::Move;
use shakmaty::uci::UciMove;
use thiserror::Error;

use crate::position::Position;

/// How long an engine may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Error)]
#[error("{command}: {problem}")]
pub struct EngineError {
    command: String,
    problem: String,
}

pub struct Engine {
    command: String,
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Engine {
    /// Starts a command, words divided by blanks, and sets options written `name=value`.
    pub fn start(command: &str, options: &[String]) -> Result<Engine, EngineError> {
        let fail = |problem: String| EngineError {
            command: command.to_owned(),
            problem,
        };
        let mut words = command.split_whitespace();
        let program = words.next().ok_or_else(|| fail("no command".to_owned()))?;
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| fail(error.to_string()))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| fail("no pipes".to_owned()))?;
        let (sender, lines) = unbounded();
        thread::spawn(move || {
            let spoken = BufReader::new(output).lines().map_while(Result::ok);
            spoken
                .take_while(|line| sender.send(line.clone()).is_ok())
                .count();
        });
        let mut engine = Engine {
            command: command.to_owned(),
            child,
            input,
            lines,
        };
        engine.say("uci")?;
        engine.hear("uciok")?;
        for option in options {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            engine.say(&format!("setoption name {name} value {value}"))?;
        }
        engine.say("isready")?;
        engine.hear("readyok")?;
        Ok(engine)
    }

    /// The move it plays in a position.
    pub fn choice(&mut self, position: &Position, depth: u32) -> Result<Move, EngineError> {
        self.say("ucinewgame")?;
        self.say(&format!("position fen {}", position.fen()))?;
        self.say(&format!("go depth {depth}"))?;
        let answer = self.hear("bestmove")?;
        let word = answer.split_whitespace().nth(1).unwrap_or_default();
        let uci = UciMove::from_ascii(word.as_bytes()).ok();
        let played = uci.and_then(|uci| uci.to_move(position.chess()).ok());
        played.ok_or_else(|| self.fail(format!("no legal move in '{answer}'")))
    }

    fn say(&mut self, line: &str) -> Result<(), EngineError> {
        let said = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        said.map_err(|_| self.fail("ended".to_owned()))
    }

    /// Waits for a line that begins with a word.
    fn hear(&mut self, word: &str) -> Result<String, EngineError> {
        loop {
            let line = self
                .lines
                .recv_timeout(PATIENCE)
                .map_err(|_| self.fail(format!("ended or silent instead of {word}")))?;
            if line.split_whitespace().next() == Some(word) {
                return Ok(line);
            }
        }
    }

    fn fail(&self, problem: String) -> EngineError {
        EngineError {
            command: self.command.clone(),
            problem,
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = writeln!(self.input, "quit");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
