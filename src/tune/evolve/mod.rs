//! `finch evolve`: Finch improves itself for as long as it is left alone.
//!
//! A generation is a sequence of stages ([`EvolveStage`]): the champion plays itself, a challenger
//! learns from the labels of the last generations, and plays the champion under an SPRT; the
//! winner plays on. Now and then the challenger is the champion with other constants of the search
//! instead, found by SPSA. Every few generations the champion plays fixed anchors. The labels of
//! a rejected challenger stay: the next one learns from more.
//!
//! The folder of a run:
//!
//! ```text
//! config.toml      the budgets (EvolveSettings)
//! state.toml       the generation and stage under way (EvolveState)
//! journal.csv      a row for each generation
//! champion.toml    the champion; its network is beside it
//! report.html      the progress as a page
//! labels/          labels of the last generations, packed
//! generation-NNN/  the generation under way: training run, challenger, games
//! ```
//!
//! A stage depends on the settings, the champion and the labels alone, resumes by itself, and is
//! followed by one atomic write of the state. So a run that is killed at any instant, or
//! interrupted by a stop flag or its hours, comes to the same champions.
//!
//! - `settings`, `state`: the two files; `start`: the first champion and the anchors
//! - `stages`: the stages; `training`, `constants` and `matches`: the work behind three of them
//! - `plan`: what they play; `helper`: other ranks of an MPI job play too

mod constants;
mod helper;
mod matches;
mod plan;
mod settings;
mod stages;
mod start;
mod state;
mod training;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::preset::PresetError;
use super::report;
use super::run::{JOURNAL_FILE, RunError, RunFolder, RunJournal};
use crate::data::{GenerationError, MentorError};
use crate::eval::{Weights, WeightsError};
use crate::files;
use crate::play::games_file::GamesFileError;
use crate::play::player_config::PlayerConfigError;
use crate::play::tournament::TournamentError;

pub use helper::serve;
pub use settings::{
    AnchorSettings, ChallengeSettings, ConstantsTuning, EvolveSettings, SelfPlaySettings,
    StartSettings, WindowTraining, ZERO,
};
pub use start::{DISCLOSURE, engine_anchors};
pub use state::{
    AnchorResult, ChallengeResult, ConstantsResult, CumulativeElo, EvolveStage, EvolveState,
    GenerationResult, anchor_column,
};

const CONFIG: &str = "config.toml";
/// The champion's weights file.
pub const CHAMPION: &str = "champion.toml";
const LABELS: &str = "labels";

#[derive(Debug, Error)]
pub enum EvolveError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Settings(#[from] PresetError),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error(
        "{0}: these weights have no network to train; start from zero, default or a file with a network"
    )]
    NoNetwork(String),
    #[error("--mentor {0}")]
    Mentor(MentorError),
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: io::Error },
    #[error(transparent)]
    SelfPlay(#[from] GenerationError),
    #[error("an anchor cannot play")]
    Anchor(#[from] PlayerConfigError),
    #[error(transparent)]
    Games(#[from] GamesFileError),
    #[error(transparent)]
    Match(#[from] TournamentError),
    #[error("{}: holds another run: {key} differs; choose another folder, or leave the setting out to resume", .path.display())]
    OtherRun { path: PathBuf, key: String },
    #[error("{}: holds a run of finch tune or train; choose another folder", .0.display())]
    OtherKind(PathBuf),
    #[error("these settings start an engine, which --no-engines forbids: {0}")]
    EngineForbidden(String),
    #[error("{}: another finch evolve runs in this folder", .0.display())]
    Locked(PathBuf),
    #[error(
        "{}: holds a champion or labels, but the run's config.toml or state.toml is missing; \
         choose another folder",
        .0.display()
    )]
    Leftovers(PathBuf),
}

/// Receives the progress of an evolve run.
pub trait EvolveObserver {
    /// A stage begins, or resumes, that has so many steps.
    fn stage(&mut self, generation: u64, stage: EvolveStage, steps: u64);

    /// So many steps of the stage are done.
    fn progress(&mut self, done: u64);

    /// A generation is complete; the journal's last row has its figures.
    fn generation(&mut self, state: &EvolveState, journal: &RunJournal);

    /// Another engine is about to be started; false refuses the run.
    fn allows_engine(&mut self, _command: &str) -> bool {
        true
    }
}

/// When to stop. A run that stopped resumes by the same call.
#[derive(Clone, Copy)]
pub struct EvolveLimits<'a> {
    pub stop: &'a AtomicBool,
    /// All time that is spent on the run, that of earlier calls included.
    pub time: Option<Duration>,
    /// The last generation.
    pub generations: Option<u64>,
}

