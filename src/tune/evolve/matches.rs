//! Matches of an evolve run: fixed nodes, the built-in openings, games kept in a file that an
//! interrupted match resumes from.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use super::EvolveError;
use crate::play::adjudication::{Adjudication, ResignRule};
use crate::play::crosstable::Crosstable;
use crate::play::games_file::GamesFile;
use crate::play::player_config::PlayerConfig;
use crate::play::schedule::{Format, Pairing, Schedule};
use crate::play::sprt::Sprt;
use crate::play::tournament::{Tournament, TournamentObserver, TournamentResult};
use crate::play::{GameLimits, GameRecord, GameRules, openings};

/// Both sides agree for so many moves that a game is lost by so many centipawns.
const RESIGN: ResignRule = ResignRule {
    count: 4,
    score: 1_000,
    two_sided: true,
};
/// Longer games are drawn.
pub const MAX_MOVES: u32 = 200;

/// The first player against each of the others.
pub struct Gauntlet {
    pub event: String,
    pub players: Vec<PlayerConfig>,
    /// Games against each opponent.
    pub games: usize,
    pub nodes: u64,
    /// Chooses the openings.
    pub seed: u64,
    pub sprt: Option<Sprt>,
    pub threads: usize,
    /// Where the games are kept.
    pub file: PathBuf,
}

impl Gauntlet {
    /// How many games there are at most.
    pub fn count(&self) -> usize {
        Schedule::new(self.players.len(), Format::Gauntlet, self.games).games()
    }

    /// Plays the games that are not in the file yet. `progress` hears how many there are after
    /// each, and says whether to stop; a match that was stopped has no result yet.
    pub fn play(
        self,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<TournamentResult>, EvolveError> {
        let file = self.file.clone();
        let tournament = self.tournament();
        let (file, finished) = GamesFile::resume(&file, &tournament.id())?;
        // The tournament sets its flag itself when the SPRT is decided.
        let stop = AtomicBool::new(false);
        let mut observer = StopBetweenGames {
            stop: &stop,
            progress,
        };
        let result = tournament.run(Some(file), finished, &mut observer, &stop)?;
        let is_complete = result.crosstable.games() >= tournament.schedule.games();
        Ok((is_complete || result.decision.is_some()).then_some(result))
    }

    /// Plays games for rank 0 of an MPI job, which plays the same match.
    pub fn serve(self) {
        self.tournament().serve();
    }

    fn tournament(self) -> Tournament {
        let mut openings = openings::embedded();
        openings::shuffle(&mut openings, self.seed);
        let mut rules = GameRules::from(GameLimits::nodes(self.nodes));
        rules.adjudication = Adjudication {
            draw: None,
            resign: Some(RESIGN),
            max_moves: Some(MAX_MOVES),
        };
        Tournament {
            event: self.event,
            schedule: Schedule::new(self.players.len(), Format::Gauntlet, self.games),
            players: self.players,
            openings,
            rules,
            concurrency: self.threads,
            sprt: self.sprt,
        }
    }
}

struct StopBetweenGames<'a> {
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u64) -> bool,
}

impl TournamentObserver for StopBetweenGames<'_> {
    fn finished(&mut self, _: usize, _: Pairing, _: &GameRecord, crosstable: &Crosstable) {
        if (self.progress)(crosstable.games() as u64) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
