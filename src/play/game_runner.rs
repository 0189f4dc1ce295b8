//! The playing hall: many games at once, one thread each.
//!
//! Every thread keeps its own players from game to game, outside engines above all. A game
//! depends on its fixture alone, never on the thread that plays it or on what was played before,
//! so with limits that do not look at a clock the games are the same on any number of threads.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Sender, unbounded};
use shakmaty::ByColor;

use super::adjudication::Adjudication;
use super::game::{GameRecord, Rules, play_unless};
use super::limits::GameLimits;
use super::openings::Opening;
use super::player::Player;
use super::player_config::{PlayerConfig, PlayerKind};
use super::schedule::Fixture;
use crate::tablebase::Tablebases;

/// The search recurses deeply.
pub(crate) const STACK_BYTES: usize = 16 << 20;
/// With more players than this, those in this process give up their memory between games.
const KEPT_PLAYERS: usize = 8;

pub struct GameRunner<'a> {
    pub players: &'a [PlayerConfig],
    /// Round `n` plays opening `n`, beginning anew when they run out.
    pub openings: &'a [Opening],
    /// For those who have no limits of their own.
    pub limits: GameLimits,
    pub margin: Duration,
    pub adjudication: Adjudication,
    pub tablebases: Option<Arc<Tablebases>>,
}

impl GameRunner<'_> {
    /// Plays the fixtures and tells of each game, on this thread, when it has ended; stops early
    /// when `finished` breaks or someone sets `stop`.
    pub fn play(
        &self,
        fixtures: &[Fixture],
        threads: usize,
        stop: &AtomicBool,
        mut finished: impl FnMut(Fixture, GameRecord) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let next = AtomicUsize::new(0);
        let (results, collect) = unbounded();
        let threads = threads.clamp(1, fixtures.len().max(1));
        thread::scope(|scope| {
            for id in 0..threads {
                let (next, results) = (&next, results.clone());
                let spawned = thread::Builder::new()
                    .name(format!("game-{id}"))
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, move || self.serve(fixtures, next, stop, &results));
                if let Err(error) = spawned {
                    stop.store(true, Relaxed);
                    return Err(error);
                }
            }
            drop(results);
            for (fixture, record) in collect {
                if finished(fixture, record).is_break() {
                    stop.store(true, Relaxed);
                    break;
                }
            }
            Ok(())
        })
    }

    fn serve(
        &self,
        fixtures: &[Fixture],
        next: &AtomicUsize,
        stop: &AtomicBool,
        results: &Sender<(Fixture, GameRecord)>,
    ) {
        let mut seats: Vec<Option<Box<dyn Player>>> = self.players.iter().map(|_| None).collect();
        while let Some(fixture) = fixtures.get(next.fetch_add(1, Relaxed)) {
            if stop.load(Relaxed) {
                return;
            }
            let Some(record) = self.play_fixture(fixture, &mut seats, stop) else {
                return;
            };
            if results.send((*fixture, record)).is_err() {
                return;
            }
        }
    }

    fn play_fixture(
        &self,
        fixture: &Fixture,
        seats: &mut [Option<Box<dyn Player>>],
        stop: &AtomicBool,
    ) -> Option<GameRecord> {
        let mut take = |player: usize| {
            let seated = seats[player].take();
            seated.unwrap_or_else(|| self.players[player].seat(&self.pace_of(player)))
        };
        let (mut white, mut black) = (take(fixture.white), take(fixture.black));
        let rules = self.rules(fixture);
        let opening = self.opening(fixture.round);
        let record = play_unless(&mut *white, &mut *black, &opening, &rules, stop);
        for (player, seat) in [(fixture.white, white), (fixture.black, black)] {
            let outside = matches!(self.players[player].kind, PlayerKind::Uci(_));
            if outside || self.players.len() <= KEPT_PLAYERS {
                seats[player] = Some(seat);
            }
        }
        record
    }

    /// Without any openings, games begin at the beginning.
    fn opening(&self, round: usize) -> Opening {
        let place = round % self.openings.len().max(1);
        self.openings.get(place).cloned().unwrap_or_default()
    }

    fn pace_of(&self, player: usize) -> GameLimits {
        let own = self.players[player].limits;
        if own.is_empty() { self.limits } else { own }
    }

    pub fn rules(&self, fixture: &Fixture) -> Rules {
        Rules {
            limits: ByColor {
                white: self.pace_of(fixture.white),
                black: self.pace_of(fixture.black),
            },
            margin: self.margin,
            adjudication: self.adjudication,
            tablebases: self.tablebases.clone(),
        }
    }
}
