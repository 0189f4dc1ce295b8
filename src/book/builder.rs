//! Makes books: from games, and from other books.
//!
//! A move's weight is the points that its side made with it, counted as Polyglot does: two for a
//! win, one for a draw. Moves that made no points are left out.

use std::collections::BTreeMap;

use shakmaty::{Color, Move};

use super::PolyglotBook;
use super::polyglot::{BookEntry, encode_move, key};
use crate::position::Position;

/// How a game ended, for a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookResult {
    Won(Color),
    Drawn,
}

#[derive(Clone, Copy, Debug, Default)]
struct MoveCount {
    games: u64,
    points: u64,
}

#[derive(Debug, Default)]
pub struct BookBuilder {
    /// By position, then by move.
    counts: BTreeMap<u64, BTreeMap<u16, MoveCount>>,
}

impl BookBuilder {
    /// Counts the first moves of a game.
    pub fn add_game(&mut self, start: &Position, moves: &[Move], result: BookResult) {
        let mut position = start.clone();
        for m in moves {
            let points = match result {
                BookResult::Won(winner) if winner == position.turn() => 2,
                BookResult::Won(_) => 0,
                BookResult::Drawn => 1,
            };
            self.add(key(&position), encode_move(*m), 1, points);
            position.play(*m);
        }
    }

    /// Adds the weights of a book.
    pub fn add_book(&mut self, book: &PolyglotBook) {
        for entry in book.entries() {
            self.add(entry.key, entry.packed, 1, u64::from(entry.weight));
        }
    }

    fn add(&mut self, key: u64, packed: u16, games: u64, points: u64) {
        let count = self.counts.entry(key).or_default().entry(packed);
        let count = count.or_default();
        count.games += games;
        count.points += points;
    }

    /// The book of all moves that were played in `min_games` games and made points.
    pub fn build(&self, min_games: u64) -> PolyglotBook {
        let mut entries = Vec::new();
        for (key, moves) in &self.counts {
            let kept = moves.iter().filter(|(_, count)| count.games >= min_games);
            let kept: Vec<(u16, u64)> = kept.map(|(m, count)| (*m, count.points)).collect();
            // Weights have 16 bits: more points are scaled down.
            let most = kept.iter().map(|(_, points)| *points).max();
            let divisor = most.unwrap_or(0).div_ceil(u64::from(u16::MAX)).max(1);
            let first = entries.len();
            entries.extend(kept.iter().map(|(packed, points)| BookEntry {
                key: *key,
                packed: *packed,
                weight: (points / divisor) as u16,
            }));
            // The best moves first, as other programs write them.
            entries[first..].sort_by_key(|entry| std::cmp::Reverse(entry.weight));
        }
        entries.retain(|entry| entry.weight > 0);
        PolyglotBook::from_entries(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Game;

    fn moves(text: &str) -> Vec<Move> {
        let mut game = Game::default();
        let played = text.split_whitespace().map(|m| game.play_uci(m).unwrap());
        played.collect()
    }

    fn show(book: &PolyglotBook, position: &Position) -> Vec<(String, u16)> {
        let moves = book.moves(position).into_iter();
        moves
            .map(|one| (position.uci(one.m).to_string(), one.weight))
            .collect()
    }

    fn builder() -> BookBuilder {
        let mut builder = BookBuilder::default();
        let start = Position::default();
        builder.add_game(&start, &moves("d2d4 d7d5"), BookResult::Drawn);
        builder.add_game(&start, &moves("e2e4 e7e5"), BookResult::Won(Color::White));
        builder.add_game(&start, &moves("e2e4 c7c5"), BookResult::Won(Color::Black));
        builder.add_game(&start, &moves("e2e4 c7c5"), BookResult::Drawn);
        builder
    }

    #[test]
    fn a_weight_is_the_points_of_the_side_that_moves() {
        let book = builder().build(1);
        let start = Position::default();
        let expected = [("e2e4".to_owned(), 3), ("d2d4".to_owned(), 1)];
        assert_eq!(show(&book, &start), expected);
        // The reply that lost is left out.
        let after_e4 = start.after(moves("e2e4")[0]);
        assert_eq!(show(&book, &after_e4), [("c7c5".to_owned(), 3)]);
        let often = builder().build(2);
        assert_eq!(show(&often, &start), [("e2e4".to_owned(), 3)]);
        let bytes = book.to_bytes();
        let read = PolyglotBook::read(&bytes[..]).unwrap();
        assert_eq!(read.to_bytes(), bytes);
    }

    #[test]
    fn merged_books_add_their_weights_within_16_bits() {
        let book = builder().build(1);
        let mut merged = BookBuilder::default();
        merged.add_book(&book);
        merged.add_book(&book);
        let start = Position::default();
        let twice = [("e2e4".to_owned(), 6), ("d2d4".to_owned(), 2)];
        assert_eq!(show(&merged.build(1), &start), twice);
        for _ in 0..65_536 {
            merged.add_game(&start, &moves("e2e4"), BookResult::Drawn);
        }
        let scaled = show(&merged.build(1), &start);
        assert_eq!(
            scaled,
            [("e2e4".to_owned(), 32_771), ("d2d4".to_owned(), 1)]
        );
    }
}
