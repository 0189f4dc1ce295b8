//! Reproducible random numbers.
//!
//! No generator is kept from one step of a run to the next. Code that needs random numbers asks
//! for a [`stream`] by seed, purpose, generation and individual. The same arguments give the same
//! numbers on any number of threads and after any interruption, so a checkpoint holds no generator
//! state.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// What a stream is used for; streams of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    Initialisation = 1,
    Variation = 2,
    History = 3,
    Sampling = 4,
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

/// A hash of a number, spread over all 64 bits (the finaliser of SplitMix64), for decisions that
/// depend on the thing decided about and not on the order in which things come.
pub fn mix(seed: u64, number: u64) -> u64 {
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
    fn a_stream_is_reproducible_and_differs_from_its_neighbours() {
        let first = |generation, individual| -> u64 {
            stream(7, Purpose::Variation, generation, individual).random()
        };
        assert_eq!(first(3, 4), first(3, 4));
        assert_ne!(first(3, 4), first(4, 3));
        assert_ne!(first(3, 4), first(3, 5));
    }
}
