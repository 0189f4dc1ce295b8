//! The installed weights: the file beside the program that `finch tune --install` and
//! `finch weights install` write. If it exists, UCI sessions play with it instead of the built-in weights. Benchmarks and the name
//! `default` always mean the built-in ones.

use std::io;
use std::path::{Path, PathBuf};

use super::{Weights, WeightsError};

const FILE: &str = "finch-weights.toml";

/// Where installed weights are: beside the program.
pub fn installed_path() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(FILE))
}

/// The installed weights, if there are any.
pub fn installed_weights() -> Result<Option<Weights>, WeightsError> {
    match installed_path() {
        Ok(path) if path.exists() => Weights::load(&path).map(Some),
        _ => Ok(None),
    }
}

/// Makes these the weights that the program plays with. Returns where they were written.
pub fn install(weights: &Weights) -> io::Result<PathBuf> {
    let path = installed_path()?;
    weights.save(&path)?;
    if weights.network.is_none() {
        remove_if_exists(&path.with_extension("net"))?;
    }
    Ok(path)
}

/// Goes back to the built-in weights. Returns the file that was removed, if there was one.
pub fn uninstall() -> io::Result<Option<PathBuf>> {
    let path = installed_path()?;
    if !path.exists() {
        return Ok(None);
    }
    std::fs::remove_file(&path)?;
    remove_if_exists(&path.with_extension("net"))?;
    Ok(Some(path))
}

fn remove_if_exists(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
