//! Weights as a TOML file.
//!
//! ```toml
//! name = "Finch"
//! network = "finch.net" # optional: a network beside this file, which evaluates instead
//!
//! [provenance]          # free text about where the values come from
//! source = "hand-set"
//!
//! [win_model]           # what the terms' scores mean, see `WinModel`
//! midpoint = 200
//! slope = 80
//!
//! [search]              # search constants that differ from their defaults
//! lmr_base = 90
//!
//! [material]            # one table per family
//! pawn = [82, 104]      # midgame and endgame
//! tempo = 12            # the same in both
//!
//! [pieces]
//! knight_mobility = [-40, [-20, -25], 0, 5, 10, 15, 20, 24, 28]
//! ```
//!
//! A term that the file does not name is zero, so a paper's six numbers make a complete
//! evaluation. A file that names no term at all is refused. Errors name file, line and term.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use thiserror::Error;
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

use super::{TaperedValue, Weights};
use crate::eval::nnue::{Network, NetworkError};
use crate::eval::score::WinModel;
use crate::eval::terms::{Family, TERMS, Term, TermInfo};
use crate::files::{self, write_atomically};
use crate::terminal::printable;

/// Why a weights file is refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{file}{}{}: {problem}", at_line(.line), of_term(.term))]
pub struct WeightsError {
    pub file: String,
    /// Counted from 1; unknown when the file cannot be read at all.
    pub line: Option<usize>,
    pub term: Option<String>,
    pub problem: WeightsProblem,
}

fn at_line(line: &Option<usize>) -> String {
    line.map_or(String::new(), |line| format!(":{line}"))
}

fn of_term(term: &Option<String>) -> String {
    term.as_ref()
        .map_or(String::new(), |term| format!(": {term}"))
}

#[derive(Clone, Debug, Error, PartialEq)]
pub enum WeightsProblem {
    #[error("{0}")]
    Unreadable(String),
    #[error("{problem}; did you mean {name}?")]
    Mistyped { problem: String, name: &'static str },
    #[error("{problem}; built-in weights are {names}")]
    Unknown { problem: String, names: String },
    #[error("{name}: {error}")]
    Network {
        name: String,
        error: Box<NetworkError>,
    },
    #[error("'{0}' is not the name of a file beside this one")]
    NetworkElsewhere(String),
    #[error("not UTF-8 text")]
    NotText,
    #[error("no term is given a weight")]
    Empty,
    #[error("not TOML: {0}")]
    Syntax(String),
    #[error("no such family; the families are {}", family_keys())]
    UnknownFamily,
    #[error("no such term in this family{}", .belongs.map_or(String::new(), |key| format!("; it belongs under [{key}]")))]
    UnknownTerm { belongs: Option<&'static str> },
    #[error("{found} values where the term has {expected}")]
    WrongLength { expected: usize, found: usize },
    #[error("{found} where {expected} is expected")]
    WrongType {
        expected: &'static str,
        found: &'static str,
    },
    #[error("{0} is not a finite number")]
    NotFinite(String),
    #[error("{value} is outside the bounds {low}..={high}")]
    OutOfBounds { value: f64, low: i32, high: i32 },
    #[error("no such key; a win model has midpoint and slope")]
    UnknownWinModelKey,
    #[error("midpoint {midpoint} and slope {slope}: both must be between 1 and 100000")]
    WinModel { midpoint: f64, slope: f64 },
}

fn family_keys() -> String {
    let keys: Vec<_> = Family::ALL.iter().map(|family| family.key()).collect();
    keys.join(", ")
}

impl Weights {
    /// Reads a weights file.
    pub fn load(path: &Path) -> Result<Weights, WeightsError> {
        let file = path.display().to_string();
        let fail = |line, problem| WeightsError {
            file: file.clone(),
            line,
            term: None,
            problem,
        };
        let bytes = files::read_file(path, files::TEXT_LIMIT)
            .map_err(|error| fail(None, WeightsProblem::Unreadable(error.to_string())))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let valid = &bytes[..error.valid_up_to()];
            let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
            fail(Some(line), WeightsProblem::NotText)
        })?;
        Weights::from_toml(text, &file)
    }

    /// Parses the text of a weights file. `file` is its name in errors; the network it may name is
    /// looked for in the same folder.
    pub fn from_toml(text: &str, file: &str) -> Result<Weights, WeightsError> {
        Weights::read(text, file, |name| {
            Network::load(&Path::new(file).with_file_name(name), name)
        })
    }

    /// The same, with another source of networks.
    pub(in crate::eval) fn read(
        text: &str,
        file: &str,
        network: impl Fn(&str) -> Result<Network, NetworkError>,
    ) -> Result<Weights, WeightsError> {
        Reader { text, file }.read(network)
    }

