//! Positions from quick games: Finch's own, for a mentor to judge, or the mentor's, judged as
//! they are played.
//!
//! Masters' games show how balanced positions are held; a search meets the others. So Finch plays
//! itself quickly from random openings, and now and then either side plays a random move: pieces
//! are lost, kings walk, pawns run, and the evaluation learns what that is worth. Game N depends
//! on the seed and N alone.

use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use shakmaty::Move;

use super::mentor::Mentor;
use crate::eval::Weights;
use crate::position::{Game, Position, movegen};
use crate::random::{Purpose, stream};
use crate::search::clock::Limits;
use crate::search::{Control, Memory, Request, Search, Silent, Table};

/// How the games are played.
#[derive(Clone, Copy, Debug)]
pub struct SelfPlay {
    pub seed: u64,
    pub depth: u32,
    /// Random plies at the start of each game: between these two.
    pub opening: [u32; 2],
    /// The chance that a later move is random too.
    pub blunders: f64,
    /// The chance that a quiet position is taken.
    pub share: f64,
}

/// A game longer than this has nothing new to say.
const LONGEST: usize = 200;
/// A score nobody needs explained ends the game.
const DECIDED: i32 = 1_500;
/// Shallow searches fill no more.
const HASH_MEBIBYTES: usize = 1;

/// Finch's own game, for others to judge; nothing if there is no memory to play it.
pub fn own_game(play: &SelfPlay, number: u64, weights: &Arc<Weights>) -> Vec<Judged> {
    let Ok(table) = Table::new(HASH_MEBIBYTES) else {
        return Vec::new();
    };
    let mut memory = Memory::new(weights.clone());
    let choose = |game: &Game| choose(game, play.depth, weights, &table, &mut memory);
    game_of(play, number, choose)
}

/// A game the mentor plays against itself, judging as it goes.
pub fn mentors_game(play: &SelfPlay, number: u64, mentor: &mut Mentor) -> Vec<Judged> {
    if mentor.forget().is_err() {
        return Vec::new();
    }
    game_of(play, number, |game| mentor.choose(game.position()))
}

/// A position and what whoever played thought of it: centipawns seen by the side to move.
#[derive(Clone, Debug)]
pub struct Judged {
    pub position: Position,
    pub score: i32,
}

/// The positions that one game gives: not in check, and the best move neither captures nor
/// promotes, so that a static judgement makes sense.
fn game_of(
    play: &SelfPlay,
    number: u64,
    mut choose: impl FnMut(&Game) -> Option<(Move, i32)>,
) -> Vec<Judged> {
    let mut random = stream(play.seed, Purpose::Game, number, 0);
    let mut taken = Vec::new();
    let mut game = Game::default();
    let opening = random.random_range(play.opening[0]..=play.opening[1]) as usize;
    for ply in 0..LONGEST {
        let position = game.position().clone();
        let moves = movegen::legal_moves(&position);
        if moves.is_empty() || is_drawn(&game) {
            break;
        }
        let any = moves[random.random_range(0..moves.len())];
        if ply < opening {
            game.play(any);
            continue;
        }
        let Some((best, score)) = choose(&game) else {
            break;
        };
        if score.abs() > DECIDED {
            break;
        }
        if !position.in_check() && !best.is_conversion() && random.random_bool(play.share) {
            taken.push(Judged { position, score });
        }
        game.play(next_move(best, any, play.blunders, &mut random));
    }
    taken
}

fn next_move(best: Move, any: Move, blunders: f64, random: &mut ChaCha8Rng) -> Move {
    if random.random_bool(blunders) {
        any
    } else {
        best
    }
}

fn is_drawn(game: &Game) -> bool {
    let position = game.position();
    position.is_insufficient_material() || position.halfmoves() >= 60 || game.repetitions() > 0
}

fn choose(
    game: &Game,
    depth: u32,
    weights: &Arc<Weights>,
    table: &Table,
    memory: &mut Memory,
) -> Option<(Move, i32)> {
    let limits = Limits {
        depth: Some(depth as i32),
        ..Limits::default()
    };
    let request = Request::new(game.clone(), limits, weights.clone());
    let control = Control::new(1);
    let outcome = Search::new(&request, table, &control, &Silent, memory, 0).run();
    outcome.best.map(|best| (best, outcome.score))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_can_be_played_again() {
        let play = SelfPlay {
            seed: 3,
            depth: 2,
            opening: [4, 8],
            blunders: 0.1,
            share: 0.5,
        };
        let weights = Arc::new(Weights::default());
        let fens = |number| -> Vec<String> {
            let judged = own_game(&play, number, &weights);
            judged.iter().map(|one| one.position.fen()).collect()
        };
        assert_eq!(fens(5), fens(5));
        assert_ne!(fens(5), fens(6));
    }
}
