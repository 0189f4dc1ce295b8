//! Games in PGN. The parser accepts whatever the standard allows; legality is checked here, move
//! by move. A game with an illegal move is dropped whole: where a score sheet is wrong once, the
//! moves before may be wrong too.

use std::io::ErrorKind;
use std::ops::ControlFlow;

use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, FromSetup, Move, Outcome, Position as _, PositionError};

use super::sample::Sampler;
use super::selection::{Date, Selection};
use super::{DataError, Source, unreadable};
use crate::eval::Centipawns;
use crate::play::pgn::TAG_LINE_LIMIT;

/// No game of chess is longer; what claims to be is not one.
pub const PLY_LIMIT: usize = 12_000;

/// A legal game as a PGN file records it.
#[derive(Clone, Debug)]
pub struct PgnGame {
    /// The players' names, indexed by `Color` (Black first).
    pub names: [String; 2],
    pub ratings: [Option<u32>; 2],
    pub date: Date,
    pub outcome: Outcome,
    pub start: Chess,
    pub moves: Vec<Move>,
    /// The scores in the comments of match runners (`{+0.35/14 0.21s}`), each with the number of
    /// moves played by then.
    pub scores: Vec<(usize, Centipawns)>,
}

/// `Color` counts Black first.
const BLACK: usize = 0;
const WHITE: usize = 1;

impl Default for PgnGame {
    fn default() -> PgnGame {
        PgnGame {
            names: Default::default(),
            ratings: [None; 2],
            date: Date::default(),
            outcome: Outcome::Unknown,
            start: Chess::default(),
            moves: Vec::new(),
            scores: Vec::new(),
        }
    }
}

/// Reads every game of a source into the sampler.
pub fn read(source: &Source, sampler: &mut Sampler<'_>) -> Result<(), DataError> {
    if sampler.is_full() {
        return Ok(());
    }
    each_game(source, sampler.selection(), |item| {
        match item {
            PgnItem::Game(game) => sampler.take_game(&game),
            PgnItem::Bad(reason) => sampler.skip_bad(|| format!("{}: {reason}", source.name())),
            PgnItem::Filtered(reason) => sampler.skip_unwanted(reason),
            PgnItem::Empty => {}
        }
        !sampler.is_full()
    })
}

/// Passes everything a source holds to `visit` until that returns false.
pub fn each_game(
    source: &Source,
    selection: &Selection,
    visit: impl FnMut(PgnItem) -> bool,
) -> Result<(), DataError> {
    each_visited(source, &mut GameVisitor { selection }, PgnItem::Bad, visit)
}

/// Lets a visitor read every game and passes what it makes of it to `visit` until that returns
/// false. A syntax error ends the file; the games before it count.
pub fn each_visited<V: Visitor>(
    source: &Source,
    visitor: &mut V,
    syntax_error: impl Fn(String) -> V::Output,
    mut visit: impl FnMut(V::Output) -> bool,
) -> Result<(), DataError> {
    let mut reader = Reader::build(source.open()?)
        .set_supported_tag_line_length(TAG_LINE_LIMIT)
        .finish();
    loop {
        let proceed = match reader.read_game(visitor) {
            Ok(Some(item)) => visit(item),
            Ok(None) => false,
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                visit(syntax_error(format!("{error}; the rest is not read")));
                false
            }
            Err(error) => return Err(unreadable(source.path(), &error)),
        };
        if !proceed {
            return Ok(());
        }
    }
}

/// What the reader finds in a PGN file.
pub enum PgnItem {
    Game(Box<PgnGame>),
    Filtered(&'static str),
    Bad(String),
    /// Text between games.
    Empty,
}

struct GameVisitor<'a> {
    selection: &'a Selection,
}

#[derive(Default)]
struct Tags {
    record: PgnGame,
    fen: Option<String>,
    variant: Option<String>,
}

struct Movetext {
    record: Box<PgnGame>,
    current: Chess,
}

