//! Playing: games, matches, and what they prove.
//!
//! From the inside out:
//!
//! - [`player`]: who plays; [`inside`] is Finch in this process (`plain` without its pruning),
//!   [`outside`] a UCI engine, [`contestant`] any of them as a person names it
//! - [`pace`]: how long they may think; [`adjudication`]: when a game ends early
//! - [`game`]: one game; [`openings`]: where it begins, [`opening_maker`]: how such places are found
//! - [`schedule`], [`hall`], [`standings`], [`journal`]: who meets whom, many games at once, the
//!   table, the PGN file that remembers; [`tournament`] ties them together, [`scoreboard`] shows it
//! - [`score`]: what two players' games say (Elo, likelihood of superiority, pentanomial);
//!   [`sprt`]: when that is enough; [`ratings`]: what the games of many players say
//!
//! A tuner that learns from games needs one call: [`encounters`], many games between many.

pub mod adjudication;
pub mod contestant;
pub mod game;
pub mod hall;
pub mod inside;
pub mod journal;
pub mod opening_maker;
pub mod openings;
pub mod outside;
pub mod pace;
pub mod pgn;
mod plain;
pub mod player;
pub mod ratings;
pub mod schedule;
pub mod score;
pub mod scoreboard;
pub mod sprt;
pub mod standings;
pub mod tournament;

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use shakmaty::ByColor;

use crate::eval::Weights;
use adjudication::Adjudication;
use contestant::Contestant;
use game::Rules;
pub use game::{GameRecord, GameResult, play_game};
use hall::Hall;
pub(crate) use hall::STACK_BYTES;
pub use openings::Opening;
pub use outside::{Engine, Outside};
pub use pace::Pace;
pub use player::{Fault, PlayerScore};
use schedule::Fixture;
pub use score::Score;

/// What holds for every game between players of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    pub pace: Pace,
    pub adjudication: Adjudication,
}

impl From<Pace> for Terms {
    /// Games are played out.
    fn from(pace: Pace) -> Terms {
        Terms {
            pace,
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
    let contestants: Vec<Contestant> = players
        .iter()
        .map(|weights| Contestant::inside("", weights.clone()))
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
    let hall = hall(&contestants, openings, terms.into());
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
        players.map(|weights| Contestant::inside("", weights.clone()).seat(&terms.pace));
    let rules = Rules {
        adjudication: terms.adjudication,
        ..Rules::of(terms.pace)
    };
    play_game(&mut *seats.white, &mut *seats.black, opening, &rules).result()
}

/// A hall in which the same terms hold for everyone.
fn hall<'a>(contestants: &'a [Contestant], openings: &'a [Opening], terms: Terms) -> Hall<'a> {
    Hall {
        contestants,
        openings,
        pace: terms.pace,
        margin: Duration::ZERO,
        adjudication: terms.adjudication,
        tablebases: None,
    }
}
