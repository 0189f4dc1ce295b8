//! Playing: games, matches, and what they prove.
//!
//! From the inside out:
//!
//! - [`player`]: who plays; [`inside`] is Finch in this process (`plain` without its pruning),
//!   [`outside`] a UCI engine, [`player`] any of them as a person names it
//! - [`limits`]: how long they may think; [`adjudication`]: when a game ends early
//! - [`game`]: one game; [`openings`]: where it begins, [`opening_generator`]: how such places are found
//! - [`schedule`], [`hall`], [`crosstable`], [`journal`]: who meets whom, many games at once, the
//!   table, the PGN file that remembers; [`tournament`] ties them together, [`summary`] shows it
//! - [`score`]: what two players' games say (Elo, likelihood of los, pentanomial);
//!   [`sprt`]: when that is enough; [`ratings`]: what the games of many players say
//!
//! A tuner that learns from games needs one call: [`encounters`], many games between many.

pub mod adjudication;
pub mod crosstable;
pub mod engine_player;
pub mod game;
pub mod game_runner;
pub mod games_file;
pub mod limits;
pub mod match_score;
pub mod opening_generator;
pub mod openings;
pub mod pgn;
mod plain;
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
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use shakmaty::ByColor;

use crate::eval::Weights;
use adjudication::Adjudication;
pub use engine_player::EnginePlayer;
use game::Rules;
pub use game::{GameRecord, GameResult, play_game};
use game_runner::GameRunner;
pub(crate) use game_runner::STACK_BYTES;
pub use limits::GameLimits;
pub use match_score::MatchScore;
pub use openings::Opening;
pub use player::{Fault, PlayerScore};
use player_config::PlayerConfig;
use schedule::Fixture;
pub use uci_engine::{EngineCommand, UciEngine};

/// What holds for every game between players of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    pub limits: GameLimits,
    pub adjudication: Adjudication,
}

impl From<GameLimits> for Terms {
    /// Games are played out.
    fn from(limits: GameLimits) -> Terms {
        Terms {
            limits,
            adjudication: Adjudication::default(),
        }
    }
}

/// One game of many: white, black and the opening, by their places in the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encounter {
    pub white: usize,
    pub black: usize,
    pub opening: usize,
}

/// Plays games between any of the players; the results stand in the order of the encounters.
pub fn encounters(
    players: &[Arc<Weights>],
    openings: &[Opening],
    encounters: &[Encounter],
    terms: impl Into<Terms>,
    threads: usize,
) -> io::Result<Vec<GameResult>> {
    let players: Vec<PlayerConfig> = players
        .iter()
        .map(|weights| PlayerConfig::in_process("", weights.clone()))
        .collect();
    let fixtures: Vec<Fixture> = encounters
        .iter()
        .enumerate()
        .map(|(number, encounter)| Fixture {
            number,
            round: encounter.opening,
            white: encounter.white,
            black: encounter.black,
        })
        .collect();
    let mut results = vec![GameResult::Draw; encounters.len()];
    let hall = hall(&players, openings, terms.into());
    hall.play(
        &fixtures,
        threads,
        &AtomicBool::new(false),
        |fixture, record| {
            results[fixture.number] = record.result();
            ControlFlow::Continue(())
        },
    )?;
    Ok(results)
}

/// One game between players of this process, on this thread.
pub fn single_game(players: ByColor<&Arc<Weights>>, opening: &Opening, terms: Terms) -> GameResult {
    let mut seats =
        players.map(|weights| PlayerConfig::in_process("", weights.clone()).seat(&terms.limits));
    let rules = Rules {
        adjudication: terms.adjudication,
        ..Rules::of(terms.limits)
    };
    play_game(&mut *seats.white, &mut *seats.black, opening, &rules).result()
}

/// A hall in which the same terms hold for everyone.
fn hall<'a>(players: &'a [PlayerConfig], openings: &'a [Opening], terms: Terms) -> GameRunner<'a> {
    GameRunner {
        players,
        openings,
        limits: terms.limits,
        margin: Duration::ZERO,
        adjudication: terms.adjudication,
        tablebases: None,
    }
}
