//! A preset: one TOML file that is a whole experiment.
//!
//! Five tables (`[genome]`, `[data]`, `[fitness]`, `[method]`, `[run]`) and, for experiments of
//! papers, `[[reference]]` with the figures printed there. Every key has a default except where a
//! default would be a guess. A key that is unknown or a value that is impossible is an error
//! that names file, line and key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use toml::de::{DeTable, DeValue};

use super::fitness::FitnessSettings;
use super::genome::{Genome, GenomeSettings, TermsGenome};
use super::methods::{MethodSettings, SeedGenes};
use super::settings::{NamedSettings, ReadTable, SettingError, check_range};
use crate::data::Selection;
use crate::eval::Weights;
use crate::files;
use crate::names::did_you_mean;

/// The most threads of a run; 0 stands for as many as the machine has.
pub const MOST_THREADS: usize = 4096;

/// The built-in presets. A new one is a file in `tuning/` and its name here.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../tuning/", $name, ".toml")))),*]
    };
}

const BUILT_IN: &[(&str, &str)] = built_in![
    "vazquez-2011",
    "vazquez-2011-level",
    "vazquez-2013",
    "vazquez-2013-24",
    "vazquez-2013-climb",
    "vazquez-2013-best",
    "david-tabibi-2011",
    "vazquez-2013-coevolution",
    "kendall-2001",
    "kendall-2001-unseeded",
    "kendall-2001-unbounded",
    "nasreddine-2006",
    "moves",
    "player",
    "mentor",
    "texel",
    "network",
    "search",
    "options",
];

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preset {
    pub name: String,
    pub genome: GenomeSettings,
    pub data: Selection,
    pub fitness: FitnessSettings,
    pub method: MethodSettings,
    pub run: RunSettings,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<Reference>,
}

/// The table `[run]`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSettings {
    pub seed: u64,
    pub generations: u64,
    /// 0 is as many as the machine has. The result does not depend on it.
    pub threads: usize,
    /// A checkpoint every so many generations.
    pub checkpoint: u64,
    /// Games of the closing match between the result and the start; 0 plays none.
    pub closing_games: u32,
    /// Nodes a move in the closing match; what learned from games plays as it learned.
    pub closing_nodes: u64,
    /// Every so many generations the best so far plays the start, for a chart of Elo; 0 is never.
    pub elo_every: u64,
    /// Games of each of these matches, at `closing_nodes`.
    pub elo_games: u32,
    /// Others to play the closing match against, by the names of their genes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rivals: BTreeMap<String, SeedGenes>,
    /// Where there is no bar, a line every so many generations; 0 is ten in all.
    pub lines: u64,
    /// The day it began, filled in by the run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub started: String,
}

impl Default for RunSettings {
    fn default() -> RunSettings {
        RunSettings {
            seed: 1,
            generations: 200,
            threads: 0,
            checkpoint: 1,
            closing_games: 100,
            closing_nodes: 2000,
            elo_every: 0,
            elo_games: 40,
            rivals: BTreeMap::new(),
            lines: 0,
            started: String::new(),
        }
    }
}

impl RunSettings {
    /// Fails on the first key whose value is impossible.
    pub fn validate(&self) -> Result<(), SettingError> {
        check_range("generations", self.generations, 1..=10_000_000)?;
        check_range("checkpoint", self.checkpoint, 1..=u64::MAX)?;
        check_range("closing_nodes", self.closing_nodes, 1..=u64::MAX)?;
        check_range("closing_games", self.closing_games, 0..=1_000_000)?;
        check_range("elo_games", self.elo_games, 2..=1_000_000)?;
        check_range("threads", self.threads, 0..=MOST_THREADS)
    }
}

/// What a paper reports, to be printed beside what comes out. Shares are in percent, losses in
/// their own unit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reference {
    pub source: String,
    /// Keys of the preset, dotted, with the values the figures belong to.
    #[serde(skip_serializing_if = "toml::Table::is_empty")]
    pub when: toml::Table,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_first: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_last: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_first: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_last: Option<f64>,
    /// Standard deviation of the last means of several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The built-in weights that hold the paper's evolved player, instead of its values by gene.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub player: String,
    /// Final values by gene, and their standard deviations in the population.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub deviations: BTreeMap<String, f64>,
}

