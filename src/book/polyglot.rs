//! Polyglot opening books (`.bin`).
//!
//! A book is an array of 16-byte entries, sorted by key: key, move, weight, learn, all big-endian.
//! shakmaty computes the same Zobrist keys.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{EnPassantMode, Move, Position as _, Role, Square};
use thiserror::Error;

use crate::files;
use crate::position::{Position, movegen};

const BUILT_IN: &[u8] = include_bytes!("../../books/finch.bin");
const ENTRY_BYTES: usize = 16;
/// Promotions by their number in a move; zero is none.
const PROMOTIONS: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

#[derive(Debug, Error)]
pub enum BookError {
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("an empty book")]
    Empty,
    #[error("not a Polyglot book, or cut short: {0} bytes are not whole entries of 16")]
    Truncated(usize),
    #[error("not a Polyglot book, or damaged: entry {0} is out of order")]
    Unsorted(usize),
}

/// One move of one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BookEntry {
    pub(super) key: u64,
    /// To, from and promotion in six, six and three bits.
    pub(super) packed: u16,
    pub(super) weight: u16,
}

/// A legal move from a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookMove {
    pub m: Move,
    pub weight: u16,
}

#[derive(Debug)]
pub struct PolyglotBook {
    /// Sorted by key.
    entries: Vec<BookEntry>,
}

impl PolyglotBook {
    /// The book that is part of the executable.
    pub fn built_in() -> PolyglotBook {
        let entries = Vec::new();
        // A test holds that it is sound.
        PolyglotBook::read(BUILT_IN).unwrap_or(PolyglotBook { entries })
    }

    pub fn load(file: &Path) -> Result<PolyglotBook, BookError> {
        PolyglotBook::read(File::open(file)?)
    }

    pub fn read(source: impl Read) -> Result<PolyglotBook, BookError> {
        let bytes = files::read_limited(source, files::BOOK_LIMIT)?;
        let (entries, rest) = bytes.as_chunks::<ENTRY_BYTES>();
        if !rest.is_empty() {
            return Err(BookError::Truncated(bytes.len()));
        }
        let entries: Vec<BookEntry> = entries.iter().map(BookEntry::from_bytes).collect();
        if entries.is_empty() {
            return Err(BookError::Empty);
        }
        let out_of_order = entries.windows(2).position(|two| two[0].key > two[1].key);
        match out_of_order {
            Some(before) => Err(BookError::Unsorted(before + 2)),
            None => Ok(PolyglotBook { entries }),
        }
    }

    /// `entries` are sorted by key.
    pub(super) fn from_entries(entries: Vec<BookEntry>) -> PolyglotBook {
        debug_assert!(entries.is_sorted_by_key(|entry| entry.key));
        PolyglotBook { entries }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.entries
            .iter()
            .copied()
            .flat_map(BookEntry::to_bytes)
            .collect()
    }

    pub(super) fn entries(&self) -> &[BookEntry] {
        &self.entries
    }

    /// How many moves the book has.
    pub fn move_count(&self) -> usize {
        self.entries.len()
    }

    pub fn position_count(&self) -> usize {
        self.entries.chunk_by(|a, b| a.key == b.key).count()
    }

    /// The legal moves of the book in this position, as they stand in it.
    pub fn moves(&self, position: &Position) -> Vec<BookMove> {
        let key = key(position);
        let first = self.entries.partition_point(|entry| entry.key < key);
        let here = self.entries[first..].iter();
        here.take_while(|entry| entry.key == key)
            .filter_map(|entry| {
                let weight = entry.weight;
                decode_move(position, entry.packed).map(|m| BookMove { m, weight })
            })
            .collect()
    }

    /// A book move, drawn with a probability proportional to its weight.
    pub fn random_move(&self, position: &Position, random: &mut impl Rng) -> Option<Move> {
        let moves = self.moves(position);
        let total: u32 = moves.iter().map(|one| u32::from(one.weight)).sum();
        if total == 0 {
            return None;
        }
        let mut left = random.random_range(0..total);
        let chosen = moves.iter().find(|one| {
            let weight = u32::from(one.weight);
            let drawn = left < weight;
            left = left.saturating_sub(weight);
            drawn
        });
        chosen.map(|one| one.m)
    }

    /// The move with the highest weight, the first of several.
    pub fn best_move(&self, position: &Position) -> Option<Move> {
        let moves = self.moves(position).into_iter();
        let played = moves.filter(|one| one.weight > 0);
        let best = played.reduce(|best, one| if one.weight > best.weight { one } else { best });
        best.map(|one| one.m)
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
}

impl BookEntry {
    fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> BookEntry {
        let number = |bytes: &[u8]| {
            let digits = bytes.iter().map(|byte| u64::from(*byte));
            digits.fold(0, |number, digit| number << 8 | digit)
        };
        BookEntry {
            key: number(&bytes[..8]),
            packed: number(&bytes[8..10]) as u16,
            weight: number(&bytes[10..12]) as u16,
        }
    }

    /// Nothing is learned: the last four bytes are zero.
    fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.key.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.packed.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.weight.to_be_bytes());
        bytes
    }
}

/// The key of a position. The en passant square counts only if a pawn stands ready to capture.
pub(super) fn key(position: &Position) -> u64 {
    let Zobrist64(key) = position.chess().zobrist_hash(EnPassantMode::PseudoLegal);
    key
}

/// Castling is encoded as king takes rook.
pub(super) fn encode_move(m: Move) -> u16 {
    let from = m.from().map_or(0, |square| square.to_u32());
    let promotion = PROMOTIONS
        .iter()
        .position(|role| Some(*role) == m.promotion())
        .map_or(0, |index| index + 1);
    (m.to().to_u32() | from << 6) as u16 | (promotion as u16) << 12
}

