//! Games to annotate: all tags, the moves, and the clocks in their comments.

use std::ops::ControlFlow;

use pgn_reader::{RawComment, RawTag, SanPlus, Skip, Visitor};
use shakmaty::{Chess, Move, Outcome, Position as _};

use crate::data::{DataError, Source, pgn};

/// A game as it stands in a file.
#[derive(Clone, Debug)]
pub struct SourceGame {
    pub tags: Vec<(String, String)>,
    pub start: Chess,
    /// Each move with the clock comments that follow it.
    pub moves: Vec<(Move, String)>,
    pub outcome: Outcome,
}

pub enum GameItem {
    Game(Box<SourceGame>),
    /// A game that is not legal chess, with the reason.
    Bad(String),
}

/// Passes every game to `visit` until that returns false.
pub fn each_game(
    source: &Source,
    mut visit: impl FnMut(GameItem) -> bool,
) -> Result<(), DataError> {
    let bad = |reason| Some(GameItem::Bad(reason));
    pgn::each_visited(source, &mut GameReader, bad, |item| {
        item.is_none_or(&mut visit)
    })
}

struct GameReader;

struct Movetext {
    game: Box<SourceGame>,
    current: Chess,
}

impl Visitor for GameReader {
    type Tags = Vec<(String, String)>;
    type Movetext = Movetext;
    /// Nothing for text without moves.
    type Output = Option<GameItem>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }

    fn tag(
        &mut self,
        tags: &mut Self::Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let name = String::from_utf8_lossy(name).into_owned();
        tags.push((name, value.decode_utf8_lossy().into_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Self::Output, Movetext> {
        let tag = |name: &str| {
            let found = tags.iter().find(|(tag, _)| tag == name);
            found.map(|(_, value)| value.as_str())
        };
        let start = match pgn::start(tag("FEN"), tag("Variant")) {
            Ok(start) => start,
            Err(reason) => return ControlFlow::Break(Some(GameItem::Bad(reason))),
        };
        let outcome = tag("Result").and_then(|text| Outcome::from_ascii(text.as_bytes()).ok());
        ControlFlow::Continue(Movetext {
            current: start.clone(),
            game: Box::new(SourceGame {
                start,
                moves: Vec::new(),
                outcome: outcome.unwrap_or(Outcome::Unknown),
                tags,
            }),
        })
    }

    fn san(&mut self, movetext: &mut Movetext, written: SanPlus) -> ControlFlow<Self::Output> {
        let moves = &mut movetext.game.moves;
        let legal = written.san.to_move(&movetext.current).ok();
        let Some(m) = legal.filter(|_| moves.len() < pgn::PLY_LIMIT) else {
            let reason = format!("illegal move {} {written}", 1 + moves.len() / 2);
            return ControlFlow::Break(Some(GameItem::Bad(reason)));
        };
        moves.push((m, String::new()));
        movetext.current.play_unchecked(m);
        ControlFlow::Continue(())
    }

    fn comment(
        &mut self,
        movetext: &mut Movetext,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        if let Some((_, clocks)) = movetext.game.moves.last_mut() {
            clocks.push_str(&clock_commands(&String::from_utf8_lossy(
                comment.as_bytes(),
            )));
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Movetext) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, movetext: Movetext) -> Self::Output {
        (!movetext.game.moves.is_empty()).then_some(GameItem::Game(movetext.game))
    }
}

/// The commands `[%clk …]` and `[%emt …]` of a comment, each after a space.
fn clock_commands(comment: &str) -> String {
    let commands = comment.split("[%").skip(1).filter_map(|rest| {
        let (command, _) = rest.split_once(']')?;
        let is_clock = command.starts_with("clk ") || command.starts_with("emt ");
        let is_plain = command.bytes().all(|byte| (b' '..0x7f).contains(&byte));
        (is_clock && is_plain).then(|| format!(" [%{command}]"))
    });
    commands.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_kept_and_nothing_else() {
        let comment = " fine [%eval 0.3] [%clk 0:03:00] text [%emt 1.2] [%clk \u{1b}]";
        assert_eq!(clock_commands(comment), " [%clk 0:03:00] [%emt 1.2]");
    }
}
