//! Plays many games at once, one thread per game.
//!
//! Each thread keeps its players, UCI engines above all, from game to game. A game depends on its
//! pairing alone, not on the thread or on the games before it. With limits other than time the
//! games are therefore the same on any number of threads.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use crossbeam_channel::{Sender, unbounded};
use shakmaty::ByColor;

use super::game::{GameRecord, GameRules, play_game};
use super::game_message;
use super::limits::GameLimits;
use super::openings::Opening;
use super::player::Player;
use super::player_config::{PlayerConfig, PlayerKind};
use super::schedule::Pairing;
use crate::search::STACK_BYTES;
use crate::work::{self, TaskQueue, TaskSource as _};

/// With more players than this, in-process players free their memory between games.
const KEPT_PLAYERS: usize = 8;

pub struct GameRunner<'a> {
    pub players: &'a [PlayerConfig],
    /// Without any, games start from the initial position.
    pub openings: &'a [Opening],
    pub rules: &'a GameRules,
    /// What another rank has to know to play the game of a pairing; without it none does.
    pub message: Option<&'a (dyn Fn(usize) -> Vec<u8> + Sync)>,
}

/// The players that a thread keeps from game to game, by number.
pub type KeptPlayers = Vec<Option<Box<dyn Player>>>;

impl GameRunner<'_> {
    /// Plays the pairings and reports each finished game, by the index of its pairing, on this
    /// thread. Stops early if `finished` breaks or `stop` is set.
    pub fn play(
        &self,
        pairings: &[Pairing],
        threads: usize,
        stop: &AtomicBool,
        mut finished: impl FnMut(usize, GameRecord) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let queue = TaskQueue::new(pairings.len());
        let (results, collect) = unbounded();
        let threads = threads.clamp(1, pairings.len().max(1));
        thread::scope(|scope| {
            for id in 0..threads {
                let (queue, results) = (&queue, results.clone());
                let spawned = thread::Builder::new()
                    .name(format!("game-{id}"))
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, move || self.work(pairings, queue, stop, &results));
                if let Err(error) = spawned {
                    stop.store(true, Relaxed);
                    return Err(error);
                }
            }
            if let Some(message) = self.message {
                let (queue, results) = (&queue, results.clone());
                scope
                    .spawn(move || self.share(pairings, message, (queue, threads), stop, &results));
            }
            drop(results);
            for (index, record) in collect {
                if finished(index, record).is_break() {
                    stop.store(true, Relaxed);
                    break;
                }
            }
            Ok(())
        })
    }

    /// Lets other ranks play too.
    fn share(
        &self,
        pairings: &[Pairing],
        message: &dyn Fn(usize) -> Vec<u8>,
        (queue, threads): (&TaskQueue, usize),
        stop: &AtomicBool,
        results: &Sender<(usize, GameRecord)>,
    ) {
        work::share(queue, threads, stop, message, |index, bytes| {
            let opening = self.opening(pairings[index].opening);
            match game_message::decode(bytes, &opening) {
                // Without a receiver the games are over.
                Some(record) => drop(results.send((index, record))),
                None => log::warn!("another rank could not play game {index}"),
            }
        });
    }

    /// Players that are not there yet.
    pub fn kept_players(&self) -> KeptPlayers {
        self.players.iter().map(|_| None).collect()
    }

    /// One thread: takes the next pairing until none is left.
    fn work(
        &self,
        pairings: &[Pairing],
        queue: &TaskQueue,
        stop: &AtomicBool,
        results: &Sender<(usize, GameRecord)>,
    ) {
        let mut kept = self.kept_players();
        while let Some(index) = queue.take(work::FIRST_RANK) {
            if stop.load(Relaxed) {
                return;
            }
            let play = || self.play_pairing(&pairings[index], &mut kept, stop);
            let Some(record) = work::busy(1, play) else {
                return;
            };
            if results.send((index, record)).is_err() {
                return;
            }
        }
    }

    /// Plays one game; `None` if `stop` is set before its end.
    pub fn play_pairing(
        &self,
        pairing: &Pairing,
        kept: &mut KeptPlayers,
        stop: &AtomicBool,
    ) -> Option<GameRecord> {
        let mut take = |player: usize| {
            let running = kept[player].take();
            running.unwrap_or_else(|| self.players[player].create(&self.limits_of(player)))
        };
        let (mut white, mut black) = (take(pairing.white), take(pairing.black));
        let record = play_game(
            ByColor {
                white: &mut *white,
                black: &mut *black,
            },
            self.limits(pairing),
            &self.opening(pairing.opening),
            self.rules,
            stop,
        );
        for (index, player) in [(pairing.white, white), (pairing.black, black)] {
            let keeps = match self.players[index].kind {
                PlayerKind::Uci(_) => true,
                // It returns to its pool.
                PlayerKind::Pooled(..) => false,
                PlayerKind::InProcess { .. } => self.players.len() <= KEPT_PLAYERS,
            };
            if keeps {
                kept[index] = Some(player);
            }
        }
        record
    }

    /// Starts over when the openings run out.
    fn opening(&self, number: usize) -> Opening {
        let index = number % self.openings.len().max(1);
        self.openings.get(index).cloned().unwrap_or_default()
    }

    pub fn limits(&self, pairing: &Pairing) -> ByColor<GameLimits> {
        ByColor {
            white: self.limits_of(pairing.white),
            black: self.limits_of(pairing.black),
        }
    }

    fn limits_of(&self, player: usize) -> GameLimits {
        let own = self.players[player].limits;
        if own.is_empty() {
            self.rules.limits
        } else {
            own
        }
    }
}
