//! Polyglot opening books (`.bin`).
//!
//! A book is a sorted array of 16-byte entries: key, move, weight, learn. shakmaty computes the
//! same Zobrist keys.

use std::io::{self, Read};

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{EnPassantMode, Move, Position as _, Role, Square};

use crate::position::{Position, movegen};

const ENTRY: usize = 16;

#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    /// To, from and promotion in six, six and three bits.
    packed: u16,
    weight: u16,
}

pub struct PolyglotBook {
    entries: Vec<Entry>,
}

impl PolyglotBook {
    pub fn read(mut source: impl Read) -> io::Result<PolyglotBook> {
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
        Ok(PolyglotBook { entries })
    }

    /// Distinct random lines from the initial position, each followed until the book ends or
    /// `plies` are played.
    pub fn lines(&self, count: usize, plies: usize, seed: u64) -> Vec<Vec<Move>> {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut lines = Vec::new();
        let mut seen = std::collections::HashSet::new();
        // A small book has fewer lines than requested: limit the number of attempts.
        for _ in 0..count * 4 {
            let (line, end) = self.line(plies, &mut random);
            if !line.is_empty() && seen.insert(end.key()) {
                lines.push(line);
            }
            if lines.len() == count {
                break;
            }
        }
        lines
    }

    /// One random line and the position at its end.
    fn line(&self, plies: usize, random: &mut SmallRng) -> (Vec<Move>, Position) {
        let mut line = Vec::new();
        let mut position = Position::default();
        while line.len() < plies {
            let Some(m) = self.random_move(&position, random) else {
                break;
            };
            line.push(m);
            position.play(m);
        }
        (line, position)
    }

    /// A book move, drawn with a probability proportional to its weight.
    fn random_move(&self, position: &Position, random: &mut SmallRng) -> Option<Move> {
        let Zobrist64(key) = position.chess().zobrist_hash(EnPassantMode::PseudoLegal);
        let first = self.entries.partition_point(|entry| entry.key < key);
        let candidates: Vec<Entry> = self.entries[first..]
            .iter()
            .take_while(|entry| entry.key == key)
            .copied()
            .collect();
        let total: u32 = candidates.iter().map(|entry| u32::from(entry.weight)).sum();
        if total == 0 {
            return None;
        }
        let mut left = random.random_range(0..total);
        let chosen = candidates.iter().find(|entry| {
            let weight = u32::from(entry.weight);
            let drawn = left < weight;
            left = left.saturating_sub(weight);
            drawn
        })?;
        decode_move(position, chosen.packed)
    }
}

/// Decodes a move if it is legal; castling is encoded as king takes rook.
fn decode_move(position: &Position, packed: u16) -> Option<Move> {
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
        let book = PolyglotBook::read(&book[..]).unwrap();
        let lines = book.lines(10, 8, 1);
        assert_eq!(lines.len(), 1);
        assert_eq!(Position::default().uci(lines[0][0]).to_string(), "e2e4");
        assert!(PolyglotBook::read(&[1, 2, 3][..]).is_err());
    }
}
