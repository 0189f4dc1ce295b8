//! Openings of a match, from EPD, PGN or Polyglot files.
//!
//! EPD and FEN lines are positions. PGN games are followed for some plies, and so are random lines
//! of a Polyglot book. The seed of the match shuffles the openings; each is played with both
//! colours.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use shakmaty::Move;
use thiserror::Error;

use super::pgn::TAG_LINE_LIMIT;
use crate::book::{BookError, PolyglotBook};
use crate::files::{self, BYTE_ORDER_MARK};
use crate::position::Position;

/// The openings that are part of the executable.
const EMBEDDED: &str = include_str!("../../books/openings.epd");

/// How far PGN games and Polyglot books are followed.
pub const PLIES: usize = 16;
/// How much of a line that is no position an error quotes.
const LONGEST_QUOTE: usize = 80;
/// How many lines are drawn from a Polyglot book.
const POLYGLOT_LINES: usize = 2_000;

/// A start position and the moves played from it.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    pub start: Position,
    pub moves: Vec<Move>,
}

impl Opening {
    pub fn from_fen(fen: &str) -> Option<Opening> {
        Some(Opening {
            start: Position::from_fen(fen).ok()?,
            moves: Vec::new(),
        })
    }

    /// The position after its last move.
    pub fn end(&self) -> Position {
        self.moves
            .iter()
            .fold(self.start.clone(), |position, m| position.after(*m))
    }
}

#[derive(Debug, Error)]
pub enum OpeningsError {
    #[error("{file}: {error}")]
    Read { file: PathBuf, error: io::Error },
    #[error("{file}: {error}")]
    Book { file: PathBuf, error: BookError },
    #[error("{file}, line {line}: '{text}' is not a position")]
    Position {
        file: PathBuf,
        line: usize,
        text: String,
    },
    #[error("{file}, game {game}: {problem}")]
    Game {
        file: PathBuf,
        game: usize,
        problem: String,
    },
    #[error("{0}: no openings in it")]
    Empty(PathBuf),
}

/// The built-in openings.
pub fn embedded() -> Vec<Opening> {
    EMBEDDED
        .lines()
        .filter_map(|line| Opening::from_fen(fen_of_epd(line)))
        .collect()
}

/// Reads a file of openings, which may be compressed. The extension gives the format: `.pgn`,
/// `.bin` (Polyglot), else EPD.
pub fn load(file: &Path, plies: usize, seed: u64) -> Result<Vec<Opening>, OpeningsError> {
    let read = |error| OpeningsError::Read {
        file: file.to_owned(),
        error,
    };
    let source = files::open_compressed(file).map_err(read)?;
    let openings = match format_ending(file).as_str() {
        "pgn" => from_pgn(source, plies, file)?,
        "bin" => {
            let book = PolyglotBook::read(source).map_err(|error| OpeningsError::Book {
                file: file.to_owned(),
                error,
            })?;
            let lines = book.lines(POLYGLOT_LINES, plies, seed).into_iter();
            let opening = |moves| Opening {
                start: Position::default(),
                moves,
            };
            lines.map(opening).collect()
        }
        _ => {
            let bytes = files::read_limited(source, files::BOOK_LIMIT).map_err(read)?;
            from_epd(&String::from_utf8_lossy(&bytes), file)?
        }
    };
    if openings.is_empty() {
        return Err(OpeningsError::Empty(file.to_owned()));
    }
    Ok(openings)
}

/// The extension under that of a compression, in lower case.
fn format_ending(file: &Path) -> String {
    let ending = |file: &Path| {
        let ending = file.extension().unwrap_or_default();
        ending.to_string_lossy().to_ascii_lowercase()
    };
    match ending(file).as_str() {
        "zst" | "gz" | "bz2" => ending(&file.with_extension("")),
        other => other.to_owned(),
    }
}

/// Shuffles the openings into the order in which a match with this seed plays them.
pub fn shuffle(openings: &mut [Opening], seed: u64) {
    openings.shuffle(&mut SmallRng::seed_from_u64(seed));
}

