//! One label: a position, a mentor's score for it, the result of its game and where it is from.
//!
//! Files of labels come in three formats ([`LabelFormat`]); all of them are read and written as
//! [`Label`]s with a [`LabelHeader`].

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use shakmaty::{Board, Color, KnownOutcome, Rank, Square};

use crate::hash::stable_hash;
use crate::position::Position;
use crate::random::mix;

#[derive(Clone, Debug)]
pub struct Label {
    pub position: Position,
    /// The mentor's centipawns, seen by the side to move. What they mean is in the header. 0 where
    /// a file without scores is read for its results, see [`LabelNeeds`].
    pub score: i32,
    /// How the game ended, if that is known.
    pub result: Option<KnownOutcome>,
    /// The game the position comes from. Positions of one game stay on one side of the split
    /// into training and validation.
    pub source: GameId,
}

impl Label {
    /// A label of a game whose result is unknown.
    pub fn new(position: Position, score: i32, source: GameId) -> Label {
        Label {
            position,
            score,
            result: None,
            source,
        }
    }

    /// The game's result for the side to move: 1, ½ or 0.
    pub fn points(&self) -> Option<f64> {
        Some(points(self.result?, self.position.turn()))
    }
}

/// What a result is worth to one side.
pub(super) fn points(result: KnownOutcome, side: Color) -> f64 {
    match result.winner() {
        None => 0.5,
        Some(winner) if winner == side => 1.0,
        Some(_) => 0.0,
    }
}

/// Scores of engines lie well within these bounds, and so does their sum or negative.
const LARGEST_SCORE: i32 = 1_000_000;

/// Reads centipawns.
pub(super) fn read_score(text: &str) -> Result<i32, String> {
    let score = text.parse().ok();
    let score = score.filter(|score: &i32| (-LARGEST_SCORE..=LARGEST_SCORE).contains(score));
    score.ok_or_else(|| format!("'{text}' is not a score"))
}

/// Reads the result of a game, as PGN and other trainers write it. `*` is an unknown one.
pub(super) fn read_result(text: &str) -> Result<Option<KnownOutcome>, String> {
    let won_by = |winner| Some(KnownOutcome::Decisive { winner });
    Ok(match text {
        "1.0" | "1" | "1-0" => won_by(Color::White),
        "0.0" | "0" | "0-1" => won_by(Color::Black),
        "0.5" | "1/2" | "1/2-1/2" => Some(KnownOutcome::Draw),
        "*" => None,
        _ => return Err(format!("'{text}' is not a result")),
    })
}

/// What a reader of labels cannot do without. A label that lacks it counts as bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelNeeds {
    pub score: bool,
    pub result: bool,
}

impl LabelNeeds {
    /// For those who learn from a mentor.
    pub const SCORE: LabelNeeds = LabelNeeds {
        score: true,
        result: false,
    };
}

/// Which game a position comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId(pub u64);

impl GameId {
    /// A number stands for itself, anything else for its hash.
    pub fn from_text(text: &str) -> GameId {
        let text = text.trim().trim_matches('"');
        GameId(
            text.parse()
                .unwrap_or_else(|_| stable_hash(text.as_bytes())),
        )
    }
}

impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Squares that may change between two positions of a game of which one follows the other in a
/// file.
const SQUARES_CHANGED: usize = 16;

/// Finds out which lines of a file of positions come from the same game:
///
/// - lines with the same `id` do;
/// - a line without `id` continues the game of the line before it if its position may follow
///   from that one: no more men of either colour, no pawn back on its first rank, no castling
///   right regained, and at most [`SQUARES_CHANGED`] squares changed.
#[derive(Default)]
pub struct GameGrouper {
    previous: Option<(Position, GameId)>,
    /// Games without `id` so far: many begin with the same position.
    count: u64,
}

impl GameGrouper {
    pub fn group(&mut self, id: Option<&str>, position: &Position) -> GameId {
        if let Some(id) = id {
            self.previous = None;
            return GameId::from_text(id);
        }
        let game = match &self.previous {
            Some((previous, game)) if may_follow(previous, position) => *game,
            _ => {
                self.count += 1;
                GameId(mix(self.count, position.key()))
            }
        };
        self.previous = Some((position.clone(), game));
        game
    }
}

