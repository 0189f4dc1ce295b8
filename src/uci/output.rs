//! Standard output and the debug log. Every line is flushed at once; in a UCI session nothing else
//! writes to standard output. A GUI that no longer reads is gone, and Finch exits.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use parking_lot::Mutex;

use crate::terminal::printable;

/// Letters of a message's line. What it quotes may be as long as a line of input.
const LONGEST_MESSAGE: usize = 1_000;

#[derive(Default)]
pub struct Output {
    log: Mutex<Option<File>>,
}

impl Output {
    pub fn line(&self, text: impl Display) {
        let text = text.to_string();
        self.note("<<", &text);
        let mut stdout = io::stdout().lock();
        let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
        if written.is_err() {
            std::process::exit(1);
        }
    }

    /// A message for people: `info string`. What it quotes may come from anywhere.
    pub fn message(&self, text: impl Display) {
        for line in text.to_string().lines() {
            let line = match line.char_indices().nth(LONGEST_MESSAGE) {
                Some((end, _)) => &format!("{} ...", &line[..end]),
                None => line,
            };
            self.line(format_args!("info string {}", printable(line)));
        }
    }

    /// Writes a received line into the debug log, if there is one.
    pub fn received(&self, text: &str) {
        self.note(">>", text);
    }

    /// Appends all input and output to `path` from now on; an empty path ends it.
    pub fn log_to(&self, path: &str) -> io::Result<()> {
        *self.log.lock() = match path {
            "" => None,
            path => Some(
                File::options()
                    .create(true)
                    .append(true)
                    .open(Path::new(path))?,
            ),
        };
        Ok(())
    }

    fn note(&self, direction: &str, text: &str) {
        if let Some(file) = self.log.lock().as_mut() {
            // A full disk must not end a game.
            let _ = writeln!(file, "{direction} {text}");
        }
    }
}
