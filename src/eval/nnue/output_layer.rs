//! The output layer by itself, for tuning without gradients.

use super::{Network, NetworkParameters, QA, QB};

/// Quantised weights and biases of the output layer, by output bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputLayer {
    /// For the side to move, then for the other.
    pub weights: Vec<Vec<i16>>,
    pub biases: Vec<i32>,
}

impl Network {
    pub fn output_layer(&self) -> OutputLayer {
        let parameters = self.parameters();
        let (_, outputs) = parameters.weights().split_at(parameters.first_output());
        let buckets = outputs.chunks_exact(2 * self.architecture().width());
        OutputLayer {
            weights: buckets.map(<[i16]>::to_vec).collect(),
            biases: parameters.output_bias().to_vec(),
        }
    }

    /// The same network with another output layer of the same shape, brought within its bounds.
    pub fn with_output_layer(&self, layer: &OutputLayer) -> Network {
        let parameters = self.parameters();
        let (features, _) = parameters.weights().split_at(parameters.first_output());
        let outputs = layer.weights.iter().flatten();
        let parameters = NetworkParameters::new(
            self.architecture(),
            features.iter().chain(outputs).copied(),
            layer.biases.iter().copied(),
        );
        Network::new(&self.file, parameters, self.header.clone())
    }

    /// How much a bias changes when the score changes by one internal unit.
    pub fn quantised_unit(&self) -> f64 {
        f64::from(QA * QB) / f64::from(self.header.scale)
    }
}