fn may_follow(previous: &Position, next: &Position) -> bool {
    let (before, after) = (previous.board(), next.board());
    let fewer_men = |color| after.by_color(color).count() <= before.by_color(color).count();
    let home_pawns = |board: &Board, color: Color| {
        board.pawns() & board.by_color(color) & color.fold_wb(Rank::Second, Rank::Seventh)
    };
    let pawns_at_home = |color| home_pawns(after, color).is_subset(home_pawns(before, color));
    let castling = |position: &Position| position.castles().castling_rights();
    let changed = Square::ALL
        .into_iter()
        .filter(|square| before.piece_at(*square) != after.piece_at(*square));
    Color::ALL
        .into_iter()
        .all(|color| fewer_men(color) && pawns_at_home(color))
        && castling(next).is_subset(castling(previous))
        && changed.count() <= SQUARES_CHANGED
}

/// What a file says about its labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelHeader {
    /// Who gave the scores: name, limit and options.
    pub mentor: String,
    /// The mentor's centipawns that multiply the odds of winning by e. Engines do not agree on
    /// what a centipawn is; this makes their scores comparable.
    pub scale: Option<f64>,
    /// How the positions were made.
    pub origin: String,
}

/// The scale assumed where a file names none and results do not tell: a pawn multiplies the odds
/// by e, roughly what engines do that call a 50% chance of winning 100 centipawns.
pub const DEFAULT_SCALE: f64 = 100.0;

impl LabelHeader {
    /// `key: value` lines, for all formats.
    pub(super) fn lines(&self) -> Vec<String> {
        let scale = self.scale.map(|scale| format!("{scale}"));
        let entries = [
            ("mentor", Some(self.mentor.clone())),
            ("scale", scale),
            ("origin", Some(self.origin.clone())),
        ];
        let filled = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.filter(|value| !value.is_empty())?)));
        // A line break inside a name would start a line of its own.
        let line =
            |(key, value): (_, String)| format!("{key}: {}", value.replace(['\n', '\r'], " "));
        filled.map(line).collect()
    }

    /// Takes in one such line; other lines are ignored.
    pub(super) fn read_line(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(':') else {
            return;
        };
        let value = value.trim();
        match key.trim() {
            "mentor" | "mentors" => value.clone_into(&mut self.mentor),
            "scale" => self.scale = value.parse().ok().filter(|scale| is_scale(*scale)),
            "origin" => value.clone_into(&mut self.origin),
            _ => {}
        }
    }
}

/// Whether a number can be a mentor's scale.
pub fn is_scale(scale: f64) -> bool {
    scale > 0.0 && scale.is_finite()
}

/// How a file holds labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelFormat {
    /// Lines of EPD with `ce` (score), `c9` (result) and `id` (game).
    Epd,
    /// 32 bytes each.
    Packed,
    /// `FEN | centipawns | result`, both seen by White: the text of the trainer bullet and
    /// others. An unknown result is `*`.
    Text,
}

impl LabelFormat {
    /// The format that a file's name asks for, whatever its compression.
    pub fn of_name(path: &Path) -> LabelFormat {
        LabelFormat::of_ending(path).unwrap_or(LabelFormat::Epd)
    }

    /// The format that a file's ending stands for, if it stands for any.
    pub fn of_ending(path: &Path) -> Option<LabelFormat> {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match ending.to_lowercase().as_str() {
            "bin" | "packed" => Some(LabelFormat::Packed),
            "txt" | "text" => Some(LabelFormat::Text),
            "epd" => Some(LabelFormat::Epd),
            _ => None,
        }
    }
}

impl FromStr for LabelFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<LabelFormat, &'static str> {
        match text {
            "epd" => Ok(LabelFormat::Epd),
            "packed" => Ok(LabelFormat::Packed),
            "text" => Ok(LabelFormat::Text),
            _ => Err("not epd, packed or text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).unwrap()
    }

    #[test]
    fn positions_that_may_follow_each_other_are_one_game() {
        let start = position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        let king_pawn = position("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
        let queen_pawn = position("rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2");
        let mut grouper = GameGrouper::default();
        let first = grouper.group(None, &start);
        assert_eq!(grouper.group(None, &king_pawn), first);
        assert_ne!(grouper.group(None, &queen_pawn), first);
        assert_eq!(grouper.group(Some("\"12\""), &start), GameId(12));
        assert_eq!(grouper.group(Some("12"), &queen_pawn), GameId(12));
    }

    #[test]
    fn hashes_of_ids_never_change() {
        assert_eq!(
            GameId::from_text("\"WAC.001\""),
            GameId(0x4714_96ec_56b8_331b)
        );
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let header = LabelHeader {
            mentor: "a; depth 2".to_owned(),
            scale: Some(105.5),
            origin: "games: many".to_owned(),
        };
        let mut read = LabelHeader::default();
        header.lines().iter().for_each(|line| read.read_line(line));
        assert_eq!(read, header);
    }
}