impl Reference {
    /// The paper's evolved player, if its weights are built in.
    pub fn player(&self) -> Option<Weights> {
        Weights::built_in(&self.player)
    }
}

/// Why a preset is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{file}{}{}: {problem}", .line.map_or(String::new(), |line| format!(":{line}")), .key.as_ref().map_or(String::new(), |key| format!(": {key}")))]
pub struct PresetError {
    pub file: String,
    pub line: Option<usize>,
    pub key: Option<String>,
    pub problem: String,
}

/// A preset with the table that is looked at now; the others are read in their own turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<G, F, M> {
    #[serde(default)]
    name: String,
    genome: G,
    #[serde(default)]
    data: Selection,
    fitness: F,
    method: M,
    #[serde(default)]
    run: RunSettings,
    #[serde(default)]
    reference: Vec<Reference>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// The kind of a genome that has gradients, and so is trained rather than evolved.
pub const NETWORK_KIND: &str = "network";

/// A genome without a kind consists of weights of terms.
#[derive(Deserialize)]
struct Kinded {
    #[serde(default = "default_kind")]
    kind: String,
}

fn default_kind() -> String {
    TermsGenome::NAME.to_owned()
}

impl Preset {
    /// The names of the built-in presets, each with the first sentence of its comment.
    pub fn built_in() -> impl Iterator<Item = (&'static str, String)> {
        BUILT_IN.iter().map(|(name, text)| (*name, about(text)))
    }

    /// A built-in preset by name, or a file.
    pub fn load(name: &str) -> Result<Preset, PresetError> {
        let (file, text) = Preset::text(name)?;
        Preset::parse(&text, &file)
    }

