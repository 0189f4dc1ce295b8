//! Operators: mutation and crossover.

pub mod bits;
mod mutation;
mod polynomial;

pub use mutation::{Boundary, Mutation, MutationKind};
pub use polynomial::polynomial_mutation;
