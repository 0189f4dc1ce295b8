//! The closing match: does the result beat what it started from, its rivals, and the weights that
//! play now? Only a result that beats the latter is installed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use thiserror::Error;

use super::{RunError, RunFolder, RunOutcome};
use crate::eval::{self, Weights};
use crate::play::games_file::{GamesFile, GamesFileError};
use crate::play::player_config::PlayerConfig;
use crate::play::schedule::{Format, Schedule};
use crate::play::tournament::{NoObserver, Tournament, TournamentError};
use crate::play::{GameLimits, GameRules, MatchScore, openings};
use crate::tune::experiment::Experiment;
use crate::tune::genome::Candidate;
use crate::tune::preset::RunSettings;

/// Games against the start and the rivals, and games against the weights that play now.
pub const GAMES: &str = "games.pgn";
const INCUMBENT_GAMES: &str = "games-incumbent.pgn";
/// The name of the run's result as a player.
pub const RESULT: &str = "result";
/// The scores in words.
const SCORES: &str = "closing.txt";

/// The score of the result against one opponent.
#[derive(Clone, Debug)]
pub struct ClosingMatch {
    pub opponent: String,
    pub score: MatchScore,
}

impl fmt::Display for ClosingMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MatchScore {
            wins,
            draws,
            losses,
            ..
        } = self.score;
        write!(
            f,
            "result against {}: {wins} wins, {draws} draws, {losses} losses; Elo {}",
            self.opponent,
            self.score.elo()
        )
    }
}

/// A closing match as read back from the folder of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosingScore {
    pub opponent: String,
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// The estimate in words.
    pub elo: String,
}

impl ClosingScore {
    /// The closing matches of a folder; empty before they are played.
    pub fn read(folder: &RunFolder) -> Result<Vec<ClosingScore>, RunError> {
        let scores = folder.read(SCORES)?.unwrap_or_default();
        Ok(scores.lines().filter_map(ClosingScore::parse).collect())
    }

    /// Reads what the display of a [`ClosingMatch`] writes.
    fn parse(line: &str) -> Option<ClosingScore> {
        let (score, elo) = line.rsplit_once("; Elo ")?;
        let (opponent, score) = score.rsplit_once(": ")?;
        let mut counts = score.split(", ").zip(["wins", "draws", "losses"]);
        let mut count = || {
            let (text, name) = counts.next()?;
            text.strip_suffix(name)?.trim().parse().ok()
        };
        Some(ClosingScore {
            opponent: opponent.strip_prefix("result against ")?.to_owned(),
            wins: count()?,
            draws: count()?,
            losses: count()?,
            elo: elo.to_owned(),
        })
    }
}

/// All closing matches of a run; none if its preset asks for no games.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    /// Against the start, then the rivals of the preset.
    pub matches: Vec<ClosingMatch>,
    /// Against the weights that play now.
    pub incumbent: Option<ClosingMatch>,
}

impl Closing {
    pub fn all(&self) -> impl Iterator<Item = &ClosingMatch> {
        self.matches.iter().chain(&self.incumbent)
    }

    /// Fails unless the result won more than half of the points against the weights that play now.
    pub fn check_winner(&self) -> Result<(), InstallError> {
        match &self.incumbent {
            None => Err(InstallError::NotPlayed),
            Some(played) if played.score.ratio() > 0.5 => Ok(()),
            Some(played) => Err(InstallError::Lost {
                opponent: played.opponent.clone(),
                percent: 100.0 * played.score.ratio(),
                games: played.score.games(),
            }),
        }
    }
}

/// Why a result is not installed.
#[derive(Debug, Error)]
pub enum InstallError {
    #[error(
        "not installed: the result scored {percent:.1}% in {games} games against {opponent}; \
         --force installs it anyway"
    )]
    Lost {
        opponent: String,
        percent: f64,
        games: u64,
    },
    #[error(
        "not installed: no closing match against the weights that play now (run.closing_games is \
         0, or it was interrupted); --force installs without"
    )]
    NotPlayed,
    #[error(
        "not installed: the result is options of an engine, not weights; give the engine the \
         lines of best.uci"
    )]
    NotWeights,
    #[error("not installed: {0}")]
    Io(#[from] std::io::Error),
}

