//! Genome `search`: constants of the search. The result is a weights file: the base with a table
//! `[search]`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Decoder, Gene, Genome, GenomeConfig, InitialPopulation};
use super::{check_start, rounded, whole_gene};
use crate::eval::Weights;
use crate::search::{ParamInfo, SearchParams};
use crate::tune::fitness::weights_with_network;
use crate::tune::settings::{NamedSettings, SettingError};

/// The table `[genome]` of a preset that says `kind = "search"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchGenome {
    pub kind: String,
    /// Source of the evaluation and of the constants at the start: "default" or a weights file.
    pub base: String,
    pub start: InitialPopulation,
    /// Constants that are not free, by name; a `*` at the end stands for any ending.
    pub exclude: Vec<String>,
    /// The constants that are free; without any, all of them.
    pub params: BTreeMap<String, ParamSettings>,
}

/// What a preset says about a constant. Bounds that it does not give are those of the constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ParamSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<i32>,
    /// By how much to change it to see a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
}

impl Default for SearchGenome {
    fn default() -> SearchGenome {
        SearchGenome {
            kind: Self::NAME.to_owned(),
            base: "default".to_owned(),
            start: InitialPopulation::Base,
            exclude: Vec::new(),
            params: BTreeMap::new(),
        }
    }
}

impl NamedSettings for SearchGenome {
    const NAME: &'static str = "search";
}

impl GenomeConfig for SearchGenome {
    fn draft(&self) -> Result<Genome, SettingError> {
        self.genome(Weights::zero("none"))
    }

    fn build(&self) -> Result<Genome, SettingError> {
        let base = weights_with_network(&self.base)
            .map_err(|error| SettingError::new("base", error.to_string()))?;
        let params = SearchParams::from_table(&base.search)
            .map_err(|error| SettingError::new("base", error.to_string()))?;
        let genome = self.genome(base)?;
        for gene in &genome.genes {
            let value = params.get(&gene.name).map_or(gene.low, f64::from);
            check_start(gene, value)
                .map_err(|problem| SettingError::new(format!("params.{}", gene.name), problem))?;
        }
        Ok(genome)
    }
}

impl SearchGenome {
    fn genome(&self, base: Weights) -> Result<Genome, SettingError> {
        self.check_names()?;
        let is_free = |info: &&ParamInfo| {
            let named = self.params.is_empty() || self.params.contains_key(info.name);
            named && !self.exclude.iter().any(|name| covers(name, info.name))
        };
        let free = SearchParams::LIST.iter().filter(is_free);
        let genes = free
            .map(|info| self.gene(info))
            .collect::<Result<Vec<_>, _>>()?;
        if genes.is_empty() {
            return Err(SettingError::new("exclude", "no constant is free"));
        }
        Ok(Genome {
            base_genes: genes_of(&genes, &base),
            genes,
            start: self.start,
            decoder: Decoder::Search(SearchDecoder { base }),
        })
    }

    fn check_names(&self) -> Result<(), SettingError> {
        let is_known = |pattern: &str| {
            let mut all = SearchParams::LIST.iter();
            all.any(|info| covers(pattern, info.name))
        };
        let unknown = |key: String, name: &str| {
            let problem = format!("no search constant is called '{name}'; finch params lists them");
            Err(SettingError::new(key, problem))
        };
        for name in self.params.keys() {
            if name.ends_with('*') || !is_known(name) {
                return unknown(format!("params.{name}"), name);
            }
        }
        match self.exclude.iter().find(|name| !is_known(name)) {
            Some(name) => unknown("exclude".to_owned(), name),
            None => Ok(()),
        }
    }

    fn gene(&self, info: &ParamInfo) -> Result<Gene, SettingError> {
        let settings = self.params.get(info.name).copied().unwrap_or_default();
        let range = [i64::from(info.min), i64::from(info.max)];
        let low = settings.low.map_or(range[0], i64::from);
        let high = settings.high.map_or(range[1], i64::from);
        let step = settings.step.unwrap_or(f64::from(info.step));
        whole_gene(info.name, [low, high], range, Some(step))
            .map_err(|problem| SettingError::new(format!("params.{}", info.name), problem))
    }
}

/// Whether a name of `exclude` means this constant.
fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// The values of these weights' search constants.
pub(super) fn genes_of(genes: &[Gene], weights: &Weights) -> Vec<f64> {
    let params = SearchParams::from_table(&weights.search).unwrap_or_default();
    let value = |gene: &Gene| {
        let value = params.get(&gene.name).map_or(gene.low, f64::from);
        value.clamp(gene.low, gene.high)
    };
    genes.iter().map(value).collect()
}

/// How genes become search constants.
pub(super) struct SearchDecoder {
    base: Weights,
}

impl SearchDecoder {
    pub fn weights(&self, genes: &[Gene], values: &[f64]) -> Weights {
        // The base was refused if its constants were wrong.
        let mut params = SearchParams::from_table(&self.base.search).unwrap_or_default();
        for (gene, value) in genes.iter().zip(values) {
            // Names and bounds are those of the list.
            let _ = params.set(&gene.name, rounded(gene, *value) as i32);
        }
        let mut weights = self.base.clone();
        weights.search = params.to_table();
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn genome(text: &str) -> Result<Genome, SettingError> {
        toml::from_str::<SearchGenome>(text).unwrap().build()
    }

    #[test]
    fn all_constants_are_free_but_those_that_are_excluded() {
        let all = genome("").unwrap();
        assert_eq!(all.len(), SearchParams::LIST.len());
        let some = genome("exclude = ['time_*', 'iir_depth']").unwrap();
        assert!(
            some.genes
                .iter()
                .all(|gene| !gene.name.starts_with("time_"))
        );
        assert_eq!(some.gene_index("iir_depth"), None);
        assert_eq!(all.weights(&all.base_genes()), Weights::default());
    }

    #[test]
    fn genes_are_rounded_and_the_id_of_the_weights_counts_them() {
        let genome = genome("params = { iir_depth = { low = 3, high = 6 } }").unwrap();
        let weights = genome.weights(&[5.4]);
        assert_eq!(weights.search["iir_depth"], 5);
        assert_ne!(weights.id(), Weights::default().id());
        assert_eq!(genome.weights(&[99.0]).search["iir_depth"], 6);
        assert_eq!(genome.genes_of(&weights), [5.0]);
    }

    #[test]
    fn wrong_names_and_bounds_are_refused() {
        for (text, key) in [
            ("params = { iir_deep = {} }", "params.iir_deep"),
            ("params = { iir_depth = { high = 99 } }", "params.iir_depth"),
            ("params = { iir_depth = { low = 7 } }", "params.iir_depth"),
            ("exclude = ['tmie_*']", "exclude"),
            ("exclude = ['*']", "exclude"),
            ("base = 'gone.toml'", "base"),
        ] {
            let error = genome(text).err().unwrap();
            assert_eq!(error.key, key, "{error}");
        }
    }
}
