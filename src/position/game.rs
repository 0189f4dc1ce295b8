//! A game: the current position and the key history that repetition detection needs.

use shakmaty::Move;
use shakmaty::uci::UciMove;
use thiserror::Error;

use super::Position;

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("illegal move {text} in {fen}")]
pub struct IllegalMove {
    pub text: String,
    pub fen: String,
}

#[derive(Clone, Debug, Default)]
pub struct Game {
    position: Position,
    /// Keys of the previous positions since the last capture or pawn move, oldest first.
    history: Vec<u64>,
}

impl Game {
    pub fn new(position: Position) -> Game {
        Game {
            position,
            history: Vec::new(),
        }
    }

    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The keys of the previous positions since the last capture or pawn move, oldest first.
    pub fn key_history(&self) -> &[u64] {
        &self.history
    }

    pub fn play(&mut self, m: Move) {
        if m.is_zeroing() {
            self.history.clear();
        } else {
            self.history.push(self.position.key());
        }
        self.position.play(m);
    }

    /// Plays a move in UCI notation, with castling in either form.
    pub fn play_uci(&mut self, text: &str) -> Result<Move, IllegalMove> {
        let illegal = || IllegalMove {
            text: text.to_owned(),
            fen: self.position.fen(),
        };
        let uci = UciMove::from_ascii(text.as_bytes()).map_err(|_| illegal())?;
        let m = uci.to_move(self.position.chess()).map_err(|_| illegal())?;
        self.play(m);
        Ok(m)
    }

    /// How often the current position has occurred before.
    pub fn repetitions(&self) -> usize {
        let key = self.position.key();
        self.history
            .iter()
            .filter(|previous| **previous == key)
            .count()
    }
}