    /// The text of a preset and what to call it.
    pub fn text(name: &str) -> Result<(String, String), PresetError> {
        if let Some((name, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return Ok((format!("{name}.toml"), (*text).to_owned()));
        }
        let text = files::read_text(Path::new(name)).map_err(|error| PresetError {
            file: name.to_owned(),
            line: None,
            key: None,
            problem: if Path::new(name).exists() {
                error.to_string()
            } else {
                let known = BUILT_IN.iter().map(|(known, _)| *known);
                let hint = did_you_mean(name, known);
                format!("no such preset or file{hint} (finch tune --list lists the presets)")
            },
        })?;
        Ok((name.to_owned(), text))
    }

    /// The dotted keys of built-in presets that end in this name, such as `run.generations`.
    pub fn keys_named(name: &str) -> BTreeSet<String> {
        let run = toml::Table::try_from(RunSettings::default()).unwrap_or_default();
        let run = run.keys().map(|key| format!("run.{key}"));
        let written = BUILT_IN.iter().flat_map(|(file, text)| {
            let keys = Reader { text, file }.keys().into_iter();
            keys.map(|(_, key)| key)
        });
        let is_named = |key: &String| key.rsplit_once('.').is_some_and(|(_, last)| last == name);
        run.chain(written).filter(is_named).collect()
    }

    pub fn parse(text: &str, file: &str) -> Result<Preset, PresetError> {
        let reader = Reader { text, file };
        let preset = reader.preset()?;
        match preset.validate() {
            Err(error) => Err(reader.refuse(&error.key, error.problem)),
            Ok(()) => Ok(preset),
        }
    }

    /// The same preset with some keys set to other values, each written as TOML or as a bare word.
    pub fn parse_with(
        text: &str,
        file: &str,
        changes: &[(String, String)],
    ) -> Result<Preset, PresetError> {
        with_changes(text, file, changes, Preset::parse)
    }

    /// What the paper reports of this very experiment, if it does.
    pub fn reference(&self) -> Option<&Reference> {
        let own = toml::Table::try_from(self).ok()?;
        let belongs = |reference: &&Reference| {
            let mut wanted = reference.when.iter();
            wanted.all(|(key, value)| get(&own, key).is_some_and(|own| is_same(own, value)))
        };
        self.reference.iter().find(belongs)
    }

    /// The values that the paper prints, by gene; empty if it prints none.
    pub fn paper_values(&self) -> BTreeMap<String, f64> {
        let Some(reference) = self.reference() else {
            return BTreeMap::new();
        };
        let player = reference.player();
        let (Some(player), Ok(genome)) = (player, self.genome.draft()) else {
            return reference.weights.clone();
        };
        let names = genome.genes.iter().map(|gene| gene.name.clone());
        names.zip(genome.printed_genes_of(&player)).collect()
    }

    /// Whether the fitness of an individual is a measure. It is not where a method compares
    /// neighbours by games and keeps one of neither.
    pub fn measures_fitness(&self) -> bool {
        let method = &self.method;
        let by_games = self.fitness.game_rules().is_some();
        !by_games || method.selects_by_games() || !method.can_select_by_games()
    }

    /// The text of a file that gives this preset again.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Fails on the first key whose value is impossible.
    fn validate(&self) -> Result<(), SettingError> {
        self.run.validate().map_err(|error| error.in_table("run"))?;
        if !(0.0..1.0).contains(&self.data.validation_share) {
            return Err(SettingError::new(
                "data.validation_share",
                "must be at least 0 and below 1",
            ));
        }
        for (key, date) in [("data.from", &self.data.from), ("data.to", &self.data.to)] {
            if !date.is_valid() {
                return Err(SettingError::new(
                    key,
                    "not a date such as 1999.02.21 or 1999",
                ));
            }
        }
        let method = self.method.validate();
        method.map_err(|error| error.in_table("method"))?;
        let fitness = self.fitness.validate();
        fitness.map_err(|error| error.in_table("fitness"))?;
        self.validate_together()?;
        let genome = self.genome.draft();
        self.validate_for(&genome.map_err(|error| error.in_table("genome"))?)
    }

    /// Fails on tables that are possible by themselves but not together.
    fn validate_together(&self) -> Result<(), SettingError> {
        let refuse = |key: &str, problem: &str| Err(SettingError::new(key, problem));
        let has_games = self.fitness.game_rules().is_some();
        if self.method.selects_by_games() {
            if !has_games {
                return refuse("method.name", "selects by games: fitness must be games");
            }
        } else if !self.fitness.scores_individuals() && !self.method.can_select_by_games() {
            let problem = "missing: this method measures individuals by a score against someone";
            return refuse("fitness.opponent", problem);
        }
        if self.method.needs_gradient() && !self.fitness.has_gradient() {
            return refuse("method.name", "needs a gradient, and this fitness has none");
        }
        if !has_games && !self.genome.sets_terms() {
            return refuse("genome.kind", "only for fitness games");
        }
        if !has_games && self.genome.unit() != 1.0 {
            return refuse("genome.unit", "only for fitness games");
        }
        Ok(())
    }

    /// Fails on names of genes that are not in the genome.
    fn validate_for(&self, genome: &Genome) -> Result<(), SettingError> {
        let unknown =
            |reference: &&Reference| !reference.player.is_empty() && reference.player().is_none();
        if let Some(reference) = self.reference.iter().find(unknown) {
            let problem = format!("no built-in weights {}", reference.player);
            return Err(SettingError::new("reference.player", problem));
        }
        let method = self.method.validate_for(genome);
        method.map_err(|error| error.in_table("method"))?;
        for (name, genes) in &self.run.rivals {
            let unknown = |problem| SettingError::new(format!("run.rivals.{name}"), problem);
            genome.genes_named(genes).map_err(unknown)?;
        }
        Ok(())
    }
}

/// The first sentence of the comment that a preset begins with.
fn about(text: &str) -> String {
    let comment = text.lines().map_while(|line| line.strip_prefix('#'));
    let words: Vec<&str> = comment.flat_map(str::split_whitespace).collect();
    let text = words.join(" ");
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text[..end].to_owned()
}

/// Parses a text in which some keys are set to other values. An error names the change at fault.
pub fn with_changes<T>(
    text: &str,
    file: &str,
    changes: &[(String, String)],
    parse: impl Fn(&str, &str) -> Result<T, PresetError>,
) -> Result<T, PresetError> {
    let original = parse(text, file);
    if changes.is_empty() {
        return original;
    }
    // What is missing from the file may be among the changes. Without a table there is no place for them.
    let Ok(mut table) = text.parse::<toml::Table>() else {
        return original;
    };
    for (key, value) in changes {
        let parsed = format!("value = {value}").parse::<toml::Table>().ok();
        let parsed = parsed.and_then(|mut table| table.remove("value"));
        let parsed = parsed.unwrap_or_else(|| toml::Value::String(value.clone()));
        put(&mut table, key, parsed).ok_or_else(|| PresetError {
            file: format!("{key}={value}"),
            line: None,
            key: None,
            problem: format!("not a key of a preset{}", key_hint(text, file, key)),
        })?;
    }
    // Checked together: one change may be possible only with another.
    parse(&table.to_string(), file).map_err(|error| match original {
        Err(unchanged) if unchanged.key == error.key => unchanged,
        _ => PresetError {
            file: blamed(changes, error.key.as_deref()),
            line: None,
            ..error
        },
    })
}

/// The key of the text that a key without its table probably stands for.
fn key_hint(text: &str, file: &str, key: &str) -> String {
    let keys = Reader { text, file }.keys();
    let full = keys.iter().find(|(_, full)| {
        let last = full.rsplit_once('.').map(|(_, last)| last);
        last == Some(key)
    });
    match full {
        Some((_, full)) => format!("; did you mean {full}?"),
        None => did_you_mean(key, keys.iter().map(|(_, key)| key.as_str())),
    }
}

/// Where serde lists the names that it knows, adds the one that was probably meant.
fn with_suggestion(message: String) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    match names.next() {
        Some(typed) if message.starts_with("unknown ") => {
            let hint = did_you_mean(typed, names);
            message.clone() + &hint
        }
        _ => message,
    }
}

