//! Weights together with where they come from, for commands and sessions that say which weights
//! they use. `default` always means the built-in weights, whatever is installed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Weights, WeightsError, installed_path, installed_weights};

/// Where weights were loaded from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeightsOrigin {
    BuiltIn,
    Installed(PathBuf),
    File(PathBuf),
    /// By a run of this session.
    Tuned,
}

impl fmt::Display for WeightsOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WeightsOrigin::BuiltIn => write!(f, "built in"),
            WeightsOrigin::Installed(path) => write!(f, "installed as {}", path.display()),
            WeightsOrigin::File(path) => write!(f, "from {}", path.display()),
            WeightsOrigin::Tuned => write!(f, "tuned in this session"),
        }
    }
}

/// Weights together with where they were loaded from.
#[derive(Clone, Debug)]
pub struct LoadedWeights {
    pub weights: Arc<Weights>,
    pub origin: WeightsOrigin,
}

impl fmt::Display for LoadedWeights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "weights: {}", self.weights.name)?;
        if let Some(network) = &self.weights.network {
            write!(f, ", network {}", network.file)?;
        }
        write!(f, " ({})", self.origin)
    }
}

impl LoadedWeights {
    pub fn built_in() -> LoadedWeights {
        LoadedWeights {
            weights: Arc::default(),
            origin: WeightsOrigin::BuiltIn,
        }
    }

    /// The weights of a file, or built-in ones by their name; `default` are those that play.
    pub fn named(name: &Path) -> Result<LoadedWeights, WeightsError> {
        let built_in = name.to_str().and_then(Weights::built_in);
        let origin = match built_in {
            Some(_) => WeightsOrigin::BuiltIn,
            None => WeightsOrigin::File(name.to_owned()),
        };
        Ok(LoadedWeights {
            weights: Arc::new(built_in.map_or_else(|| Weights::named(name), Ok)?),
            origin,
        })
    }

    /// The installed weights, or the built-in ones if none are installed. An installed file that
    /// cannot be read is an error.
    pub fn installed() -> Result<LoadedWeights, WeightsError> {
        match (installed_path(), installed_weights()?) {
            (Ok(path), Some(weights)) => Ok(LoadedWeights {
                weights: Arc::new(weights),
                origin: WeightsOrigin::Installed(path),
            }),
            _ => Ok(LoadedWeights::built_in()),
        }
    }
}
