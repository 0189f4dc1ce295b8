//! A run's folder. Files appear whole or not at all: they are written under another name and
//! renamed when complete.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::RunError;
use crate::files;
use crate::tune::preset::Preset;

pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder, and finds out now whether it can be written to.
    pub fn create(path: &Path) -> Result<Folder, RunError> {
        let folder = Folder {
            path: path.to_owned(),
        };
        fs::create_dir_all(path).map_err(|error| failed(path, &error))?;
        let probe = path.join(".finch");
        fs::write(&probe, "").map_err(|error| failed(path, &error))?;
        fs::remove_file(&probe).map_err(|error| failed(path, &error))?;
        Ok(folder)
    }

    /// Makes a folder of its own for a run of this preset: `runs/NAME`, with a number if that
    /// is taken.
    pub fn create_free(preset: &str) -> Result<Folder, RunError> {
        Folder::create(&Folder::free(preset))
    }

    /// Where [`Folder::create_free`] would make it.
    pub fn free(preset: &str) -> PathBuf {
        let stem = Path::new(preset).file_stem().unwrap_or_default();
        let name = stem.to_string_lossy().into_owned();
        let first = PathBuf::from("runs").join(&name);
        let numbered = (2..).map(|number| PathBuf::from("runs").join(format!("{name}-{number}")));
        let mut places = std::iter::once(first.clone()).chain(numbered);
        places.find(|path| !path.exists()).unwrap_or(first)
    }

    /// Writes down what the run is, so that it can be resumed.
    pub fn write_config(&self, preset: &Preset) -> Result<(), RunError> {
        let text = preset
            .to_toml()
            .map_err(|error| self.unusable("config.toml", &error.to_string()))?;
        self.write("config.toml", &text)
    }

    /// An existing folder.
    pub fn open(path: &Path) -> Result<Folder, RunError> {
        fs::read_dir(path).map_err(|error| failed(path, &error))?;
        Ok(Folder {
            path: path.to_owned(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// A file's text, if the file exists.
    pub fn read(&self, name: &str) -> Result<Option<String>, RunError> {
        let path = self.path.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    pub fn write(&self, name: &str, text: &str) -> Result<(), RunError> {
        write_whole(&self.path.join(name), text)
    }

    /// Adds to a file that grows by lines.
    pub fn append(&self, name: &str, text: &str) -> Result<(), RunError> {
        let path = self.path.join(name);
        let opened = fs::OpenOptions::new().create(true).append(true).open(&path);
        opened
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| failed(&path, &error))
    }

    pub fn unusable(&self, name: &str, reason: &str) -> RunError {
        RunError::File {
            path: self.path.join(name).display().to_string(),
            reason: reason.lines().next().unwrap_or_default().to_owned(),
        }
    }
}

/// Writes a file so that it is never seen half-written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), RunError> {
    files::write_whole(path, text).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> RunError {
    RunError::File {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}