impl Visitor for GameVisitor<'_> {
    type Tags = Tags;
    type Movetext = Movetext;
    type Output = PgnItem;

    fn begin_tags(&mut self) -> ControlFlow<PgnItem, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<PgnItem> {
        let text = || value.decode_utf8_lossy().into_owned();
        let record = &mut tags.record;
        match name {
            b"White" => record.names[WHITE] = text(),
            b"Black" => record.names[BLACK] = text(),
            b"WhiteElo" => record.ratings[WHITE] = text().trim().parse().ok(),
            b"BlackElo" => record.ratings[BLACK] = text().trim().parse().ok(),
            b"Date" => record.date = Date(text()),
            b"Result" => {
                record.outcome = Outcome::from_ascii(value.as_bytes()).unwrap_or(Outcome::Unknown);
            }
            b"FEN" => tags.fen = Some(text()),
            b"Variant" => tags.variant = Some(text()),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<PgnItem, Movetext> {
        let mut record = tags.record;
        if let Some(reason) = self.selection.rejects(&record) {
            return ControlFlow::Break(PgnItem::Filtered(reason));
        }
        match start(tags.fen.as_deref(), tags.variant.as_deref()) {
            Ok(start) => record.start = start,
            Err(reason) => return ControlFlow::Break(PgnItem::Bad(reason)),
        }
        ControlFlow::Continue(Movetext {
            current: record.start.clone(),
            record: Box::new(record),
        })
    }

    fn san(&mut self, movetext: &mut Movetext, written: SanPlus) -> ControlFlow<PgnItem> {
        let moves = &mut movetext.record.moves;
        let Ok(played) = written.san.to_move(&movetext.current) else {
            let number = 1 + moves.len() / 2;
            return ControlFlow::Break(PgnItem::Bad(format!("illegal move {number} {written}")));
        };
        if moves.len() >= PLY_LIMIT {
            return ControlFlow::Break(PgnItem::Bad(format!("over {PLY_LIMIT} plies")));
        }
        moves.push(played);
        movetext.current.play_unchecked(played);
        ControlFlow::Continue(())
    }

    fn comment(
        &mut self,
        movetext: &mut Movetext,
        comment: RawComment<'_>,
    ) -> ControlFlow<PgnItem> {
        let PgnGame { moves, scores, .. } = &mut *movetext.record;
        scores.extend(comment_score(comment.as_bytes()).map(|score| (moves.len(), score)));
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Movetext) -> ControlFlow<PgnItem, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn outcome(&mut self, movetext: &mut Movetext, outcome: Outcome) -> ControlFlow<PgnItem> {
        if movetext.record.outcome == Outcome::Unknown {
            movetext.record.outcome = outcome;
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, movetext: Movetext) -> PgnItem {
        if movetext.record.moves.is_empty() {
            return PgnItem::Empty;
        }
        PgnItem::Game(movetext.record)
    }
}

/// The score that a comment such as `+0.35/14 0.21s` begins with; nothing for a mate.
fn comment_score(comment: &[u8]) -> Option<Centipawns> {
    let text = std::str::from_utf8(comment).ok()?.trim_start();
    let (pawns, depth) = text.split_once('/')?;
    let is_score = pawns.contains('.') && depth.starts_with(|c: char| c.is_ascii_digit());
    let pawns: f64 = pawns.parse().ok().filter(|_| is_score)?;
    Some(Centipawns((100.0 * pawns).round() as i32))
}

/// Where the game begins: the initial position, or its FEN tag.
pub fn start(fen: Option<&str>, variant: Option<&str>) -> Result<Chess, String> {
    let standard = ["standard", "chess960", "fischerandom", "fischerrandom"];
    if let Some(variant) = variant
        && !standard.contains(&variant.to_lowercase().replace(' ', "").as_str())
    {
        return Err(format!("another game: {variant}"));
    }
    let Some(text) = fen else {
        return Ok(Chess::default());
    };
    let setup = text
        .parse::<Fen>()
        .map_err(|error| format!("FEN '{text}': {error}"))?
        .into_setup();
    let mode = CastlingMode::detect(&setup);
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .or_else(PositionError::ignore_impossible_check)
        .map_err(|error| format!("FEN '{text}': {error}"))
}
