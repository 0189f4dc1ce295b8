//! Finch: a UCI chess engine that evolves its own evaluation.

pub mod eval;
pub mod position;
