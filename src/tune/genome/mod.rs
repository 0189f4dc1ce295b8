//! The genome: what is tuned, and how a vector of genes becomes a player.
//!
//! A gene is a real number within bounds. What plays is rounded exactly as its file is, so an
//! individual plays as it is saved. A preset says what its genes are by `[genome] kind`:
//!
//! - `terms`: weights of the evaluation's terms, the default
//! - `search`: constants of the search
//! - `network-output`: output biases and scales of a network, or its output layer
//! - `options`: options of any UCI engine
//!
//! A [`Candidate`] is an individual as a player, and the result of a run. A new kind is a file in
//! this folder, a line in [`GenomeSettings`] and a `Decoder`. `kind = "network"`, all weights of
//! a network, has gradients and is trained by [`network`](super::network).

mod candidate;
mod network_output;
mod options;
mod search;
mod terms;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::settings::{SettingError, settings_list};
use crate::eval::{Family, PackedScore, Term, Weights};

pub use candidate::{Candidate, CandidateError, EngineOptions, OptionValue};
pub use network_output::{NetworkOutputGenome, OutputPart};
pub use options::{EngineOptionSettings, FreeOption, OptionsGenome};
pub use search::{ParamSettings, SearchGenome};
pub use terms::{ColumnValues, FreeSettings, GeneColumn, TermsGenome, WeightSettings};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InitialPopulation {
    /// Uniform within each gene's bounds, or within its `start` if given.
    #[default]
    Random,
    /// Around the values of the base: one individual is the base itself, the others are mutants.
    Base,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Gene {
    pub name: String,
    pub low: f64,
    pub high: f64,
    /// The widest bounds possible; dynamic boundaries stop here.
    pub floor: f64,
    pub ceiling: f64,
    /// Interval of the random start.
    pub start: [f64; 2],
    /// By how much to change it to see a difference, if that is known.
    pub step: Option<f64>,
    /// Values this close may play the same: 1 for whole numbers.
    pub resolution: f64,
}

impl Gene {
    pub fn range(&self) -> f64 {
        self.high - self.low
    }
}

/// The table `[genome]` of one kind.
pub trait GenomeConfig {
    /// The genome as the table alone describes it. Its genes have their names; a base or bounds
    /// that files or engines know may be missing.
    fn draft(&self) -> Result<Genome, SettingError>;

    /// The genome, once its base is read and its engine is asked.
    fn build(&self) -> Result<Genome, SettingError>;

    /// Whether genes are weights of terms. A fitness on positions needs that.
    fn sets_terms(&self) -> bool {
        false
    }

    /// Centipawns in a unit of a gene.
    fn unit(&self) -> f64 {
        1.0
    }

    /// Whether individuals are weights, which can be installed.
    fn makes_weights(&self) -> bool {
        true
    }

    /// The command of an engine that building it starts.
    fn engine(&self) -> Option<&str> {
        None
    }
}

settings_list! {
    /// The table `[genome]`. A new kind is a file in this folder and a line here.
    pub enum GenomeSettings: GenomeConfig {
        Terms(TermsGenome),
        Search(SearchGenome),
        NetworkOutput(NetworkOutputGenome),
        Options(OptionsGenome),
    }
}

/// How genes become a candidate.
enum Decoder {
    Terms(terms::TermDecoder),
    Search(search::SearchDecoder),
    NetworkOutput(network_output::OutputDecoder),
    Options(options::OptionDecoder),
}

pub struct Genome {
    pub genes: Vec<Gene>,
    pub start: InitialPopulation,
    base_genes: Vec<f64>,
    decoder: Decoder,
}

impl Genome {
    /// The individual as a player.
    pub fn candidate(&self, values: &[f64]) -> Candidate {
        match &self.decoder {
            Decoder::Options(decoder) => Candidate::Options(decoder.options(&self.genes, values)),
            _ => Candidate::Weights(self.weights(values)),
        }
    }

    /// The weights that the genes encode. An engine's options are none: see
    /// [`candidate`](Genome::candidate).
    pub fn weights(&self, values: &[f64]) -> Weights {
        match &self.decoder {
            Decoder::Terms(decoder) => decoder.weights(values),
            Decoder::Search(decoder) => decoder.weights(&self.genes, values),
            Decoder::NetworkOutput(decoder) => decoder.weights(values),
            Decoder::Options(_) => Weights::zero("none"),
        }
    }

    /// Whether genes of one genome mean the same in the other.
    pub fn is_compatible_with(&self, other: &Genome) -> bool {
        let unit = |genome: &Genome| genome.terms().map(terms::TermDecoder::unit);
        let names = self.genes.iter().map(|gene| &gene.name);
        unit(self) == unit(other) && names.eq(other.genes.iter().map(|gene| &gene.name))
    }

    pub fn len(&self) -> usize {
        self.genes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.genes.is_empty()
    }

    fn terms(&self) -> Option<&terms::TermDecoder> {
        match &self.decoder {
            Decoder::Terms(decoder) => Some(decoder),
            _ => None,
        }
    }

    /// Whether an engine has to be started again for other options.
    pub fn restarts_engine(&self) -> bool {
        matches!(&self.decoder, Decoder::Options(decoder) if decoder.restart)
    }

    /// Whether genes are weights of terms.
    pub fn sets_terms(&self) -> bool {
        self.terms().is_some()
    }

    /// The columns of the terms that genes set; only genomes of terms have any.
    pub fn columns(&self) -> &[GeneColumn] {
        self.terms().map_or(&[], terms::TermDecoder::columns)
    }

    /// The column that counts a term, and the part of its weight that no gene sets.
    pub fn column_of(&self, term: Term) -> (Option<u16>, PackedScore) {
        self.terms()
            .map_or((None, PackedScore::ZERO), |terms| terms.column_of(term))
    }

    /// The families of terms that any individual can use.
    pub fn families(&self) -> Vec<Family> {
        self.terms()
            .map_or_else(Vec::new, terms::TermDecoder::families)
    }

    /// The weights of an individual by column, without the fixed parts.
    pub fn column_values(&self, values: &[f64]) -> ColumnValues {
        let terms = self.terms();
        terms.map_or_else(ColumnValues::default, |terms| terms.column_values(values))
    }

    /// The genes closest to these weights; those of the base where weights say nothing.
    pub fn genes_of(&self, weights: &Weights) -> Vec<f64> {
        match &self.decoder {
            Decoder::Terms(decoder) => decoder.genes_of(&self.genes, weights),
            Decoder::Search(_) => search::genes_of(&self.genes, weights),
            Decoder::NetworkOutput(_) | Decoder::Options(_) => self.base_genes(),
        }
    }

    /// The genes that weights set, be they within the bounds or not; empty unless genes are terms.
    pub fn printed_genes_of(&self, weights: &Weights) -> Vec<f64> {
        let terms = self.terms();
        terms.map_or_else(Vec::new, |terms| terms.printed_genes_of(weights))
    }

    pub fn gene_index(&self, name: &str) -> Option<usize> {
        self.genes.iter().position(|gene| gene.name == name)
    }

    /// Genes by name: all of them, within their bounds, and no others.
    pub fn genes_named(&self, values: &BTreeMap<String, f64>) -> Result<Vec<f64>, String> {
        if let Some(name) = values.keys().find(|name| self.gene_index(name).is_none()) {
            return Err(format!("no gene {name}"));
        }
        let value = |gene: &Gene| match values.get(&gene.name) {
            Some(value) if (gene.low..=gene.high).contains(value) => Ok(*value),
            Some(value) => Err(format!("{} {value} is out of bounds", gene.name)),
            None => Err(format!("no value for {}", gene.name)),
        };
        self.genes.iter().map(value).collect()
    }

    /// The genes of the base itself.
    pub fn base_genes(&self) -> Vec<f64> {
        self.base_genes.clone()
    }
}

/// A gene that stands for a whole number, such as a search constant or a spin option. Its bounds
/// must lie within the range of what is possible.
fn whole_gene(
    name: &str,
    [low, high]: [i64; 2],
    [floor, ceiling]: [i64; 2],
    step: Option<f64>,
) -> Result<Gene, String> {
    if low < floor || high > ceiling {
        return Err(format!(
            "{low} to {high} is not within its range {floor} to {ceiling}"
        ));
    }
    if low >= high {
        return Err(format!("low {low} is not below high {high}"));
    }
    if step.is_some_and(|step| !(step > 0.0 && step.is_finite())) {
        return Err("step is not a positive number".to_owned());
    }
    let bounds = [low as f64, high as f64];
    Ok(Gene {
        name: name.to_owned(),
        low: bounds[0],
        high: bounds[1],
        floor: floor as f64,
        ceiling: ceiling as f64,
        start: bounds,
        step,
        resolution: 1.0,
    })
}

/// Fails unless the base lies within the bounds of a gene.
fn check_start(gene: &Gene, value: f64) -> Result<(), String> {
    let Gene { low, high, .. } = gene;
    match (low..=high).contains(&&value) {
        true => Ok(()),
        false => Err(format!("its start {value} is not within {low} to {high}")),
    }
}

/// The whole number that a gene stands for, within its bounds.
fn rounded(gene: &Gene, value: f64) -> i64 {
    value.round().clamp(gene.low, gene.high) as i64
}
