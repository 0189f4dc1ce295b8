//! Opening books.

pub mod polyglot;

pub use polyglot::PolyglotBook;
