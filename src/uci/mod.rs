//! The UCI front-end: text in, text out, the search in between.
//!
//! - [`session`]: the loop that obeys a GUI
//! - [`command`]: a line of text becomes a [`command::Command`]
//! - [`options`]: what `setoption` can change, listed once
//! - [`info`]: everything Finch prints while searching
//! - [`wdl`]: what a score means in centipawns and in wins, draws and losses
//! - [`chore`]: long work that is not a search, off the session's thread
//! - [`tuning`]: a tuning run beside the session
//! - [`output`]: the one way to standard output, and the debug log

mod chore;
mod command;
mod info;
mod options;
mod output;
mod session;
mod tuning;
mod wdl;

pub use session::run;
pub use wdl::{UciScore, uci_score};
