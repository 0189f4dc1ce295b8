//! The transposition table (TT): one array shared by all threads without a lock.
//!
//! An entry is two words, the data and the key XORed with the data. A reader that meets a
//! half-written entry computes a wrong key and takes it for another position's. Entries stand
//! four to a cache line; the least useful of the four (shallow, from an old search) makes room.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use bytemuck::Zeroable;
use thiserror::Error;

use super::huge_pages::HugePages;
use super::score::{FIFTY_MOVES, from_table, mate_distance, to_table};
use crate::position::movegen::PackedMove;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    #[default]
    None = 0,
    Upper = 1,
    Lower = 2,
    Exact = 3,
}

impl Bound {
    fn from_bits(bits: u64) -> Bound {
        match bits & 3 {
            1 => Bound::Upper,
            2 => Bound::Lower,
            3 => Bound::Exact,
            _ => Bound::None,
        }
    }

    /// What a score says that a search with this window found.
    pub fn of(score: i32, alpha: i32, beta: i32) -> Bound {
        match score {
            score if score >= beta => Bound::Lower,
            score if score > alpha => Bound::Exact,
            _ => Bound::Upper,
        }
    }

    /// Whether a score with this bound gives a cut-off at `beta`.
    #[inline]
    pub fn decides(self, score: i32, beta: i32) -> bool {
        match self {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score < beta,
            Bound::None => false,
        }
    }
}

/// A TT entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub best: PackedMove,
    pub score: i32,
    /// The static evaluation before any correction; `None` when the side was in check.
    pub eval: Option<i32>,
    pub depth: i32,
    pub bound: Bound,
    /// The position was once on a principal variation.
    pub pv: bool,
}

const NO_EVAL: i16 = i16::MIN;
/// Depths are stored shifted, so that qsearch may go below zero.
const DEPTH_OFFSET: i32 = 8;
const AGES: u8 = 32;

impl Entry {
    fn pack(self, age: u8, ply: usize) -> u64 {
        let eval = self.eval.map_or(NO_EVAL, |eval| eval as i16);
        let depth = (self.depth + DEPTH_OFFSET).clamp(0, 255) as u64;
        u64::from(self.best.bits())
            | u64::from(to_table(self.score, ply) as i16 as u16) << 16
            | u64::from(eval as u16) << 32
            | depth << 48
            | (self.bound as u64) << 56
            | u64::from(self.pv) << 58
            | u64::from(age) << 59
    }

    fn unpack(data: u64, ply: usize, halfmoves: u32) -> Entry {
        let eval = (data >> 32) as u16 as i16;
        let score = i32::from((data >> 16) as u16 as i16);
        // The entry may come from a path with fewer halfmoves. A mate that the fifty-move rule
        // comes before says nothing here; move and evaluation stay good.
        let bound = match mate_distance(score) {
            Some(plies) if halfmoves as usize + plies > FIFTY_MOVES => Bound::None,
            _ => Bound::from_bits(data >> 56),
        };
        Entry {
            best: PackedMove::from_bits(data as u16),
            score: from_table(score, ply),
            eval: (eval != NO_EVAL).then_some(i32::from(eval)),
            depth: depth_of(data),
            bound,
            pv: data >> 58 & 1 == 1,
        }
    }
}

fn depth_of(data: u64) -> i32 {
    (data >> 48 & 0xff) as i32 - DEPTH_OFFSET
}

fn age_of(data: u64) -> u8 {
    (data >> 59) as u8
}

#[derive(Zeroable)]
#[repr(C)]
struct Slot {
    check: AtomicU64,
    data: AtomicU64,
}

#[derive(Zeroable)]
#[repr(C, align(64))]
struct Cluster([Slot; 4]);

/// The table was not made as large as asked.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("cannot allocate {mebibytes} MiB for the hash table")]
pub struct OutOfMemory {
    pub mebibytes: usize,
}

pub struct TranspositionTable {
    clusters: HugePages<Cluster>,
    age: AtomicU8,
}

