//! Data to learn from: games become positions, positions get labels.
//!
//! - [`source`]: a file, plain or compressed; [`pgn`]: games; [`epd`]: positions
//! - [`selection`], [`sample`]: the filters of a preset, and a [`Collection`] of cases to train on
//!   and, from other games, to validate with
//! - [`label`]: a position with a score, a result and its game. [`labels`] reads and writes files of
//!   them, [`epd`], [`packed`] and [`text`] are the formats, [`scale`] says what scores mean
//! - [`mentor`]: UCI engines that score positions, one pool of them; [`labelling`]: their scores for
//!   given positions; [`merge`]: labels of several mentors made one
//! - [`selfplay`], [`generation`]: labels from quick games, by the million
//! - [`portion`]: a machine's part of the work; [`join`]: the files of all parts put together
//! - [`quiet`]: what a quiet position is
//!
//! Files may be far larger than memory. A case is therefore kept or dropped while the file is read,
//! by a priority that follows from the seed and the case alone: the same files and seed give the
//! same cases, and raising a limit only adds to them.

pub mod epd;
mod followed;
mod generation;
mod join;
mod label;
mod labelling;
mod labels;
mod mentor;
mod merge;
mod packed;
pub mod pgn;
mod portion;
mod quiet;
mod sample;
mod scale;
mod selection;
mod selfplay;
mod source;
mod text;
mod win_model;

use std::path::{Path, PathBuf};

use shakmaty::{Move, Outcome};
use thiserror::Error;

use crate::position::Position;

pub use followed::FollowedGame;
pub use generation::{GenerationError, GenerationProgress, LabelGeneration, LabelMaker, own_scale};
pub use join::{JoinError, join};
pub use label::{
    DEFAULT_SCALE, GameGrouper, GameId, Label, LabelFormat, LabelHeader, LabelNeeds, is_scale,
};
pub use labelling::{
    LabelCounts, LabelError, LabelFile, LabelTask, Labelling, TaskSelection, collect_tasks,
    serve_labelling,
};
pub use labels::{LabelReader, LabelWriter, Labels, collect_labels, convert, scale_of};
pub use mentor::{Assessment, MENTOR_TIMEOUT, MentorConfig, MentorEngine, MentorError, MentorPool};
pub use merge::{MentorShare, Merged, merge};
pub use packed::{LabelSet, PackedDraft, PackedLabel, PackedLabels};
pub use pgn::PgnGame;
pub use portion::Portion;
pub use quiet::{is_quiet, is_quiet_move, is_quiet_with_best};
pub use sample::{Collection, Tally};
pub use scale::{fit_scale, fit_scale_to_chances, win_chance};
pub use selection::{Date, Outcomes, Selection, Side};
pub use selfplay::{
    PROBED_MOVES, SelfPlay, engine as selfplay_engine, mentor_game, own_game, probed_game,
};
pub use source::{Lines, Source};
pub use win_model::scored_results;

use sample::Sampler;

/// A position and the moves that are right in it: the one the master played, or those an EPD
/// line calls best.
#[derive(Clone, Debug)]
pub struct Case {
    pub position: Position,
    pub answers: Vec<Move>,
    /// Which game it comes from, counted over all sources.
    pub game: u32,
    /// How many plies into that game.
    pub ply: u16,
    /// How that game ended.
    pub outcome: Outcome,
}

#[derive(Debug, Error)]
pub enum DataError {
    #[error("{}: {reason}", .file.display())]
    Unreadable { file: PathBuf, reason: String },
    #[error("{}: line {line} is longer than any line of positions: is this another kind of file?", .file.display())]
    LongLine { file: PathBuf, line: usize },
    #[error("{}:{number}: {reason}", .file.display())]
    BadLabel {
        file: PathBuf,
        /// The line, or the packed record, counted from 1.
        number: usize,
        reason: String,
    },
    #[error("{}: no game found", .0.display())]
    NoGames(PathBuf),
    #[error("no position passes the filters: {0}")]
    NoPositions(String),
}

/// Reads all sources and keeps what the selection asks for.
pub fn collect(sources: &[Source], selection: &Selection) -> Result<Collection, DataError> {
    let mut sampler = Sampler::new(selection);
    for source in sources {
        let before = sampler.tally().games;
        if source.is_epd() {
            epd::read(source, &mut sampler)?;
        } else {
            pgn::read(source, &mut sampler)?;
        }
        if sampler.tally().games == before && !sampler.is_full() {
            return Err(DataError::NoGames(source.path().to_owned()));
        }
    }
    sampler.finish()
}

/// The games of all sources that the selection wants, whole.
pub fn games(
    sources: &[Source],
    selection: &Selection,
) -> Result<(Vec<PgnGame>, Tally), DataError> {
    let mut games = Vec::new();
    let tally = each_game(sources, selection, |game| games.push(game))?;
    Ok((games, tally))
}

/// Shows these games one after the other, in the memory of one. Fails if there are none.
pub fn each_game(
    sources: &[Source],
    selection: &Selection,
    mut visit: impl FnMut(PgnGame),
) -> Result<Tally, DataError> {
    let mut tally = Tally::default();
    let mut visited = 0_usize;
    let is_full = |read: usize| selection.max_games > 0 && read >= selection.max_games;
    for source in sources {
        if is_full(tally.games) {
            break;
        }
        pgn::each_game(source, selection, |item| {
            tally.games += usize::from(!matches!(item, pgn::PgnItem::Empty));
            match item {
                pgn::PgnItem::Game(game) => {
                    visit(*game);
                    visited += 1;
                }
                pgn::PgnItem::Bad(reason) => {
                    tally.skip_bad(|| format!("{}: {reason}", source.name()));
                }
                pgn::PgnItem::Filtered(reason) => {
                    *tally.unwanted.entry(reason).or_default() += 1;
                }
                pgn::PgnItem::Empty => {}
            }
            !is_full(tally.games)
        })?;
    }
    if visited == 0 {
        return Err(DataError::NoPositions(tally.summary()));
    }
    Ok(tally)
}

fn unreadable(file: &Path, error: &std::io::Error) -> DataError {
    DataError::Unreadable {
        file: file.to_owned(),
        reason: error.to_string(),
    }
}
