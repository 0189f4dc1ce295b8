//! Games, matches and their statistics.
//!
//! - [`player`]: who plays. [`engine_player`] is Finch in this process, [`uci_engine`] another
//!   engine behind UCI, [`player_config`] either of them as the command line describes it
//! - [`limits`]: time controls and other limits; [`adjudication`]: when games end early
//! - [`game`]: one game; [`openings`]: where it starts; [`opening_generator`]: how balanced
//!   openings are made; `eco`: what they are called
//! - [`match_settings`]: what a match is made from
//! - [`tournament`]: a match, from [`schedule`] (pairings) through [`game_runner`] (games on many
//!   threads) and [`games_file`] (PGN that a match resumes from) to [`crosstable`] and [`summary`]
//! - [`merged_match`]: the games of several machines put together
//! - [`match_score`]: Elo, nElo, LOS and pentanomial of two players; [`sprt`]: the sequential
//!   probability ratio test; [`ratings`]: Elo of many players from all their games
//!
//! Tuning by games needs one call, [`play_games`]: many games between many players.

pub mod adjudication;
pub mod crosstable;
mod eco;
pub mod engine_player;
mod full_width_player;
pub mod game;
mod game_message;
pub mod game_runner;
pub mod games_file;
pub mod limits;
pub mod match_score;
pub mod match_settings;
pub mod merged_match;
pub mod opening_generator;
pub mod openings;
pub mod pgn;
pub mod player;
pub mod player_config;
pub mod ratings;
pub mod schedule;
pub mod sprt;
pub mod summary;
pub mod tournament;
pub mod uci_engine;

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use shakmaty::ByColor;

pub use engine_player::EnginePlayer;
pub use game::{GameRecord, GameResult, GameRules, play_game};
use game_runner::GameRunner;
pub use limits::GameLimits;
pub use match_score::MatchScore;
pub use openings::Opening;
pub use player::Fault;
use player_config::PlayerConfig;
pub use schedule::Pairing;
pub use uci_engine::{EngineCommand, UciEngine};

/// Plays games between many players; the results are in the order of the pairings.
pub fn play_games(
    players: &[PlayerConfig],
    openings: &[Opening],
    pairings: &[Pairing],
    rules: &GameRules,
    threads: usize,
) -> io::Result<Vec<GameResult>> {
    play_shared_games(players, openings, pairings, rules, threads, None)
}

/// The same with the help of other ranks. They are told of a game by a message with its index in
/// `pairings`, and answer with [`game_as_message`].
pub fn play_shared_games(
    players: &[PlayerConfig],
    openings: &[Opening],
    pairings: &[Pairing],
    rules: &GameRules,
    threads: usize,
    message: Option<&(dyn Fn(usize) -> Vec<u8> + Sync)>,
) -> io::Result<Vec<GameResult>> {
    let mut results = vec![GameResult::Draw; pairings.len()];
    let runner = GameRunner {
        players,
        openings,
        rules,
        message,
    };
    let never = AtomicBool::new(false);
    runner.play(pairings, threads, &never, |index, record| {
        results[index] = result_of(&record);
        ControlFlow::Continue(())
    })?;
    Ok(results)
}

/// Plays one game on this thread.
pub fn play_single_game(
    players: ByColor<&PlayerConfig>,
    opening: &Opening,
    rules: &GameRules,
) -> GameResult {
    let record = single_game(players, opening, rules, &AtomicBool::new(false));
    record.map_or(GameResult::Draw, |record| result_of(&record))
}

/// Plays one game on this thread for another process; `None` if `stop` is set before its end.
pub fn game_as_message(
    players: ByColor<&PlayerConfig>,
    opening: &Opening,
    rules: &GameRules,
    stop: &AtomicBool,
) -> Option<Vec<u8>> {
    game_message::encode(&single_game(players, opening, rules, stop)?)
}

/// The result of a game that another process played; `None` if it could not.
pub fn result_in_message(answer: &[u8], opening: &Opening) -> Option<GameResult> {
    game_message::decode(answer, opening).map(|record| result_of(&record))
}

fn single_game(
    players: ByColor<&PlayerConfig>,
    opening: &Opening,
    rules: &GameRules,
    stop: &AtomicBool,
) -> Option<GameRecord> {
    let create = |player: &PlayerConfig| player.create(&rules.limits);
    let (mut white, mut black) = (create(players.white), create(players.black));
    play_game(
        ByColor {
            white: &mut *white,
            black: &mut *black,
        },
        ByColor::new_with(|_| rules.limits),
        opening,
        rules,
        stop,
    )
}

/// The result of a game; one that a fault decided is reported.
fn result_of(record: &GameRecord) -> GameResult {
    if let Some(fault) = &record.fault {
        log::warn!("{}: {}", record.end, fault.detail);
    }
    record.result()
}