/// The change that a complaint about this key is about, or all of them if it could be any.
fn blamed(changes: &[(String, String)], key: Option<&str>) -> String {
    let written = |(key, value): &(String, String)| format!("{key}={value}");
    let guilty = changes.iter().rfind(|change| key == Some(&change.0));
    guilty.map_or_else(
        || changes.iter().map(written).collect::<Vec<_>>().join(" "),
        written,
    )
}

/// The value of a dotted key.
fn get<'t>(table: &'t toml::Table, key: &str) -> Option<&'t toml::Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((first, rest)) => get(table.get(first)?.as_table()?, rest),
    }
}

/// Equal, be a number written with a point or without.
fn is_same(one: &toml::Value, other: &toml::Value) -> bool {
    let number = |value: &toml::Value| {
        let whole = value.as_integer().map(|whole| whole as f64);
        whole.or(value.as_float())
    };
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Sets a dotted key, making tables on the way.
fn put(table: &mut toml::Table, key: &str, value: toml::Value) -> Option<()> {
    let (path, last) = key.rsplit_once('.')?;
    let mut place = table;
    for part in path.split('.') {
        let entry = place.entry(part);
        place = entry
            .or_insert_with(|| toml::Table::new().into())
            .as_table_mut()?;
    }
    place.insert(last.to_owned(), value);
    Some(())
}

/// Reads a preset and finds the lines of its keys for errors.
pub struct Reader<'a> {
    text: &'a str,
    file: &'a str,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str, file: &'a str) -> Reader<'a> {
        Reader { text, file }
    }

    fn preset(&self) -> Result<Preset, PresetError> {
        let kinds: Document<Kinded, Named, Named> = self.document()?;
        let kind = &kinds.genome.kind;
        let genome = GenomeSettings::read(kind, &GenomeTable(self)).unwrap_or_else(|| {
            let known = [GenomeSettings::NAMES, &[NETWORK_KIND]].concat();
            Err(self.unknown("genome.kind", kind, &known))
        })?;
        let name = &kinds.method.name;
        let method = MethodSettings::read(name, &MethodTable(self))
            .unwrap_or_else(|| Err(self.unknown("method.name", name, MethodSettings::NAMES)))?;
        let name = &kinds.fitness.name;
        let fitness = FitnessSettings::read(name, &FitnessTable(self))
            .unwrap_or_else(|| Err(self.unknown("fitness.name", name, FitnessSettings::NAMES)))?;
        let stem = Path::new(self.file).file_stem();
        let stem = stem.map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Preset {
            name: match kinds.name.as_str() {
                "" => stem,
                name => name.to_owned(),
            },
            genome,
            data: kinds.data,
            fitness,
            method,
            run: kinds.run,
            reference: kinds.reference,
        })
    }

    pub fn document<D: DeserializeOwned>(&self) -> Result<D, PresetError> {
        toml::from_str(self.text).map_err(|error| {
            let place = error.span().map(|span| span.start.min(self.text.len()));
            let message = error.message().lines().collect::<Vec<_>>().join(" ");
            PresetError {
                file: self.file.to_owned(),
                line: place.map(|place| self.line_at(place)),
                key: place.and_then(|place| self.key_at(place)),
                problem: with_suggestion(message),
            }
        })
    }

    fn unknown(&self, key: &str, found: &str, known: &[&str]) -> PresetError {
        let hint = did_you_mean(found, known.iter().copied());
        self.refuse(
            key,
            format!("no {found}; there are {}{hint}", known.join(", ")),
        )
    }

    pub fn refuse(&self, key: &str, problem: String) -> PresetError {
        PresetError {
            file: self.file.to_owned(),
            line: self.line_of(key),
            key: Some(key.to_owned()),
            problem,
        }
    }

    /// Every dotted key with its place in the text, in the order of the text; as far as it can be
    /// read if the text is not TOML.
    fn keys(&self) -> Vec<(usize, String)> {
        let (document, _) = DeTable::parse_recoverable(self.text);
        let mut keys = Vec::new();
        collect_keys(document.get_ref(), "", &mut keys);
        keys.sort();
        keys
    }

    /// The last key that starts at a place or before it.
    fn key_at(&self, place: usize) -> Option<String> {
        let keys = self.keys().into_iter();
        let before = keys.take_while(|(start, _)| *start <= place);
        before.last().map(|(_, key)| key)
    }

    /// The line of a key; if it is not written, that of the closest table around it.
    fn line_of(&self, key: &str) -> Option<usize> {
        let keys = self.keys();
        let mut wanted = key;
        loop {
            if let Some((place, _)) = keys.iter().find(|(_, key)| key == wanted) {
                return Some(self.line_at(*place));
            }
            wanted = wanted.rsplit_once('.')?.0;
        }
    }

    fn line_at(&self, place: usize) -> usize {
        1 + self.text[..place].matches('\n').count()
    }
}

