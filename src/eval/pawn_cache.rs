//! Remembers pawn structures with the kings among them: the search sees few of them and each
//! very often.
//!
//! A plain table without locks, owned by one evaluator. An entry belongs to one set of
//! weights; with new weights comes a new evaluator.

use super::board::Pieces;
use super::pawns::PawnFacts;
use super::report_structure;
use super::sink::Scorer;
use super::weights::{Packed, Weights};

/// Small enough to stay in the second-level cache.
const ENTRIES: usize = 4096;

#[derive(Clone, Copy)]
pub struct Entry {
    key: u64,
    pub sum: Packed,
    pub complexity: Packed,
    pub facts: PawnFacts,
}

pub struct PawnCache {
    entries: Box<[Entry]>,
}

impl PawnCache {
    pub fn new() -> PawnCache {
        // No real structure has this key.
        let blank = Entry {
            key: !0,
            sum: Packed::ZERO,
            complexity: Packed::ZERO,
            facts: PawnFacts::default(),
        };
        PawnCache {
            entries: vec![blank; ENTRIES].into_boxed_slice(),
        }
    }

    #[inline]
    pub fn probe(&mut self, key: u64, pieces: &Pieces, weights: &Weights) -> &Entry {
        let entry = &mut self.entries[key as usize % ENTRIES];
        if entry.key != key {
            *entry = compute(key, pieces, weights);
        }
        entry
    }
}

#[inline(never)]
fn compute(key: u64, pieces: &Pieces, weights: &Weights) -> Entry {
    let facts = PawnFacts::of(pieces);
    let mut scorer = Scorer::new(weights);
    report_structure(pieces, &facts, &mut scorer);
    Entry {
        key,
        sum: scorer.sum,
        complexity: scorer.complexity,
        facts,
    }
}
