//! A hash that is the same in every build and on every machine.
//!
//! The standard library's hashers may change with the compiler, so nothing that is written to a
//! file or decides how data is split may depend on them. This one is fixed: it must not change,
//! because run folders, label files and network files keep its values.

/// Hashes bytes, eight at a time. Not for adversaries.
#[derive(Clone, Debug)]
pub struct StableHasher(u64);

impl Default for StableHasher {
    fn default() -> StableHasher {
        StableHasher::new()
    }
}

impl StableHasher {
    /// The offset basis and the prime of 64-bit FNV.
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    pub fn new() -> StableHasher {
        StableHasher(StableHasher::BASIS)
    }

    #[inline]
    pub fn write_u64(&mut self, word: u64) {
        // The multiplication moves bits up; the shift brings them down again.
        let mixed = (self.0 ^ word).wrapping_mul(StableHasher::PRIME);
        self.0 = mixed ^ (mixed >> 32);
    }

    /// The bytes and their number, so that `"ab", "c"` differs from `"a", "bc"`.
    pub fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(last));
        self.write_u64(bytes.len() as u64);
    }

    /// The hash of what was written so far.
    pub fn finish(&self) -> u64 {
        // The finaliser of SplitMix64: every bit of the state reaches every bit of the result.
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The hash of some bytes.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    let mut hasher = StableHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(stable_hash(b""), 0x3200_2a63_33a1_939b);
        assert_eq!(stable_hash(b"finch plays chess"), 0x15dc_fbb1_7941_f7b2);
    }

    #[test]
    fn boundaries_count() {
        let hash = |parts: &[&str]| {
            let mut hasher = StableHasher::new();
            parts.iter().for_each(|part| hasher.write(part.as_bytes()));
            hasher.finish()
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["a"]), hash(&["a\0"]));
    }
}
