//! A short round of fuzzing: every reader gets its seeds and random changes of them. The long round,
//! led by coverage, is `scripts/fuzz.sh`.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::Instant;

use finch::random::{Purpose, stream};
use rand::{Rng, RngExt};

#[path = "../fuzz/src/lib.rs"]
mod targets;

/// Changed seeds for each reader; the environment may ask for more.
const ROUNDS: u64 = 60;
const ROUNDS_VARIABLE: &str = "FINCH_FUZZ_ROUNDS";

/// Some bytes changed, removed, repeated, or taken from another seed.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut impl Rng) {
    for _ in 0..random.random_range(1..6) {
        let at = random.random_range(0..=bytes.len());
        let end = (at + random.random_range(0..32)).min(bytes.len());
        match random.random_range(0..6) {
            0 if at < bytes.len() => bytes[at] = random.random(),
            1 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let part = bytes[at..end].repeat(random.random_range(1..20));
                bytes.splice(at..at, part);
            }
            4 => {
                let words: [&[u8]; 6] =
                    [b"-1", b"1e999", b"18446744073709551616", b"", b"\0", b"\n"];
                let word = words[random.random_range(0..words.len())];
                bytes.splice(at..end, word.iter().copied());
            }
            _ => {
                let from = random.random_range(0..=other.len());
                let to = (from + random.random_range(0..64)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
        }
    }
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

#[test]
fn no_reader_panics_at_changed_seeds() {
    let asked = std::env::var(ROUNDS_VARIABLE).ok();
    let rounds = asked.map_or(ROUNDS, |rounds| rounds.parse().expect("a number"));
    let mut failures = Vec::new();
    for (number, (name, target)) in targets::TARGETS.iter().enumerate() {
        // Its output would go past the capture of the tests.
        if *name == "uci_session" {
            continue;
        }
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name} has no seeds");
        let started = Instant::now();
        for round in 0..rounds {
            let mut random = stream(1, Purpose::Initialisation, number as u64, round);
            let mut bytes = seeds[round as usize % seeds.len()].clone();
            let other = &seeds[random.random_range(0..seeds.len())];
            if round >= seeds.len() as u64 {
                mutate(&mut bytes, other, &mut random);
            }
            if catch_unwind(|| target(&bytes)).is_err() {
                failures.push(format!("{name}: {}", bytes.escape_ascii()));
                break;
            }
        }
        println!("{name}: {rounds} rounds in {:.1?}", started.elapsed());
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
