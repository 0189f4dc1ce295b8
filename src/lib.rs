//! Finch: a UCI chess engine that evolves its own evaluation.
//!
//! The map of the source. A module uses only modules above it in this list (`tests/rooms.rs`).
//!
//! | module | contents |
//! |---|---|
//! | [`files`], [`hash`], [`names`], [`random`], [`terminal`] | atomic files, limited reading, a stable hash, mistyped names, reproducible random numbers, safe output |
//! | [`position`] | shakmaty's board with Zobrist keys, staged move generation, SEE, game history |
//! | [`eval`] | evaluation: terms and their weights in TOML, NNUE inference, scores and win model |
//! | [`tablebase`], [`book`] | Syzygy endgame tables, Polyglot opening books |
//! | [`search`] | iterative deepening, negamax, qsearch, transposition table, threads, time |
//! | [`bench`] | fixed positions at a fixed depth: the signature of how Finch plays |
//! | [`work`] | where heavy work is done: threads of this machine, ranks of an MPI job |
//! | [`play`] | games and matches, UCI client for other engines, SPRT, ratings |
//! | [`data`] | games, positions and labels: PGN, EPD, packed files, self-play, mentor engines |
//! | [`analysis`] | test suites and games, analysed by one or more engines |
//! | [`tune`] | genome × fitness × method: evolving weights, training networks, runs, reports |
//! | [`uci`] | the UCI session: commands, options, `info` lines |
//! | [`cli`] | the command line, one file per subcommand; without a subcommand it starts [`uci`] |
//!
//! A move takes this way: [`uci`] parses `go`, [`search`] explores [`position`]s and asks [`eval`]
//! for their scores. New weights take this one: [`data`] gives labelled positions, [`tune`]
//! optimises the weights, [`play`] measures whether they win.

#![deny(unsafe_op_in_unsafe_fn)]

pub mod analysis;
pub mod bench;
pub mod book;
pub mod cli;
pub mod data;
pub mod eval;
pub mod files;
pub mod hash;
pub mod names;
pub mod play;
pub mod position;
pub mod random;
pub mod search;
pub mod tablebase;
pub mod terminal;
pub mod tune;
pub mod uci;
pub mod work;
