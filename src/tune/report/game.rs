//! A game of the closing match on a board to click through.

use std::fmt::Write as _;

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Color, Outcome, Position as _};

use crate::analysis::annotate::{GameItem, SourceGame, each_game};
use crate::data::Source;
use crate::terminal::{escaped, printable};
use crate::tune::run::{GAMES, RESULT, RunFolder};

/// The game that tells most; nothing if none is there or the file cannot be read.
pub fn section(folder: &RunFolder) -> String {
    if !folder.has(GAMES) {
        return String::new();
    }
    let source = Source::file(folder.path().join(GAMES));
    let mut best: Option<Box<SourceGame>> = None;
    let read = each_game(&source, |item| {
        if let GameItem::Game(game) = item
            && best.as_ref().is_none_or(|known| rank(&game) > rank(known))
        {
            best = Some(game);
        }
        true
    });
    match (read, best) {
        (Ok(()), Some(game)) => figure(&game),
        _ => String::new(),
    }
}

/// A win of the result tells most, then any win; of these the shortest.
fn rank(game: &SourceGame) -> (bool, bool, std::cmp::Reverse<usize>) {
    let winner = match game.outcome {
        Outcome::Known(outcome) => outcome.winner(),
        Outcome::Unknown => None,
    };
    let name = winner.map(|color: Color| tag(game, color.fold_wb("White", "Black")));
    let is_won = name.as_deref() == Some(RESULT);
    (
        is_won,
        winner.is_some(),
        std::cmp::Reverse(game.moves.len()),
    )
}

fn tag(game: &SourceGame, name: &str) -> String {
    let found = game.tags.iter().find(|(tag, _)| tag == name);
    found.map_or_else(String::new, |(_, value)| printable(value).into_owned())
}

/// The board itself is drawn by the page's script from these positions.
fn figure(game: &SourceGame) -> String {
    let mut chess: Chess = game.start.clone();
    let mut boards = vec![chess.board().board_fen().to_string()];
    let mut moves = vec!["start".to_owned()];
    for (m, _) in &game.moves {
        let number = chess.fullmoves();
        let dots = chess.turn().fold_wb(".", "…");
        let san = SanPlus::from_move_and_play_unchecked(&mut chess, *m);
        moves.push(format!("{number}{dots} {san}"));
        boards.push(chess.board().board_fen().to_string());
    }
    let mut text = format!(
        "<h2>A game of the closing match</h2><p>White: {}. Black: {}. {}, {}.</p>",
        escaped(&tag(game, "White")),
        escaped(&tag(game, "Black")),
        escaped(&tag(game, "Result")),
        match rank(game) {
            (true, ..) => "the shortest win of the result",
            (false, true, _) => "its shortest loss, since the result won none",
            (false, false, _) => "the shortest, since all games were drawn",
        }
    );
    let _ = write!(
        text,
        "<figure class=\"game\" data-boards=\"{}\" data-moves=\"{}\"></figure>",
        escaped(&boards.join("|")),
        escaped(&moves.join("|"))
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(white: &str, result: &str, moves: &str) -> String {
        format!(
            "[White \"{white}\"]\n[Black \"its <start>\"]\n[Result \"{result}\"]\n\n{moves} {result}\n\n"
        )
    }

    #[test]
    fn the_shortest_win_of_the_result_is_shown() {
        let desk = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(desk.path()).unwrap();
        assert_eq!(section(&folder), "");
        let draw = game(RESULT, "1/2-1/2", "1. e4");
        let loss = game(RESULT, "0-1", "1. f3 e5 2. g4 Qh4#");
        let win = game(RESULT, "1-0", "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#");
        folder.write(GAMES, format!("{draw}{loss}{win}")).unwrap();
        let text = section(&folder);
        assert!(text.contains("|4. Qxf7#\""), "{text}");
        assert!(text.contains("its &lt;start&gt;. 1-0"), "{text}");
        folder.write(GAMES, format!("{draw}{loss}")).unwrap();
        assert!(section(&folder).contains("|2… Qh4#\""));
    }
}
