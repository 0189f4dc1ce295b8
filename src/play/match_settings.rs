//! What a match is made from: players, limits, openings and rules, as a command line gives them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::adjudication::Adjudication;
use super::game::GameRules;
use super::limits::{GameLimits, TimeControl};
use super::openings::{self, OpeningsError};
use super::player_config::{PlayerConfig, PlayerConfigError, distinguish};
use super::schedule::{Format, Schedule};
use super::sprt::Sprt;
use super::tournament::Tournament;
use crate::tablebase::{TablebaseError, Tablebases};

/// Games between two opponents if nothing else ends the match.
const DEFAULT_GAMES: usize = 100;
/// An SPRT ends by itself; this many games are as good as no limit.
const DEFAULT_SPRT_GAMES: usize = 200_000;
const DEFAULT_TIME_CONTROL: TimeControl = TimeControl {
    moves: None,
    base: Duration::from_secs(3),
    increment: Duration::from_millis(30),
};

#[derive(Clone, Debug)]
pub struct MatchSettings {
    pub event: String,
    pub players: Vec<String>,
    pub format: Format,
    /// For each two opponents; `None` for the default.
    pub games: Option<usize>,
    /// Empty for the default time control.
    pub limits: GameLimits,
    /// Time tolerated beyond a limit.
    pub margin: Duration,
    pub adjudication: Adjudication,
    /// A folder of Syzygy tables.
    pub tablebases: Option<PathBuf>,
    /// A file of openings; `None` for the built-in ones.
    pub openings: Option<PathBuf>,
    /// How far games and book lines are followed.
    pub opening_plies: usize,
    /// Chooses the openings and their order.
    pub seed: u64,
    pub concurrency: usize,
    pub sprt: Option<Sprt>,
}

#[derive(Debug, Error)]
pub enum MatchSettingsError {
    #[error(transparent)]
    Player(#[from] PlayerConfigError),
    #[error(transparent)]
    Openings(#[from] OpeningsError),
    #[error("--tablebases: {0}")]
    Tablebases(#[from] TablebaseError),
    #[error("--sprt compares two players, not {0}")]
    SprtPlayers(usize),
}

impl MatchSettings {
    pub fn tournament(&self) -> Result<Tournament, MatchSettingsError> {
        let mut players = self
            .players
            .iter()
            .map(|text| PlayerConfig::parse(text))
            .collect::<Result<Vec<_>, _>>()?;
        distinguish(&mut players);
        if self.sprt.is_some() && players.len() != 2 {
            return Err(MatchSettingsError::SprtPlayers(players.len()));
        }
        let default_games = match self.sprt {
            Some(_) => DEFAULT_SPRT_GAMES,
            None => DEFAULT_GAMES,
        };
        let games = self.games.unwrap_or(default_games);
        let mut openings = match &self.openings {
            Some(file) => openings::load(file, self.opening_plies, self.seed)?,
            None => openings::embedded(),
        };
        openings::shuffle(&mut openings, self.seed);
        Ok(Tournament {
            event: self.event.clone(),
            schedule: Schedule::new(players.len(), self.format, games),
            players,
            openings,
            rules: self.rules()?,
            concurrency: self.concurrency,
            sprt: self.sprt,
        })
    }

    fn rules(&self) -> Result<GameRules, TablebaseError> {
        let mut limits = self.limits;
        if limits.is_empty() {
            limits.time_control = Some(DEFAULT_TIME_CONTROL);
        }
        let folder = self.tablebases.as_ref();
        let tablebases = folder.map(Tablebases::open_all).transpose()?;
        Ok(GameRules {
            limits,
            margin: self.margin,
            adjudication: self.adjudication,
            tablebases: tablebases.map(Arc::new),
        })
    }

    /// Limits and openings in a few words.
    pub fn conditions(&self, tournament: &Tournament) -> String {
        let mut own = tournament.players.iter().map(|player| player.limits);
        let limits = if own.all(|limits| !limits.is_empty()) {
            "limits of each player".to_owned()
        } else {
            tournament.rules.limits.to_string()
        };
        let openings = match &self.openings {
            Some(file) => {
                let name = file.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }
            None => "Finch's openings".to_owned(),
        };
        format!("{limits}, {openings}")
    }
}
