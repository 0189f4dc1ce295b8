//! The folder of a run. Its files are replaced atomically, so none is ever seen half-written.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::RunError;
use crate::files;
use crate::tune::experiment::Experiment;
use crate::tune::genome::Candidate;

/// The run's preset with every change made to it.
const CONFIG: &str = "config.toml";

/// Where runs go that are given no folder.
pub const RUNS: &str = "runs";

/// How many runs an error message lists.
const LISTED: usize = 12;

pub struct RunFolder {
    path: PathBuf,
    /// Held while a run works in the folder.
    lock: Option<File>,
}

impl RunFolder {
    /// Creates the folder, and checks that it can be written to.
    pub fn create(path: &Path) -> Result<RunFolder, RunError> {
        let folder = RunFolder {
            path: path.to_owned(),
            lock: None,
        };
        fs::create_dir_all(path).map_err(|error| failed(path, &error))?;
        files::check_folder(path).map_err(|error| failed(path, &error))?;
        Ok(folder)
    }

    /// Fails if a run cannot be written there; makes nothing yet.
    pub fn check(path: &Path) -> Result<(), RunError> {
        files::check_folder(path).map_err(|error| failed(path, &error))
    }

    /// Creates a new folder for a run of this preset: `runs/NAME` in the working folder, with a
    /// number if that name is taken, even by a run that starts at the same moment.
    pub fn create_free(preset: &str) -> Result<RunFolder, RunError> {
        RunFolder::create_free_in(Path::new(""), preset)
    }

    /// The same in another folder.
    pub fn create_free_in(folder: &Path, preset: &str) -> Result<RunFolder, RunError> {
        let stem = Path::new(preset).file_stem().unwrap_or_default();
        let name = stem.to_string_lossy().into_owned();
        let runs = &folder.join(RUNS);
        fs::create_dir_all(runs).map_err(|error| failed(runs, &error))?;
        let mut number = 1;
        loop {
            let path = runs.join(match number {
                1 => name.clone(),
                _ => format!("{name}-{number}"),
            });
            match fs::create_dir(&path) {
                Ok(()) => return RunFolder::create(&path)?.locked(),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(&path, &error)),
            }
        }
    }

    /// Creates the folder of a run and writes its config. A folder that already holds the same
    /// experiment is resumed and keeps its date; another experiment is refused.
    pub fn claim(path: &Path, experiment: &mut Experiment) -> Result<RunFolder, RunError> {
        let folder = RunFolder::create(path)?.locked()?;
        if RunFolder::holds_run(path) {
            let mut earlier = folder.experiment()?;
            let run = experiment.run_mut();
            run.started = earlier.run().started.clone();
            earlier.run_mut().threads = run.threads;
            if earlier != *experiment {
                return Err(folder.unusable(CONFIG, "another experiment; choose another folder"));
            }
            folder.remove_temporary()?;
        }
        folder.write_config(experiment)?;
        Ok(folder)
    }

    /// Whether a run has been started there.
    pub fn holds_run(path: &Path) -> bool {
        path.join(CONFIG).exists()
    }

    /// The text of the run's config.
    pub fn config(&self) -> Result<String, RunError> {
        let text = self.read(CONFIG)?;
        text.ok_or_else(|| self.unusable(CONFIG, "no such file; this folder holds no run"))
    }

    /// The experiment of the run, from its config.
    pub fn experiment(&self) -> Result<Experiment, RunError> {
        let file = self.path.join(CONFIG).display().to_string();
        Ok(Experiment::load(&file)?)
    }

    /// Writes the config, so that the run can be resumed.
    pub fn write_config(&self, experiment: &Experiment) -> Result<(), RunError> {
        let text = experiment
            .to_toml()
            .map_err(|error| self.unusable(CONFIG, &error.to_string()))?;
        self.write(CONFIG, &text)
    }

    /// The folder of a run that is to be resumed.
    pub fn resume(path: &Path) -> Result<RunFolder, RunError> {
        if !RunFolder::holds_run(path) {
            return Err(RunError::File {
                path: path.display().to_string(),
                reason: format!("no run to resume{}", runs_near(path)),
            });
        }
        let folder = RunFolder::open(path)?.locked()?;
        folder.remove_temporary()?;
        Ok(folder)
    }

    /// Fails if another process works in the folder.
    fn locked(mut self) -> Result<RunFolder, RunError> {
        let lock = files::lock_folder(&self.path);
        self.lock = Some(lock.map_err(|error| failed(&self.path, &error))?);
        Ok(self)
    }

    fn remove_temporary(&self) -> Result<(), RunError> {
        files::remove_temporary(&self.path).map_err(|error| failed(&self.path, &error))
    }

    /// An existing folder.
    pub fn open(path: &Path) -> Result<RunFolder, RunError> {
        fs::read_dir(path).map_err(|error| failed(path, &error))?;
        Ok(RunFolder {
            path: path.to_owned(),
            lock: None,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// A file's bytes, if the file exists.
    pub fn read_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, RunError> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, &error)),
        }
    }

    /// A file's text, if the file exists.
    pub fn read(&self, name: &str) -> Result<Option<String>, RunError> {
        let text = self.read_bytes(name)?.map(String::from_utf8).transpose();
        text.map_err(|_| self.unusable(name, "not UTF-8 text"))
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<(), RunError> {
        write_file(&self.path.join(name), contents)
    }

    /// Writes a candidate, and what belongs beside its file.
    pub fn save(&self, name: &str, candidate: &Candidate) -> Result<(), RunError> {
        let path = self.path.join(name);
        candidate.save(&path).map_err(|error| failed(&path, &error))
    }

    /// Adds to a file that grows by lines.
    pub fn append(&self, name: &str, text: &str) -> Result<(), RunError> {
        let path = self.path.join(name);
        let opened = fs::OpenOptions::new().create(true).append(true).open(&path);
        opened
            .and_then(|file| files::append(&file, &path, text.as_bytes()))
            .map_err(|error| failed(&path, &error))
    }

    pub fn unusable(&self, name: &str, reason: &str) -> RunError {
        RunError::File {
            path: self.path.join(name).display().to_string(),
            reason: reason.lines().next().unwrap_or_default().to_owned(),
        }
    }
}

/// The runs in a folder, beside it, or in the usual place: what somebody may have meant.
fn runs_near(path: &Path) -> String {
    let places = [path, path.parent().unwrap_or(path), Path::new(RUNS)];
    let runs = places.iter().map(|place| runs_in(place));
    let Some(runs) = runs.into_iter().find(|runs| !runs.is_empty()) else {
        return String::new();
    };
    let more = if runs.len() > LISTED { ", …" } else { "" };
    let listed = runs[..runs.len().min(LISTED)].join(", ");
    format!("; runs are {listed}{more}")
}

fn runs_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = entries.map(|entry| entry.path());
    let runs = runs.filter(|path| RunFolder::holds_run(path));
    let mut runs: Vec<String> = runs.map(|path| path.display().to_string()).collect();
    runs.sort();
    runs
}

/// Replaces a file atomically; the error names it.
pub fn write_file(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), RunError> {
    files::write_atomically(path, contents).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> RunError {
    RunError::File {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}
