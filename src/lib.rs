//! Finch: a UCI chess engine that evolves its own evaluation.
//!
//! The map of the house, in the order a move takes through it:
//!
//! - [`cli`]: the command line, one file per subcommand; without one it starts [`uci`]
//! - [`uci`]: the protocol of chess GUIs: session, commands, options, printing
//! - [`position`]: shakmaty's board with incremental keys, staged move generation, exchanges,
//!   and the game so far
//! - [`search`]: iterative deepening alpha-beta on a pool of threads with one shared table
//! - [`eval`]: the evaluation: a list of terms whose weights are lines of TOML
//! - [`tablebase`], [`book`]: Syzygy endgame tables, Polyglot opening books
//! - [`play`]: games and matches, in this process or with other engines; ratings
//! - [`bench`]: fixed positions at a fixed depth, the signature of how Finch plays
//!
//! And in the order new weights take:
//!
//! - [`data`]: games and positions to learn from: PGN, EPD, own play, a mentor's labels
//! - [`tune`]: genome × fitness × method: evolving weights, run folders, reports
//! - [`play`] again: do they win?
//!
//! [`random`], [`hash`] and [`files`] serve them all: chance that can be told again, a hash that
//! never changes, files that are never seen half-written.

pub mod bench;
pub mod book;
pub mod cli;
pub mod data;
pub mod eval;
pub mod files;
pub mod hash;
pub mod play;
pub mod position;
pub mod random;
pub mod search;
pub mod tablebase;
pub mod tune;
pub mod uci;
