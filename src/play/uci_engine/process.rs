//! The process of a UCI engine: pipes, handshake, timeouts.
//!
//! A thread of its own reads the output and stamps each line with the time it arrived, so that a
//! busy machine does not charge an engine for our delays. Memory is bounded whatever the engine
//! prints: lines have a maximum length, and so does the queue of lines.

use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use shakmaty::CastlingMode;

use super::EngineCommand;
use super::option::DeclaredOption;
use crate::play::player::{Fault, FaultKind};

/// How long an engine may take to obey `quit`.
const QUIT_TIMEOUT: Duration = Duration::from_millis(500);
/// Longer lines are dropped. A principal variation of 256 moves has less than 2 KiB.
const MAX_LINE_BYTES: u64 = 16 << 10;
/// Lines waiting to be handled; an engine that prints more has to wait.
const MAX_QUEUED_LINES: usize = 1 << 12;
/// More options than any engine declares; what follows is dropped.
const MAX_OPTIONS: usize = 1 << 12;

/// A line of output and when it arrived.
pub type Line = (Instant, String);

pub struct EngineProcess {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Line>,
    /// Tells the reading thread to stop.
    closed: Arc<AtomicBool>,
    /// From `id name`; the command until that is known.
    pub name: String,
    /// The options the engine declares.
    pub options: Vec<DeclaredOption>,
    /// The castling notation last set by `UCI_Chess960`.
    castling_mode: CastlingMode,
}

/// The flag of Windows that keeps Ctrl-C from a child process.
#[cfg(windows)]
const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

/// Where Debian keeps its chess engines; not on every PATH.
const GAMES_FOLDER: &str = "/usr/games";

/// Where a name without a folder is found as a program: on the PATH or in Debian's games folder.
pub fn find_program(name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains(std::path::is_separator) {
        return None;
    }
    let with_suffix = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    program_folders()
        .flat_map(|folder| [folder.join(&with_suffix), folder.join(name)])
        .find(|program| program.is_file())
}

/// The program whose name a mistyped one is closest to.
pub fn similar_program(name: &str) -> Option<String> {
    /// Short words resemble some program or other.
    const LEAST_LETTERS: usize = 5;
    if name.len() < LEAST_LETTERS || name.contains(std::path::is_separator) {
        return None;
    }
    let files = program_folders().filter_map(|folder| folder.read_dir().ok());
    let names = files.flatten().filter_map(|entry| {
        let file = entry.ok()?.file_name().into_string().ok()?;
        let suffix = std::env::consts::EXE_SUFFIX;
        Some(file.strip_suffix(suffix).unwrap_or(&file).to_owned())
    });
    let alike = names.map(|known| (strsim::jaro_winkler(&known, name), known));
    let best = alike.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(likeness, _)| *likeness > 0.9)
        .map(|(_, known)| known)
}

fn program_folders() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.into_iter().chain([PathBuf::from(GAMES_FOLDER)])
}

impl EngineProcess {
    pub fn start(engine: &EngineCommand) -> Result<EngineProcess, Fault> {
        let mut command = Command::new(
            find_program(&engine.command).unwrap_or_else(|| engine.command.clone().into()),
        );
        command
            .args(&engine.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(directory) = &engine.directory {
            command.current_dir(directory);
        }
        // Ctrl-C is for the match to handle; it must not kill the engines.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(windows)]
        std::os::windows::process::CommandExt::creation_flags(
            &mut command,
            CREATE_NEW_PROCESS_GROUP,
        );
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
        let (sender, lines) = bounded(MAX_QUEUED_LINES);
        let closed = Arc::new(AtomicBool::new(false));
        let flag = closed.clone();
        let read = move || read_lines(BufReader::new(output), &sender, &flag);
        if let Err(error) = thread::Builder::new().spawn(read) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(failed(error.to_string()));
        }
        let mut process = EngineProcess {
            child,
            input,
            lines,
            closed,
            name: engine.command.clone(),
            options: Vec::new(),
            castling_mode: CastlingMode::Standard,
        };
        process.handshake(engine)?;
        Ok(process)
    }

    fn handshake(&mut self, engine: &EngineCommand) -> Result<(), Fault> {
        self.send("uci")?;
        self.wait_for("uciok", engine.timeout)?;
        for (name, value) in &engine.options {
            self.set_option(name, value)?;
        }
        self.is_ready(engine.timeout)
    }

    pub fn set_option(&mut self, name: &str, value: &str) -> Result<(), Fault> {
        self.send(&format!("setoption name {name} value {value}"))
    }