/// Installs a result that won its closing match; any result if `force`.
pub fn install(
    outcome: &RunOutcome,
    closing: Option<&Closing>,
    force: bool,
) -> Result<PathBuf, InstallError> {
    let weights = outcome.best.weights().ok_or(InstallError::NotWeights)?;
    if !force {
        closing
            .ok_or(InstallError::NotPlayed)
            .and_then(Closing::check_winner)?;
    }
    Ok(eval::install(weights)?)
}

/// A closing match under way.
pub struct ClosingGames<'a> {
    pub experiment: &'a Experiment,
    pub outcome: &'a RunOutcome,
    pub rivals: Vec<(String, Candidate)>,
    /// The weights that play now.
    pub incumbent: &'a Weights,
    pub folder: &'a RunFolder,
}

impl ClosingGames<'_> {
    /// How many games are played in all.
    pub fn count(&self) -> u64 {
        let games = u64::from(self.experiment.run().closing_games);
        let incumbent = u64::from(self.outcome.best.weights().is_some());
        games * (1 + incumbent + self.rivals.len() as u64)
    }

    /// Plays every opening with both colours; the seed of the run chooses the openings. What
    /// learned from games meets its start and rivals as it learned, everyone else plays with
    /// Finch's search at fixed nodes. The games are kept in the folder. A match interrupted by
    /// `stop` resumes from there, and has no result yet.
    pub fn play(&self, stop: &AtomicBool) -> Result<Option<Closing>, RunError> {
        let run = self.experiment.run();
        if run.closing_games == 0 {
            return Ok(Some(Closing::default()));
        }
        let outcome = self.outcome;
        let by_nodes = GameRules::from(GameLimits::nodes(run.closing_nodes));
        let rules = self
            .experiment
            .game_rules()
            .unwrap_or_else(|| by_nodes.clone());
        let mut players = vec![
            outcome.best.player(RESULT),
            outcome.start.player("its start"),
        ];
        players.extend(self.rivals.iter().map(|(name, rival)| rival.player(name)));
        let Some(matches) = self.gauntlet(GAMES, players, rules, stop)? else {
            return Ok(None);
        };
        let mut incumbent = Vec::new();
        // Options are those of another engine: no weights play now.
        if outcome.best.weights().is_some() {
            let players = vec![
                outcome.best.player(RESULT),
                incumbent_player(self.incumbent),
            ];
            let Some(played) = self.gauntlet(INCUMBENT_GAMES, players, by_nodes, stop)? else {
                return Ok(None);
            };
            incumbent = played;
        }
        let closing = Closing {
            matches,
            incumbent: incumbent.into_iter().next(),
        };
        let lines = closing.all().map(|played| format!("{played}\n"));
        self.folder.write(SCORES, lines.collect::<String>())?;
        Ok(Some(closing))
    }

    /// The first player against each of the others.
    fn gauntlet(
        &self,
        file: &str,
        players: Vec<PlayerConfig>,
        rules: GameRules,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<ClosingMatch>>, RunError> {
        let run = self.experiment.run();
        let name = self.experiment.name();
        let event = format!("{name}, seed {}: closing match", run.seed);
        let tournament = tournament(event, run, players, rules);
        let unusable = |error: &dyn fmt::Display| self.folder.unusable(file, &error.to_string());
        let path = self.folder.path().join(file);
        let mut resumed = GamesFile::resume(&path, &tournament.id());
        // Other weights may have been installed since: the match is played anew.
        if let (Err(GamesFileError::OtherMatch(_)), INCUMBENT_GAMES) = (&resumed, file) {
            std::fs::remove_file(&path).map_err(|error| unusable(&error))?;
            resumed = GamesFile::resume(&path, &tournament.id());
        }
        let (games, finished) = resumed.map_err(|error| unusable(&error))?;
        let crosstable = tournament
            .run(Some(games), finished, &mut NoObserver, stop)
            .map_err(|error| unusable(&error))?
            .crosstable;
        if crosstable.games() < tournament.schedule.games() {
            return Ok(None);
        }
        let scored = |((_, opponent), score): ((usize, usize), MatchScore)| ClosingMatch {
            opponent: tournament.players[opponent].name.clone(),
            score,
        };
        Ok(Some(crosstable.scores().map(scored).collect()))
    }
}

