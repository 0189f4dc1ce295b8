//! Syzygy endgame tablebases.
//!
//! WDL tables (`.rtbw`) give the result with best play under the fifty-move rule, provided that
//! its counter stands at zero. They are therefore probed right after a capture or a pawn move.
//! DTZ tables (`.rtbz`) give the distance to the next such move; with them the moves at the root
//! are ranked at any count ([`RootRanking`]).
//!
//! A cursed win needs more than fifty moves, a blessed loss is its other side: draws, unless the
//! fifty-move rule is off ([`SyzygySettings::fifty_move_rule`]).

mod root;
mod settings;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{env, fmt, fs, io};

use shakmaty::{Chess, Position as _};
pub use shakmaty_syzygy::Wdl;
use shakmaty_syzygy::{Dtz, Metric, ProbeError, SyzygyError, Tablebase};
use thiserror::Error;

use crate::position::Position;
pub use root::{RankedMove, RootRanking};
pub use settings::SyzygySettings;

#[derive(Debug, Error)]
pub enum TablebaseError {
    #[error("{folder}: {error}")]
    Read { folder: PathBuf, error: io::Error },
    #[error("{0}: no tables (.rtbw) in it")]
    Empty(String),
    #[error("{0}")]
    Damaged(TableProblem),
}

/// A table file or folder that cannot be used.
#[derive(Debug)]
pub struct TableProblem {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for TableProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

/// What a position is worth with best play, to the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TablebaseResult {
    Loss,
    Draw,
    Win,
}

impl TablebaseResult {
    fn new(wdl: Wdl, fifty_move_rule: bool) -> TablebaseResult {
        match wdl {
            Wdl::Win => TablebaseResult::Win,
            Wdl::Loss => TablebaseResult::Loss,
            Wdl::CursedWin if !fifty_move_rule => TablebaseResult::Win,
            Wdl::BlessedLoss if !fifty_move_rule => TablebaseResult::Loss,
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => TablebaseResult::Draw,
        }
    }
}

/// The tables of one folder or several.
#[derive(Debug)]
pub struct Tablebases {
    tables: Tablebase<Chess>,
    path: OsString,
    wdl_tables: usize,
    dtz_tables: usize,
    /// Files and folders that were left out.
    skipped: Vec<TableProblem>,
    damage: OnceLock<String>,
    damage_told: AtomicBool,
}

impl Tablebases {
    /// Opens the tables of a list of folders, separated by `:` (on Windows by `;`). What cannot be
    /// used is left out; see [`Tablebases::problem`].
    pub fn open(path: impl AsRef<OsStr>) -> Result<Tablebases, TablebaseError> {
        let mut tablebases = Tablebases {
            tables: Tablebase::new(),
            path: path.as_ref().to_owned(),
            wdl_tables: 0,
            dtz_tables: 0,
            skipped: Vec::new(),
            damage: OnceLock::new(),
            damage_told: AtomicBool::new(false),
        };
        for folder in env::split_paths(path.as_ref()) {
            if let Err(error) = tablebases.add_folder(&folder) {
                let path = folder;
                tablebases.skipped.push(TableProblem { path, error });
            }
        }
        // DTZ tables alone do not say who wins.
        if tablebases.wdl_tables > 0 {
            return Ok(tablebases);
        }
        let name = path.as_ref().to_string_lossy().into_owned();
        Err(match tablebases.skipped.into_iter().next() {
            Some(problem) => TablebaseError::Read {
                folder: problem.path,
                error: problem.error,
            },
            None => TablebaseError::Empty(name),
        })
    }

    /// The same, where a file or folder that cannot be used is an error.
    pub fn open_all(path: impl AsRef<OsStr>) -> Result<Tablebases, TablebaseError> {
        let mut tablebases = Tablebases::open(path)?;
        match tablebases.skipped.pop() {
            Some(problem) => Err(TablebaseError::Damaged(problem)),
            None => Ok(tablebases),
        }
    }

    /// Table files are opened when they are first probed; here only their sizes are looked at.
    fn add_folder(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            match self.tables.add_file(&path) {
                Ok(()) if path.extension().is_some_and(|ending| ending == "rtbw") => {
                    self.wdl_tables += 1;
                }
                Ok(()) => self.dtz_tables += 1,
                // Not a table.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                Err(error) => self.skipped.push(TableProblem { path, error }),
            }
        }
        Ok(())
    }

    /// The folders, as they were given.
    pub fn path(&self) -> &OsStr {
        &self.path
    }

    /// The most men, kings included, that a table has.
    pub fn max_men(&self) -> usize {
        self.tables.max_pieces()
    }

    /// What was left out, in one line.
    pub fn problem(&self) -> Option<String> {
        let first = self.skipped.first()?;
        Some(match self.skipped.len() {
            1 => format!("left out: {first}"),
            more => format!("left out: {first} and {} more", more - 1),
        })
    }

    /// The first damaged table that a probe met, told once.
    pub fn new_damage(&self) -> Option<&str> {
        let damage = self.damage.get()?;
        (!self.damage_told.swap(true, Relaxed)).then_some(damage)
    }

    fn covers(&self, position: &Position) -> bool {
        position.board().occupied().count() <= self.max_men() && !position.chess().castles().any()
    }

    /// The result for the side to move. `None` if the tables do not cover the position, if its
    /// fifty-move counter is not zero, or if the table is damaged.
    pub fn probe_wdl(&self, position: &Position) -> Option<Wdl> {
        if position.halfmoves() > 0 {
            return None;
        }
        self.wdl_after_zeroing(position)
    }

    /// The result as if the last move had been a capture or a pawn move.
    fn wdl_after_zeroing(&self, position: &Position) -> Option<Wdl> {
        if !self.covers(position) {
            return None;
        }
        self.checked(self.tables.probe_wdl_after_zeroing(position.chess()))
    }

    /// Plies to the next capture or pawn move on the best way to win, negative on the way to lose,
    /// zero in a draw. It may be one too small.
    pub fn probe_dtz(&self, position: &Position) -> Option<i32> {
        if !self.covers(position) {
            return None;
        }
        let Dtz(plies) = self
            .checked(self.tables.probe_dtz(position.chess()))?
            .ignore_rounding();
        Some(plies)
    }

    /// Remembers the first table that turns out to be damaged.
    fn checked<T>(&self, probed: Result<T, SyzygyError>) -> Option<T> {
        let error = match probed {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        // A table that is not there is no fault.
        if let SyzygyError::ProbeFailed {
            metric,
            material,
            error,
        } = error
        {
            self.damage.get_or_init(|| {
                let ending = match metric {
                    Metric::Wdl => "rtbw",
                    Metric::Dtz => "rtbz",
                };
                let what = match *error {
                    ProbeError::Read { error } => error.to_string(),
                    ProbeError::Magic { .. } => "not a Syzygy table".to_owned(),
                    ProbeError::CorruptedTable { .. } => "damaged".to_owned(),
                };
                format!("Syzygy table {material}.{ending}: {what}; Finch plays on without it")
            });
        }
        None
    }
}

impl fmt::Display for Tablebases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} WDL and {} DTZ tables of up to {} men",
            self.wdl_tables,
            self.dtz_tables,
            self.max_men()
        )
    }
}
