//! What happens to genes between generations.

mod mutation;
mod polynomial;

pub use mutation::{Boundary, Kind, Mutation};
pub use polynomial::polynomial;
