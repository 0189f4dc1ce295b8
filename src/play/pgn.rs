//! Games as PGN: written with what the players thought, read back for their results.

use std::fmt::Write;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pgn_reader::{RawTag, Reader, Visitor};
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Position as _};
use thiserror::Error;

use super::game::{GameRecord, GameResult};
use super::ratings::PlayedGame;
use crate::position::Position;

/// PGN asks for lines of fewer than 80 columns.
const WIDTH: usize = 79;

/// What the tags say beyond the game itself.
pub struct PgnHeader<'a> {
    pub event: &'a str,
    /// Counted from one.
    pub round: usize,
    pub white: &'a str,
    pub black: &'a str,
    pub time_control: &'a str,
    /// Further tags, for the runner's own use.
    pub more: &'a [(&'a str, String)],
}

pub fn write(record: &GameRecord, heading: &PgnHeader<'_>) -> String {
    let mut text = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{name} \"{value}\"]");
    };
    tag("Event", heading.event);
    tag("Site", "?");
    tag("Date", &today());
    tag("Round", &heading.round.to_string());
    tag("White", heading.white);
    tag("Black", heading.black);
    tag("Result", &record.result().to_string());
    let start = &record.opening.start;
    if start.fen() != Position::default().fen() {
        tag("SetUp", "1");
        tag("FEN", &start.fen());
    }
    if start.castles().mode() == CastlingMode::Chess960 {
        tag("Variant", "Chess960");
    }
    tag("PlyCount", &record.plies().to_string());
    tag("TimeControl", heading.time_control);
    tag("Termination", record.end.termination());
    tag("GameDuration", &clock_time(record.duration.as_secs()));
    for (name, value) in heading.more {
        tag(name, value);
    }
    text.push('\n');
    text.push_str(&wrap(movetext(record)));
    text.push_str("\n\n");
    text
}

/// Moves, comments and result, as pieces that lines may be broken between.
fn movetext(record: &GameRecord) -> Vec<String> {
    let mut words = Vec::new();
    let mut position = record.opening.start.clone();
    let mut number_needed = true;
    let book = record.opening.moves.iter().map(|m| (*m, "book".to_owned()));
    let last = record.moves.len().saturating_sub(1);
    let thought = record.moves.iter().enumerate().map(|(index, thought)| {
        let score = thought
            .score
            .map_or_else(|| "0.00".to_owned(), |score| score.to_string());
        let seconds = thought.elapsed.as_secs_f64();
        let mut comment = format!("{score}/{} {seconds:.3}s", thought.depth);
        if index == last {
            let _ = write!(comment, ", {}", record.end);
        }
        (thought.m, comment)
    });
    for (m, comment) in book.chain(thought) {
        let number = position.chess().fullmoves();
        if position.turn().is_white() {
            words.push(format!("{number}."));
        } else if number_needed {
            words.push(format!("{number}..."));
        }
        number_needed = false;
        let mut chess = position.chess().clone();
        words.push(SanPlus::from_move_and_play_unchecked(&mut chess, m).to_string());
        words.extend(format!("{{{comment}}}").split(' ').map(str::to_owned));
        position.play(m);
    }
    if record.moves.is_empty() {
        words.extend(format!("{{{}}}", record.end).split(' ').map(str::to_owned));
    }
    words.push(record.result().to_string());
    words
}

fn wrap(words: Vec<String>) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words {
        if column > 0 && column + 1 + word.len() > WIDTH {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word);
        column += word.len();
    }
    text
}

fn clock_time(seconds: u64) -> String {
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// The date in Greenwich.
fn today() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let days = (since.as_secs() / 86_400) as i64;
    let (year, month, day) = civil(days);
    format!("{year:04}.{month:02}.{day:02}")
}

/// Year, month and day, so many days after the first of January 1970. Years are counted from
/// March, so that the day a leap year adds is the last one of a year.
fn civil(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[derive(Debug, Error)]
#[error("{file}: {error}")]
pub struct PgnError {
    pub file: PathBuf,
    pub error: io::Error,
}

/// The tags of a game, and whether it came to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameTags {
    tags: Vec<(String, String)>,
    /// The result after the moves.
    pub outcome: Option<GameResult>,
}

impl GameTags {
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut tags = self.tags.iter();
        tags.find(|(tag, _)| tag == name)
            .map(|(_, value)| value.as_str())
    }

    /// The result, when the tag and the text after the moves agree on one.
    pub fn result(&self) -> Option<GameResult> {
        let result = GameResult::from_pgn(self.get("Result")?)?;
        (self.outcome == Some(result)).then_some(result)
    }
}

/// Reads the tags of all games.
pub fn read_tags(source: impl io::Read) -> io::Result<Vec<GameTags>> {
    let mut reader = Reader::new(source);
    let mut games = Vec::new();
    while let Some(game) = reader.read_game(&mut TagCollector)? {
        games.push(game);
    }
    Ok(games)
}

/// The finished games of a file, and how many were not finished.
pub fn read_results(file: &Path) -> Result<(Vec<PlayedGame>, usize), PgnError> {
    let failed = |error| PgnError {
        file: file.to_owned(),
        error,
    };
    let games = File::open(file).and_then(read_tags).map_err(failed)?;
    let mut played = Vec::with_capacity(games.len());
    let mut unfinished = 0;
    for game in &games {
        // For ratings the tag is enough; many files have no moves.
        let result = game
            .get("Result")
            .and_then(GameResult::from_pgn)
            .or(game.outcome);
        match (game.get("White"), game.get("Black"), result) {
            (Some(white), Some(black), Some(result)) => played.push(PlayedGame {
                white: white.to_owned(),
                black: black.to_owned(),
                result,
            }),
            _ => unfinished += 1,
        }
    }
    Ok((played, unfinished))
}

struct TagCollector;

impl Visitor for TagCollector {
    type Tags = GameTags;
    type Movetext = GameTags;
    type Output = GameTags;

    fn begin_tags(&mut self) -> ControlFlow<GameTags, GameTags> {
        ControlFlow::Continue(GameTags::default())
    }

    fn tag(
        &mut self,
        tags: &mut GameTags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<GameTags> {
        let name = String::from_utf8_lossy(name).into_owned();
        tags.tags
            .push((name, value.decode_utf8_lossy().into_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: GameTags) -> ControlFlow<GameTags, GameTags> {
        ControlFlow::Continue(tags)
    }

    fn outcome(
        &mut self,
        game: &mut GameTags,
        outcome: pgn_reader::Outcome,
    ) -> ControlFlow<GameTags> {
        game.outcome = GameResult::from_pgn(&outcome.to_string());
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: GameTags) -> GameTags {
        game
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(19_723), (2024, 1, 1));
        assert_eq!(civil(20_512), (2026, 2, 28));
    }

    #[test]
    fn a_game_without_its_result_is_not_finished() {
        let text = "[White \"a\"]\n[Result \"1-0\"]\n\n1. e4 {+0.1/3 0.1s} e5 1-0\n\n\
                    [White \"b\"]\n[Result \"1-0\"]\n\n1. e4 e5";
        let games = read_tags(text.as_bytes()).unwrap();
        assert_eq!(games[0].result(), Some(GameResult::WhiteWins));
        assert_eq!(games[1].get("White"), Some("b"));
        assert_eq!(games[1].result(), None);
    }
}
