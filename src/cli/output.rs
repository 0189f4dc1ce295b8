//! Printing for all commands: for people, or as JSON for programs. A pipe that its reader has closed
//! (`finch … | head`) ends the program quietly; the standard library's `println!` would panic. Control
//! characters are escaped: names and texts may come from files and engines of other people. Of the
//! ranks of an MPI job only the first prints.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::process::exit;

use clap::Args;
use serde::Serialize;

use crate::terminal::{is_unsafe, printable};
use crate::work;

/// Who reads what a command prints, and how much of it.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct OutputOptions {
    /// Print JSON, one object a line; docs/json.md explains the fields.
    #[arg(long)]
    pub json: bool,
    /// Print the result only.
    #[arg(long)]
    pub quiet: bool,
}

impl OutputOptions {
    /// Whether a person wants to see the work advance.
    pub fn shows_progress(self) -> bool {
        !self.json && !self.quiet
    }
}

/// Prints one line of JSON: an object whose `event` says what it is. Numbers that are not finite
/// become null.
pub fn json_line(event: &str, fields: impl Serialize) {
    #[derive(Serialize)]
    struct Line<'a, Fields> {
        event: &'a str,
        #[serde(flatten)]
        fields: Fields,
    }
    match serde_json::to_string(&Line { event, fields }) {
        Ok(line) => write(format_args!("{}\n", json_escaped(&line))),
        Err(error) => write_error(format_args!("finch: {event}: {error}\n")),
    }
}

/// Characters that a terminal must not see, escaped as JSON does. They occur in strings only.
fn json_escaped(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    for letter in line.chars() {
        match is_unsafe(letter) {
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => escaped.push(letter),
        }
    }
    escaped
}

/// Writes to standard output, and flushes where a text ends. No one is left to read the rest if
/// the pipe is closed. Any other failure, such as a full disk, fails the program.
pub fn write(text: Arguments<'_>) {
    if work::is_helper() {
        return;
    }
    let mut out = io::stdout().lock();
    let text = printable_lines(text.to_string());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => exit(0),
        Err(error) => {
            write_error(format_args!("finch: standard output: {error}\n"));
            exit(1);
        }
    }
}

/// Writes to standard error. Where that fails there is no place left to say so.
pub fn write_error(text: Arguments<'_>) {
    if work::is_helper() {
        return;
    }
    let text = printable_lines(text.to_string());
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Every line as a terminal may show it; tabs stay.
fn printable_lines(text: String) -> String {
    let is_layout = |letter: char| matches!(letter, '\n' | '\t');
    let parts = text.split_inclusive(is_layout).map(|part| {
        let end = part.trim_end_matches(is_layout).len();
        let (words, layout) = part.split_at(end);
        match printable(words) {
            Cow::Borrowed(_) => Cow::Borrowed(part),
            Cow::Owned(words) => Cow::Owned(words + layout),
        }
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_whatever_a_name_contains() {
        let name = "a\u{9b}31m\u{202e}\u{1b}\"b";
        let line = json_escaped(&serde_json::to_string(name).unwrap());
        assert_eq!(printable_lines(line.clone()), line);
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), name);
    }

    #[test]
    fn control_characters_are_escaped_but_for_line_ends_and_tabs() {
        let text = "name\t\u{1b}[31mred\r\n\nplain\n";
        assert_eq!(
            printable_lines(text.to_owned()),
            "name\t\\u{1b}[31mred\\u{d}\n\nplain\n"
        );
    }
}
