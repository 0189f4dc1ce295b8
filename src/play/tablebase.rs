//! Endings that are known for certain: Syzygy tables decide a game as soon as they can.
//!
//! A table of wins, draws and losses (`.rtbw`) tells who wins when the count of fifty moves
//! begins now. So a game is decided right after a capture or a pawn move, when it does begin now;
//! a win that takes more than fifty moves is a draw.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use shakmaty::{Chess, Position as _};
use shakmaty_syzygy::{Tablebase, Wdl};
use thiserror::Error;

use super::game::GameResult;
use crate::position::Position;

/// Someone who knows the end of some games.
pub trait Oracle: fmt::Debug + Send + Sync {
    /// The result with best play, if it is certain.
    fn verdict(&self, position: &Position) -> Option<GameResult>;
}

#[derive(Debug, Error)]
pub enum TablebaseError {
    #[error("{folder}: {error}")]
    Read { folder: PathBuf, error: io::Error },
    #[error("{0}: no tables (.rtbw) in it")]
    Empty(PathBuf),
}

/// The tables of one folder.
#[derive(Debug)]
pub struct Tablebases {
    tables: Tablebase<Chess>,
}

impl Tablebases {
    pub fn open(folder: &Path) -> Result<Tablebases, TablebaseError> {
        let mut tables = Tablebase::new();
        tables
            .add_directory(folder)
            .map_err(|error| TablebaseError::Read {
                folder: folder.to_owned(),
                error,
            })?;
        // Tables of distances alone (.rtbz) say nothing about who wins.
        if tables.max_pieces() == 0 {
            return Err(TablebaseError::Empty(folder.to_owned()));
        }
        Ok(Tablebases { tables })
    }
}

impl Oracle for Tablebases {
    fn verdict(&self, position: &Position) -> Option<GameResult> {
        let known = position.board().occupied().count() <= self.tables.max_pieces();
        if !known || position.halfmoves() > 0 || position.chess().castles().any() {
            return None;
        }
        // A table that is missing or damaged decides nothing: the game goes on.
        let wdl = self.tables.probe_wdl_after_zeroing(position.chess()).ok()?;
        Some(match wdl {
            Wdl::Win => GameResult::win_of(position.turn()),
            Wdl::Loss => GameResult::win_of(!position.turn()),
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => GameResult::Draw,
        })
    }
}
