//! A run's folder. Files appear whole or not at all: they are written under another name and
//! renamed when complete.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::RunError;
use crate::files;
use crate::tune::preset::Preset;

/// What the run is: its preset with every change made to it.
const CONFIG: &str = "config.toml";

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
    /// is taken, be it by a run that began at the same moment.
    pub fn create_free(preset: &str) -> Result<Folder, RunError> {
        let stem = Path::new(preset).file_stem().unwrap_or_default();
        let name = stem.to_string_lossy().into_owned();
        let runs = Path::new("runs");
        fs::create_dir_all(runs).map_err(|error| failed(runs, &error))?;
        let mut number = 1;
        loop {
            let path = runs.join(match number {
                1 => name.clone(),
                _ => format!("{name}-{number}"),
            });
            match fs::create_dir(&path) {
                Ok(()) => return Folder::create(&path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(&path, &error)),
            }
        }
    }

    /// Makes the folder of one of several runs and writes down what it is. One that an earlier
    /// call left is gone on with if it is the same experiment, from the day that one began.
    pub fn claim(path: &Path, preset: &mut Preset) -> Result<Folder, RunError> {
        let folder = Folder::create(path)?;
        if Folder::holds_run(path) {
            let mut earlier = folder.preset()?;
            preset.run.started = earlier.run.started.clone();
            earlier.run.threads = preset.run.threads;
            if earlier != *preset {
                return Err(folder.unusable(CONFIG, "another experiment; choose another folder"));
            }
        }
        folder.write_config(preset)?;
        Ok(folder)
    }

    /// Whether a run has been begun there.
    pub fn holds_run(path: &Path) -> bool {
        path.join(CONFIG).exists()
    }

    /// What the run is, as it was written down.
    pub fn preset(&self) -> Result<Preset, RunError> {
        let file = self.path.join(CONFIG).display().to_string();
        Ok(Preset::load(&file)?)
    }

    /// Writes down what the run is, so that it can be resumed.
    pub fn write_config(&self, preset: &Preset) -> Result<(), RunError> {
        let text = preset
            .to_toml()
            .map_err(|error| self.unusable(CONFIG, &error.to_string()))?;
        self.write(CONFIG, &text)
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
        write_atomically(&self.path.join(name), text)
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
pub fn write_atomically(path: &Path, text: &str) -> Result<(), RunError> {
    files::write_atomically(path, text).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> RunError {
    RunError::File {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}
