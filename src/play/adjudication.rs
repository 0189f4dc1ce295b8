//! Adjudication: games whose result is clear end early.
//!
//! A draw when both sides have scored close to zero for some moves, a win when the losing side
//! has scored itself lost for some moves (or both sides agree), a draw when the game exceeds a
//! number of moves. Rules and names are those of cutechess-cli and fastchess.

use std::fmt;
use std::str::FromStr;

use shakmaty::{ByColor, Color};
use thiserror::Error;

use super::game::GameEnd;
use crate::search::score::ReportedScore;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Adjudication {
    pub draw: Option<DrawRule>,
    pub resign: Option<ResignRule>,
    /// Full moves after which a game is drawn.
    pub max_moves: Option<u32>,
}

impl fmt::Display for Adjudication {
    /// The rules in the form of the command line; empty without any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(DrawRule {
            number,
            count,
            score,
        }) = self.draw
        {
            write!(
                f,
                "draw movenumber={number} movecount={count} score={score} "
            )?;
        }
        if let Some(ResignRule {
            count,
            score,
            two_sided,
        }) = self.resign
        {
            write!(
                f,
                "resign movecount={count} score={score} twosided={two_sided} "
            )?;
        }
        match self.max_moves {
            Some(moves) => write!(f, "maxmoves={moves}"),
            None => Ok(()),
        }
    }
}

/// From move `number` on, `count` moves of both sides within `score` centipawns of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DrawRule {
    pub number: u32,
    pub count: u32,
    pub score: u32,
}

/// `count` consecutive moves at `score` centipawns or more; with `two_sided` both players must
/// score it so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResignRule {
    pub count: u32,
    pub score: u32,
    pub two_sided: bool,
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("'{word}' is not one of {wanted}")]
pub struct AdjudicationError {
    word: String,
    wanted: &'static str,
}

impl FromStr for DrawRule {
    type Err = AdjudicationError;

    fn from_str(text: &str) -> Result<DrawRule, AdjudicationError> {
        let mut rule = DrawRule {
            number: 0,
            count: 1,
            score: 0,
        };
        for word in text.split_whitespace() {
            let wrong = || AdjudicationError {
                word: word.to_owned(),
                wanted: "movenumber=N, movecount=N, score=N",
            };
            let (key, value) = word.split_once('=').ok_or_else(wrong)?;
            let slot = match key {
                "movenumber" => &mut rule.number,
                "movecount" => &mut rule.count,
                "score" => &mut rule.score,
                _ => return Err(wrong()),
            };
            *slot = value.parse().map_err(|_| wrong())?;
        }
        Ok(rule)
    }
}

impl FromStr for ResignRule {
    type Err = AdjudicationError;

    fn from_str(text: &str) -> Result<ResignRule, AdjudicationError> {
        let mut rule = ResignRule {
            count: 1,
            score: 0,
            two_sided: false,
        };
        for word in text.split_whitespace() {
            let wrong = || AdjudicationError {
                word: word.to_owned(),
                wanted: "movecount=N, score=N, twosided=true|false",
            };
            let (key, value) = word.split_once('=').ok_or_else(wrong)?;
            match key {
                "movecount" => rule.count = value.parse().map_err(|_| wrong())?,
                "score" => rule.score = value.parse().map_err(|_| wrong())?,
                "twosided" => rule.two_sided = value.parse().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            }
        }
        Ok(rule)
    }
}

/// Applies the rules to the scores of one game.
#[derive(Clone, Debug)]
pub struct Adjudicator {
    rules: Adjudication,
    /// Consecutive plies with a score near zero.
    drawn: u32,
    /// Consecutive moves at which each side scored itself lost.
    lost: ByColor<u32>,
    /// Consecutive moves at which each side scored itself winning.
    won: ByColor<u32>,
}

impl Adjudicator {
    pub fn new(rules: Adjudication) -> Adjudicator {
        Adjudicator {
            rules,
            drawn: 0,
            lost: ByColor::default(),
            won: ByColor::default(),
        }
    }

