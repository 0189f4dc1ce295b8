//! Players as the command line describes them: a name, an engine, limits of its own.
//!
//! `new.toml` is Finch with those weights, `default` is Finch with the built-in ones. A text with
//! `=` is a list of settings in the style of fastchess:
//! `cmd=stockfish option.UCI_LimitStrength=true option.UCI_Elo=2400 name=SF2400 depth=8`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::engine_player::EnginePlayer;
use super::limits::{GameLimits, TimeControlError, duration};
use super::player::{Fault, FaultKind, Player};
use super::uci_engine::{EngineCommand, EnginePool, UciEngine, find_program, similar_program};
use crate::eval::{Centipawns, Weights, WeightsError, WeightsProblem};
use crate::hash::StableHasher;
use crate::search::full_width::FullWidthSearch;
use crate::search::{EngineError, EngineSettings};
use crate::tablebase::{SyzygySettings, TablebaseError, Tablebases};

#[derive(Clone, Debug)]
pub struct PlayerConfig {
    pub name: String,
    pub kind: PlayerKind,
    /// The player's own limits; empty if those of the match apply.
    pub limits: GameLimits,
}

#[derive(Clone, Debug)]
pub enum PlayerKind {
    /// Finch in this process. Without a hash size in MiB, one that suits the limits is used.
    InProcess {
        weights: Arc<Weights>,
        hash: Option<usize>,
        /// Another contempt than that of UCI.
        contempt: Option<Centipawns>,
        tablebases: Option<Arc<Tablebases>>,
        /// The player is called after its weights; nobody chose a name.
        unnamed: bool,
    },
    Uci(EngineCommand),
    /// An engine that other players may use in other games, with other options.
    Pooled(EngineCommand, Arc<EnginePool>),
}

#[derive(Debug, Error)]
pub enum PlayerConfigError {
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error("{error}; did you mean the engine {program}?")]
    Mistyped {
        error: Box<WeightsError>,
        program: String,
    },
    #[error("player '{player}': a quotation mark is not closed")]
    Quotation { player: String },
    #[error("player '{player}': '{word}' is not a setting such as cmd=, name= or option.Hash=")]
    Word { player: String, word: String },
    #[error("player '{player}': {error}")]
    TimeControl {
        player: String,
        error: TimeControlError,
    },
    #[error("player '{0}': exactly one of cmd= and weights= is needed")]
    NoEngine(String),
    #[error("player '{player}', tb=: {error}")]
    Tablebases {
        player: String,
        error: TablebaseError,
    },
    #[error("player '{player}': {problem}")]
    Unusable { player: String, problem: String },
}

/// How long an engine may take to start, to become ready, or to move without a time limit.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

impl PlayerConfig {
    pub fn in_process(name: &str, weights: Arc<Weights>) -> PlayerConfig {
        PlayerConfig {
            name: name.to_owned(),
            kind: PlayerKind::InProcess {
                weights,
                hash: None,
                contempt: None,
                tablebases: None,
                unnamed: false,
            },
            limits: GameLimits::default(),
        }
    }

    /// A player against others of its kind, for learning: without contempt.
    pub fn self_play(weights: Arc<Weights>) -> PlayerConfig {
        PlayerConfig {
            name: String::new(),
            kind: PlayerKind::InProcess {
                weights,
                hash: None,
                contempt: Some(Centipawns(0)),
                tablebases: None,
                unnamed: false,
            },
            limits: GameLimits::default(),
        }
    }

    pub fn parse(text: &str) -> Result<PlayerConfig, PlayerConfigError> {
        if text.contains('=') && !Path::new(text).exists() {
            Settings::read(text)?.player(text)
        } else {
            let name = Some(text.to_owned());
            let (command, weights) = match is_engine(text) {
                true => (name, None),
                false => (None, name),
            };
            let settings = Settings {
                command,
                weights,
                ..Settings::default()
            };
            settings.player(text)
        }
    }

