//! Genome `options`: spin options of any UCI engine. The result is a table of options, and the
//! commands that set them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::candidate::{EngineOptions, OptionValue};
use super::{Decoder, Gene, Genome, GenomeConfig, InitialPopulation};
use super::{check_start, rounded, whole_gene};
use crate::play::uci_engine::{DeclaredOption, OptionKind};
use crate::play::{EngineCommand, UciEngine};
use crate::tune::settings::{NamedSettings, SettingError};

/// The table `[genome]` of a preset that says `kind = "options"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptionsGenome {
    pub kind: String,
    /// The command that starts the engine, with its arguments.
    pub engine: String,
    pub start: InitialPopulation,
    /// Start the engine again for other options. Without it games begin sooner, but many engines
    /// take up options only when they start, or keep scores that were made with other ones.
    pub restart: bool,
    /// Options by name: a number, a word or true and false is fixed, a table is free.
    pub options: BTreeMap<String, EngineOptionSettings>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "a number, a text, true or false (fixed), or a table of low, high, start and step (free)"
)]
pub enum EngineOptionSettings {
    Fixed(OptionValue),
    Free(FreeOption),
}

/// Bounds that a preset does not give are those the engine declares; so is the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct FreeOption {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    /// By how much to change it to see a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
}

impl Default for OptionsGenome {
    fn default() -> OptionsGenome {
        OptionsGenome {
            kind: Self::NAME.to_owned(),
            engine: String::new(),
            start: InitialPopulation::Base,
            restart: true,
            options: BTreeMap::new(),
        }
    }
}

impl NamedSettings for OptionsGenome {
    const NAME: &'static str = "options";
}

impl GenomeConfig for OptionsGenome {
    fn draft(&self) -> Result<Genome, SettingError> {
        self.command()?;
        let unknown = |_: &str| Some([i64::from(i32::MIN), i64::from(i32::MAX), 0]);
        self.genome(unknown)
    }

    /// Starts the engine and compares the table with the options it declares.
    fn build(&self) -> Result<Genome, SettingError> {
        let mut engine = UciEngine::new(self.command()?);
        let started = engine.start();
        started.map_err(|fault| SettingError::new("engine", fault.detail))?;
        let (name, declared) = (engine.name(), engine.declared_options());
        for (option, settings) in &self.options {
            check_option(name, declared, option, settings)
                .map_err(|problem| SettingError::new(format!("options.{option}"), problem))?;
        }
        let genome = self.genome(|name| find(declared, name)?.spin())?;
        for (gene, start) in genome.genes.iter().zip(&genome.base_genes) {
            check_start(gene, *start)
                .map_err(|problem| SettingError::new(format!("options.{}", gene.name), problem))?;
        }
        Ok(genome)
    }

    fn makes_weights(&self) -> bool {
        false
    }

    fn engine(&self) -> Option<&str> {
        Some(&self.engine)
    }
}

impl OptionsGenome {
    fn command(&self) -> Result<EngineCommand, SettingError> {
        let missing = || SettingError::new("engine", "no command to start an engine");
        EngineCommand::parse(&self.engine).ok_or_else(missing)
    }

    /// The genome, given the least and the greatest value of an option and its default.
    fn genome(&self, spin: impl Fn(&str) -> Option<[i64; 3]>) -> Result<Genome, SettingError> {
        let mut genes = Vec::new();
        let mut base_genes = Vec::new();
        let mut fixed = BTreeMap::new();
        for (name, settings) in &self.options {
            let fail = |problem| SettingError::new(format!("options.{name}"), problem);
            match settings {
                EngineOptionSettings::Fixed(value) => {
                    fixed.insert(name.clone(), value.clone());
                }
                EngineOptionSettings::Free(free) => {
                    let found = spin(name).ok_or_else(|| fail("not a number".to_owned()))?;
                    let [least, greatest, default] = found;
                    let bounds = [free.low.unwrap_or(least), free.high.unwrap_or(greatest)];
                    let gene = whole_gene(name, bounds, [least, greatest], free.step);
                    genes.push(gene.map_err(fail)?);
                    base_genes.push(free.start.unwrap_or(default) as f64);
                }
            }
        }
        if genes.is_empty() {
            let problem = "no option is free: give one as a table, { low = 0, high = 100 } or {}";
            return Err(SettingError::new("options", problem));
        }
        Ok(Genome {
            genes,
            start: self.start,
            base_genes,
            decoder: Decoder::Options(OptionDecoder {
                engine: self.engine.clone(),
                restart: self.restart,
                fixed,
            }),
        })
    }
}

/// The declared option of this name, in any case.
fn find<'d>(declared: &'d [DeclaredOption], name: &str) -> Option<&'d DeclaredOption> {
    let mut declared = declared.iter();
    declared.find(|option| option.name.eq_ignore_ascii_case(name))
}

/// Fails if the engine has no such option, or if it cannot have that value.
fn check_option(
    engine: &str,
    declared: &[DeclaredOption],
    name: &str,
    settings: &EngineOptionSettings,
) -> Result<(), String> {
    let option = find(declared, name).ok_or_else(|| format!("{engine} has no option '{name}'"))?;
    match (settings, &option.kind) {
        (EngineOptionSettings::Free(_), OptionKind::Spin { .. }) => Ok(()),
        (EngineOptionSettings::Free(_), _) => Err(format!(
            "{engine} declares it as something other than a number, so it cannot be free"
        )),
        (EngineOptionSettings::Fixed(value), kind) => {
            let refused = || Err(format!("{value} is not possible: {engine} takes {kind}"));
            match kind.accepts(&value.to_string()) {
                true => Ok(()),
                false => refused(),
            }
        }
    }
}

/// How genes become options.
pub(super) struct OptionDecoder {
    engine: String,
    pub restart: bool,
    fixed: BTreeMap<String, OptionValue>,
}

impl OptionDecoder {
    pub fn options(&self, genes: &[Gene], values: &[f64]) -> EngineOptions {
        let free = genes.iter().zip(values).map(|(gene, value)| {
            let value = OptionValue::Spin(rounded(gene, *value));
            (gene.name.clone(), value)
        });
        EngineOptions {
            name: String::new(),
            engine: self.engine.clone(),
            provenance: BTreeMap::new(),
            options: self.fixed.clone().into_iter().chain(free).collect(),
        }
    }
}