/// Decodes a move if it is legal.
fn decode_move(position: &Position, packed: u16) -> Option<Move> {
    let to = Square::new(u32::from(packed & 63));
    let from = Square::new(u32::from(packed >> 6 & 63));
    let promotion = usize::from(packed >> 12 & 7)
        .checked_sub(1)
        .and_then(|index| PROMOTIONS.get(index).copied());
    movegen::legal_moves(position)
        .into_iter()
        .find(|m| m.from() == Some(from) && m.to() == to && m.promotion() == promotion)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Game;

    fn after(moves: &str) -> Position {
        let mut game = Game::default();
        for m in moves.split_whitespace() {
            game.play_uci(m).unwrap();
        }
        game.position().clone()
    }

    #[test]
    fn keys_are_those_of_the_specification() {
        let positions: [(&str, u64); 9] = [
            ("", 0x463b_9618_1691_fc9c),
            ("e2e4", 0x823c_9b50_fd11_4196),
            ("e2e4 d7d5", 0x0756_b944_61c5_0fb0),
            ("e2e4 d7d5 e4e5", 0x662f_afb9_65db_29d4),
            ("e2e4 d7d5 e4e5 f7f5", 0x22a4_8b5a_8e47_ff78),
            ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a_607c_a3f2_42c1),
            ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fd_d303_c946_bdd9),
            ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c81_23ea_7b06_7637),
            ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f_9b82_9b27_9560),
        ];
        for (moves, expected) in positions {
            assert_eq!(key(&after(moves)), expected, "{moves}");
        }
    }

    #[test]
    fn moves_are_encoded_and_decoded() {
        let positions = [
            Position::default(),
            // Castling on both sides, en passant, promotions with and without capture.
            Position::from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap(),
            Position::from_fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2").unwrap(),
            Position::from_fen("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1").unwrap(),
        ];
        for position in positions {
            for m in movegen::legal_moves(&position) {
                assert_eq!(decode_move(&position, encode_move(m)), Some(m));
            }
        }
        let castling = Square::H1.to_u32() as u16 | (Square::E1.to_u32() as u16) << 6;
        let position = Position::from_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1").unwrap();
        assert!(decode_move(&position, castling).is_some_and(|m| m.is_castle()));
    }

    fn book(weights: &[(&str, u16)]) -> PolyglotBook {
        let start = Position::default();
        let entry = |(text, weight): &(&str, u16)| {
            let m = Game::default().play_uci(text).unwrap();
            BookEntry {
                key: key(&start),
                packed: encode_move(m),
                weight: *weight,
            }
        };
        PolyglotBook::from_entries(weights.iter().map(entry).collect())
    }

    #[test]
    fn a_book_of_one_entry_gives_its_line() {
        let book = PolyglotBook::read(&book(&[("e2e4", 1)]).to_bytes()[..]).unwrap();
        let lines = book.lines(10, 8, 1);
        assert_eq!(lines.len(), 1);
        assert_eq!(Position::default().uci(lines[0][0]).to_string(), "e2e4");
    }

    #[test]
    fn the_built_in_book_is_sound_and_small() {
        assert!(BUILT_IN.len() < 300 << 10);
        let book = PolyglotBook::read(BUILT_IN).unwrap();
        assert!(book.best_move(&Position::default()).is_some());
    }

    #[test]
    fn damaged_books_are_refused() {
        let bytes = book(&[("e2e4", 1), ("d2d4", 1)]).to_bytes();
        let error = |bytes: &[u8]| PolyglotBook::read(bytes).unwrap_err().to_string();
        assert!(error(&bytes[..24]).contains("24 bytes"));
        assert!(error(&[]).contains("empty"));
        let mut damaged = bytes.clone();
        damaged[0] = 0xff;
        assert!(error(&damaged).contains("entry 2"), "{}", error(&damaged));
    }

    #[test]
    fn draws_follow_the_weights() {
        let weights = [
            ("e2e4", 50),
            ("d2d4", 30),
            ("c2c4", 15),
            ("g1f3", 4),
            ("a2a3", 1),
        ];
        let book = book(&weights);
        let (start, mut random) = (Position::default(), SmallRng::seed_from_u64(1));
        let mut counts = [0_u32; 5];
        const DRAWS: u32 = 100_000;
        for _ in 0..DRAWS {
            let m = book.random_move(&start, &mut random).unwrap();
            let text = start.uci(m).to_string();
            let index = weights.iter().position(|(name, _)| *name == text);
            counts[index.unwrap()] += 1;
        }
        let chi_square: f64 = weights
            .iter()
            .zip(counts)
            .map(|((_, weight), count)| {
                let expected = f64::from(DRAWS) * f64::from(*weight) / 100.0;
                (f64::from(count) - expected).powi(2) / expected
            })
            .sum();
        // The 99.9% quantile with four degrees of freedom.
        assert!(chi_square < 18.47, "{chi_square}: {counts:?}");
    }

    #[test]
    fn the_best_move_has_the_highest_weight_and_zero_is_never_played() {
        let start = Position::default();
        let best = |weights| {
            let m = book(weights).best_move(&start);
            m.map(|m| start.uci(m).to_string())
        };
        assert_eq!(
            best(&[("a2a3", 1), ("e2e4", 9), ("d2d4", 9)]).unwrap(),
            "e2e4"
        );
        assert_eq!(best(&[("a2a3", 0)]), None);
        let mut random = SmallRng::seed_from_u64(1);
        let never = book(&[("a2a3", 0)]).random_move(&start, &mut random);
        assert_eq!(never, None);
    }
}
