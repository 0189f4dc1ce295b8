//! A finished game as a message between processes.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shakmaty::Color;
use shakmaty::uci::UciMove;

use super::game::{GameEnd, GameRecord, GameResult};
use super::openings::Opening;
use super::player::{Fault, FaultKind, MoveRecord};
use crate::eval::Centipawns;
use crate::search::score::ReportedScore;

#[derive(Deserialize, Serialize)]
struct GameMessage {
    moves: Vec<MoveMessage>,
    end: EndMessage,
    /// What happened, if a fault ended the game.
    detail: Option<String>,
    nanoseconds: u64,
}

#[derive(Deserialize, Serialize)]
struct MoveMessage {
    uci: String,
    /// Whether it is a mate, and the number.
    score: Option<(bool, i32)>,
    depth: u32,
    nodes: u64,
    nanoseconds: u64,
}

#[derive(Deserialize, Serialize)]
enum EndMessage {
    /// Whether White wins.
    Checkmate(bool),
    Stalemate,
    Repetition,
    FiftyMoves,
    InsufficientMaterial,
    DrawAdjudication,
    /// Whether White wins.
    WinAdjudication(bool),
    MaxMoves,
    /// The result as in PGN.
    Tablebase(String),
    /// Whether White is at fault, and the termination.
    Fault(bool, String),
}

/// The message without the opening, which the receiver knows.
pub fn encode(record: &GameRecord) -> Option<Vec<u8>> {
    let mut position = record.opening.end();
    let moves = record.moves.iter().map(|played| {
        let message = MoveMessage {
            uci: position.uci(played.m).to_string(),
            score: played.score.map(|score| match score {
                ReportedScore::Centipawns(Centipawns(score)) => (false, score),
                ReportedScore::Mate(moves) => (true, moves),
            }),
            depth: played.depth,
            nodes: played.nodes,
            nanoseconds: played.elapsed.as_nanos() as u64,
        };
        position.play(played.m);
        message
    });
    let message = GameMessage {
        moves: moves.collect(),
        end: record.end.into(),
        detail: record.fault.as_ref().map(|fault| fault.detail.clone()),
        nanoseconds: record.duration.as_nanos() as u64,
    };
    serde_json::to_vec(&message).ok()
}

/// The game of a message; `None` if it is none from this opening.
pub fn decode(bytes: &[u8], opening: &Opening) -> Option<GameRecord> {
    let message: GameMessage = serde_json::from_slice(bytes).ok()?;
    let mut position = opening.end();
    let mut moves = Vec::with_capacity(message.moves.len());
    for played in message.moves {
        let m = played.uci.parse::<UciMove>().ok()?;
        let m = m.to_move(position.chess()).ok()?;
        moves.push(MoveRecord {
            m,
            score: played.score.map(|(is_mate, score)| match is_mate {
                true => ReportedScore::Mate(score),
                false => ReportedScore::Centipawns(Centipawns(score)),
            }),
            depth: played.depth,
            nodes: played.nodes,
            elapsed: Duration::from_nanos(played.nanoseconds),
        });
        position.play(m);
    }
    let end = message.end.read()?;
    let fault = match end {
        GameEnd::Fault(_, kind) => Some(Fault::new(kind, message.detail.unwrap_or_default())),
        _ => None,
    };
    Some(GameRecord {
        opening: opening.clone(),
        moves,
        end,
        fault,
        duration: Duration::from_nanos(message.nanoseconds),
    })
}

impl From<GameEnd> for EndMessage {
    fn from(end: GameEnd) -> EndMessage {
        match end {
            GameEnd::Checkmate(winner) => EndMessage::Checkmate(winner.is_white()),
            GameEnd::Stalemate => EndMessage::Stalemate,
            GameEnd::Repetition => EndMessage::Repetition,
            GameEnd::FiftyMoves => EndMessage::FiftyMoves,
            GameEnd::InsufficientMaterial => EndMessage::InsufficientMaterial,
            GameEnd::DrawAdjudication => EndMessage::DrawAdjudication,
            GameEnd::WinAdjudication(winner) => EndMessage::WinAdjudication(winner.is_white()),
            GameEnd::MaxMoves => EndMessage::MaxMoves,
            GameEnd::Tablebase(result) => EndMessage::Tablebase(result.to_string()),
            GameEnd::Fault(offender, kind) => {
                EndMessage::Fault(offender.is_white(), kind.termination().to_owned())
            }
        }
    }
}

impl EndMessage {
    fn read(self) -> Option<GameEnd> {
        Some(match self {
            EndMessage::Checkmate(white) => GameEnd::Checkmate(Color::from_white(white)),
            EndMessage::Stalemate => GameEnd::Stalemate,
            EndMessage::Repetition => GameEnd::Repetition,
            EndMessage::FiftyMoves => GameEnd::FiftyMoves,
            EndMessage::InsufficientMaterial => GameEnd::InsufficientMaterial,
            EndMessage::DrawAdjudication => GameEnd::DrawAdjudication,
            EndMessage::WinAdjudication(white) => {
                GameEnd::WinAdjudication(Color::from_white(white))
            }
            EndMessage::MaxMoves => GameEnd::MaxMoves,
            EndMessage::Tablebase(result) => GameEnd::Tablebase(GameResult::from_pgn(&result)?),
            EndMessage::Fault(white, termination) => {
                let kind = FaultKind::from_termination(&termination)?;
                GameEnd::Fault(Color::from_white(white), kind)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_comes_back_as_it_was() {
        let opening = Opening::default();
        let ends = [
            GameEnd::Checkmate(Color::Black),
            GameEnd::Stalemate,
            GameEnd::Repetition,
            GameEnd::FiftyMoves,
            GameEnd::InsufficientMaterial,
            GameEnd::DrawAdjudication,
            GameEnd::WinAdjudication(Color::White),
            GameEnd::MaxMoves,
            GameEnd::Tablebase(GameResult::BlackWins),
            GameEnd::Fault(Color::White, FaultKind::Stall),
        ];
        let m = UciMove::from_ascii(b"e2e4").unwrap();
        let m = m.to_move(opening.start.chess()).unwrap();
        let scores = [
            None,
            Some(ReportedScore::Mate(-2)),
            Some(ReportedScore::Centipawns(Centipawns(31))),
        ];
        for (number, end) in ends.into_iter().enumerate() {
            let fault = matches!(end, GameEnd::Fault(..));
            let record = GameRecord {
                opening: opening.clone(),
                moves: vec![MoveRecord {
                    m,
                    score: scores[number % 3],
                    depth: 7,
                    nodes: 1 << 40,
                    elapsed: Duration::from_nanos(123_456_789),
                }],
                end,
                fault: fault.then(|| Fault::new(FaultKind::Stall, "no answer")),
                duration: Duration::from_millis(5),
            };
            let again = decode(&encode(&record).unwrap(), &opening).unwrap();
            assert_eq!(again.moves, record.moves);
            assert_eq!((again.end, again.fault), (record.end, record.fault));
            assert_eq!(again.duration, record.duration);
        }
        assert!(decode(b"{}", &opening).is_none());
    }
}