/// An evolve run under way.
pub struct EvolveRun<'a> {
    settings: EvolveSettings,
    folder: RunFolder,
    state: EvolveState,
    journal: RunJournal,
    threads: usize,
    limits: EvolveLimits<'a>,
    observer: &'a mut dyn EvolveObserver,
    started: Instant,
    /// Time spent before this process started.
    earlier: f64,
    /// Held as long as this process works in the folder.
    _lock: File,
}

impl<'a> EvolveRun<'a> {
    /// Opens a folder with these changes to the settings, or starts a run there. `from` is the
    /// start of a new run. A folder that holds a run with other settings is refused.
    pub fn open(
        path: &Path,
        from: Option<&str>,
        changes: &[(String, String)],
        threads: usize,
        limits: EvolveLimits<'a>,
        observer: &'a mut dyn EvolveObserver,
    ) -> Result<EvolveRun<'a>, EvolveError> {
        let settings = match RunFolder::holds_run(path) {
            true => settings_of_run(path, from, changes)?,
            false => EvolveSettings::new(from.unwrap_or("default")).with(changes)?,
        };
        stages::check_players(&settings, observer)?;
        let first = match state_of(path)? {
            Some(_) => None,
            None => {
                refuse_leftovers(path)?;
                Some(start::first_champion(&settings)?)
            }
        };
        let folder = RunFolder::create(path)?;
        let lock = files::lock_folder(path).map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => EvolveError::Locked(path.to_owned()),
            _ => failed(path)(error),
        })?;
        if first.is_some() && state_of(path)?.is_some() {
            // Another process began the run just now.
            return Err(EvolveError::Locked(path.to_owned()));
        }
        files::remove_temporary(path).map_err(failed(path))?;
        if let Some(champion) = first {
            begin(&folder, &settings, &champion)?;
        }
        let state = EvolveState::read(&folder)?.unwrap_or_default();
        let mut journal = RunJournal::new(EvolveState::columns(&stages::anchor_names(&settings)?));
        if state.generation > 1 {
            journal.restore(&folder, state.generation - 1)?;
        }
        Ok(EvolveRun {
            earlier: state.seconds,
            settings,
            folder,
            state,
            journal,
            threads: match threads {
                0 => rayon::current_num_threads(),
                threads => threads,
            },
            limits,
            observer,
            started: Instant::now(),
            _lock: lock,
        })
    }

    pub fn settings(&self) -> &EvolveSettings {
        &self.settings
    }

    pub fn state(&self) -> &EvolveState {
        &self.state
    }

    /// Where the champion's weights are.
    pub fn champion_path(&self) -> PathBuf {
        self.plan().champion_path()
    }

    /// Works until a limit is reached. All that is done is on disk then.
    pub fn run(&mut self) -> Result<(), EvolveError> {
        self.remove_old_files()?;
        while !self.is_over() {
            let generation = self.state.generation;
            let Some(next) = self.work()? else {
                break;
            };
            self.state.stage = next;
            self.save_state()?;
            if self.state.generation != generation {
                self.remove_old_files()?;
            }
        }
        self.save_state()?;
        if !self.journal.rows().is_empty() {
            report::write(&self.folder)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let last = self.limits.generations;
        self.is_stopped() || last.is_some_and(|last| self.state.generation > last)
    }

    fn is_stopped(&self) -> bool {
        let spent = Duration::from_secs_f64(self.seconds());
        self.limits.stop.load(Ordering::Relaxed)
            || self.limits.time.is_some_and(|limit| spent >= limit)
    }

    fn seconds(&self) -> f64 {
        self.earlier + self.started.elapsed().as_secs_f64()
    }

    fn save_state(&mut self) -> Result<(), EvolveError> {
        self.state.seconds = self.seconds();
        Ok(self.state.write(&self.folder)?)
    }

    /// Removes labels that have left the window and the folders of earlier generations.
    fn remove_old_files(&self) -> Result<(), EvolveError> {
        let generation = self.state.generation;
        let needed = self.settings.window(generation.saturating_sub(1));
        let oldest = needed.first().copied().unwrap_or_default();
        for entry in entries(&self.labels_folder())? {
            let number = number_in(&entry, "");
            if number.is_some_and(|number| number < oldest) {
                fs::remove_file(&entry).map_err(failed(&entry))?;
            }
        }
        for entry in entries(self.folder.path())? {
            let number = number_in(&entry, GENERATION);
            if number.is_some_and(|number| number < generation) {
                fs::remove_dir_all(&entry).map_err(failed(&entry))?;
            }
        }
        Ok(())
    }

    fn labels_folder(&self) -> PathBuf {
        self.plan().labels_folder()
    }

    fn labels_path(&self, generation: u64) -> PathBuf {
        self.plan().labels_path(generation)
    }

    fn generation_folder(&self) -> PathBuf {
        self.plan().generation_folder()
    }
}

