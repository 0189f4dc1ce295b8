//! What a training run starts from: random weights, or a network that is there already.

use std::path::Path;

use super::TrainingPreset;
use super::model::Model;
use crate::eval::{Network, NetworkError, NetworkHeader, UnsupportedArchitecture, Weights};
use crate::tune::run::RunError;

pub struct Start {
    /// The terms and search constants that the new network plays with.
    pub weights: Weights,
    /// Scale and win model of the new network, until the win model is fitted.
    pub header: NetworkHeader,
}

impl Start {
    pub fn new(preset: &TrainingPreset) -> Result<(Start, Model), RunError> {
        let genome = &preset.genome;
        let fail = |path: &str, reason: String| RunError::File {
            path: path.to_owned(),
            reason,
        };
        let refuse = |error: UnsupportedArchitecture| fail(&preset.name, error.to_string());
        let architecture = genome.architecture().map_err(refuse)?;
        let Some(file) = &genome.start else {
            return Ok((
                Start::built_in(),
                Model::random(architecture, preset.run.seed),
            ));
        };
        let path = file.display().to_string();
        let (weights, network) = load(file)?;
        let network = network.ok_or_else(|| {
            let reason = "the weights name no network to start from; name another file";
            fail(&path, reason.to_owned())
        })?;
        let found = network.architecture();
        if found != architecture {
            let reason = format!(
                "a network with {found}; the preset asks for {architecture}: change its [genome] \
                 or start from another network"
            );
            return Err(fail(&path, reason));
        }
        let model = Model::from_network(&network);
        let header = network.header;
        Ok((Start { weights, header }, model))
    }

    /// The built-in weights. The search's margins are tuned for the scale of their network.
    fn built_in() -> Start {
        let weights = Weights::default();
        let network = weights.network.as_ref();
        let header = network.map_or_else(NetworkHeader::default, |network| network.header.clone());
        Start { weights, header }
    }
}

/// A weights file with its network, or a network with the built-in weights.
fn load(file: &Path) -> Result<(Weights, Option<Network>), RunError> {
    let path = file.display().to_string();
    match Network::load(file, &path) {
        Ok(network) => Ok((Weights::default(), Some(network))),
        Err(NetworkError::NotANetwork) => {
            let weights = Weights::load(file)?;
            let network = weights.network.clone();
            Ok((weights, network))
        }
        Err(error) => Err(RunError::File {
            path,
            reason: error.to_string(),
        }),
    }
}
