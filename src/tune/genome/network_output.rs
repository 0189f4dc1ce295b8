//! Genome `network-output`: a small part of a network, for methods without gradients.
//!
//! For each output bucket a bias and a scale, or all weights of the output layer for a separable
//! method such as `cma-es` with `diagonal`. Genes are changes: 0 leaves the network as it is. What
//! they make of it is quantised as in a network file before it plays.

use serde::{Deserialize, Serialize};

use super::{Decoder, Gene, Genome, GenomeConfig, InitialPopulation};
use crate::eval::{Network, OutputLayer, Weights};
use crate::tune::fitness::weights_with_network;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[genome]` of a preset that says `kind = "network-output"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkOutputGenome {
    pub kind: String,
    /// Weights with a network: "default" or a file.
    pub base: String,
    pub start: InitialPopulation,
    pub part: OutputPart,
    /// The farthest a bias moves, in internal units.
    pub bias: f64,
    /// The farthest a scale moves, as a share of it.
    pub scale: f64,
    /// The farthest a weight of the output layer moves, in quantised units.
    pub weight: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputPart {
    /// A bias and a scale for each output bucket.
    #[default]
    BiasesAndScales,
    /// Biases, and every weight of the output layer.
    OutputLayer,
}

impl Default for NetworkOutputGenome {
    fn default() -> NetworkOutputGenome {
        NetworkOutputGenome {
            kind: Self::NAME.to_owned(),
            base: "default".to_owned(),
            start: InitialPopulation::Base,
            part: OutputPart::default(),
            bias: 50.0,
            scale: 0.3,
            weight: 8.0,
        }
    }
}

impl NamedSettings for NetworkOutputGenome {
    const NAME: &'static str = "network-output";
}

impl GenomeConfig for NetworkOutputGenome {
    /// How many buckets there are is known only with the network; the draft has one.
    fn draft(&self) -> Result<Genome, SettingError> {
        check_range("bias", self.bias, 0.0..=1000.0)?;
        check_range("scale", self.scale, 0.0..=0.9)?;
        check_range("weight", self.weight, 0.0..=127.0)?;
        let empty = OutputLayer {
            weights: vec![Vec::new()],
            biases: vec![0],
        };
        Ok(self.genome(Weights::zero("none"), empty))
    }

    fn build(&self) -> Result<Genome, SettingError> {
        let fail = |problem: String| SettingError::new("base", problem);
        let base = weights_with_network(&self.base).map_err(|error| fail(error.to_string()))?;
        let network = base.network.as_ref();
        let layer = network.map(Network::output_layer).ok_or_else(|| {
            let name = &self.base;
            fail(format!("{name}: these weights have no network"))
        })?;
        Ok(self.genome(base, layer))
    }
}

impl NetworkOutputGenome {
    fn genome(&self, base: Weights, layer: OutputLayer) -> Genome {
        let gene = |name: String, most: f64| Gene {
            name,
            low: -most,
            high: most,
            floor: -most,
            ceiling: most,
            start: [-most, most],
            step: None,
            resolution: 0.0,
        };
        let buckets = 0..layer.biases.len();
        let mut genes: Vec<Gene> = buckets
            .clone()
            .map(|bucket| gene(format!("bias {bucket}"), self.bias))
            .collect();
        match self.part {
            OutputPart::BiasesAndScales => {
                genes.extend(buckets.map(|bucket| gene(format!("scale {bucket}"), self.scale)));
            }
            OutputPart::OutputLayer => {
                for (bucket, weights) in layer.weights.iter().enumerate() {
                    let named = |number| gene(format!("weight {bucket} {number}"), self.weight);
                    genes.extend((0..weights.len()).map(named));
                }
            }
        }
        Genome {
            base_genes: vec![0.0; genes.len()],
            genes,
            start: self.start,
            decoder: Decoder::NetworkOutput(OutputDecoder {
                base,
                layer,
                part: self.part,
            }),
        }
    }
}

/// How genes become a network.
pub(super) struct OutputDecoder {
    base: Weights,
    layer: OutputLayer,
    part: OutputPart,
}

impl OutputDecoder {
    pub fn weights(&self, values: &[f64]) -> Weights {
        let mut weights = self.base.clone();
        let Some(network) = &self.base.network else {
            return weights;
        };
        let mut layer = self.layer.clone();
        let (biases, others) = values.split_at(layer.biases.len().min(values.len()));
        let unit = network.quantised_unit();
        for (bias, change) in layer.biases.iter_mut().zip(biases) {
            *bias += (change * unit).round() as i32;
        }
        let mut others = others.iter();
        for bucket in &mut layer.weights {
            match self.part {
                OutputPart::BiasesAndScales => {
                    let scale = 1.0 + others.next().copied().unwrap_or(0.0);
                    for weight in bucket {
                        *weight = (f64::from(*weight) * scale).round() as i16;
                    }
                }
                OutputPart::OutputLayer => {
                    for (weight, change) in bucket.iter_mut().zip(others.by_ref()) {
                        *weight += change.round() as i16;
                    }
                }
            }
        }
        weights.network = Some(network.with_output_layer(&layer));
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn genome(text: &str) -> Genome {
        let settings: NetworkOutputGenome = toml::from_str(text).unwrap();
        settings.build().unwrap()
    }

    #[test]
    fn genes_of_zero_leave_the_network_as_it_is() {
        for part in ["biases-and-scales", "output-layer"] {
            let genome = genome(&format!("part = '{part}'"));
            let weights = genome.weights(&genome.base_genes());
            assert_eq!(weights.id(), Weights::default().id(), "{part}");
            let mut genes = genome.base_genes();
            genes[0] = 20.0;
            assert_ne!(genome.weights(&genes).id(), Weights::default().id());
        }
    }

    #[test]
    fn a_bias_moves_the_score_by_as_much() {
        let genome = genome("");
        let mut genes = genome.base_genes();
        let position = crate::position::Position::default();
        let score = |genes: &[f64]| {
            let weights = genome.weights(genes);
            weights.network.unwrap().evaluate(&position)
        };
        let before = score(&genes);
        // All men are on the board: the last bucket.
        let last = genes.len() / 2 - 1;
        genes[last] = 30.0;
        let moved = score(&genes) - before;
        assert!((29..=31).contains(&moved), "{moved}");
    }

    #[test]
    fn weights_without_a_network_are_refused() {
        let settings: NetworkOutputGenome = toml::from_str("base = 'none'").unwrap();
        assert_eq!(settings.build().err().unwrap().key, "base");
    }
}
