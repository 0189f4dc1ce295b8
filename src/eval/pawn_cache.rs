//! Remembers pawn structures: the search sees few of them and each very often.
//!
//! A plain table without locks, owned by one evaluator. An entry belongs to one set of
//! weights; with new weights comes a new evaluator.

use super::board::{BlackSide, Pieces, WhiteSide};
use super::pawns::{self, PawnFacts};
use super::sink::{Scorer, Sink};
use super::terms::Family;
use super::weights::{Packed, Weights};

/// Small enough to stay in the second-level cache.
const ENTRIES: usize = 2048;

#[derive(Clone, Copy)]
pub struct Entry {
    key: u64,
    pub sum: Packed,
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
    if scorer.wants(Family::Pawns) {
        pawns::report::<WhiteSide>(pieces, &facts, &mut scorer);
        pawns::report::<BlackSide>(pieces, &facts, &mut scorer);
    }
    let sum = scorer.sum();
    Entry { key, sum, facts }
}
