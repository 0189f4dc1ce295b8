//! The book that a session plays from: the options OwnBook, BookFile, BookDepth and BookBest.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rand::SeedableRng;
use rand::rngs::SmallRng;
use shakmaty::Move;

use crate::book::{BookError, PolyglotBook};
use crate::position::Position;

pub(super) struct OwnBook {
    pub enabled: bool,
    /// The move with the highest weight instead of a draw by the weights.
    pub best: bool,
    /// Plies of the game for which the book is asked.
    pub plies: u32,
    /// None if a file could not be read.
    book: Option<Arc<PolyglotBook>>,
    random: SmallRng,
}

impl OwnBook {
    pub const DEFAULT_PLIES: u32 = 20;

    pub fn new() -> OwnBook {
        // Another game, another draw.
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let seed = now.map_or(0, |time| time.as_nanos() as u64);
        OwnBook {
            enabled: false,
            best: false,
            plies: OwnBook::DEFAULT_PLIES,
            book: Some(Arc::new(PolyglotBook::built_in())),
            random: SmallRng::seed_from_u64(seed),
        }
    }

    /// Takes another book; an empty name means the built-in one. Without a readable file there is
    /// no book.
    pub fn open(&mut self, file: &str) -> Result<(), BookError> {
        self.book = None;
        let book = match file {
            "" => PolyglotBook::built_in(),
            file => PolyglotBook::load(Path::new(file))?,
        };
        self.book = Some(Arc::new(book));
        Ok(())
    }

    /// The book's move, if it is asked and has one.
    pub fn choose(&mut self, position: &Position) -> Option<Move> {
        let plies = 2 * (position.move_number() - 1) + u32::from(position.turn().is_black());
        let book = self.book.as_ref()?;
        if !self.enabled || plies >= self.plies {
            return None;
        }
        match self.best {
            true => book.best_move(position),
            false => book.random_move(position, &mut self.random),
        }
    }
}
