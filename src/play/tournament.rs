//! A match from its first game to its result: schedule, games file, SPRT.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use thiserror::Error;

use super::crosstable::{Crosstable, FinishedGame};
use super::game::{GameRecord, GameRules};
use super::game_message;
use super::game_runner::GameRunner;
use super::games_file::{GAME_TAG, GamesFile, GamesFileError, ID_VERSION, MATCH_TAG};
use super::openings::Opening;
use super::pgn::{self, PgnHeader};
use super::player_config::{PlayerConfig, PlayerConfigError};
use super::schedule::{Pairing, Schedule};
use super::sprt::{Sprt, SprtDecision};
use crate::hash::StableHasher;
use crate::work;

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
    /// Identifies the match in its games file: two matches share an id only if their players,
    /// limits, openings and rules are the same. The number before the dash is the version of the
    /// scheme.
    pub fn id(&self) -> String {
        let mut hasher = StableHasher::new();
        for player in &self.players {
            player.hash_into(&mut hasher);
        }
        for (one, other) in self.schedule.opponents() {
            hasher.write_u64(*one as u64);
            hasher.write_u64(*other as u64);
        }
        for opening in &self.openings {
            hasher.write(opening.start.fen().as_bytes());
            for m in &opening.moves {
                hasher.write(opening.start.uci(*m).to_string().as_bytes());
            }
        }
        let rules = &self.rules;
        hasher.write(rules.limits.to_string().as_bytes());
        hasher.write_u64(rules.margin.as_micros() as u64);
        hasher.write(rules.adjudication.to_string().as_bytes());
        hasher.write_u64(u64::from(rules.tablebases.is_some()));
        format!("{ID_VERSION}{:016x}", hasher.finish())
    }

    /// Starts every UCI engine once, so that a match does not begin with one that cannot play.
    pub fn check_players(&self) -> Result<(), PlayerConfigError> {
        self.players.iter().try_for_each(PlayerConfig::check)
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
            let message = |index: usize| (numbers[index] as u64).to_le_bytes().to_vec();
            let runner = GameRunner {
                message: Some(&message),
                ..self.runner()
            };
            runner.play(&pairings, self.concurrency, stop, finished)?;
        }
        if let Some(error) = failure {
            return Err(error.into());
        }
        self.conclude(crosstable, decision, file)
    }

    /// Plays games for rank 0 of an MPI job, which runs the same match, until it needs no more.
    pub fn serve(&self) {
        let runner = self.runner();
        let prepare = || runner.kept_players();
        work::serve(self.concurrency, prepare, |kept, task, stop| {
            let number = u64::from_le_bytes(task.try_into().ok()?) as usize;
            let pairing = self.schedule.pairing(number);
            let record = runner.play_pairing(&pairing, kept, stop)?;
            game_message::encode(&record)
        });
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
            message: None,
        }
    }

    fn pgn(&self, id: &str, number: usize, pairing: &Pairing, record: &GameRecord) -> String {
        let header = PgnHeader {
            event: &self.event,
            round: pairing.opening + 1,
            white: &self.players[pairing.white].full_name(),
            black: &self.players[pairing.black].full_name(),
            limits: self.runner().limits(pairing),
            more: &[(MATCH_TAG, id.to_owned()), (GAME_TAG, number.to_string())],
        };
        pgn::write(record, &header)
    }
}

/// Ignores all games.
pub struct NoObserver;

impl TournamentObserver for NoObserver {
    fn finished(&mut self, _: usize, _: Pairing, _: &GameRecord, _: &Crosstable) {}
}
