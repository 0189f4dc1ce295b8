//! Positions from quick games with labels: Finch's own games, a mentor's, or positions around
//! games that a mentor scores.
//!
//! Masters' games show how balanced positions are held; a search meets the others. So Finch plays
//! itself quickly from random openings, and some moves are random: pieces are lost, kings walk,
//! pawns run, and the evaluation learns what that is worth. Game N depends on the seed and N
//! alone: whoever plays or scores forgets everything before each game.

use std::convert::Infallible;
use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use shakmaty::{KnownOutcome, Move, Outcome};

use super::epd::fields;
use super::followed::FollowedGame;
use super::label::{GameId, Label};
use super::mentor::{MentorEngine, MentorError, Question};
use super::quiet::{has_quiet_best, is_quiet, is_quiet_with_best};
use crate::eval::Weights;
use crate::position::{Game, Position, movegen};
use crate::random::{Purpose, stream};
use crate::search::score::ReportedScore;
use crate::search::{Engine, EngineError, EngineSettings, Limits, SearchRequest};

/// How the games are played.
#[derive(Clone, Copy, Debug)]
pub struct SelfPlay {
    pub seed: u64,
    pub depth: u32,
    /// Nodes of each search instead of a depth.
    pub nodes: Option<u64>,
    /// The least and the largest number of random plies at the start of each game.
    pub opening: [u32; 2],
    /// The chance that a later move is random too.
    pub blunders: f64,
    /// The chance that a quiet position is kept, or that a position is probed.
    pub share: f64,
    /// True: only positions in which no capture wins anything are quiet. False: all whose best move is
    /// quiet and in which the side to move is not in check.
    pub settled: bool,
    /// A score beyond this ends the game: centipawns of whoever plays.
    pub decided: u32,
    /// How many positions a random move away are probed with each.
    pub away: u32,
}

/// Longer games say nothing new: they are drawn.
const MAX_PLIES: usize = 200;
/// Plies without capture or pawn move after which a game is drawn.
const DRAWN_HALFMOVES: u32 = 60;
/// Shallow searches fill no more.
const HASH_MIB: usize = 1;
/// Probed labels beyond this teach nothing.
const LARGEST_LABEL: i32 = 2_500;
/// Moves of a position that are probed in one question: each costs less than the question.
pub const PROBED_MOVES: usize = 4;

/// The engine that plays Finch's own games.
pub fn engine(weights: &Arc<Weights>) -> Result<Engine, EngineError> {
    Engine::new(EngineSettings::neutral(weights.clone(), HASH_MIB)?)
}

/// A game that Finch plays against itself, with its scores.
pub fn own_game(play: &SelfPlay, number: u64, engine: &mut Engine) -> Vec<Label> {
    engine.new_game();
    let choose = |game: &Game| Ok::<_, Infallible>(own_move(game, play, engine));
    let Ok(labels) = labelled_game(play, number, choose);
    labels
}

/// A game that the mentor plays against itself, with its scores.
pub fn mentor_game(
    play: &SelfPlay,
    number: u64,
    mentor: &mut MentorEngine,
) -> Result<Vec<Label>, MentorError> {
    mentor.new_game()?;
    labelled_game(play, number, |game| {
        let (best, score) = mentor.best_move(game.position())?;
        Ok(score.map(|score| (best, score)))
    })
}

/// Positions in and around a game, scored by a mentor. The game is Finch's own or `followed`;
/// from its positions a random move or two lead to where a search would look. The mentor is asked
/// about all of them at once, at a depth that only settles exchanges: the cheapest score it has.
pub fn probed_game(
    play: &SelfPlay,
    number: u64,
    followed: Option<&FollowedGame>,
    engine: &mut Engine,
    mentor: &mut MentorEngine,
) -> Result<Vec<Label>, MentorError> {
    let questions = match followed {
        Some(game) => questions_of_followed(play, number, game),
        None => questions_of_own(play, number, engine),
    };
    let answers = mentor.probe(&questions)?;
    let mut labels = Vec::new();
    for ((position, _), answers) in questions.iter().zip(answers) {
        let scored = answers
            .into_iter()
            .filter(|(_, score)| score.abs() <= LARGEST_LABEL);
        // The score is for the side that moves, the label for the side to move after it. These
        // positions did not occur in the game: its result says nothing about them.
        labels
            .extend(scored.map(|(m, score)| Label::new(position.after(m), -score, GameId(number))));
    }
    Ok(labels)
}

