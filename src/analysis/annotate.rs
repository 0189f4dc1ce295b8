//! Annotated games: every position analysed, mistakes marked, the better line as a variation.

mod draft;
mod page;
mod players;
mod reader;

use std::io;

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{ByColor, Color, Move, Outcome, Position as _};
use thiserror::Error;

use super::analyser::{Analyser, AnalyserError};
use crate::eval::Centipawns;
use crate::play::pgn::{comment_words, eval_text, tag_line, wrap};
use crate::play::uci_engine::EngineLine;
use crate::position::Position;
use crate::search::Limits;
use crate::search::score::ReportedScore;

pub use draft::AnalysisDraft;
pub use page::page;
pub use players::{PlayerErrors, errors_by_player};
pub use reader::{GameItem, SourceGame, each_game};

/// Losses are counted no further: a queen more or less in a lost game says nothing.
const MAX_CENTIPAWNS: i32 = 1000;
/// Moves of a variation.
const VARIATION_PLIES: usize = 8;

/// What a move costs, by the win chance it gives away. The limits are those that players know
/// from lichess.org.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    Good,
    Inaccuracy,
    Mistake,
    Blunder,
}

impl Judgement {
    fn of(lost_chance: f64) -> Judgement {
        match lost_chance {
            lost if lost >= 0.15 => Judgement::Blunder,
            lost if lost >= 0.10 => Judgement::Mistake,
            lost if lost >= 0.05 => Judgement::Inaccuracy,
            _ => Judgement::Good,
        }
    }

    /// The numeric annotation glyph.
    fn nag(self) -> Option<&'static str> {
        match self {
            Judgement::Good => None,
            Judgement::Inaccuracy => Some("$6"),
            Judgement::Mistake => Some("$2"),
            Judgement::Blunder => Some("$4"),
        }
    }
}

/// The share of points that a score promises to the side it is for.
fn win_chance(score: ReportedScore) -> f64 {
    match score {
        ReportedScore::Mate(moves) => f64::from(u8::from(moves > 0)),
        ReportedScore::Centipawns(Centipawns(score)) => {
            1.0 / (1.0 + libm::exp(-0.003_682_08 * f64::from(score)))
        }
    }
}

/// The accuracy of a move in percent, from the win chance it gives away: the formula that
/// lichess.org publishes.
fn accuracy(lost_chance: f64) -> f64 {
    (103.1668 * libm::exp(-4.354 * lost_chance) - 3.1669).clamp(0.0, 100.0)
}

/// What the engine says of a position: the score for the side to move and the best line.
#[derive(Clone, Debug)]
struct Evaluation {
    score: ReportedScore,
    pv: Vec<Move>,
}

/// One move of an annotated game.
#[derive(Clone, Debug)]
pub struct AnnotatedMove {
    pub san: String,
    pub mover: Color,
    pub number: u32,
    /// After the move, for White.
    pub score: ReportedScore,
    /// White's win chance after the move.
    pub white_chance: f64,
    pub centipawn_loss: i32,
    pub accuracy: f64,
    pub judgement: Judgement,
    /// The better line, in SAN, if the move was not good.
    pub variation: Vec<String>,
    /// `[%clk …]` and `[%emt …]` of the game.
    clocks: String,
}

impl AnnotatedMove {
    /// The words of its comment. After a mating move there is nothing left to evaluate.
    fn comment(&self) -> Vec<String> {
        let eval = match self.score {
            ReportedScore::Mate(0) => String::new(),
            score => format!(" [%eval {}]", eval_text(score)),
        };
        match eval + &self.clocks {
            commands if commands.is_empty() => Vec::new(),
            commands => comment_words(&format!("{{{commands} }}")),
        }
    }
}

/// The figures of one player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PlayerFigures {
    pub moves: u32,
    pub mean_centipawn_loss: f64,
    pub accuracy: f64,
    pub inaccuracies: u32,
    pub mistakes: u32,
    pub blunders: u32,
}

pub struct AnnotatedGame {
    pub tags: Vec<(String, String)>,
    pub engine: String,
    pub moves: Vec<AnnotatedMove>,
    outcome: Outcome,
}