    /// A player to analyse with: an engine's command, weights, or settings. Other than in
    /// [`PlayerConfig::parse`] a file is a program unless it ends with `.toml`.
    pub fn parse_engine(text: &str) -> Result<PlayerConfig, PlayerConfigError> {
        let path = Path::new(text);
        let is_settings = text.contains('=') && !path.exists();
        let is_file = path.exists() || text.contains(std::path::is_separator);
        let is_weights = path.extension().is_some_and(|ending| ending == "toml");
        if is_settings || !is_file || is_weights {
            return PlayerConfig::parse(text);
        }
        let settings = Settings {
            command: Some(text.to_owned()),
            ..Settings::default()
        };
        settings.player(text)
    }

    /// The name for files that others read, where the name of some weights says too little:
    /// `Finch 0.2.0 (default)`.
    pub fn full_name(&self) -> String {
        match self.kind {
            PlayerKind::InProcess { unnamed: true, .. } => {
                format!("Finch {} ({})", env!("CARGO_PKG_VERSION"), self.name)
            }
            _ => self.name.clone(),
        }
    }

    /// A player that can play games with these limits.
    pub fn create(&self, limits: &GameLimits) -> Box<dyn Player> {
        match &self.kind {
            PlayerKind::Uci(engine) => Box::new(UciEngine::new(engine.clone())),
            PlayerKind::Pooled(engine, pool) => Box::new(pool.take(engine)),
            PlayerKind::InProcess {
                weights,
                hash,
                contempt,
                tablebases,
                ..
            } => {
                let hash = hash.unwrap_or_else(|| limits.hash());
                let created: Result<Box<dyn Player>, EngineError> = match limits.full_width {
                    Some(breadth) => boxed(FullWidthSearch::new(weights.clone(), breadth)),
                    None => boxed(engine_player(weights, hash, *contempt, tablebases)),
                };
                created.unwrap_or_else(|error| Box::new(FailedPlayer(error)))
            }
        }
    }

    /// Starts a UCI engine to see whether it can play with its options.
    pub fn check(&self) -> Result<(), PlayerConfigError> {
        let (PlayerKind::Uci(engine) | PlayerKind::Pooled(engine, _)) = &self.kind else {
            return Ok(());
        };
        let checked = UciEngine::new(engine.clone()).check();
        checked.map_err(|fault| PlayerConfigError::Unusable {
            player: self.name.clone(),
            problem: fault.detail,
        })
    }

    /// Adds everything that decides how this player plays.
    pub fn hash_into(&self, hasher: &mut StableHasher) {
        hasher.write(self.name.as_bytes());
        match &self.kind {
            PlayerKind::InProcess {
                weights,
                hash,
                contempt,
                tablebases,
                ..
            } => {
                hasher.write(b"in process");
                hasher.write_u64(weights.id().0);
                hasher.write_u64(hash.map_or(0, |hash| hash as u64));
                if let Some(Centipawns(contempt)) = contempt {
                    hasher.write(b"contempt");
                    hasher.write_u64(*contempt as u64);
                }
                if let Some(tablebases) = tablebases {
                    hasher.write(tablebases.path().as_encoded_bytes());
                }
            }
            PlayerKind::Uci(engine) | PlayerKind::Pooled(engine, _) => {
                hasher.write(b"uci");
                hasher.write(engine.command.as_bytes());
                hasher.write_u64(engine.arguments.len() as u64);
                for argument in &engine.arguments {
                    hasher.write(argument.as_bytes());
                }
                let directory = engine.directory.as_deref().unwrap_or(Path::new(""));
                hasher.write(directory.as_os_str().as_encoded_bytes());
                for (name, value) in &engine.options {
                    hasher.write(name.as_bytes());
                    hasher.write(value.as_bytes());
                }
            }
        }
        hasher.write(self.limits.to_string().as_bytes());
    }
}