/// How the names of generations' folders begin.
const GENERATION: &str = "generation-";

/// Writes the files of a run that starts; the state comes last.
fn begin(
    folder: &RunFolder,
    settings: &EvolveSettings,
    champion: &Weights,
) -> Result<(), EvolveError> {
    folder.write(CONFIG, settings.to_toml())?;
    save_champion(folder, champion)?;
    let state = EvolveState {
        generation: 1,
        stage: stages::first_stage(settings, 1),
        ..EvolveState::default()
    };
    Ok(state.write(folder)?)
}

fn save_champion(folder: &RunFolder, champion: &Weights) -> Result<(), EvolveError> {
    let path = folder.path().join(CHAMPION);
    champion.save(&path).map_err(failed(&path))
}

fn state_of(path: &Path) -> Result<Option<EvolveState>, EvolveError> {
    match RunFolder::holds_run(path) {
        true => Ok(EvolveState::read(&RunFolder::open(path)?)?),
        false => Ok(None),
    }
}

/// The settings of the run in a folder; an error if it is another than what was asked for.
fn settings_of_run(
    path: &Path,
    from: Option<&str>,
    changes: &[(String, String)],
) -> Result<EvolveSettings, EvolveError> {
    let folder = RunFolder::open(path)?;
    let text = folder.config()?;
    let file = path.join(CONFIG);
    if !EvolveSettings::is_in(&text) {
        return Err(EvolveError::OtherKind(path.to_owned()));
    }
    let settings = EvolveSettings::parse(&text, &file.display().to_string())?;
    let other = |key: &str| EvolveError::OtherRun {
        path: path.to_owned(),
        key: key.to_owned(),
    };
    if from.is_some_and(|from| from != settings.start.from) {
        return Err(other("--from"));
    }
    for (key, value) in changes {
        // The date is that of the first call.
        let change = (key.clone(), value.clone());
        if key != STARTED && settings.with(&[change])? != settings {
            return Err(other(key));
        }
    }
    Ok(settings)
}

/// The key of the date.
pub const STARTED: &str = "start.started";

/// A new run would replace the champion of one whose config or state is lost. A run that was killed
/// while it began has a config, and neither labels nor a journal yet.
fn refuse_leftovers(path: &Path) -> Result<(), EvolveError> {
    let no_work_yet = entries(&path.join(LABELS))?.is_empty() && !path.join(JOURNAL_FILE).exists();
    let is_new = !path.join(CHAMPION).exists() || RunFolder::holds_run(path);
    match no_work_yet && is_new {
        true => Ok(()),
        false => Err(EvolveError::Leftovers(path.to_owned())),
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> EvolveError {
    let path = path.to_owned();
    move |error| EvolveError::File {
        path: path.clone(),
        error,
    }
}

/// The entries of a folder; none if it does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, EvolveError> {
    let read = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(failed(folder))?,
    };
    let paths = read.map(|entry| entry.map(|entry| entry.path()));
    paths.collect::<io::Result<_>>().map_err(failed(folder))
}

/// The number in a name such as `generation-0007` or `0007.bin`.
fn number_in(path: &Path, prefix: &str) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_prefix(prefix)?;
    name.split('.').next()?.parse().ok()
}
