//! The UCI protocol.
//!
//! - [`session`]: reads commands and executes them
//! - [`command`]: the list of commands; parses a line into a [`command::Command`]
//! - [`options`]: the list of options: name, default, range, meaning, what each does
//! - [`info`]: prints `info` and `bestmove`
//! - [`genfens`]: openings for training games
//! - [`background`]: perft, bench and genfens on a thread of their own
//! - [`tuning`]: a tuning run in the background
//! - [`output`]: standard output and the debug log

mod background;
mod command;
mod genfens;
mod info;
mod options;
mod output;
mod own_book;
mod session;
mod tuning;

pub use command::{is_command, is_complete};
pub use session::run;