    pub fn is_ready(&mut self, timeout: Duration) -> Result<(), Fault> {
        self.send("isready")?;
        self.wait_for("readyok", timeout)
    }

    /// Sets `UCI_Chess960` if it differs from the last setting.
    pub fn set_castling_mode(&mut self, mode: CastlingMode) -> Result<(), Fault> {
        if self.castling_mode != mode {
            self.castling_mode = mode;
            let on = mode == CastlingMode::Chess960;
            self.set_option("UCI_Chess960", &on.to_string())?;
        }
        Ok(())
    }

    pub fn send(&mut self, text: &str) -> Result<(), Fault> {
        writeln!(self.input, "{text}")
            .and_then(|()| self.input.flush())
            .map_err(|_| ended())
    }

    /// The next line that arrives before the deadline.
    pub fn receive(&self, deadline: Instant) -> Result<Line, Fault> {
        let timeout = || Fault::new(FaultKind::Stall, "no answer");
        match self.lines.recv_deadline(deadline) {
            // A queue that is never empty must not postpone the deadline.
            Ok((arrived, _)) if arrived > deadline => Err(timeout()),
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => Err(timeout()),
            Err(RecvTimeoutError::Disconnected) => Err(ended()),
        }
    }

    /// Drops what has arrived so far.
    pub fn discard_lines(&self) {
        for _ in 0..MAX_QUEUED_LINES {
            if self.lines.try_recv().is_err() {
                return;
            }
        }
    }

    fn wait_for(&mut self, word: &str, timeout: Duration) -> Result<(), Fault> {
        let deadline = Instant::now() + timeout;
        loop {
            let (_, line) = self.receive(deadline).map_err(|fault| Fault {
                detail: format!("{} while waiting for '{word}'", fault.detail),
                ..fault
            })?;
            if line.trim() == word {
                return Ok(());
            }
            if let Some(name) = line.strip_prefix("id name ") {
                self.name = name.trim().to_owned();
            }
            if self.options.len() < MAX_OPTIONS {
                self.options.extend(DeclaredOption::parse(&line));
            }
        }
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        // Its children may hold the output open and write forever.
        self.closed.store(true, Relaxed);
        let _ = self.send("quit");
        let deadline = Instant::now() + QUIT_TIMEOUT;
        while Instant::now() < deadline {
            // An engine blocked on its output could not read `quit`.
            self.discard_lines();
            match self.child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // Either fails only if the process has ended by now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn ended() -> Fault {
    Fault::new(FaultKind::Disconnect, "the engine ended")
}

/// Passes lines on until the engine closes its output or the process is dropped. Invalid UTF-8 is
/// replaced.
fn read_lines(mut output: impl BufRead, lines: &Sender<Line>, closed: &AtomicBool) {
    let mut bytes = Vec::new();
    while let Ok(true) = read_line(&mut output, &mut bytes, closed) {
        let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        if lines.send((Instant::now(), text)).is_err() {
            return;
        }
    }
}

/// Reads a line; one of more than [`MAX_LINE_BYTES`] becomes an empty line. False at the end of
/// the output.
fn read_line(
    output: &mut impl BufRead,
    bytes: &mut Vec<u8>,
    closed: &AtomicBool,
) -> io::Result<bool> {
    let mut too_long = false;
    loop {
        bytes.clear();
        let read = output.take(MAX_LINE_BYTES).read_until(b'\n', bytes)?;
        if (read as u64) < MAX_LINE_BYTES || bytes.last() == Some(&b'\n') {
            if too_long {
                bytes.clear();
            }
            return Ok(read > 0 || too_long);
        }
        if closed.load(Relaxed) {
            return Ok(false);
        }
        too_long = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_takes_bounded_memory_and_is_dropped() {
        let mut flood = vec![b'x'; 3 * MAX_LINE_BYTES as usize];
        flood.extend(b"\nbestmove e2e4\nlast");
        let (mut output, mut bytes) = (&flood[..], Vec::new());
        let mut next = || {
            let more = read_line(&mut output, &mut bytes, &AtomicBool::new(false)).unwrap();
            assert!(bytes.capacity() <= 2 * MAX_LINE_BYTES as usize);
            more.then(|| String::from_utf8(bytes.clone()).unwrap())
        };
        assert_eq!(next().as_deref(), Some(""));
        assert_eq!(next().as_deref(), Some("bestmove e2e4\n"));
        assert_eq!(next().as_deref(), Some("last"));
        assert_eq!(next(), None);
    }
}