/// Plays any weights against those that play now: what a run does at its end. Interrupted by
/// `stop`, it has no result.
pub fn prove(
    challenger: &Weights,
    incumbent: &Weights,
    settings: &RunSettings,
    stop: &AtomicBool,
) -> Result<Closing, TournamentError> {
    let players = vec![
        PlayerConfig::in_process("challenger", Arc::new(challenger.clone())),
        incumbent_player(incumbent),
    ];
    let opponent = players[1].name.clone();
    let rules = GameRules::from(GameLimits::nodes(settings.closing_nodes));
    let event = "Match before installing".to_owned();
    let tournament = tournament(event, settings, players, rules);
    let result = tournament.run(None, BTreeMap::new(), &mut NoObserver, stop)?;
    let is_complete = result.crosstable.games() == tournament.schedule.games();
    let score = result.crosstable.scores().next();
    let played = score.filter(|_| is_complete && settings.closing_games > 0);
    Ok(Closing {
        matches: Vec::new(),
        incumbent: played.map(|(_, score)| ClosingMatch { opponent, score }),
    })
}

/// The Elo of the best so far against the start, with its 95% error, from games at fixed nodes.
pub fn elo_against_start(
    best: &Candidate,
    start: &Candidate,
    settings: &RunSettings,
) -> Result<(f64, f64), TournamentError> {
    let settings = RunSettings {
        closing_games: settings.elo_games,
        ..settings.clone()
    };
    let players = vec![best.player(RESULT), start.player("its start")];
    let rules = GameRules::from(GameLimits::nodes(settings.closing_nodes));
    let tournament = tournament("Elo by generation".to_owned(), &settings, players, rules);
    // These games are few: an interruption waits for them.
    let stop = AtomicBool::new(false);
    let result = tournament.run(None, BTreeMap::new(), &mut NoObserver, &stop)?;
    let score = result.crosstable.scores().next();
    Ok(score.map_or((0.0, 0.0), |(_, score)| score.bounded_elo()))
}

/// The weights that play now as a player.
fn incumbent_player(incumbent: &Weights) -> PlayerConfig {
    let name = format!("the weights that play now ({})", incumbent.name);
    PlayerConfig::in_process(&name, Arc::new(incumbent.clone()))
}

fn tournament(
    event: String,
    run: &RunSettings,
    players: Vec<PlayerConfig>,
    rules: GameRules,
) -> Tournament {
    let mut openings = openings::embedded();
    openings::shuffle(&mut openings, run.seed);
    Tournament {
        event,
        schedule: Schedule::new(players.len(), Format::Gauntlet, run.closing_games as usize),
        players,
        openings,
        rules,
        concurrency: match run.threads {
            0 => rayon::current_num_threads(),
            threads => threads,
        },
        sprt: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_back_as_they_were_written() {
        let played = ClosingMatch {
            opponent: "the weights that play now (Finch: new)".to_owned(),
            score: MatchScore {
                wins: 6,
                losses: 2,
                ..MatchScore::default()
            },
        };
        let read = ClosingScore::parse(&played.to_string()).unwrap();
        assert_eq!(read.opponent, played.opponent);
        assert_eq!((read.wins, read.draws, read.losses), (6, 0, 2));
        assert_eq!(read.elo, played.score.elo().to_string());
        assert_eq!(ClosingScore::parse("result against itself"), None);
    }
}
