//! Printing for all commands. A pipe that its reader has closed (`finch … | head`) ends the program
//! quietly; the standard library's `println!` would panic.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::process::exit;

/// Writes to standard output, and flushes where a text ends. No one is left to read the rest if
/// the pipe is closed. Any other failure, such as a full disk, fails the program.
pub fn write(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
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
    let _ = io::stderr().lock().write_fmt(text);
}
