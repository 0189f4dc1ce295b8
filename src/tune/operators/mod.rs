//! What happens to genes between generations.

pub mod bits;
mod mutation;
mod polynomial;

pub use mutation::{Boundary, Kind, Mutation};
pub use polynomial::polynomial;
