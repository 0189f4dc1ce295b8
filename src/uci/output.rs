//! The one way to standard output. Every line is flushed at once; in a UCI session nothing else
//! may appear there. A GUI that no longer reads has gone, and Finch goes too.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use parking_lot::Mutex;

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

    /// What a person should read but no GUI acts on.
    pub fn message(&self, text: impl Display) {
        for line in text.to_string().lines() {
            self.line(format_args!("info string {line}"));
        }
    }

    /// Writes a received line into the debug log, if there is one.
    pub fn received(&self, text: &str) {
        self.note(">>", text);
    }

    /// From now on everything said and heard is appended to `path`; an empty path ends it.
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
