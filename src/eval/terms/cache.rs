//! Remembers what few pieces decide, as the search meets few pawn structures and fewer balances of
//! material, and each very often; and the last scores.
//!
//! Plain tables without locks, owned by one evaluator. An entry belongs to one set of weights;
//! with new weights comes a new evaluator.

use super::board::Pieces;
use super::material;
use super::pawns::PawnFacts;
use super::sink::Scorer;
use super::{report_material, report_structure};
use crate::eval::weights::{Packed, Weights};

/// Entries found by a key, the newer in the place of the older.
pub struct Cache<T, const SLOTS: usize> {
    slots: Box<[(u64, T)]>,
}

/// Small enough to stay in the second-level cache.
pub type StructureCache = Cache<Structure, 4096>;
pub type MaterialCache = Cache<Material, 1024>;
/// Whole scores: positions that are cut off at once leave no trace in a search's own table, and
/// come again.
pub type ScoreCache = Cache<i32, 16_384>;

impl<T: Copy + Default, const SLOTS: usize> Cache<T, SLOTS> {
    pub fn new() -> Self {
        // Nothing real has this key.
        let blank = (!0, T::default());
        Cache {
            slots: vec![blank; SLOTS].into_boxed_slice(),
        }
    }

    #[inline(always)]
    pub fn probe(&mut self, key: u64, compute: impl FnOnce() -> T) -> &T {
        let slot = &mut self.slots[key as usize % SLOTS];
        if slot.0 != key {
            *slot = (key, compute());
        }
        &slot.1
    }
}

/// What pawns and kings decide.
#[derive(Clone, Copy, Default)]
pub struct Structure {
    pub sum: Packed,
    pub complexity: Packed,
    pub facts: PawnFacts,
}

impl Structure {
    #[inline(never)]
    pub fn of(pieces: &Pieces, weights: &Weights) -> Structure {
        let facts = PawnFacts::of(pieces);
        let mut scorer = Scorer::new(weights);
        report_structure(pieces, &facts, &mut scorer);
        Structure {
            sum: scorer.sum,
            complexity: scorer.complexity,
            facts,
        }
    }
}

/// What the number of pieces of each kind decides.
#[derive(Clone, Copy, Default)]
pub struct Material {
    pub sum: Packed,
    pub phase: i32,
}

impl Material {
    #[inline(never)]
    pub fn of(pieces: &Pieces, weights: &Weights) -> Material {
        let mut scorer = Scorer::new(weights);
        report_material(pieces, &mut scorer);
        Material {
            sum: scorer.sum,
            phase: material::phase(pieces),
        }
    }
}
