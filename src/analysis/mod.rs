//! Analysis of single positions and of whole games by one or more engines.
//!
//! - [`analyser`]: an engine that reports a line after each iteration, Finch or another
//! - [`annotate`]: games with scores, mistakes and better lines
//! - [`board_svg`]: a position as a drawing, with what each piece is worth
//! - [`suite`]: test suites in EPD; [`solve`]: which of their positions an engine solves, and when

pub mod analyser;
pub mod annotate;
mod board;
pub mod solve;
pub mod suite;

pub use analyser::{Analyser, AnalyserError};
pub use board::board_svg;
pub use solve::{Attempt, SolveReport};
pub use suite::{Suite, SuitePosition};