fn questions_of_own(play: &SelfPlay, number: u64, engine: &mut Engine) -> Vec<Question> {
    engine.new_game();
    let mut questions = Vec::new();
    let choose = |game: &Game| Ok::<_, Infallible>(own_move(game, play, engine));
    let visit = |position: &Position, best: Move, _: i32, random: &mut ChaCha8Rng| {
        questions.extend(questions_around(play, position, best, random));
    };
    let Ok(_) = play_game(play, number, choose, visit);
    questions
}

fn questions_of_followed(play: &SelfPlay, number: u64, game: &FollowedGame) -> Vec<Question> {
    let mut random = stream(play.seed, Purpose::Game, number, 0);
    let opening = random.random_range(play.opening[0]..=play.opening[1]) as usize;
    let mut questions = Vec::new();
    let mut ply = 0;
    game.each_move(|position, m| {
        if ply >= opening {
            questions.extend(questions_around(play, position, m, &mut random));
        }
        ply += 1;
    });
    questions
}

/// With a chance of `share`: a question about the position, and some about others a random move
/// away.
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
            let away = random_move(position, random).map(|m| position.after(m));
            questions.extend(away.and_then(|away| question(&away, None, random)));
        }
    }
    questions
}

/// Some moves that lead to quiet positions: the best, if it is known, and random ones.
fn question(position: &Position, best: Option<Move>, random: &mut ChaCha8Rng) -> Option<Question> {
    let mut moves: Vec<Move> = best.into_iter().collect();
    for _ in moves.len()..PROBED_MOVES {
        let m = random_move(position, random)?;
        if !moves.contains(&m) {
            moves.push(m);
        }
    }
    moves.retain(|m| is_quiet(&position.after(*m), 0));
    if moves.is_empty() {
        return None;
    }
    // A label must not depend on how its position was reached: the counters are dropped.
    let fresh = Position::from_fen(&fields(&position.fen())).ok()?;
    Some((fresh, moves))
}

/// The labels of the quiet positions of a game. Where random moves decide games, results say
/// little about positions and are left out.
fn labelled_game<E>(
    play: &SelfPlay,
    number: u64,
    choose: impl FnMut(&Game) -> Result<Option<(Move, ReportedScore)>, E>,
) -> Result<Vec<Label>, E> {
    let mut labels = Vec::new();
    let visit = |position: &Position, best: Move, score: i32, random: &mut ChaCha8Rng| {
        let is_quiet = match play.settled {
            true => is_quiet_with_best(position, best),
            false => has_quiet_best(position, best),
        };
        if is_quiet && random.random_bool(play.share) {
            labels.push(Label::new(position.clone(), score, GameId(number)));
        }
    };
    let result = play_game(play, number, choose, visit)?;
    if play.blunders == 0.0 {
        for label in &mut labels {
            label.result = result;
        }
    }
    Ok(labels)
}

/// Plays a game and shows each position after the opening with the best move and its score.
/// Returns the result, if the game came to one.
fn play_game<E>(
    play: &SelfPlay,
    number: u64,
    mut choose: impl FnMut(&Game) -> Result<Option<(Move, ReportedScore)>, E>,
    mut visit: impl FnMut(&Position, Move, i32, &mut ChaCha8Rng),
) -> Result<Option<KnownOutcome>, E> {
    let mut random = stream(play.seed, Purpose::Game, number, 0);
    let mut game = Game::default();
    let opening = random.random_range(play.opening[0]..=play.opening[1]) as usize;
    for ply in 0..MAX_PLIES {
        let position = game.position().clone();
        let Some(any) = random_move(&position, &mut random) else {
            return Ok(known(&position));
        };
        if is_drawn(&game) {
            return Ok(Some(KnownOutcome::Draw));
        }
        if ply < opening {
            game.play(any);
            continue;
        }
        let Some((best, score)) = choose(&game)? else {
            return Ok(None);
        };
        if !score.is_within(play.decided) {
            let winner = position.turn();
            let winner = if score.centipawns() > 0 {
                winner
            } else {
                winner.other()
            };
            return Ok(Some(KnownOutcome::Decisive { winner }));
        }
        visit(&position, best, score.centipawns(), &mut random);
        let blunder = random.random_bool(play.blunders);
        game.play(if blunder { any } else { best });
    }
    Ok(Some(KnownOutcome::Draw))
}

