//! Evaluation caches: pawn structure with kings, material, and whole scores.
//!
//! A search meets few pawn structures and fewer material balances, each very often. The caches
//! are plain tables without locks, owned by one evaluator. Entries are valid for one set of
//! weights; new weights need a new evaluator.

use super::board::Pieces;
use super::material;
use super::pawns::PawnStructure;
use super::sink::Scorer;
use super::{report_material, report_structure};
use crate::eval::weights::{PackedScore, Weights};

/// A direct-mapped cache: one entry per slot, always replaced.
pub struct Cache<T, const SLOTS: usize> {
    slots: Box<[(u64, T)]>,
}

/// Small enough to stay in the L2 cache.
pub type PawnCache = Cache<PawnEntry, 4096>;
pub type MaterialCache = Cache<MaterialEntry, 1024>;
/// Whole scores. Nodes that fail high at once store no score in the transposition table, and
/// are often evaluated again.
pub type ScoreCache = Cache<i32, 16_384>;

impl<T: Copy + Default, const SLOTS: usize> Cache<T, SLOTS> {
    pub fn new() -> Self {
        // A key that no position is expected to have.
        let blank = (!0, T::default());
        Cache {
            slots: vec![blank; SLOTS].into_boxed_slice(),
        }
    }

    /// As new, without asking for memory.
    pub fn clear(&mut self) {
        self.slots.fill((!0, T::default()));
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

/// Everything that depends on pawns and kings alone.
#[derive(Clone, Copy, Default)]
pub struct PawnEntry {
    pub sum: PackedScore,
    pub complexity: PackedScore,
    pub structure: PawnStructure,
}

impl PawnEntry {
    #[inline(never)]
    pub fn of(pieces: &Pieces, weights: &Weights) -> PawnEntry {
        let structure = PawnStructure::of(pieces);
        let mut scorer = Scorer::new(weights);
        report_structure(pieces, &structure, &mut scorer);
        PawnEntry {
            sum: scorer.sum,
            complexity: scorer.complexity,
            structure,
        }
    }
}

/// Everything that depends on the number of pieces of each role alone.
#[derive(Clone, Copy, Default)]
pub struct MaterialEntry {
    pub sum: PackedScore,
    pub phase: i32,
}

impl MaterialEntry {
    #[inline(never)]
    pub fn of(pieces: &Pieces, weights: &Weights) -> MaterialEntry {
        let mut scorer = Scorer::new(weights);
        report_material(pieces, &mut scorer);
        MaterialEntry {
            sum: scorer.sum,
            phase: material::phase(pieces),
        }
    }
}