/// Makes names distinct: the second `a` becomes `a-2`.
pub fn distinguish(players: &mut [PlayerConfig]) {
    let mut taken: HashSet<String> = HashSet::new();
    for player in players {
        let plain = player.name.clone();
        let mut number = 2;
        while !taken.insert(player.name.clone()) {
            player.name = format!("{plain}-{number}");
            number += 1;
        }
    }
}

fn engine_player(
    weights: &Arc<Weights>,
    hash_mib: usize,
    contempt: Option<Centipawns>,
    tablebases: &Option<Arc<Tablebases>>,
) -> Result<EnginePlayer, EngineError> {
    EnginePlayer::new(EngineSettings {
        hash_mib,
        contempt: contempt.unwrap_or(EngineSettings::DEFAULT_CONTEMPT),
        syzygy: SyzygySettings {
            tables: tablebases.clone(),
            ..SyzygySettings::default()
        },
        ..EngineSettings::new(weights.clone())?
    })
}

fn boxed<P: Player + 'static>(
    player: Result<P, EngineError>,
) -> Result<Box<dyn Player>, EngineError> {
    player.map(|player| Box::new(player) as Box<dyn Player>)
}

fn stem(path: &str) -> String {
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or(path).to_owned()
}

/// Whether a text names a program rather than weights.
fn is_engine(text: &str) -> bool {
    Weights::built_in(text).is_none() && !Path::new(text).exists() && find_program(text).is_some()
}

fn load(path: &str) -> Result<Arc<Weights>, PlayerConfigError> {
    let mistyped = |error: WeightsError| {
        let hinted = matches!(error.problem, WeightsProblem::Mistyped { .. });
        match similar_program(path).filter(|_| !hinted && !Path::new(path).exists()) {
            Some(program) => PlayerConfigError::Mistyped {
                error: Box::new(error),
                program,
            },
            None => error.into(),
        }
    };
    let weights = Weights::named(Path::new(path)).map_err(mistyped)?;
    Ok(Arc::new(weights))
}

/// A player that could not allocate its memory. It loses its games.
struct FailedPlayer(EngineError);

impl Player for FailedPlayer {
    fn new_game(&mut self, _: &crate::position::Position) -> Result<(), Fault> {
        Err(Fault::new(FaultKind::Disconnect, self.0.to_string()))
    }

    fn think(
        &mut self,
        _: &super::player::GameView<'_>,
        _: &super::limits::MoveLimits,
    ) -> Result<super::player::MoveRecord, Fault> {
        Err(Fault::new(FaultKind::Disconnect, self.0.to_string()))
    }
}

/// The settings of one player, as parsed.
#[derive(Default)]
struct Settings {
    command: Option<String>,
    weights: Option<String>,
    name: Option<String>,
    arguments: Vec<String>,
    directory: Option<PathBuf>,
    options: Vec<(String, String)>,
    timeout: Option<Duration>,
    hash: Option<usize>,
    /// Folders of Syzygy tables.
    tablebases: Option<String>,
    limits: GameLimits,
}

