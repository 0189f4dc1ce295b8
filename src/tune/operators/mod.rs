//! What happens to genes between generations.

mod mutation;

pub use mutation::{Boundary, Kind, Mutation};
