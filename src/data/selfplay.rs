//! Positions from quick games: Finch's own, for a mentor to judge, or the mentor's, judged as
//! they are played.
//!
//! Masters' games show how balanced positions are held; a search meets the others. So Finch plays
//! itself quickly from random openings, and now and then either side plays a random move: pieces
//! are lost, kings walk, pawns run, and the evaluation learns what that is worth. Game N depends
//! on the seed and N alone.

use std::ops::Range;
use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use shakmaty::Move;

use super::epd::fields;
use super::mentor::Mentor;
use super::pgn::PgnGame;
use crate::eval::Weights;
use crate::position::movegen::MoveKind;
use crate::position::{Game, Position, movegen, see_at_least};
use crate::random::{Purpose, stream};
use crate::search::{Engine, EngineError, EngineSettings, Limits, SearchRequest};

/// How the games are played.
#[derive(Clone, Copy, Debug)]
pub struct SelfPlay {
    pub seed: u64,
    pub depth: u32,
    /// Random plies at the start of each game: between these two.
    pub opening: [u32; 2],
    /// The chance that a later move is random too.
    pub blunders: f64,
    /// The chance that a quiet position is taken, or that one is asked about with its
    /// surroundings.
    pub share: f64,
    /// A score nobody needs explained ends the game.
    pub decided: i32,
    /// How many positions a random move away are asked about with each.
    pub away: u32,
}

/// A game longer than this has nothing new to say.
const LONGEST: usize = 200;
/// Shallow searches fill no more.
const HASH_MIB: usize = 1;

/// Finch's own game, for others to judge; nothing if there is no memory to play it.
pub fn own_game(play: &SelfPlay, number: u64, weights: &Arc<Weights>) -> Vec<Judged> {
    let Ok(mut engine) = engine(weights) else {
        return Vec::new();
    };
    let choose = |game: &Game| choose(game, play.depth, &mut engine);
    game_of(play, number, choose)
}

/// A game the mentor plays against itself, judging as it goes.
pub fn mentors_game(play: &SelfPlay, number: u64, mentor: &mut Mentor) -> Vec<Judged> {
    if mentor.forget().is_err() {
        return Vec::new();
    }
    game_of(play, number, |game| mentor.choose(game.position()))
}

/// Labels by the ten million, as a network needs them: Finch plays, or follows games of others,
/// and from each position a move or two lead astray, to where a search would look. The mentor is
/// asked about all these positions of some games at once, and only for the exchanges that are
/// left: the cheapest judgement it has. Each label comes with the number of its game.
pub fn probed_games(
    play: &SelfPlay,
    numbers: Range<u64>,
    others: Option<&[PgnGame]>,
    weights: &Arc<Weights>,
    mentor: &mut Mentor,
) -> Vec<(u64, Judged)> {
    // A label depends on nothing but these games.
    let (Ok(mut engine), Ok(())) = (engine(weights), mentor.forget()) else {
        return Vec::new();
    };
    let mut questions = Vec::new();
    let mut games = Vec::new();
    for number in numbers {
        let choose = |game: &Game| choose(game, play.depth, &mut engine);
        questions.extend(match others {
            Some(others) => others
                .get(number as usize)
                .map_or(Vec::new(), |game| questions_of_others(play, number, game)),
            None => questions_of(play, number, choose),
        });
        games.resize(questions.len(), number);
    }
    let answers = mentor.probe(&questions).unwrap_or_default();
    let mut judged = Vec::new();
    for ((game, (position, _)), answers) in games.into_iter().zip(questions).zip(answers) {
        let children = answers.into_iter().map(|(m, score)| Judged {
            position: position.after(m),
            score: -score,
        });
        let told = children.filter(|child| child.score.abs() <= LARGEST_LABEL);
        judged.extend(told.map(|child| (game, child)));
    }
    judged
}

/// Beyond this there is nothing left to learn.
const LARGEST_LABEL: i32 = 2_500;

/// A position with moves that lead to calm ones.
type Question = (Position, Vec<Move>);

