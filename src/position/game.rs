//! A game so far: the position on the board and the keys of those before it, which is all that
//! repetition needs.

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
    /// Keys of the earlier positions back to the last irreversible move, oldest first.
    earlier: Vec<u64>,
}

impl Game {
    pub fn new(position: Position) -> Game {
        Game {
            position,
            earlier: Vec::new(),
        }
    }

    pub fn position(&self) -> &Position {
        &self.position
    }

    pub fn key_history(&self) -> &[u64] {
        &self.earlier
    }

    pub fn play(&mut self, m: Move) {
        if m.is_zeroing() {
            self.earlier.clear();
        } else {
            self.earlier.push(self.position.key());
        }
        self.position.play(m);
    }

    /// Plays a move written in UCI notation, castling in either form.
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

    /// How often the position on the board has been there before.
    pub fn repetitions(&self) -> usize {
        let key = self.position.key();
        self.earlier
            .iter()
            .filter(|earlier| **earlier == key)
            .count()
    }
}