#[derive(Debug, Error)]
pub enum AnnotateError {
    #[error(transparent)]
    Analyser(#[from] AnalyserError),
    #[error("the draft of the analysis: {0}")]
    Draft(#[from] io::Error),
}

/// Analyses games one after the other. With a draft, the analysis survives an interruption.
pub struct Annotator {
    analyser: Analyser,
    limits: Limits,
    draft: Option<AnalysisDraft>,
}

impl Annotator {
    pub fn new(analyser: Analyser, limits: Limits, draft: Option<AnalysisDraft>) -> Annotator {
        Annotator {
            analyser,
            limits,
            draft,
        }
    }

    /// Analyses every position of a game.
    ///
    /// The calling thread needs [`STACK_BYTES`](crate::search::STACK_BYTES) of stack.
    pub fn annotate(
        &mut self,
        game: &SourceGame,
        mut progress: impl FnMut(usize),
    ) -> Result<AnnotatedGame, AnnotateError> {
        let mut position = Position::from_chess(game.start.clone());
        let mut before = self.evaluate(&position)?;
        let mut moves = Vec::with_capacity(game.moves.len());
        for (index, (m, clocks)) in game.moves.iter().enumerate() {
            let after_position = position.after(*m);
            let after = self.evaluate(&after_position)?;
            moves.push(annotated_move(&position, *m, &before, &after, clocks));
            (position, before) = (after_position, after);
            progress(index + 1);
        }
        Ok(AnnotatedGame {
            tags: game.tags.clone(),
            engine: self.analyser.name.clone(),
            moves,
            outcome: game.outcome,
        })
    }

    /// Positions without a legal move need no engine.
    fn evaluate(&mut self, position: &Position) -> Result<Evaluation, AnnotateError> {
        if position.chess().legal_moves().is_empty() {
            let score = match position.in_check() {
                true => ReportedScore::Mate(0),
                false => ReportedScore::Centipawns(Centipawns(0)),
            };
            let pv = Vec::new();
            return Ok(Evaluation { score, pv });
        }
        if let Some(recorded) = self.draft.as_mut().and_then(|draft| draft.next(position)) {
            return Ok(recorded);
        }
        let mut last: Option<EngineLine> = None;
        let best = self
            .analyser
            .analyse(position, self.limits, &mut |line| last = Some(line))?;
        let evaluation = match last {
            Some(EngineLine { score, pv, .. }) => Evaluation { score, pv },
            None => Evaluation {
                score: ReportedScore::Centipawns(Centipawns(0)),
                pv: vec![best],
            },
        };
        if let Some(draft) = &self.draft {
            draft.add(position, &evaluation)?;
        }
        Ok(evaluation)
    }

    /// Deletes the draft: call it once the annotated games are written.
    pub fn finish(self) -> io::Result<()> {
        self.draft.map_or(Ok(()), AnalysisDraft::discard)
    }
}

fn annotated_move(
    position: &Position,
    m: Move,
    before: &Evaluation,
    after: &Evaluation,
    clocks: &str,
) -> AnnotatedMove {
    let bounded = |score: ReportedScore| score.centipawns().clamp(-MAX_CENTIPAWNS, MAX_CENTIPAWNS);
    let is_best = before.pv.first() == Some(&m);
    let lost_chance = match is_best {
        true => 0.0,
        false => (win_chance(before.score) - (1.0 - win_chance(after.score))).max(0.0),
    };
    let judgement = Judgement::of(lost_chance);
    let mover = position.turn();
    let for_white = if mover.is_white() {
        // Who is mated now (`Mate(0)`) was mated by the other.
        -after.score
    } else {
        after.score
    };
    AnnotatedMove {
        san: SanPlus::from_move(position.chess().clone(), m).to_string(),
        mover,
        number: position.move_number(),
        score: for_white,
        white_chance: win_chance(for_white),
        centipawn_loss: match is_best {
            true => 0,
            false => (bounded(before.score) + bounded(after.score)).max(0),
        },
        accuracy: accuracy(lost_chance),
        judgement,
        variation: match judgement {
            Judgement::Good => Vec::new(),
            _ => line_in_san(position, &before.pv),
        },
        clocks: clocks.to_owned(),
    }
}

fn line_in_san(position: &Position, pv: &[Move]) -> Vec<String> {
    let mut chess = position.chess().clone();
    let mut words = Vec::new();
    for (index, m) in pv.iter().take(VARIATION_PLIES).enumerate() {
        let number = chess.fullmoves();
        match (chess.turn(), index) {
            (Color::White, _) => words.push(format!("{number}.")),
            (Color::Black, 0) => words.push(format!("{number}...")),
            _ => {}
        }
        words.push(SanPlus::from_move_and_play_unchecked(&mut chess, *m).to_string());
    }
    words
}

impl AnnotatedGame {
    pub fn tag(&self, name: &str) -> &str {
        let found = self.tags.iter().find(|(tag, _)| tag == name);
        found.map_or("?", |(_, value)| value)
    }

    pub fn figures(&self) -> ByColor<PlayerFigures> {
        ByColor::new_with(|color| {
            let moves: Vec<&AnnotatedMove> =
                self.moves.iter().filter(|one| one.mover == color).collect();
            let count = |wanted| moves.iter().filter(|one| one.judgement == wanted).count() as u32;
            let mean = |sum: f64| sum / moves.len().max(1) as f64;
            PlayerFigures {
                moves: moves.len() as u32,
                mean_centipawn_loss: mean(
                    moves.iter().map(|one| f64::from(one.centipawn_loss)).sum(),
                ),
                accuracy: mean(moves.iter().map(|one| one.accuracy).sum()),
                inaccuracies: count(Judgement::Inaccuracy),
                mistakes: count(Judgement::Mistake),
                blunders: count(Judgement::Blunder),
            }
        })
    }

    /// The game as PGN.
    pub fn pgn(&self) -> String {
        let mut text = String::new();
        let figures = self.figures();
        let more = [
            ("Annotator", self.engine.clone()),
            ("WhiteAccuracy", format!("{:.1}", figures.white.accuracy)),
            ("BlackAccuracy", format!("{:.1}", figures.black.accuracy)),
            (
                "WhiteACPL",
                format!("{:.0}", figures.white.mean_centipawn_loss),
            ),
            (
                "BlackACPL",
                format!("{:.0}", figures.black.mean_centipawn_loss),
            ),
        ];
        let added = |name: &str| more.iter().any(|(tag, _)| *tag == name);
        let kept = self.tags.iter().filter(|(name, _)| !added(name));
        let kept = kept.map(|(name, value)| (name.as_str(), value));
        for (name, value) in kept.chain(more.iter().map(|(name, value)| (*name, value))) {
            text.push_str(&tag_line(name, value));
        }
        text.push('\n');
        text.push_str(&wrap(self.movetext()));
        text.push_str("\n\n");
        text
    }

    fn movetext(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut number_needed = true;
        for one in &self.moves {
            match one.mover {
                Color::White => words.push(format!("{}.", one.number)),
                Color::Black if number_needed => words.push(format!("{}...", one.number)),
                Color::Black => {}
            }
            words.push(one.san.clone());
            words.extend(one.judgement.nag().map(str::to_owned));
            words.extend(one.comment());
            number_needed = !one.variation.is_empty();
            if number_needed {
                words.push(format!("({}", one.variation[0]));
                words.extend(one.variation[1..].iter().cloned());
                if let Some(last) = words.last_mut() {
                    last.push(')');
                }
            }
        }
        words.push(self.outcome.to_string());
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgements_follow_the_win_chance_given_away() {
        let chance = |score| win_chance(ReportedScore::Centipawns(Centipawns(score)));
        assert_eq!(chance(0), 0.5);
        assert_eq!(Judgement::of(chance(20) - chance(0)), Judgement::Good);
        assert_eq!(
            Judgement::of(chance(0) - chance(-60)),
            Judgement::Inaccuracy
        );
        assert_eq!(Judgement::of(chance(0) - chance(-130)), Judgement::Mistake);
        assert_eq!(Judgement::of(chance(0) - chance(-300)), Judgement::Blunder);
        assert!(accuracy(0.0) > 99.9 && accuracy(0.5) < 10.0);
    }

    #[test]
    fn scores_are_for_white() {
        assert_eq!(eval_text(ReportedScore::Mate(-3)), "#-3");
        assert_eq!(
            eval_text(ReportedScore::Centipawns(Centipawns(-125))),
            "-1.25"
        );
    }
}