impl TranspositionTable {
    pub fn new(mebibytes: usize) -> Result<TranspositionTable, OutOfMemory> {
        let failed = OutOfMemory { mebibytes };
        if available_mebibytes().is_some_and(|available| mebibytes > available) {
            return Err(failed);
        }
        let count = (mebibytes << 20) / size_of::<Cluster>();
        let clusters = HugePages::new(count.max(1)).map_err(|_| failed)?;
        Ok(TranspositionTable {
            clusters,
            age: AtomicU8::new(0),
        })
    }

    /// Forgets everything, with as many threads as the search has: large tables take a while.
    /// Where the system has no more threads the calling one does the work.
    pub fn clear(&self, threads: usize) {
        let chunk = self.clusters.len().div_ceil(threads.max(1));
        std::thread::scope(|scope| {
            for part in self.clusters.chunks(chunk) {
                let builder = std::thread::Builder::new();
                if threads <= 1 || builder.spawn_scoped(scope, || clear(part)).is_err() {
                    clear(part);
                }
            }
        });
        self.age.store(0, Relaxed);
    }

    /// To be called once before each search: older entries become easier to replace.
    pub fn next_search(&self) {
        self.age.store((self.age.load(Relaxed) + 1) % AGES, Relaxed);
    }

    #[inline]
    fn cluster(&self, key: u64) -> &Cluster {
        let index = (u128::from(key) * self.clusters.len() as u128) >> 64;
        &self.clusters[index as usize]
    }

    /// Brings the line of a key that is about to be probed towards the processor.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let line: *const Cluster = self.cluster(key);
            // SAFETY: a prefetch is a hint that reads nothing and cannot fault; the pointer comes
            // from a live reference anyway. It is worth several per cent of speed.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// The entry of a position, reached at `ply` with this many halfmoves since the last capture
    /// or pawn move.
    #[inline]
    pub fn probe(&self, key: u64, ply: usize, halfmoves: u32) -> Option<Entry> {
        self.cluster(key).0.iter().find_map(|slot| {
            let data = slot.data.load(Relaxed);
            let found = slot.check.load(Relaxed) ^ data == key && data != 0;
            found.then(|| Entry::unpack(data, ply, halfmoves))
        })
    }

    pub fn store(&self, key: u64, mut entry: Entry, ply: usize) {
        let age = self.age.load(Relaxed);
        let slot = self.slot_to_replace(key, age);
        let old = slot.data.load(Relaxed);
        if slot.check.load(Relaxed) ^ old == key && old != 0 {
            if !entry.best.is_some() {
                entry.best = PackedMove::from_bits(old as u16);
            }
            let margin = if entry.pv { 6 } else { 4 };
            let keeps_depth = entry.depth + margin > depth_of(old);
            if entry.bound != Bound::Exact && age_of(old) == age && !keeps_depth {
                return;
            }
        }
        let data = entry.pack(age, ply);
        slot.check.store(key ^ data, Relaxed);
        slot.data.store(data, Relaxed);
    }

    /// The slot of this very position, or an empty one, or the one that is least worth keeping.
    fn slot_to_replace(&self, key: u64, age: u8) -> &Slot {
        let worth = |slot: &Slot| {
            let data = slot.data.load(Relaxed);
            if data == 0 || slot.check.load(Relaxed) ^ data == key {
                return i32::MIN;
            }
            let searches_ago = (AGES + age - age_of(data)) % AGES;
            depth_of(data) - 4 * i32::from(searches_ago)
        };
        let [first, rest @ ..] = &self.cluster(key).0;
        let mut least = (worth(first), first);
        for slot in rest {
            if least.0 == i32::MIN {
                break;
            }
            let candidate = worth(slot);
            if candidate < least.0 {
                least = (candidate, slot);
            }
        }
        least.1
    }

    /// How full the table is with entries of the current search, in per mille of a sample.
    pub fn hashfull(&self) -> usize {
        let age = self.age.load(Relaxed);
        let sample = &self.clusters[..self.clusters.len().min(1000)];
        let used = sample
            .iter()
            .flat_map(|cluster| &cluster.0)
            .map(|slot| slot.data.load(Relaxed))
            .filter(|data| *data != 0 && age_of(*data) == age)
            .count();
        used * 1000 / (sample.len() * 4)
    }
}

