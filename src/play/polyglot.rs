//! Random lines from a Polyglot opening book.
//!
//! A book is a sorted array of 16-byte entries: key, move, weight, learn. Its keys are the ones
//! shakmaty computes.

use std::io::{self, Read};

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{EnPassantMode, Move, Position as _, Role, Square};

use super::openings::Opening;
use crate::position::{Position, movegen};

const ENTRY: usize = 16;

#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    /// To, from and promotion in six, six and three bits.
    packed: u16,
    weight: u16,
}

pub struct Polyglot {
    entries: Vec<Entry>,
}

impl Polyglot {
    pub fn read(mut source: impl Read) -> io::Result<Polyglot> {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes)?;
        if bytes.len() % ENTRY != 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "not a Polyglot book",
            ));
        }
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte))
        };
        let mut entries: Vec<Entry> = bytes
            .chunks_exact(ENTRY)
            .map(|entry| Entry {
                key: number(&entry[..8]),
                packed: number(&entry[8..10]) as u16,
                weight: number(&entry[10..12]) as u16,
            })
            .collect();
        entries.sort_by_key(|entry| entry.key);
        Ok(Polyglot { entries })
    }

    /// Distinct lines, each followed until the book ends or `plies` are played.
    pub fn lines(&self, count: usize, plies: usize, seed: u64) -> Vec<Opening> {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut lines: Vec<Opening> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        // A small book has fewer lines than are wanted: stop when they only repeat.
        for _ in 0..count * 4 {
            let line = self.line(plies, &mut random);
            if !line.moves.is_empty() && seen.insert(line.end().key()) {
                lines.push(line);
            }
            if lines.len() == count {
                break;
            }
        }
        lines
    }

    fn line(&self, plies: usize, random: &mut SmallRng) -> Opening {
        let mut line = Opening::default();
        let mut position = line.start.clone();
        while line.moves.len() < plies {
            let Some(m) = self.draw(&position, random) else {
                break;
            };
            line.moves.push(m);
            position.play(m);
        }
        line
    }

    /// A book move, each as likely as its weight says.
    fn draw(&self, position: &Position, random: &mut SmallRng) -> Option<Move> {
        let Zobrist64(key) = position.chess().zobrist_hash(EnPassantMode::PseudoLegal);
        let first = self.entries.partition_point(|entry| entry.key < key);
        let here: Vec<Entry> = self.entries[first..]
            .iter()
            .take_while(|entry| entry.key == key)
            .copied()
            .collect();
        let total: u32 = here.iter().map(|entry| u32::from(entry.weight)).sum();
        if total == 0 {
            return None;
        }
        let mut left = random.random_range(0..total);
        let chosen = here.iter().find(|entry| {
            let weight = u32::from(entry.weight);
            let here = left < weight;
            left = left.saturating_sub(weight);
            here
        })?;
        find(position, chosen.packed)
    }
}

/// The legal move an entry means; castling is written king takes rook.
fn find(position: &Position, packed: u16) -> Option<Move> {
    let to = Square::new(u32::from(packed & 63));
    let from = Square::new(u32::from(packed >> 6 & 63));
    let promotion = match packed >> 12 & 7 {
        1 => Some(Role::Knight),
        2 => Some(Role::Bishop),
        3 => Some(Role::Rook),
        4 => Some(Role::Queen),
        _ => None,
    };
    movegen::legal_moves(position)
        .into_iter()
        .find(|m| m.from() == Some(from) && m.to() == to && m.promotion() == promotion)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of the initial position, as Polyglot documents it.
    const INITIAL: u64 = 0x463b_9618_1691_fc9c;

    #[test]
    fn a_book_of_one_entry_gives_its_line() {
        let e2e4: u16 = 28 | 12 << 6;
        let mut book = INITIAL.to_be_bytes().to_vec();
        book.extend(e2e4.to_be_bytes());
        book.extend(1u16.to_be_bytes());
        book.extend([0; 4]);
        let book = Polyglot::read(&book[..]).unwrap();
        let lines = book.lines(10, 8, 1);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].start.uci(lines[0].moves[0]).to_string(), "e2e4");
        assert!(Polyglot::read(&[1, 2, 3][..]).is_err());
    }
}