/// The result of a position without legal moves.
fn known(position: &Position) -> Option<KnownOutcome> {
    match shakmaty::Position::outcome(position.chess()) {
        Outcome::Known(known) => Some(known),
        Outcome::Unknown => None,
    }
}

fn random_move(position: &Position, random: &mut ChaCha8Rng) -> Option<Move> {
    let moves = movegen::legal_moves(position);
    (!moves.is_empty()).then(|| moves[random.random_range(0..moves.len())])
}

fn is_drawn(game: &Game) -> bool {
    let position = game.position();
    position.is_insufficient_material()
        || position.halfmoves() >= DRAWN_HALFMOVES
        || game.repetitions() > 0
}

fn own_move(game: &Game, play: &SelfPlay, engine: &mut Engine) -> Option<(Move, ReportedScore)> {
    let limits = match play.nodes {
        Some(nodes) => Limits::nodes(nodes),
        None => Limits::depth(play.depth),
    };
    let result = engine.search(SearchRequest::new(game.clone(), limits));
    let score = ReportedScore::new(result.score, &engine.settings().weights.win_model());
    Some((result.best_move?, score))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::WinModel;

    fn play() -> SelfPlay {
        SelfPlay {
            seed: 3,
            depth: 2,
            nodes: None,
            opening: [4, 8],
            blunders: 0.1,
            share: 0.5,
            settled: true,
            decided: 1_500,
            away: 0,
        }
    }

    fn fens(labels: &[Label]) -> Vec<String> {
        labels.iter().map(|label| label.position.fen()).collect()
    }

    #[test]
    fn a_game_depends_on_its_number_alone() {
        let weights = Arc::new(Weights::default());
        let mut fresh = engine(&weights).unwrap();
        let alone = fens(&own_game(&play(), 5, &mut fresh));
        let mut used = engine(&weights).unwrap();
        let questions = |engine: &mut Engine, number| -> Vec<String> {
            let play = SelfPlay {
                share: 1.0,
                ..play()
            };
            let questions = questions_of_own(&play, number, engine);
            questions
                .iter()
                .map(|(position, _)| position.fen())
                .collect()
        };
        for number in 0..5 {
            own_game(&play(), number, &mut used);
        }
        assert_eq!(fens(&own_game(&play(), 5, &mut used)), alone);
        assert_ne!(fens(&own_game(&play(), 6, &mut used)), alone);
        assert_eq!(questions(&mut used, 7), questions(&mut fresh, 7));
    }

    #[test]
    fn unsettled_positions_are_kept_where_the_best_move_is_quiet() {
        let labels = |settled: bool| {
            let play = SelfPlay {
                settled,
                share: 1.0,
                ..play()
            };
            own_game(
                &play,
                5,
                &mut engine(&Arc::new(Weights::default())).unwrap(),
            )
        };
        let (settled, all) = (fens(&labels(true)), fens(&labels(false)));
        assert!(all.len() > settled.len());
        assert!(settled.iter().all(|fen| all.contains(fen)));
        assert!(labels(false).iter().all(|label| !label.position.in_check()));
    }

    #[test]
    fn decided_is_in_centipawns() {
        // Twice the internal units make a centipawn: the same games must end at the same scores.
        let play = SelfPlay {
            decided: 150,
            share: 1.0,
            blunders: 0.2,
            ..play()
        };
        let largest = |midpoint: f64| {
            let mut weights = Weights::default().without_network();
            weights.terms_win_model = WinModel::new(midpoint, 80.0).unwrap();
            let mut engine = engine(&Arc::new(weights)).unwrap();
            let labels = (0..20).flat_map(|number| own_game(&play, number, &mut engine));
            labels.map(|label| label.score.abs()).max().unwrap()
        };
        for midpoint in [100.0, 400.0] {
            let score = largest(midpoint);
            assert!((75..=150).contains(&score), "{midpoint}: {score}");
        }
    }

    #[test]
    fn results_are_known_where_no_move_is_random() {
        let play = SelfPlay {
            blunders: 0.0,
            decided: 300,
            ..play()
        };
        let mut engine = engine(&Arc::new(Weights::default())).unwrap();
        let labels: Vec<_> = (0..10)
            .flat_map(|number| own_game(&play, number, &mut engine))
            .collect();
        assert!(labels.iter().any(|label| label.points().is_some()));
    }
}
