//! Writes games as PGN, with scores, depths and times as comments, and reads tags and results.
//!
//! A move's comment speaks to two kinds of readers. It starts as that of match runners does,
//! `+0.31/12 0.523s`: the score for the mover, the depth, the time. The commands of GUIs and
//! websites follow: `[%eval 0.31,12]`, for White, `[%clk 0:02:57.477]`, what is left on the clock,
//! and `[%emt 0:00:00.523]`, the time of the move.

use std::fmt::Write;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pgn_reader::{RawTag, Reader, Visitor};
use shakmaty::san::SanPlus;
use shakmaty::{ByColor, CastlingMode, Color, Position as _};
use thiserror::Error;

use super::eco::OpeningName;
use super::game::{GameRecord, GameResult};
use super::limits::{GameClocks, GameLimits};
use super::player::MoveRecord;
use super::ratings::PlayedGame;
use crate::files::open_compressed;
use crate::position::Position;
use crate::search::score::ReportedScore;

/// Tags this long are odd but harmless: annotated games carry whole opening names.
pub const TAG_LINE_LIMIT: usize = 1 << 14;
/// PGN asks for lines of fewer than 80 columns.
const WIDTH: usize = 79;

/// The tags that a game record does not know.
pub struct PgnHeader<'a> {
    pub event: &'a str,
    /// Counted from one.
    pub round: usize,
    pub white: &'a str,
    pub black: &'a str,
    pub limits: ByColor<GameLimits>,
    /// Further tags.
    pub more: &'a [(&'a str, String)],
}

pub fn write(record: &GameRecord, header: &PgnHeader<'_>) -> String {
    let mut text = String::new();
    let mut tag = |name: &str, value: &str| text.push_str(&tag_line(name, value));
    tag("Event", header.event);
    tag("Site", "?");
    tag(
        "Date",
        &jiff::Timestamp::now().strftime("%Y.%m.%d").to_string(),
    );
    tag("Round", &header.round.to_string());
    tag("White", header.white);
    tag("Black", header.black);
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
    let moves = record.played_moves().map(|(m, _)| m);
    if let Some(opening) = OpeningName::of_game(start, moves) {
        tag("ECO", opening.eco);
        tag("Opening", opening.name);
    }
    tag("TimeControl", &time_control(&header.limits));
    tag("Termination", record.end.termination());
    tag("GameDuration", &clock_time(record.duration.as_secs()));
    for (name, value) in header.more {
        tag(name, value);
    }
    text.push('\n');
    text.push_str(&wrap(movetext(record, header.limits)));
    text.push_str("\n\n");
    text
}

fn time_control(limits: &ByColor<GameLimits>) -> String {
    let (white, black) = (limits.white.tag(), limits.black.tag());
    if white == black {
        white
    } else {
        format!("{white} against {black}")
    }
}

/// A tag pair as a line.
pub fn tag_line(name: &str, value: &str) -> String {
    // PGN has no escape for control characters, and a line break would end the tag.
    let value = value.replace(char::is_control, " ");
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("[{name} \"{value}\"]\n")
}

/// Moves, comments and result, as words between which a line may break.
fn movetext(record: &GameRecord, limits: ByColor<GameLimits>) -> Vec<String> {
    let mut words = Vec::new();
    let mut position = record.opening.start.clone();
    // Whether the time was kept was seen when it was played.
    let mut clocks = GameClocks::new(limits, Duration::MAX);
    let mut number_needed = true;
    for (index, (m, played)) in record.played_moves().enumerate() {
        let number = position.chess().fullmoves();
        let mover = position.turn();
        if mover.is_white() {
            words.push(format!("{number}."));
        } else if number_needed {
            words.push(format!("{number}..."));
        }
        number_needed = false;
        let mut chess = position.chess().clone();
        words.push(SanPlus::from_move_and_play_unchecked(&mut chess, m).to_string());
        let is_last = index + 1 == record.plies();
        let end = is_last.then(|| record.end.to_string());
        let comment = match played {
            None => "book".to_owned(),
            Some(played) => {
                clocks.press(mover, played.elapsed);
                move_comment(played, mover, clocks.remaining(mover), end.as_deref())
            }
        };
        words.extend(comment_words(&format!("{{{comment}}}")));
        position.play(m);
    }
    if record.moves.is_empty() {
        words.extend(comment_words(&format!("{{{}}}", record.end)));
    }
    words.push(record.result().to_string());
    words
}

fn move_comment(
    played: &MoveRecord,
    mover: Color,
    clock: Option<Duration>,
    end: Option<&str>,
) -> String {
    let score = played.score.map(|score| score.to_string());
    let score = score.as_deref().unwrap_or("0.00");
    let seconds = played.elapsed.as_secs_f64();
    let mut comment = format!("{score}/{} {seconds:.3}s", played.depth);
    if let Some(end) = end {
        let _ = write!(comment, ", {end}");
    }
    if let Some(eval) = played.score.and_then(|score| eval_after(score, mover)) {
        let _ = write!(comment, " [%eval {eval},{}]", played.depth);
    }
    if let Some(clock) = clock {
        let _ = write!(comment, " [%clk {}]", precise_time(clock));
    }
    let _ = write!(comment, " [%emt {}]", precise_time(played.elapsed));
    comment
}