/// Adds the dotted keys of a table and of the tables in it.
fn collect_keys(table: &DeTable<'_>, path: &str, keys: &mut Vec<(usize, String)>) {
    for (key, value) in table {
        let dotted = match path {
            "" => key.get_ref().to_string(),
            path => format!("{path}.{}", key.get_ref()),
        };
        match value.get_ref() {
            DeValue::Table(table) => collect_keys(table, &dotted, keys),
            DeValue::Array(array) => {
                for value in array.iter() {
                    if let DeValue::Table(table) = value.get_ref() {
                        collect_keys(table, &dotted, keys);
                    }
                }
            }
            _ => {}
        }
        keys.push((key.span().start, dotted));
    }
}

/// The table `[genome]` of a preset.
struct GenomeTable<'a>(&'a Reader<'a>);

impl ReadTable for GenomeTable<'_> {
    type Error = PresetError;

    fn read<T: DeserializeOwned>(&self) -> Result<T, PresetError> {
        let document: Document<T, IgnoredAny, IgnoredAny> = self.0.document()?;
        Ok(document.genome)
    }
}

/// The table `[method]` of a preset.
struct MethodTable<'a>(&'a Reader<'a>);

impl ReadTable for MethodTable<'_> {
    type Error = PresetError;

    fn read<T: DeserializeOwned>(&self) -> Result<T, PresetError> {
        let document: Document<IgnoredAny, IgnoredAny, T> = self.0.document()?;
        Ok(document.method)
    }
}

/// The table `[fitness]` of a preset.
struct FitnessTable<'a>(&'a Reader<'a>);

impl ReadTable for FitnessTable<'_> {
    type Error = PresetError;

    fn read<T: DeserializeOwned>(&self) -> Result<T, PresetError> {
        let document: Document<IgnoredAny, T, IgnoredAny> = self.0.document()?;
        Ok(document.fitness)
    }
}