    /// The text of a weights file: every term that is not zero, in the order of the list, each with
    /// its meaning. The first term is always written, because a file must name one.
    pub fn to_toml(&self) -> String {
        let mut text = format!("name = {}\n", quoted(&self.name));
        if let Some(network) = &self.network {
            let _ = writeln!(text, "network = {}", quoted(&network.file));
        }
        if !self.provenance.is_empty() {
            text.push_str("\n[provenance]\n");
            for (key, value) in &self.provenance {
                let _ = writeln!(text, "{} = {}", bare_or_quoted(key), quoted(value));
            }
        }
        if self.terms_win_model != WinModel::default() {
            let WinModel { midpoint, slope } = self.terms_win_model;
            let _ = write!(
                text,
                "\n[win_model]\nmidpoint = {midpoint}\nslope = {slope}\n"
            );
        }
        if !self.search.is_empty() {
            text.push_str("\n[search]\n");
            for (name, value) in &self.search {
                let _ = writeln!(text, "{} = {value}", bare_or_quoted(name));
            }
        }
        let written = |family: &&Family| self.uses(**family) || **family == Family::Material;
        for &family in Family::ALL.iter().filter(written) {
            let _ = write!(
                text,
                "\n# {}\n[{}]\n",
                family.meaning().trim(),
                family.key()
            );
            for info in TERMS.iter().filter(|info| info.family == family) {
                self.write_term(info, &mut text);
            }
        }
        text
    }

    fn write_term(&self, info: &TermInfo, text: &mut String) {
        let values = self.values(info);
        let is_first = info.offset == TERMS[0].offset;
        if !is_first && values.iter().all(|value| *value == TaperedValue::default()) {
            return;
        }
        let _ = writeln!(text, "# {}", info.meaning.trim());
        if let [value] = values[..] {
            let _ = writeln!(text, "{} = {}", info.name, written(value));
            return;
        }
        let _ = writeln!(text, "{} = [", info.name);
        let written: Vec<_> = values.into_iter().map(written).collect();
        let width = written.iter().map(String::len).max().unwrap_or(0);
        for row in written.chunks(row_length(info)) {
            let cells: Vec<_> = row.iter().map(|cell| format!("{cell:>width$}")).collect();
            let _ = writeln!(text, "    {},", cells.join(", "));
        }
        text.push_str("]\n");
    }

    /// Sets the win model and writes it where it belongs: into the file of the network beside
    /// the weights file or, without a network, into the weights file itself.
    pub fn save_win_model(&mut self, path: &Path, model: WinModel) -> std::io::Result<()> {
        match &mut self.network {
            Some(network) => {
                network.header.win_model = model;
                write_atomically(&path.with_file_name(&network.file), network.to_bytes())
            }
            None => {
                self.terms_win_model = model;
                self.save(path)
            }
        }
    }

    /// Writes the file, and beside it the network it names: `best.toml` has `best.net`. The
    /// network comes first, so that the file never names one that is missing.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        let Some(network) = &self.network else {
            return write_atomically(path, self.to_toml());
        };
        let beside = path.with_extension("net");
        write_atomically(&beside, network.to_bytes())?;
        let mut named = self.clone();
        if let (Some(network), Some(name)) = (&mut named.network, beside.file_name()) {
            network.file = name.to_string_lossy().into_owned();
        }
        write_atomically(path, named.to_toml())
    }
}

/// Values per row: tables of squares are written as diagrams, eight files wide or, for the king,
/// four; other tables in even rows.
fn row_length(info: &TermInfo) -> usize {
    match (info.family, info.length) {
        (Family::Squares, 32) => 4,
        (_, length) if length <= 9 => length,
        (_, length) if length % 8 == 0 => 8,
        (_, length) if length % 7 == 0 => 7,
        _ => 5,
    }
}

fn written(value: TaperedValue) -> String {
    if value.midgame == value.endgame {
        format!("{}", value.midgame)
    } else {
        format!("[{}, {}]", value.midgame, value.endgame)
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn bare_or_quoted(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) {
        key.to_owned()
    } else {
        quoted(key)
    }
}

type Entry<'t, 'i> = (&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>);

/// The entries of a table in the order of the file, so that the first error is reported.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
}