fn from_epd(text: &str, file: &Path) -> Result<Vec<Opening>, OpeningsError> {
    let lines = text.trim_start_matches(BYTE_ORDER_MARK).lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(number, line)| {
            Opening::from_fen(fen_of_epd(line)).ok_or_else(|| OpeningsError::Position {
                file: file.to_owned(),
                line: number + 1,
                text: line.chars().take(LONGEST_QUOTE).collect(),
            })
        })
        .collect()
}

/// The position in a line of EPD: four fields, or six when the counters of a FEN follow.
fn fen_of_epd(line: &str) -> &str {
    let line = line.split(';').next().unwrap_or(line).trim();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let ends: Vec<usize> = line
        .match_indices(char::is_whitespace)
        .map(|(at, _)| at)
        .chain([line.len()])
        .collect();
    let word = |index: usize| {
        let start = index
            .checked_sub(1)
            .and_then(|before| ends.get(before))
            .map_or(0, |at| at + 1);
        ends.get(index)
            .and_then(|end| line.get(start..*end))
            .unwrap_or_default()
    };
    let fields = if is_number(word(4)) && is_number(word(5)) {
        6
    } else {
        4
    };
    match ends.get(fields - 1) {
        Some(end) => &line[..*end],
        None => line,
    }
}

fn from_pgn(source: impl Read, plies: usize, file: &Path) -> Result<Vec<Opening>, OpeningsError> {
    let mut reader = Reader::build(source)
        .set_supported_tag_line_length(TAG_LINE_LIMIT)
        .finish();
    let mut visitor = OpeningReader { plies };
    let mut openings = Vec::new();
    loop {
        let game = reader
            .read_game(&mut visitor)
            .map_err(|error| OpeningsError::Read {
                file: file.to_owned(),
                error,
            })?;
        match game {
            None => return Ok(openings),
            Some(Ok(opening)) => openings.push(opening),
            Some(Err(problem)) => {
                return Err(OpeningsError::Game {
                    file: file.to_owned(),
                    game: openings.len() + 1,
                    problem,
                });
            }
        }
    }
}

/// Reads the first plies of a PGN game.
struct OpeningReader {
    plies: usize,
}

type ReadOpening = Result<Opening, String>;

impl Visitor for OpeningReader {
    type Tags = Opening;
    /// The opening so far and the position it has reached.
    type Movetext = (Opening, Position);
    type Output = ReadOpening;

    fn begin_tags(&mut self) -> ControlFlow<ReadOpening, Opening> {
        ControlFlow::Continue(Opening::default())
    }

    fn tag(
        &mut self,
        tags: &mut Opening,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<ReadOpening> {
        if name != b"FEN" {
            return ControlFlow::Continue(());
        }
        let fen = value.decode_utf8_lossy();
        match Opening::from_fen(&fen) {
            Some(opening) => {
                *tags = opening;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(Err(format!("'{fen}' is not a position"))),
        }
    }

    fn begin_movetext(&mut self, tags: Opening) -> ControlFlow<ReadOpening, (Opening, Position)> {
        let start = tags.start.clone();
        ControlFlow::Continue((tags, start))
    }

    fn san(&mut self, game: &mut (Opening, Position), san: SanPlus) -> ControlFlow<ReadOpening> {
        let (opening, position) = game;
        if opening.moves.len() >= self.plies {
            return ControlFlow::Break(Ok(std::mem::take(opening)));
        }
        match san.san.to_move(position.chess()) {
            Ok(m) => {
                opening.moves.push(m);
                position.play(m);
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(Err(format!("illegal move {san}"))),
        }
    }

    fn begin_variation(&mut self, _game: &mut Self::Movetext) -> ControlFlow<ReadOpening, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, (opening, _): (Opening, Position)) -> ReadOpening {
        Ok(opening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epd_lines_may_carry_operations_or_counters() {
        let fen = "8/8/8/8/8/4k3/4p3/4K3 w - -";
        assert_eq!(fen_of_epd(&format!("{fen} bm Kd1; id \"x\";")), fen);
        assert_eq!(fen_of_epd(fen), fen);
        assert_eq!(fen_of_epd(&format!("{fen} 3 40")), format!("{fen} 3 40"));
        assert_eq!(
            fen_of_epd(&format!("{fen} 3 40 ; c0")),
            format!("{fen} 3 40")
        );
        assert_eq!(fen_of_epd(""), "");
    }
}
