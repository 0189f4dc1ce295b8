//! An individual as a player, and the result of a run: weights, or the options of an engine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::eval::{Weights, WeightsError};
use crate::files::{self, write_atomically};
use crate::play::EngineCommand;
use crate::play::player_config::{PlayerConfig, PlayerKind};

#[derive(Clone, Debug, PartialEq)]
pub enum Candidate {
    Weights(Weights),
    Options(EngineOptions),
}

/// Values for the options of an engine, as in a file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EngineOptions {
    #[serde(default)]
    pub name: String,
    /// The command that starts the engine, with its arguments.
    pub engine: String,
    #[serde(default)]
    pub provenance: BTreeMap<String, String>,
    pub options: BTreeMap<String, OptionValue>,
}

/// The value of an option; buttons have none.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum OptionValue {
    Spin(i64),
    Check(bool),
    Text(String),
}

impl std::fmt::Display for OptionValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OptionValue::Spin(value) => write!(f, "{value}"),
            OptionValue::Check(value) => write!(f, "{value}"),
            OptionValue::Text(value) => f.write_str(value),
        }
    }
}

/// Why a saved candidate cannot be read.
#[derive(Debug, Error)]
pub enum CandidateError {
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error("{file}: {problem}")]
    Options { file: String, problem: String },
}

impl Candidate {
    pub fn weights(&self) -> Option<&Weights> {
        match self {
            Candidate::Weights(weights) => Some(weights),
            Candidate::Options(_) => None,
        }
    }

    /// A player in matches of this process.
    pub fn player(&self, name: &str) -> PlayerConfig {
        match self {
            Candidate::Weights(weights) => {
                PlayerConfig::in_process(name, Arc::new(weights.clone()))
            }
            Candidate::Options(options) => PlayerConfig {
                name: name.to_owned(),
                kind: PlayerKind::Uci(options.command()),
                limits: Default::default(),
            },
        }
    }

    /// Names the candidate and says where it comes from.
    pub fn set_origin(&mut self, name: String, provenance: Vec<(String, String)>) {
        match self {
            Candidate::Weights(weights) => {
                weights.name = name;
                weights.provenance = provenance;
            }
            Candidate::Options(options) => {
                options.name = name;
                options.provenance = provenance.into_iter().collect();
            }
        }
    }

    /// Writes the file; beside weights their network, beside options the commands that set them.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        match self {
            Candidate::Weights(weights) => weights.save(path),
            Candidate::Options(options) => {
                write_atomically(&path.with_extension("uci"), options.commands())?;
                let text = toml::to_string(options).map_err(std::io::Error::other)?;
                write_atomically(path, text)
            }
        }
    }

    /// Reads a file of either kind.
    pub fn load(path: &Path) -> Result<Candidate, CandidateError> {
        let text = files::read_text(path).unwrap_or_default();
        let table: toml::Table = text.parse().unwrap_or_default();
        if !table.contains_key("options") {
            return Ok(Candidate::Weights(Weights::load(path)?));
        }
        let options = toml::from_str(&text).map_err(|error| CandidateError::Options {
            file: path.display().to_string(),
            problem: error.message().to_owned(),
        })?;
        Ok(Candidate::Options(options))
    }
}

impl EngineOptions {
    /// How to start the engine with these options.
    pub fn command(&self) -> EngineCommand {
        let option = |(name, value): (&String, &OptionValue)| (name.clone(), value.to_string());
        EngineCommand {
            options: self.options.iter().map(option).collect(),
            ..EngineCommand::parse(&self.engine).unwrap_or_default()
        }
    }

    /// The UCI commands that set the options, a line each.
    pub fn commands(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.options {
            let _ = writeln!(text, "setoption name {name} value {value}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_saved_as_a_table_and_as_commands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("best.toml");
        let options = EngineOptions {
            name: "tuned".to_owned(),
            engine: "engine -x".to_owned(),
            provenance: BTreeMap::from([("seed".to_owned(), "1".to_owned())]),
            options: BTreeMap::from([
                ("King Safety".to_owned(), OptionValue::Spin(-7)),
                ("Ponder".to_owned(), OptionValue::Check(false)),
            ]),
        };
        let saved = Candidate::Options(options.clone());
        saved.save(&path).unwrap();
        assert_eq!(Candidate::load(&path).unwrap(), saved);
        let commands = std::fs::read_to_string(folder.path().join("best.uci")).unwrap();
        assert_eq!(
            commands,
            "setoption name King Safety value -7\nsetoption name Ponder value false\n"
        );
        let command = options.command();
        assert_eq!(command.arguments, ["-x"]);
        std::fs::write(&path, "[options]\nengine = 3\n").unwrap();
        assert!(Candidate::load(&path).is_err());
    }
}