/// What to ask about a game.
fn questions_of(
    play: &SelfPlay,
    number: u64,
    mut choose: impl FnMut(&Game) -> Option<(Move, i32)>,
) -> Vec<Question> {
    let mut random = stream(play.seed, Purpose::Game, number, 0);
    let mut game = Game::default();
    let opening = random.random_range(play.opening[0]..=play.opening[1]) as usize;
    let mut questions = Vec::new();
    for ply in 0..LONGEST {
        let position = game.position().clone();
        let any = any_move(&position, &mut random);
        let Some(any) = any.filter(|_| !is_drawn(&game)) else {
            break;
        };
        if ply < opening {
            game.play(any);
            continue;
        }
        let Some((best, _)) = choose(&game).filter(|(_, score)| score.abs() <= play.decided) else {
            break;
        };
        questions.extend(questions_around(play, &position, best, &mut random));
        game.play(next_move(best, any, play.blunders, &mut random));
    }
    questions
}

/// What to ask about somebody's game.
fn questions_of_others(play: &SelfPlay, number: u64, game: &PgnGame) -> Vec<Question> {
    let mut random = stream(play.seed, Purpose::Game, number, 0);
    let opening = random.random_range(play.opening[0]..=play.opening[1]) as usize;
    let mut position = Position::from_chess(game.start.clone());
    let mut questions = Vec::new();
    for (ply, &m) in game.moves.iter().enumerate() {
        if ply >= opening {
            questions.extend(questions_around(play, &position, m, &mut random));
        }
        position = position.after(m);
    }
    questions
}

/// Sometimes: a question about the position, and some about others a random move away.
fn questions_around(
    play: &SelfPlay,
    position: &Position,
    best: Move,
    random: &mut ChaCha8Rng,
) -> Vec<Question> {
    let mut questions = Vec::new();
    if random.random_bool(play.share) {
        questions.extend(question(position, Some(best), random));
        for _ in 0..play.away {
            let away = any_move(position, random).map(|m| position.after(m));
            questions.extend(away.and_then(|away| question(&away, None, random)));
        }
    }
    questions
}

fn any_move(position: &Position, random: &mut ChaCha8Rng) -> Option<Move> {
    let moves = movegen::legal_moves(position);
    (!moves.is_empty()).then(|| moves[random.random_range(0..moves.len())])
}

/// Some calm moves of a position: the best, if it is known, and others by chance.
fn question(position: &Position, best: Option<Move>, random: &mut ChaCha8Rng) -> Option<Question> {
    let mut moves: Vec<Move> = best.into_iter().collect();
    for _ in moves.len()..PROBED_MOVES {
        let m = any_move(position, random)?;
        if !moves.contains(&m) {
            moves.push(m);
        }
    }
    moves.retain(|m| is_calm(&position.after(*m)));
    if moves.is_empty() {
        return None;
    }
    // What is told of a position must not depend on how it was reached.
    let fresh = Position::from_fen(&fields(&position.fen())).ok()?;
    Some((fresh, moves))
}

/// Moves that a mentor is asked about in one question: each costs less than the question.
pub const PROBED_MOVES: usize = 4;
/// Whether nothing is about to be won: the judgement of such a position is a static one.
fn is_calm(position: &Position) -> bool {
    if position.in_check() {
        return false;
    }
    let mut calm = true;
    movegen::generate(position, MoveKind::Tactical, |m| {
        calm &= m.promotion().is_none() && !see_at_least(position, m, 1);
    });
    calm
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
        if score.abs() > play.decided {
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

/// The engine that plays Finch's own games.
pub fn engine(weights: &Arc<Weights>) -> Result<Engine, EngineError> {
    Engine::new(EngineSettings::neutral(weights.clone(), HASH_MIB)?)
}

fn choose(game: &Game, depth: u32, engine: &mut Engine) -> Option<(Move, i32)> {
    let request = SearchRequest::new(game.clone(), Limits::depth(depth));
    let result = engine.search(request);
    result.best_move.map(|best| (best, result.score))
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
            decided: 1_500,
            away: 0,
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
