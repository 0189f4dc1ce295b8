//! A match from its first game to its result: schedule, journal, test.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thiserror::Error;

use super::adjudication::Adjudication;
use super::crosstable::{Crosstable, FinishedGame};
use super::game::GameRecord;
use super::game_runner::GameRunner;
use super::games_file::{GAME_TAG, GamesFile, GamesFileError, MATCH_TAG};
use super::limits::GameLimits;
use super::openings::Opening;
use super::pgn::{self, PgnHeader};
use super::player_config::PlayerConfig;
use super::schedule::{Fixture, Schedule};
use super::sprt::{Sprt, SprtDecision};
use crate::tablebase::Tablebases;

pub struct Tournament {
    pub event: String,
    pub players: Vec<PlayerConfig>,
    /// In the order in which they are played.
    pub openings: Vec<Opening>,
    pub schedule: Schedule,
    /// For those who have no limits of their own.
    pub limits: GameLimits,
    pub margin: Duration,
    pub adjudication: Adjudication,
    pub tablebases: Option<Arc<Tablebases>>,
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

/// Hears of the games as they end.
pub trait TournamentObserver {
    fn finished(&mut self, fixture: Fixture, record: &GameRecord, crosstable: &Crosstable);
}

/// Where a match stands at its end.
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
            self.limits,
            self.margin,
            self.adjudication,
            self.tablebases.is_some(),
            self.schedule.pairings(),
        );
        text.push_str(&format!("{limits:?}"));
        format!("{:016x}", fowler_noll_vo(text.as_bytes()))
    }

    /// Plays what is not finished yet, until the schedule or the test ends, or `stop` is set.
    pub fn run(
        &self,
        mut journal: Option<GamesFile>,
        finished: BTreeMap<usize, FinishedGame>,
        spectator: &mut dyn TournamentObserver,
        stop: &AtomicBool,
    ) -> Result<TournamentResult, TournamentError> {
        let mut crosstable = Crosstable::new(self.schedule.clone());
        for (number, game) in finished {
            if number < self.schedule.games() {
                crosstable.add(number, game);
            }
        }
        let mut decision = self.judge(&mut crosstable);
        let mut failure = None;
        if decision.is_none() {
            let id = self.id();
            let todo: Vec<Fixture> = (0..self.schedule.games())
                .filter(|number| !crosstable.is_finished(*number))
                .map(|number| self.schedule.fixture(number))
                .collect();
            self.hall()
                .play(&todo, self.concurrency, stop, |fixture, record| {
                    let written = journal
                        .as_mut()
                        .map(|journal| journal.append(&self.pgn(&id, &fixture, &record)));
                    if let Some(Err(error)) = written {
                        failure = Some(error);
                        return ControlFlow::Break(());
                    }
                    crosstable.add(fixture.number, FinishedGame::of(&record));
                    spectator.finished(fixture, &record, &crosstable);
                    decision = self.judge(&mut crosstable);
                    match decision {
                        Some(_) => ControlFlow::Break(()),
                        None => ControlFlow::Continue(()),
                    }
                })?;
        }
        if let Some(error) = failure {
            return Err(error.into());
        }
        self.conclude(crosstable, decision, journal)
    }

    /// Games that ended out of turn after the one that decided are not part of the match.
    fn conclude(
        &self,
        crosstable: Crosstable,
        decision: Option<SprtDecision>,
        journal: Option<GamesFile>,
    ) -> Result<TournamentResult, TournamentError> {
        let end = match decision {
            Some(_) => crosstable.settled_games(),
            None => usize::MAX,
        };
        if let Some(journal) = journal {
            journal.put_in_order(end)?;
        }
        Ok(TournamentResult {
            crosstable: crosstable.before(end),
            decision,
        })
    }

    /// Settles what can be settled and asks the test after each pair.
    fn judge(&self, crosstable: &mut Crosstable) -> Option<SprtDecision> {
        let sprt = self.sprt?;
        while let Some(score) = crosstable.settle_pair() {
            if let Some(decision) = sprt.decision(&score) {
                return Some(decision);
            }
        }
        None
    }

    fn hall(&self) -> GameRunner<'_> {
        GameRunner {
            players: &self.players,
            openings: &self.openings,
            limits: self.limits,
            margin: self.margin,
            adjudication: self.adjudication,
            tablebases: self.tablebases.clone(),
        }
    }

    fn pgn(&self, id: &str, fixture: &Fixture, record: &GameRecord) -> String {
        let limits = self.hall().rules(fixture).limits;
        let (white, black) = (limits.white.tag(), limits.black.tag());
        let time_control = if white == black {
            white
        } else {
            format!("{white} against {black}")
        };
        let heading = PgnHeader {
            event: &self.event,
            round: fixture.round + 1,
            white: &self.players[fixture.white].name,
            black: &self.players[fixture.black].name,
            time_control: &time_control,
            more: &[
                (MATCH_TAG, id.to_owned()),
                (GAME_TAG, fixture.number.to_string()),
            ],
        };
        pgn::write(record, &heading)
    }
}

/// A hash that is the same in every build.
fn fowler_noll_vo(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Nobody watches.
pub struct NoObserver;

impl TournamentObserver for NoObserver {
    fn finished(&mut self, _: Fixture, _: &GameRecord, _: &Crosstable) {}
}
