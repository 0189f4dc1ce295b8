//! Scores and results of played games, to fit a [`WinModel`] to.

use shakmaty::{Color, KnownOutcome, Outcome, Position as _};

use super::pgn::{PgnItem, each_game};
use super::{DataError, Selection, Source};
use crate::eval::{Score, WinModel};

/// Openings say little about who wins, and endless games are drawn anyway.
const FIRST_PLY: usize = 16;
const LAST_PLY: usize = 240;

/// The scores of all moves of the games, and the points that the side which reported the score
/// made. Scores are turned back into internal units with the model of the engine that played.
pub fn scored_results(
    games: &Source,
    played_with: &WinModel,
) -> Result<Vec<(Score, f64)>, DataError> {
    let mut samples = Vec::new();
    each_game(games, &Selection::default(), |item| {
        let PgnItem::Game(game) = item else {
            return true;
        };
        let white_points = match game.outcome {
            Outcome::Known(KnownOutcome::Draw) => 0.5,
            Outcome::Known(KnownOutcome::Decisive { winner }) => {
                f64::from(u8::from(winner.is_white()))
            }
            Outcome::Unknown => return true,
        };
        for (ply, score) in &game.scores {
            if (FIRST_PLY..=LAST_PLY).contains(ply) {
                // After an odd number of moves the side that began has moved last.
                let began_moved = ply % 2 == 1;
                let white_moved = began_moved == (game.start.turn() == Color::White);
                let points = if white_moved {
                    white_points
                } else {
                    1.0 - white_points
                };
                samples.push((played_with.score(*score), points));
            }
        }
        true
    })?;
    Ok(samples)
}
