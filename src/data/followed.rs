//! Games of others for `selfplay` to follow, in little memory: a file may hold millions of them.

use shakmaty::{Chess, Move};

use super::pgn::PgnGame;
use crate::position::Position;
use crate::position::movegen::PackedMove;

/// The positions and moves of a game, without its tags: two bytes a move.
#[derive(Clone, Debug)]
pub struct FollowedGame {
    /// `None` is the initial position.
    start: Option<Box<Chess>>,
    moves: Box<[PackedMove]>,
}

impl FollowedGame {
    /// Shows each position with the move that was played there.
    pub fn each_move(&self, mut visit: impl FnMut(&Position, Move)) {
        let start = self.start.as_deref().cloned().unwrap_or_default();
        let mut position = Position::from_chess(start);
        for packed in &self.moves {
            // The moves of a `PgnGame` are legal.
            let Some(m) = packed.unpack(&position) else {
                return;
            };
            visit(&position, m);
            position = position.after(m);
        }
    }
}

impl From<PgnGame> for FollowedGame {
    fn from(game: PgnGame) -> FollowedGame {
        FollowedGame {
            start: (game.start != Chess::default()).then(|| Box::new(game.start)),
            moves: game.moves.into_iter().map(PackedMove::new).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::movegen::legal_moves;

    /// Random games with castling, promotions and en passant come back move by move.
    #[test]
    fn a_game_is_followed_as_it_was_played() {
        for (seed, fen) in [
            (
                1,
                "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            ),
            (
                2,
                "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            ),
            (3, "2kr4/P4p1p/8/3pP3/8/8/1p3PPP/R3K2R w KQ d6 0 1"),
        ] {
            let start = Position::from_fen(fen).unwrap();
            let mut position = start.clone();
            let mut moves = Vec::new();
            for ply in 0..120_usize {
                let legal = legal_moves(&position);
                if legal.is_empty() {
                    break;
                }
                let m = legal[(seed * 7 + ply * ply * 31) % legal.len()];
                moves.push(m);
                position = position.after(m);
            }
            let record = PgnGame {
                start: start.chess().clone(),
                moves: moves.clone(),
                ..PgnGame::default()
            };
            let mut followed = Vec::new();
            FollowedGame::from(record).each_move(|_, m| followed.push(m));
            assert_eq!(followed, moves, "{fen}");
        }
    }
}
