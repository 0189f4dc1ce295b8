//! Printing that survives a closed pipe.

use std::io::{self, ErrorKind, Write};

/// Writes a text to standard output. A pipe closed by its reader (`finch ... | head`) is not an
/// error.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
