//! A Finch process to talk to.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Long enough to distinguish a slow machine from a hang.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Copies Finch. Another test may start a program at any moment, and its process has this one's open files
/// until it has become that program: a file that is open for writing cannot be started ("text file busy").
/// So on Unix a process of its own writes it.
pub fn copy_finch(to: &Path) {
    let finch = env!("CARGO_BIN_EXE_finch");
    #[cfg(unix)]
    assert!(
        Command::new("cp")
            .arg(finch)
            .arg(to)
            .status()
            .unwrap()
            .success()
    );
    #[cfg(not(unix))]
    std::fs::copy(finch, to).unwrap();
}

/// A shell script that can be started, written as in [`copy_finch`].
#[cfg(unix)]
pub fn write_script(to: &Path, text: &str) {
    let write = "printf %s \"$1\" >\"$2\" && chmod +x \"$2\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", write, "sh", text]).arg(to);
    assert!(shell.status().unwrap().success());
}

/// A process that is ended with its test.
pub struct OwnedProcess(pub Child);

impl Drop for OwnedProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct Engine {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Engine {
    pub fn start() -> Engine {
        Engine::start_in(Path::new("."))
    }

    pub fn start_in(folder: &Path) -> Engine {
        let mut child = Command::new(env!("CARGO_BIN_EXE_finch"))
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Engine {
            child,
            stdin,
            lines,
        }
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Everything printed up to and including the first line that starts with `prefix`.
    #[track_caller]
    pub fn read_until(&mut self, prefix: &str) -> Vec<String> {
        let mut read = Vec::new();
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => read.push(line),
                Err(_) => panic!("no line starts with '{prefix}' in {read:#?}"),
            }
            if read.last().is_some_and(|line| line.starts_with(prefix)) {
                return read;
            }
        }
    }

    /// Sends a line and returns what is printed until all is quiet again.
    #[track_caller]
    pub fn ask(&mut self, line: &str) -> Vec<String> {
        self.send(line);
        self.sync()
    }

    /// What was printed before `readyok`.
    #[track_caller]
    pub fn sync(&mut self) -> Vec<String> {
        self.send("isready");
        let mut lines = self.read_until("readyok");
        lines.pop();
        lines
    }

    /// Runs a `go` command to its end: all info lines, then the move.
    #[track_caller]
    pub fn go(&mut self, arguments: &str) -> (Vec<String>, String) {
        self.send(&format!("go {arguments}"));
        let mut lines = self.read_until("bestmove");
        let best = lines.pop().unwrap();
        let best = best.split_whitespace().nth(1).unwrap().to_owned();
        (lines, best)
    }

    /// Whether nothing at all is printed for a while.
    pub fn stays_silent(&mut self, time: Duration) -> bool {
        self.lines.recv_timeout(time).is_err()
    }

    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// How long the process lives on, and how it ends.
    #[track_caller]
    pub fn wait(&mut self) -> (Duration, ExitStatus) {
        let started = Instant::now();
        while started.elapsed() < TIMEOUT {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (started.elapsed(), status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("Finch is still running");
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value that follows `key` in an info line.
pub fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == key)?;
    words.next()
}