impl Reader<'_> {
    fn read(
        &self,
        network: impl Fn(&str) -> Result<Network, NetworkError>,
    ) -> Result<Weights, WeightsError> {
        let document = DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let message = error.message().lines().next().unwrap_or_default();
            let term = self.term_around(span.start);
            self.fail(span, term, WeightsProblem::Syntax(message.to_owned()))
        })?;
        let mut weights = Weights::zero(self.file);
        let mut terms = 0;
        for (key, value) in in_order(document.get_ref()) {
            match key.get_ref().as_ref() {
                "name" => {
                    // It stands in lines of UCI and on terminals: it must not end or steer them.
                    let name = self.word(key.get_ref(), value)?;
                    weights.name = printable(&name).into_owned();
                }
                "network" => {
                    let name = self.word(key.get_ref(), value)?;
                    if Path::new(&name).file_name() != Some(name.as_ref()) {
                        let problem = WeightsProblem::NetworkElsewhere(name);
                        return Err(self.fail(value.span(), Some("network"), problem));
                    }
                    let found = network(&name).map_err(|error| {
                        let error = Box::new(error);
                        let problem = WeightsProblem::Network { name, error };
                        self.fail(value.span(), Some("network"), problem)
                    })?;
                    weights.network = Some(found);
                }
                "provenance" => weights.provenance = self.provenance(value)?,
                "win_model" => weights.terms_win_model = self.win_model(value)?,
                "search" => weights.search = self.search(value)?,
                name => {
                    let family = Family::ALL.iter().find(|family| family.key() == name);
                    let family = *family.ok_or_else(|| {
                        self.fail(key.span(), Some(name), WeightsProblem::UnknownFamily)
                    })?;
                    terms += self.family(family, value, &mut weights)?;
                }
            }
        }
        if terms == 0 {
            return Err(self.fail(0..0, None, WeightsProblem::Empty));
        }
        Ok(weights)
    }

    fn provenance(
        &self,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<(String, String)>, WeightsError> {
        let table = self.table("provenance", value)?;
        let word = |key: &str, value| Ok((key.to_owned(), self.word(key, value)?));
        in_order(table)
            .into_iter()
            .map(|(key, value)| word(key.get_ref(), value))
            .collect()
    }

    fn win_model(&self, value: &Spanned<DeValue<'_>>) -> Result<WinModel, WeightsError> {
        let table = self.table("win_model", value)?;
        let default = WinModel::default();
        let (mut midpoint, mut slope) = (default.midpoint, default.slope);
        for (key, value) in in_order(table) {
            let name = key.get_ref().as_ref();
            match name {
                "midpoint" => midpoint = self.decimal(name, value)?,
                "slope" => slope = self.decimal(name, value)?,
                _ => {
                    let problem = WeightsProblem::UnknownWinModelKey;
                    return Err(self.fail(key.span(), Some(name), problem));
                }
            }
        }
        WinModel::new(midpoint, slope).ok_or_else(|| {
            let problem = WeightsProblem::WinModel { midpoint, slope };
            self.fail(value.span(), Some("win_model"), problem)
        })
    }

    /// The search constants. The search checks their names and ranges.
    fn search(&self, value: &Spanned<DeValue<'_>>) -> Result<BTreeMap<String, i32>, WeightsError> {
        let mut constants = BTreeMap::new();
        for (key, value) in in_order(self.table("search", value)?) {
            let name = key.get_ref();
            let number = match value.get_ref() {
                DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
                _ => None,
            };
            let number = number.ok_or_else(|| {
                let problem = WeightsProblem::WrongType {
                    expected: "a whole number of 32 bits",
                    found: value.get_ref().type_str(),
                };
                self.fail(value.span(), Some(name), problem)
            })?;
            constants.insert(name.to_string(), number);
        }
        Ok(constants)
    }

    /// Reads the table of a family. Returns how many terms it names.
    fn family(
        &self,
        family: Family,
        value: &Spanned<DeValue<'_>>,
        weights: &mut Weights,
    ) -> Result<usize, WeightsError> {
        let table = self.table(family.key(), value)?;
        for (key, value) in in_order(table) {
            let name = key.get_ref();
            let known = TermInfo::named(name);
            let info = known.filter(|info| info.family == family).ok_or_else(|| {
                let belongs = known.map(|info| info.family.key());
                self.fail(
                    key.span(),
                    Some(name),
                    WeightsProblem::UnknownTerm { belongs },
                )
            })?;
            let values = self.values(info, value)?;
            weights.set_all(info, info.terms().zip(values));
        }
        Ok(table.len())
    }

    fn values(
        &self,
        info: &TermInfo,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Vec<TaperedValue>, WeightsError> {
        if info.length == 1 {
            return Ok(vec![self.value(info, value)?]);
        }
        let array = self.array(info, "an array of values", value)?;
        if array.len() != info.length {
            let problem = WeightsProblem::WrongLength {
                expected: info.length,
                found: array.len(),
            };
            return Err(self.fail(value.span(), Some(info.name), problem));
        }
        array.iter().map(|entry| self.value(info, entry)).collect()
    }

    /// A number for both phases, or a pair.
    fn value(
        &self,
        info: &TermInfo,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<TaperedValue, WeightsError> {
        if !value.get_ref().is_array() {
            return Ok(TaperedValue::both(self.number(info, value)?));
        }
        let array = self.array(info, "a number or a pair", value)?;
        let pair: Vec<_> = array.iter().collect();
        let [midgame, endgame] = pair[..] else {
            let problem = WeightsProblem::WrongLength {
                expected: 2,
                found: pair.len(),
            };
            return Err(self.fail(value.span(), Some(info.name), problem));
        };
        Ok(TaperedValue {
            midgame: self.number(info, midgame)?,
            endgame: self.number(info, endgame)?,
        })
    }

    fn number(&self, info: &TermInfo, value: &Spanned<DeValue<'_>>) -> Result<f64, WeightsError> {
        let number = self.decimal(info.name, value)?;
        let (low, high) = (info.low, info.high);
        if number < f64::from(low) || number > f64::from(high) {
            let problem = WeightsProblem::OutOfBounds {
                value: number,
                low,
                high,
            };
            return Err(self.fail(value.span(), Some(info.name), problem));
        }
        Ok(number)
    }

    fn decimal(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Result<f64, WeightsError> {
        let fail = |problem| Err(self.fail(value.span(), Some(name), problem));
        let written = match value.get_ref() {
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            DeValue::Float(float) => float.as_str(),
            other => {
                return fail(WeightsProblem::WrongType {
                    expected: "a decimal number",
                    found: other.type_str(),
                });
            }
        };
        let number: f64 = written.parse().unwrap_or(f64::NAN);
        if !number.is_finite() {
            return fail(WeightsProblem::NotFinite(written.to_owned()));
        }
        Ok(number)
    }

    fn array<'v, 'i>(
        &self,
        info: &TermInfo,
        expected: &'static str,
        value: &'v Spanned<DeValue<'i>>,
    ) -> Result<&'v DeArray<'i>, WeightsError> {
        value.get_ref().as_array().ok_or_else(|| {
            let found = value.get_ref().type_str();
            let problem = WeightsProblem::WrongType { expected, found };
            self.fail(value.span(), Some(info.name), problem)
        })
    }

    fn table<'v, 'i>(
        &self,
        name: &str,
        value: &'v Spanned<DeValue<'i>>,
    ) -> Result<&'v DeTable<'i>, WeightsError> {
        value.get_ref().as_table().ok_or_else(|| {
            let found = value.get_ref().type_str();
            let problem = WeightsProblem::WrongType {
                expected: "a table",
                found,
            };
            self.fail(value.span(), Some(name), problem)
        })
    }

    fn word(&self, name: &str, value: &Spanned<DeValue<'_>>) -> Result<String, WeightsError> {
        let word = value.get_ref().as_str().map(str::to_owned);
        word.ok_or_else(|| {
            let found = value.get_ref().type_str();
            let problem = WeightsProblem::WrongType {
                expected: "a string",
                found,
            };
            self.fail(value.span(), Some(name), problem)
        })
    }

    fn fail(
        &self,
        span: Range<usize>,
        term: Option<&str>,
        problem: WeightsProblem,
    ) -> WeightsError {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        WeightsError {
            file: self.file.to_owned(),
            line: Some(1 + before.iter().filter(|byte| **byte == b'\n').count()),
            term: term.map(str::to_owned),
            problem,
        }
    }

    /// The key whose value most likely contains a syntax error: the last one before it.
    fn term_around(&self, offset: usize) -> Option<&str> {
        let end = self
            .text
            .get(offset..)?
            .find('\n')
            .map_or(self.text.len(), |at| offset + at);
        let line = self
            .text
            .get(..end)?
            .lines()
            .rfind(|line| line.contains('='))?;
        let key = line.split('=').next()?.trim();
        TermInfo::named(key).map(|info| info.name)
    }
}

/// A weight that differs between two files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub term: Term,
    pub left: TaperedValue,
    pub right: TaperedValue,
}

/// All weights that differ, in the order of the list.
pub fn differences(left: &Weights, right: &Weights) -> Vec<Difference> {
    let terms = TERMS.iter().flat_map(TermInfo::terms);
    let compared = terms.map(|term| Difference {
        term,
        left: left.get(term),
        right: right.get(term),
    });
    compared
        .filter(|difference| difference.left != difference.right)
        .collect()
}