    /// Takes the score of a move; `halfmoves` is the fifty-move counter after it.
    pub fn record(&mut self, mover: Color, score: Option<ReportedScore>, halfmoves: u32) {
        if let Some(rule) = self.rules.draw {
            let quiet = score.is_some_and(|score| score.is_within(rule.score));
            // A capture or pawn move changes the game: restart the count.
            self.drawn = if quiet && halfmoves > 0 {
                self.drawn + 1
            } else {
                0
            };
        }
        if let Some(rule) = self.rules.resign {
            let bound = i32::try_from(rule.score).unwrap_or(i32::MAX);
            let lost = score.is_some_and(|score| score.centipawns() <= -bound);
            let won = score.is_some_and(|score| score.centipawns() >= bound);
            let count =
                |counter: &mut u32, holds: bool| *counter = if holds { *counter + 1 } else { 0 };
            count(self.lost.get_mut(mover), lost);
            count(self.won.get_mut(mover), won);
        }
    }

    pub fn end(&self, plies: usize) -> Option<GameEnd> {
        self.win().or_else(|| {
            let draw = self.rules.draw.is_some_and(|rule| {
                plies >= rule.number as usize * 2 && self.drawn >= rule.count.max(1) * 2
            });
            let too_long = self
                .rules
                .max_moves
                .is_some_and(|moves| plies >= moves as usize * 2);
            match (draw, too_long) {
                (true, _) => Some(GameEnd::DrawAdjudication),
                (false, true) => Some(GameEnd::MaxMoves),
                (false, false) => None,
            }
        })
    }

    fn win(&self) -> Option<GameEnd> {
        let rule = self.rules.resign?;
        let count = rule.count.max(1);
        let resigns = |loser: &Color| {
            let agreed = !rule.two_sided || *self.won.get(!*loser) >= count;
            *self.lost.get(*loser) >= count && agreed
        };
        let loser = Color::ALL.into_iter().find(resigns)?;
        Some(GameEnd::WinAdjudication(!loser))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Centipawns;

    fn record(adjudicator: &mut Adjudicator, scores: &[i32]) {
        for (ply, score) in scores.iter().enumerate() {
            let mover = Color::from_white(ply % 2 == 0);
            adjudicator.record(
                mover,
                Some(ReportedScore::Centipawns(Centipawns(*score))),
                1,
            );
        }
    }

    #[test]
    fn a_draw_needs_both_sides_for_the_whole_count() {
        let rules = Adjudication {
            draw: "movenumber=2 movecount=2 score=10".parse().ok(),
            ..Adjudication::default()
        };
        let mut adjudicator = Adjudicator::new(rules);
        record(&mut adjudicator, &[0, 5, -10, 10]);
        assert_eq!(adjudicator.end(3), None);
        assert_eq!(adjudicator.end(4), Some(GameEnd::DrawAdjudication));
        record(&mut adjudicator, &[11]);
        assert_eq!(adjudicator.end(50), None);
        record(&mut adjudicator, &[0, 0, 0, 0]);
        adjudicator.record(
            Color::White,
            Some(ReportedScore::Centipawns(Centipawns(0))),
            0,
        );
        assert_eq!(
            adjudicator.end(60),
            None,
            "a capture starts the count again"
        );
    }

    #[test]
    fn one_sided_resignation_asks_only_the_loser() {
        let rules = |text: &str| Adjudication {
            resign: text.parse().ok(),
            ..Adjudication::default()
        };
        let mut adjudicator = Adjudicator::new(rules("movecount=2 score=500"));
        record(&mut adjudicator, &[-600, 0, -700, 0]);
        assert_eq!(
            adjudicator.end(4),
            Some(GameEnd::WinAdjudication(Color::Black))
        );
        let mut adjudicator = Adjudicator::new(rules("movecount=2 score=500 twosided=true"));
        record(&mut adjudicator, &[-600, 0, -700, 600]);
        assert_eq!(adjudicator.end(4), None);
        record(&mut adjudicator, &[-700, 600]);
        assert_eq!(
            adjudicator.end(6),
            Some(GameEnd::WinAdjudication(Color::Black))
        );
    }

    #[test]
    fn long_games_are_drawn() {
        let rules = Adjudication {
            max_moves: Some(3),
            ..Adjudication::default()
        };
        let adjudicator = Adjudicator::new(rules);
        assert_eq!(adjudicator.end(5), None);
        assert_eq!(adjudicator.end(6), Some(GameEnd::MaxMoves));
    }
}
