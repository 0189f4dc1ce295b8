//! The PGN file of a match, from which an interrupted match resumes.
//!
//! Games are appended as they end, each in one write, so a match killed at any instant loses only
//! the games in progress. Two tags identify the match and the number of the game in it. Resuming
//! drops a half-written game. At the end the games are sorted by number, so the file does not
//! depend on the number of threads.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::crosstable::FinishedGame;
use super::pgn::{GameTags, read_tags};
use super::player::FaultKind;
use crate::files::{self, check_file, write_atomically};

pub const MATCH_TAG: &str = "Match";
pub const GAME_TAG: &str = "Game";
/// How each game begins.
const EVENT: &str = "[Event ";
/// What the ids of this version start with. Ids without it are older, and do not cover the network.
pub const ID_VERSION: &str = "2-";

#[derive(Debug, Error)]
pub enum GamesFileError {
    #[error("{file}: {error}")]
    Io { file: PathBuf, error: io::Error },
    #[error("{0} exists; continue it with --resume, or name another file")]
    Exists(PathBuf),
    #[error("{0} holds games of another match: players, limits, openings or seed differ")]
    OtherMatch(PathBuf),
    #[error(
        "{0} was written by an earlier version of Finch, which did not record the networks that \
         played; start the match again with another file"
    )]
    OldVersion(PathBuf),
    #[error("{0} holds something else than the games of a match by Finch; name another file")]
    Foreign(PathBuf),
}

pub struct GamesFile {
    path: PathBuf,
    file: File,
}

impl GamesFile {
    /// Creates a new file.
    pub fn create(path: &Path) -> Result<GamesFile, GamesFileError> {
        let opened = OpenOptions::new().append(true).create_new(true).open(path);
        match opened {
            Ok(file) => {
                files::lock(&file).map_err(|error| failed(path, error))?;
                let path = path.to_owned();
                Ok(GamesFile { path, file })
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(GamesFileError::Exists(path.to_owned()))
            }
            Err(error) => Err(failed(path, error)),
        }
    }

    /// Opens the file of the match called `id` and returns its finished games. A file that does
    /// not exist is created.
    pub fn resume(
        path: &Path,
        id: &str,
    ) -> Result<(GamesFile, BTreeMap<usize, FinishedGame>), GamesFileError> {
        if !path.exists() {
            return Ok((GamesFile::create(path)?, BTreeMap::new()));
        }
        let io = |error| failed(path, error);
        check_file(path).map_err(io)?;
        // Held until the file is replaced.
        let _before = files::open_locked(path).map_err(io)?;
        let entries = entries(path)?;
        let ids = || entries.iter().map(|entry| entry.tags.get(MATCH_TAG));
        if ids().flatten().any(|id| !id.starts_with(ID_VERSION)) {
            return Err(GamesFileError::OldVersion(path.to_owned()));
        }
        if ids().any(|found| found != Some(id)) {
            return Err(GamesFileError::OtherMatch(path.to_owned()));
        }
        let text: String = entries.iter().map(|entry| entry.text.as_str()).collect();
        write_atomically(path, &text).map_err(io)?;
        let finished = entries
            .iter()
            .map(|entry| (entry.number, entry.finished))
            .collect();
        let file = files::open_locked(path).map_err(io)?;
        let path = path.to_owned();
        Ok((GamesFile { path, file }, finished))
    }

    pub fn append(&mut self, game: &str) -> Result<(), GamesFileError> {
        let written = files::append(&self.file, &self.path, game.as_bytes());
        written.map_err(|error| failed(&self.path, error))
    }

    /// Sorts the games by number and drops those from `end` on.
    pub fn sort(self, end: usize) -> Result<(), GamesFileError> {
        let mut entries = entries(&self.path)?;
        entries.sort_by_key(|entry| entry.number);
        let kept = entries.iter().filter(|entry| entry.number < end);
        let text: String = kept.map(|entry| entry.text.as_str()).collect();
        write_atomically(&self.path, &text).map_err(|error| failed(&self.path, error))
    }
}

fn failed(path: &Path, error: io::Error) -> GamesFileError {
    GamesFileError::Io {
        file: path.to_owned(),
        error,
    }
}

/// A finished game in the file.
struct Entry {
    text: String,
    tags: GameTags,
    number: usize,
    finished: FinishedGame,
}

impl Entry {
    /// `None` for a half-written game.
    fn read(text: &str) -> Option<Entry> {
        let tags = read_tags(text.as_bytes()).ok()?.into_iter().next()?;
        let result = tags.result()?;
        let kind = tags
            .get("Termination")
            .and_then(FaultKind::from_termination);
        let loser = result.winner().map(|winner| !winner);
        Some(Entry {
            text: format!("{}\n\n", text.trim_end()),
            number: tags.get(GAME_TAG)?.parse().ok()?,
            finished: FinishedGame {
                result,
                fault: loser.zip(kind),
            },
            tags,
        })
    }
}

/// All finished games of the file, each number once.
fn entries(path: &Path) -> Result<Vec<Entry>, GamesFileError> {
    let bytes = fs::read(path).map_err(|error| failed(path, error))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut entries: Vec<Entry> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut games = games(without_cut_word(&text)).peekable();
    while let Some(game) = games.next() {
        let Some(entry) = Entry::read(game) else {
            if games.peek().is_none() && is_half_written(game) {
                break;
            }
            return Err(GamesFileError::Foreign(path.to_owned()));
        };
        if seen.insert(entry.number) {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Whether this may be the beginning of a game of a match: its tags, and moves behind that of the
/// match only.
fn is_half_written(game: &str) -> bool {
    let is_tag = |line: &str| line.is_empty() || line.starts_with('[');
    let has_match = || game.contains(&format!("\n[{MATCH_TAG} "));
    game.starts_with(EVENT) && (game.lines().all(is_tag) || has_match())
}

/// The text without a first word that was cut off.
fn without_cut_word(text: &str) -> &str {
    let cut = (1..EVENT.len()).find_map(|length| {
        let before = text.strip_suffix(&EVENT[..length])?;
        (before.is_empty() || before.ends_with('\n')).then_some(before)
    });
    cut.unwrap_or(text)
}

/// Splits a PGN text before each `Event` tag.
fn games(text: &str) -> impl Iterator<Item = &str> {
    let mut starts: Vec<usize> = text
        .match_indices("\n[Event ")
        .map(|(at, _)| at + 1)
        .collect();
    starts.insert(0, 0);
    starts.push(text.len());
    let ranges: Vec<(usize, usize)> = starts.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let games = ranges.into_iter().map(|(start, end)| &text[start..end]);
    games.filter(|game| !game.trim().is_empty())
}