/// The mover's score as `[%eval]` has it: for White, in the position after the move. A mating move
/// has none.
fn eval_after(score: ReportedScore, mover: Color) -> Option<String> {
    let score = match score {
        ReportedScore::Mate(moves) if moves > 0 => ReportedScore::Mate(moves - 1),
        other => other,
    };
    match score {
        ReportedScore::Mate(0) => None,
        score if mover.is_white() => Some(eval_text(score)),
        score => Some(eval_text(-score)),
    }
}

/// As `[%eval]` has it: pawns with two decimals, or `#` and the moves to mate.
pub fn eval_text(score: ReportedScore) -> String {
    match score {
        ReportedScore::Centipawns(score) => format!("{:.2}", f64::from(score.0) / 100.0),
        ReportedScore::Mate(moves) => format!("#{moves}"),
    }
}

/// The words of a comment, between which a line may break. Commands such as `[%clk 0:01:00]` stay
/// whole: not every reader expects a line break in one.
pub fn comment_words(comment: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut in_command = false;
    for word in comment.split(' ') {
        match words.last_mut() {
            Some(command) if in_command => {
                command.push(' ');
                command.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        in_command = match in_command {
            true => !word.contains(']'),
            false => word.contains("[%") && !word.contains(']'),
        };
    }
    words
}

/// Breaks words into lines.
pub fn wrap(words: Vec<String>) -> String {
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

/// Hours, minutes, seconds and milliseconds, as `[%clk]` and `[%emt]` have them.
fn precise_time(time: Duration) -> String {
    let milliseconds = (time.as_secs_f64() * 1000.0).round() as u64;
    let seconds = milliseconds / 1000;
    format!(
        "{}:{:02}:{:02}.{:03}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        milliseconds % 1000
    )
}

fn clock_time(seconds: u64) -> String {
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[derive(Debug, Error)]
#[error("{file}: {error}")]
pub struct PgnError {
    pub file: PathBuf,
    pub error: io::Error,
}

/// The tags of a game and the result at its end.
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

    /// The result, if the tag and the text after the moves agree.
    pub fn result(&self) -> Option<GameResult> {
        let result = GameResult::from_pgn(self.get("Result")?)?;
        (self.outcome == Some(result)).then_some(result)
    }
}

/// Reads the tags of all games.
pub fn read_tags(source: impl io::Read) -> io::Result<Vec<GameTags>> {
    let mut games = Vec::new();
    each_tags(source, |game| games.push(game))?;
    Ok(games)
}

/// Passes the tags of one game after the other to `visit`: a file may be larger than memory.
fn each_tags(source: impl io::Read, mut visit: impl FnMut(GameTags)) -> io::Result<()> {
    let mut reader = Reader::build(source)
        .set_supported_tag_line_length(TAG_LINE_LIMIT)
        .finish();
    while let Some(game) = reader.read_game(&mut TagCollector)? {
        visit(game);
    }
    Ok(())
}

/// The finished games of a file, which may be compressed, and how many were not finished.
pub fn read_results(file: &Path) -> Result<(Vec<PlayedGame>, usize), PgnError> {
    let failed = |error| PgnError {
        file: file.to_owned(),
        error,
    };
    let source = open_compressed(file).map_err(failed)?;
    let mut played = Vec::new();
    let mut unfinished = 0;
    let read = each_tags(source, |game| {
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
    });
    read.map_err(failed)?;
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
    use crate::eval::Centipawns;

    #[test]
    fn a_game_without_its_result_is_not_finished() {
        let text = "[White \"a\"]\n[Result \"1-0\"]\n\n1. e4 {+0.1/3 0.1s} e5 1-0\n\n\
                    [White \"b\"]\n[Result \"1-0\"]\n\n1. e4 e5";
        let games = read_tags(text.as_bytes()).unwrap();
        assert_eq!(games[0].result(), Some(GameResult::WhiteWins));
        assert_eq!(games[1].get("White"), Some("b"));
        assert_eq!(games[1].result(), None);
    }

    #[test]
    fn evals_are_for_white_and_for_the_position_after_the_move() {
        let pawns = ReportedScore::Centipawns(Centipawns(-125));
        let (white, black) = (Color::White, Color::Black);
        assert_eq!(eval_after(pawns, white).as_deref(), Some("-1.25"));
        assert_eq!(eval_after(pawns, black).as_deref(), Some("1.25"));
        // Black mates in three, one of which is played.
        let mate = ReportedScore::Mate(3);
        assert_eq!(eval_after(mate, black).as_deref(), Some("#-2"));
        let mated = ReportedScore::Mate(-3);
        assert_eq!(eval_after(mated, black).as_deref(), Some("#3"));
        assert_eq!(eval_after(ReportedScore::Mate(1), white), None);
    }

    #[test]
    fn lines_never_break_within_a_command() {
        let words = comment_words("{+0.1/3 0.1s [%eval 0.10,3] [%clk 0:01:00.000]}");
        assert_eq!(
            words,
            ["{+0.1/3", "0.1s", "[%eval 0.10,3]", "[%clk 0:01:00.000]}"]
        );
    }
}
