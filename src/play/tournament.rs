//! A match from its first game to its result: schedule, journal, test.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thiserror::Error;

use super::adjudication::Adjudication;
use super::contestant::Contestant;
use super::game::GameRecord;
use super::hall::Hall;
use super::journal::{GAME_TAG, Journal, JournalError, MATCH_TAG};
use super::openings::Opening;
use super::pace::Pace;
use super::pgn::{self, Heading};
use super::schedule::{Fixture, Schedule};
use super::sprt::{Decision, Sprt};
use super::standings::{Finished, Standings};
use crate::tablebase::Tablebases;

pub struct Tournament {
    pub event: String,
    pub contestants: Vec<Contestant>,
    /// In the order in which they are played.
    pub openings: Vec<Opening>,
    pub schedule: Schedule,
    /// For those who have no limits of their own.
    pub pace: Pace,
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
    Journal(#[from] JournalError),
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
}

/// Hears of the games as they end.
pub trait Spectator {
    fn finished(&mut self, fixture: Fixture, record: &GameRecord, standings: &Standings);
}

/// Where a match stands at its end.
pub struct Conclusion {
    pub standings: Standings,
    pub decision: Option<Decision>,
}

impl Tournament {
    /// A name that two matches share only when they are the same.
    pub fn id(&self) -> String {
        let mut text = String::new();
        for contestant in &self.contestants {
            text.push_str(&contestant.fingerprint());
        }
        for opening in &self.openings {
            text.push_str(&format!("{} {:?}", opening.start.fen(), opening.moves));
        }
        let limits = (
            self.pace,
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
        mut journal: Option<Journal>,
        finished: BTreeMap<usize, Finished>,
        spectator: &mut dyn Spectator,
        stop: &AtomicBool,
    ) -> Result<Conclusion, TournamentError> {
        let mut standings = Standings::new(self.schedule.clone());
        for (number, game) in finished {
            if number < self.schedule.games() {
                standings.add(number, game);
            }
        }
        let mut decision = self.judge(&mut standings);
        let mut failure = None;
        if decision.is_none() {
            let id = self.id();
            let todo: Vec<Fixture> = (0..self.schedule.games())
                .filter(|number| !standings.is_finished(*number))
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
                    standings.add(fixture.number, Finished::of(&record));
                    spectator.finished(fixture, &record, &standings);
                    decision = self.judge(&mut standings);
                    match decision {
                        Some(_) => ControlFlow::Break(()),
                        None => ControlFlow::Continue(()),
                    }
                })?;
        }
        if let Some(error) = failure {
            return Err(error.into());
        }
        self.conclude(standings, decision, journal)
    }

    /// Games that ended out of turn after the one that decided are not part of the match.
    fn conclude(
        &self,
        standings: Standings,
        decision: Option<Decision>,
        journal: Option<Journal>,
    ) -> Result<Conclusion, TournamentError> {
        let end = match decision {
            Some(_) => standings.settled_games(),
            None => usize::MAX,
        };
        if let Some(journal) = journal {
            journal.put_in_order(end)?;
        }
        Ok(Conclusion {
            standings: standings.before(end),
            decision,
        })
    }

    /// Settles what can be settled and asks the test after each pair.
    fn judge(&self, standings: &mut Standings) -> Option<Decision> {
        let sprt = self.sprt?;
        while let Some(score) = standings.settle_pair() {
            if let Some(decision) = sprt.decision(&score) {
                return Some(decision);
            }
        }
        None
    }

    fn hall(&self) -> Hall<'_> {
        Hall {
            contestants: &self.contestants,
            openings: &self.openings,
            pace: self.pace,
            margin: self.margin,
            adjudication: self.adjudication,
            tablebases: self.tablebases.clone(),
        }
    }

    fn pgn(&self, id: &str, fixture: &Fixture, record: &GameRecord) -> String {
        let paces = self.hall().rules(fixture).paces;
        let (white, black) = (paces.white.tag(), paces.black.tag());
        let time_control = if white == black {
            white
        } else {
            format!("{white} against {black}")
        };
        let heading = Heading {
            event: &self.event,
            round: fixture.round + 1,
            white: &self.contestants[fixture.white].name,
            black: &self.contestants[fixture.black].name,
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
pub struct EmptyHall;

impl Spectator for EmptyHall {
    fn finished(&mut self, _: Fixture, _: &GameRecord, _: &Standings) {}
}