fn clear(clusters: &[Cluster]) {
    for slot in clusters.iter().flat_map(|cluster| &cluster.0) {
        slot.check.store(0, Relaxed);
        slot.data.store(0, Relaxed);
    }
}

/// Memory that can be had without swapping, where the system tells: an allocation that is only
/// promised would end in a killed process in the middle of a game.
fn available_mebibytes() -> Option<usize> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::score::{mate_in, mated_in};

    fn entry(score: i32, depth: i32) -> Entry {
        Entry {
            best: PackedMove::from_bits(0x123),
            score,
            eval: Some(-17),
            depth,
            bound: Bound::Lower,
            pv: true,
        }
    }

    #[test]
    fn what_is_stored_is_found_again() {
        let table = TranspositionTable::new(1).unwrap();
        assert_eq!(table.probe(77, 0, 0), None);
        table.store(77, entry(-250, 12), 3);
        assert_eq!(table.probe(77, 3, 0), Some(entry(-250, 12)));
        assert_eq!(table.probe(78, 3, 0), None);
        table.clear(2);
        assert_eq!(table.probe(77, 3, 0), None);
    }

    #[test]
    fn deep_entries_of_the_same_search_outlive_shallow_ones() {
        let table = TranspositionTable::new(1).unwrap();
        // Keys this close together share a cluster.
        table.store(1, entry(1, 30), 0);
        for key in 2..40 {
            table.store(key, entry(1, 3), 0);
        }
        assert!(table.probe(1, 0, 0).is_some());
    }

    #[test]
    fn a_store_without_a_move_keeps_the_known_one() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(5, entry(1, 3), 0);
        let without = Entry {
            best: PackedMove::NONE,
            ..entry(9, 8)
        };
        table.store(5, without, 0);
        assert_eq!(table.probe(5, 0, 0), Some(entry(9, 8)));
    }

    #[test]
    fn a_mate_beyond_the_fifty_moves_is_no_bound() {
        let table = TranspositionTable::new(1).unwrap();
        for (key, score) in [(1, mate_in(20)), (2, mated_in(20))] {
            table.store(key, entry(score, 12), 0);
            let found = |halfmoves| table.probe(key, 0, halfmoves).unwrap();
            assert_eq!(found(80), entry(score, 12));
            assert_eq!(found(81).bound, Bound::None);
            assert_eq!(found(81).best, entry(score, 12).best);
        }
    }

    /// An entry that follows from its key, so that a mixture of two entries shows.
    fn entry_of(key: u64) -> Entry {
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Entry {
            best: PackedMove::from_bits((hash >> 8) as u16 | 1),
            score: (hash >> 24) as i32 % 10_000,
            eval: Some((hash >> 40) as i32 % 10_000),
            depth: (hash >> 56) as i32 % 60,
            bound: Bound::Exact,
            pv: hash & 1 == 1,
        }
    }

    #[test]
    fn threads_that_write_the_same_cluster_never_read_a_mixture() {
        const THREADS: u64 = 4;
        const ROUNDS: u64 = 200_000;
        let table = TranspositionTable::new(1).unwrap();
        // Keys this close together share a cluster: there is room for four of them.
        let keys = 1..=12;
        let found = |thread: u64| {
            let mut found = 0;
            for round in 0..ROUNDS {
                let key = (round * 7 + thread * 5) % keys.end() + 1;
                if thread.is_multiple_of(2) {
                    table.store(key, entry_of(key), 0);
                }
                if round == ROUNDS / 2 && thread == 0 {
                    table.clear(1);
                }
                let probed = keys.end() + 1 - key;
                if let Some(entry) = table.probe(probed, 0, 0) {
                    assert_eq!(entry, entry_of(probed));
                    found += 1;
                }
            }
            found
        };
        let found: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| scope.spawn(move || found(thread)))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert!(found > ROUNDS / 10, "the threads hardly met: {found}");
    }

    #[test]
    fn a_table_beyond_all_memory_is_refused() {
        let asked = 1 << 40;
        assert!(
            matches!(TranspositionTable::new(asked), Err(OutOfMemory { mebibytes }) if mebibytes == asked)
        );
    }
}
