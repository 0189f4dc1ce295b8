//! A match from its first game to its result: schedule, games file, SPRT.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use thiserror::Error;

use super::crosstable::{Crosstable, FinishedGame};
use super::game::{GameRecord, GameRules};
use super::game_runner::GameRunner;
use super::games_file::{GAME_TAG, GamesFile, GamesFileError, MATCH_TAG};
use super::openings::Opening;
use super::pgn::{self, PgnHeader};
use super::player_config::PlayerConfig;
use super::schedule::{Pairing, Schedule};
use super::sprt::{Sprt, SprtDecision};

pub struct Tournament {
    pub event: String,
    pub players: Vec<PlayerConfig>,
    /// In the order in which they are played.
    pub openings: Vec<Opening>,
    pub schedule: Schedule,
    pub rules: GameRules,
    pub concurrency: usize,
    /// For two players: when to stop.
    pub sprt: Option<Sprt>,
}

#[derive(Debug, Error)]
pub enum TournamentError {
    #[error(transparent)]
    GamesFile(#[from] GamesFileError),
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
}

/// Called after each game.
pub trait TournamentObserver {
    fn finished(
        &mut self,
        number: usize,
        pairing: Pairing,
        record: &GameRecord,
        crosstable: &Crosstable,
    );
}

pub struct TournamentResult {
    pub crosstable: Crosstable,
    pub decision: Option<SprtDecision>,
}

impl Tournament {
    /// A name that two matches share only when they are the same.
    pub fn id(&self) -> String {
        let mut text = String::new();
        for player in &self.players {
            text.push_str(&player.fingerprint());
        }
        for opening in &self.openings {
            text.push_str(&format!("{} {:?}", opening.start.fen(), opening.moves));
        }
        let limits = (
            self.rules.limits,
            self.rules.margin,
            self.rules.adjudication,
            self.rules.tablebases.is_some(),
            self.schedule.opponents(),
        );
        text.push_str(&format!("{limits:?}"));
        format!("{:016x}", fowler_noll_vo(text.as_bytes()))
    }

    /// Plays the games that are not finished yet, until the schedule or the SPRT ends or `stop`
    /// is set.
    pub fn run(
        &self,
        mut file: Option<GamesFile>,
        finished: BTreeMap<usize, FinishedGame>,
        observer: &mut dyn TournamentObserver,
        stop: &AtomicBool,
    ) -> Result<TournamentResult, TournamentError> {
        let mut crosstable = Crosstable::new(self.schedule.clone());
        for (number, game) in finished {
            if number < self.schedule.games() {
                crosstable.add(number, game);
            }
        }
        let mut decision = self.sprt_decision(&mut crosstable);
        let mut failure = None;
        if decision.is_none() {
            let id = self.id();
            let numbers: Vec<usize> = (0..self.schedule.games())
                .filter(|number| !crosstable.is_finished(*number))
                .collect();
            let pairings: Vec<Pairing> = numbers
                .iter()
                .map(|number| self.schedule.pairing(*number))
                .collect();
            let finished = |index: usize, record: GameRecord| {
                let (number, pairing) = (numbers[index], pairings[index]);
                let written = file
                    .as_mut()
                    .map(|file| file.append(&self.pgn(&id, number, &pairing, &record)));
                if let Some(Err(error)) = written {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
                crosstable.add(number, FinishedGame::of(&record));
                observer.finished(number, pairing, &record, &crosstable);
                decision = self.sprt_decision(&mut crosstable);
                match decision {
                    Some(_) => ControlFlow::Break(()),
                    None => ControlFlow::Continue(()),
                }
            };
            self.runner()
                .play(&pairings, self.concurrency, stop, finished)?;
        }
        if let Some(error) = failure {
            return Err(error.into());
        }
        self.conclude(crosstable, decision, file)
    }

    /// Drops the games after the pair that decided the SPRT, if other threads finished some.
    fn conclude(
        &self,
        crosstable: Crosstable,
        decision: Option<SprtDecision>,
        file: Option<GamesFile>,
    ) -> Result<TournamentResult, TournamentError> {
        let end = match decision {
            Some(_) => crosstable.games_in_order(),
            None => usize::MAX,
        };
        if let Some(file) = file {
            file.sort(end)?;
        }
        Ok(TournamentResult {
            crosstable: crosstable.before(end),
            decision,
        })
    }

    /// Applies the SPRT after each pair, in the order of the schedule.
    fn sprt_decision(&self, crosstable: &mut Crosstable) -> Option<SprtDecision> {
        let sprt = self.sprt?;
        while let Some(score) = crosstable.next_pair_in_order() {
            if let Some(decision) = sprt.decision(&score) {
                return Some(decision);
            }
        }
        None
    }

    fn runner(&self) -> GameRunner<'_> {
        GameRunner {
            players: &self.players,
            openings: &self.openings,
            rules: &self.rules,
        }
    }

    fn pgn(&self, id: &str, number: usize, pairing: &Pairing, record: &GameRecord) -> String {
        let limits = self.runner().limits(pairing);
        let (white, black) = (limits.white.tag(), limits.black.tag());
        let time_control = if white == black {
            white
        } else {
            format!("{white} against {black}")
        };
        let header = PgnHeader {
            event: &self.event,
            round: pairing.opening + 1,
            white: &self.players[pairing.white].name,
            black: &self.players[pairing.black].name,
            time_control: &time_control,
            more: &[(MATCH_TAG, id.to_owned()), (GAME_TAG, number.to_string())],
        };
        pgn::write(record, &header)
    }
}

/// A hash that is the same in every build.
fn fowler_noll_vo(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Ignores all games.
pub struct NoObserver;

impl TournamentObserver for NoObserver {
    fn finished(&mut self, _: usize, _: Pairing, _: &GameRecord, _: &Crosstable) {}
}