impl Settings {
    fn read(text: &str) -> Result<Settings, PlayerConfigError> {
        let mut settings = Settings::default();
        let words = words(text).ok_or_else(|| PlayerConfigError::Quotation {
            player: text.to_owned(),
        })?;
        for word in words {
            let unknown = || PlayerConfigError::Word {
                player: text.to_owned(),
                word: word.clone(),
            };
            let (key, value) = word.split_once('=').ok_or_else(unknown)?;
            if key == "tc" {
                let clock = value
                    .parse()
                    .map_err(|error| PlayerConfigError::TimeControl {
                        player: text.to_owned(),
                        error,
                    })?;
                settings.limits.time_control = Some(clock);
            } else {
                settings.set(key, value).ok_or_else(unknown)?;
            }
        }
        Ok(settings)
    }

    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "cmd" => self.command = Some(value.to_owned()),
            "weights" => self.weights = Some(value.to_owned()),
            "name" => self.name = Some(value.to_owned()),
            "dir" => self.directory = Some(value.into()),
            "args" => self.arguments = words(value)?,
            "depth" | "plies" => self.limits.depth = Some(positive(value)?),
            "nodes" => self.limits.nodes = Some(positive(value)?),
            "plain" => self.limits.full_width = Some(value.parse().ok()?),
            "st" => self.limits.move_time = Some(duration(value)?),
            "movetime" => {
                self.limits.move_time = Some(Duration::from_millis(positive(value)?));
            }
            "hash" => self.hash = Some(positive(value)?),
            "tb" => self.tablebases = Some(value.to_owned()),
            "timeout" => self.timeout = Some(duration(value)?),
            _ => {
                let name = key.strip_prefix("option.")?;
                self.options.push((name.to_owned(), value.to_owned()));
            }
        }
        Some(())
    }

    fn player(self, text: &str) -> Result<PlayerConfig, PlayerConfigError> {
        let (kind, plain_name) = match (self.command, self.weights) {
            (Some(command), None) => {
                let name = stem(&command);
                let tables = self.tablebases.map(|path| ("SyzygyPath".to_owned(), path));
                let engine = EngineCommand {
                    command,
                    arguments: self.arguments,
                    directory: self.directory,
                    options: self.options.into_iter().chain(tables).collect(),
                    timeout: self.timeout.unwrap_or(DEFAULT_TIMEOUT),
                };
                (PlayerKind::Uci(engine), name)
            }
            (None, Some(path)) => {
                let tablebases = self.tablebases.map(Tablebases::open_all).transpose();
                let tablebases = tablebases.map_err(|error| PlayerConfigError::Tablebases {
                    player: text.to_owned(),
                    error,
                })?;
                let kind = PlayerKind::InProcess {
                    weights: load(&path)?,
                    hash: self.hash,
                    contempt: None,
                    tablebases: tablebases.map(Arc::new),
                    unnamed: self.name.is_none(),
                };
                (kind, stem(&path))
            }
            _ => return Err(PlayerConfigError::NoEngine(text.to_owned())),
        };
        Ok(PlayerConfig {
            name: self.name.unwrap_or(plain_name),
            kind,
            limits: self.limits,
        })
    }
}

fn positive<T: std::str::FromStr + Default + PartialOrd>(text: &str) -> Option<T> {
    text.parse().ok().filter(|number| *number > T::default())
}

/// Splits at spaces outside of quotation marks, which are dropped; `None` when one is left open.
pub(super) fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut begun = false;
    for letter in text.chars() {
        match quote {
            Some(mark) if letter == mark => quote = None,
            Some(_) => word.push(letter),
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                begun = true;
            }
            None if letter.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            None => {
                word.push(letter);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_fastchess_writes_them() {
        let text =
            "cmd=./engine args='-a \"b c\"' 'option.Move Overhead=10' option.Hash=8 tc=3+0.1";
        let player = PlayerConfig::parse(text).unwrap();
        assert_eq!(player.name, "engine");
        assert_eq!(player.limits.tag(), "3+0.1");
        let PlayerKind::Uci(engine) = player.kind else {
            panic!("an engine was asked for");
        };
        assert_eq!(engine.arguments, ["-a", "b c"]);
        let option = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            engine.options,
            [option("Move Overhead", "10"), option("Hash", "8")]
        );
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| PlayerConfig::parse(text).unwrap_err().to_string();
        assert!(error("cmd=a colour=red").contains("colour=red"));
        assert!(error("name=x").contains("cmd="));
        assert!(error("cmd='a").contains("not closed"));
        assert!(error("cmd=a tc=fast").contains("fast"));
        assert!(error("cmd=a depth=0").contains("depth=0"));
    }

    #[test]
    fn equal_names_are_made_distinct() {
        let weights = Arc::new(Weights::default());
        let mut players =
            ["a", "b", "a", "a"].map(|name| PlayerConfig::in_process(name, weights.clone()));
        distinguish(&mut players);
        assert_eq!(players.map(|player| player.name), ["a", "b", "a-2", "a-3"]);
    }
}
