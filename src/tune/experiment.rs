//! An experiment of either kind: weights that evolve, or a network that is trained. Both are
//! presets of five tables, and both become the same kind of run.

use std::path::PathBuf;

use super::network::TrainingPreset;
use super::preset::{NETWORK_KIND, Preset, PresetError, Reference, RunSettings, with_changes};
use crate::play::GameRules;

#[derive(Clone, Debug, PartialEq)]
pub enum Experiment {
    Evolution(Box<Preset>),
    /// A preset whose `[genome]` says `kind = "network"`.
    Training(Box<TrainingPreset>),
}

impl Experiment {
    /// A built-in preset by name, or a file.
    pub fn load(name: &str) -> Result<Experiment, PresetError> {
        let (file, text) = Preset::text(name)?;
        Experiment::parse(&text, &file)
    }

    pub fn parse(text: &str, file: &str) -> Result<Experiment, PresetError> {
        let table: toml::Table = text.parse().unwrap_or_default();
        let kind = table.get("genome").and_then(|genome| genome.get("kind"));
        if kind.and_then(toml::Value::as_str) == Some(NETWORK_KIND) {
            let preset = TrainingPreset::parse(text, file)?;
            return Ok(Experiment::Training(Box::new(preset)));
        }
        if table.contains_key("labels") && table.contains_key("steps") {
            return Err(PresetError {
                file: file.to_owned(),
                line: None,
                key: None,
                problem: "a training run of Finch 0.1, which cannot be resumed; start again with \
                          finch train LABELS --out DIR"
                    .to_owned(),
            });
        }
        Ok(Experiment::Evolution(Box::new(Preset::parse(text, file)?)))
    }

    /// The same with some keys set to other values, each written as TOML or as a bare word.
    pub fn parse_with(
        text: &str,
        file: &str,
        changes: &[(String, String)],
    ) -> Result<Experiment, PresetError> {
        with_changes(text, file, changes, Experiment::parse)
    }

    pub fn name(&self) -> &str {
        match self {
            Experiment::Evolution(preset) => &preset.name,
            Experiment::Training(preset) => &preset.name,
        }
    }

    pub fn run(&self) -> &RunSettings {
        match self {
            Experiment::Evolution(preset) => &preset.run,
            Experiment::Training(preset) => &preset.run,
        }
    }

    pub fn run_mut(&mut self) -> &mut RunSettings {
        match self {
            Experiment::Evolution(preset) => &mut preset.run,
            Experiment::Training(preset) => &mut preset.run,
        }
    }

    /// Learns from these files instead of the preset's.
    pub fn set_data(&mut self, files: &[PathBuf]) {
        let names = files.iter().map(|path| path.display().to_string());
        match self {
            Experiment::Evolution(preset) => preset.data.games = names.collect(),
            Experiment::Training(preset) => preset.data.labels = files.to_owned(),
        }
    }

    /// The figures of a paper that belong to this experiment.
    pub fn reference(&self) -> Option<&Reference> {
        match self {
            Experiment::Evolution(preset) => preset.reference(),
            Experiment::Training(_) => None,
        }
    }

    /// How the games are played that it learns from, if it learns from games.
    pub fn game_rules(&self) -> Option<GameRules> {
        match self {
            Experiment::Evolution(preset) => preset.fitness.game_rules(),
            Experiment::Training(_) => None,
        }
    }

    /// Whether its result is weights, which can be installed.
    pub fn makes_weights(&self) -> bool {
        match self {
            Experiment::Evolution(preset) => preset.genome.makes_weights(),
            Experiment::Training(_) => true,
        }
    }

    /// The command of another engine that it starts. A preset may come from anywhere: whoever runs
    /// it says so first.
    pub fn engine(&self) -> Option<&str> {
        match self {
            Experiment::Evolution(preset) => preset.genome.engine(),
            Experiment::Training(_) => None,
        }
    }

    /// The text of a file that gives this experiment again.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        match self {
            Experiment::Evolution(preset) => preset.to_toml(),
            Experiment::Training(preset) => toml::to_string(preset),
        }
    }
}
