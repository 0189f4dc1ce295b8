//! Syzygy endgame tablebases.
//!
//! WDL tables (`.rtbw`) give the result with best play under the fifty-move rule, provided that
//! its counter stands at zero. They are therefore probed right after a capture or a pawn move. A
//! cursed win, which needs more than fifty moves, counts as a draw.

use std::io;
use std::path::{Path, PathBuf};

use shakmaty::{Chess, Position as _};
use shakmaty_syzygy::Tablebase;
pub use shakmaty_syzygy::Wdl;
use thiserror::Error;

use crate::position::Position;

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
        // DTZ tables (.rtbz) alone do not say who wins.
        if tables.max_pieces() == 0 {
            return Err(TablebaseError::Empty(folder.to_owned()));
        }
        Ok(Tablebases { tables })
    }

    /// The result for the side to move. `None` if the tables do not cover the position, if its
    /// fifty-move counter is not zero, or if the table is damaged.
    pub fn probe_wdl(&self, position: &Position) -> Option<Wdl> {
        let covered = position.board().occupied().count() <= self.tables.max_pieces();
        if !covered || position.halfmoves() > 0 || position.chess().castles().any() {
            return None;
        }
        self.tables.probe_wdl_after_zeroing(position.chess()).ok()
    }
}
