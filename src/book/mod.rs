//! Opening books in Polyglot's format.
//!
//! - `polyglot.rs`: reads a book and chooses moves from it
//! - `builder.rs`: makes a book from games, or from other books

mod builder;
mod polyglot;

pub use builder::{BookBuilder, BookResult};
pub use polyglot::{BookError, BookMove, PolyglotBook};
