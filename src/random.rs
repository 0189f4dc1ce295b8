//! Random numbers that can be told again.
//!
//! Nothing in a run keeps a generator alive from one step to the next. Whoever needs chance
//! asks for a [`stream`] by what it is for: the seed of the run, a purpose, a generation, an
//! individual. The same question has the same answer on any number of threads and after any
//! interruption, so a checkpoint need not remember where the dice lay.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// What a stream is for; streams of different purpose have nothing in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    Birth = 1,
    Variation = 2,
    History = 3,
    Draw = 4,
    Game = 5,
}

/// The stream for one purpose, generation and individual of a run.
pub fn stream(seed: u64, purpose: Purpose, generation: u64, individual: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    let words = [seed, purpose as u64, generation, individual];
    for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// Scatters numbers evenly over all 64 bits (the finisher of SplitMix64), for decisions that
/// must depend on what is decided about and not on the order in which it turns up.
pub fn scatter(seed: u64, number: u64) -> u64 {
    let mut mixed = number ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for multiplier in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(multiplier);
        mixed ^= mixed >> 27;
    }
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn a_stream_can_be_told_again_and_differs_from_its_neighbours() {
        let first = |generation, individual| -> u64 {
            stream(7, Purpose::Variation, generation, individual).random()
        };
        assert_eq!(first(3, 4), first(3, 4));
        assert_ne!(first(3, 4), first(4, 3));
        assert_ne!(first(3, 4), first(3, 5));
    }
}
