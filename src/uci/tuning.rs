//! Tuning in a session: a run on a thread of its own that reports by `info string`. Weights that
//! win their closing match against those of the session wait here until the session takes them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use super::output::Output;
use crate::eval::{Weights, installed_path};
use crate::tune::experiment::Experiment;
use crate::tune::run::{RunError, RunFolder, RunObserver, Session};

/// How long a stopped run may take to end. A run that needs longer loses nothing: its folder can
/// be resumed.
const GRACE: Duration = Duration::from_millis(500);
/// How long a run that pauses sleeps before it looks again.
const PAUSE: Duration = Duration::from_millis(10);
/// The shortest time between two lines of progress.
const INTERVAL: Duration = Duration::from_secs(1);

/// A run under way; dropping it ends the run within [`GRACE`].
pub struct Tuning {
    stop: Arc<AtomicBool>,
    outcome: Receiver<Option<Weights>>,
}

impl Tuning {
    /// Starts a run whose result has to beat the weights of the session.
    /// It pauses between generations while `searching`. Fails when the system has no more threads.
    pub fn start(
        experiment: Experiment,
        place: PathBuf,
        playing: Weights,
        searching: Arc<AtomicBool>,
        output: Arc<Output>,
    ) -> io::Result<Tuning> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut progress = Progress {
            output: Arc::clone(&output),
            searching,
            stop: Arc::clone(&stop),
            last: None,
        };
        let (sender, outcome) = bounded(1);
        std::thread::Builder::new().spawn(move || {
            let (winner, news) = match tune(&experiment, &place, playing, &mut progress) {
                Ok(result) => result,
                Err(error) => (None, format!("tuning failed: {error}")),
            };
            // Sent before the message, so that a reader of the message can rely on the weights. A
            // session that has ended receives nothing.
            let _ = sender.send(winner);
            output.message(news);
        })?;
        Ok(Tuning { stop, outcome })
    }

    /// Ends the run after its current generation.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Once the run has ended, its weights if they won. Waits for a run that was stopped.
    pub fn outcome(&self) -> Option<Option<Weights>> {
        let timeout = match self.stop.load(Ordering::Relaxed) {
            true => GRACE,
            false => Duration::ZERO,
        };
        self.outcome.recv_timeout(timeout).ok()
    }
}

impl Drop for Tuning {
    fn drop(&mut self) {
        self.stop();
        let _ = self.outcome.recv_timeout(GRACE);
    }
}

/// Where the runs of a preset are: beside its file; those of a built-in one beside the program,
/// where installed weights are, too. A GUI's working folder is no place to look for them.
pub fn place_of_runs(preset: &str) -> PathBuf {
    let file = Path::new(preset);
    let beside = match file.is_file() {
        true => Some(file.to_owned()),
        false => installed_path().ok(),
    };
    let folder = beside.and_then(|path| path.parent().map(Path::to_owned));
    folder.unwrap_or_default()
}

/// Runs an experiment. Returns its weights if they won, and a message.
fn tune(
    experiment: &Experiment,
    place: &Path,
    playing: Weights,
    progress: &mut Progress,
) -> Result<(Option<Weights>, String), RunError> {
    let (output, stop) = (progress.output.clone(), progress.stop.clone());
    let mut session = Session::new(playing, progress, &stop);
    session.prepare(experiment)?;
    let folder = RunFolder::create_free_in(place, experiment.name())?;
    folder.write_config(experiment)?;
    let path = folder.path().display();
    output.message(format_args!("tuning {} in {path}", experiment.name()));
    let finished = session.run(experiment, &folder)?;
    let best = finished.outcome.best;
    let Some(closing) = finished.closing else {
        let message = format!("tuning interrupted; resume with: finch tune --resume {path}");
        return Ok((None, message));
    };
    for played in closing.all() {
        output.message(played);
    }
    Ok(match closing.check_winner() {
        Ok(()) => {
            let winner = best.weights().cloned();
            let summary = winner.as_ref().map_or_else(String::new, Weights::summary);
            (winner, format!("tuned: {summary}"))
        }
        Err(_) if best.weights().is_none() => (
            None,
            format!("tuned: options of an engine, in {path}/best.uci"),
        ),
        Err(_) => {
            let message = format!(
                "tuned: the weights did not beat those that play now and are not used; \
                 to try them: setoption name WeightsFile value {path}/best.toml"
            );
            (None, message)
        }
    })
}

/// Reports progress to the GUI, and pauses while the session searches.
struct Progress {
    output: Arc<Output>,
    searching: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    last: Option<Instant>,
}

impl Progress {
    /// The processors are the search's.
    fn wait_for_search(&self) {
        while self.searching.load(Ordering::Relaxed) && !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE);
        }
    }
}

impl RunObserver for Progress {
    fn prepared(&mut self, summary: &str) {
        self.output.message(summary);
    }

    fn generation(&mut self, generation: u64, last: u64, line: &str) {
        let recent = self.last.is_some_and(|at| at.elapsed() < INTERVAL);
        if !recent || generation == last {
            self.last = Some(Instant::now());
            self.output.message(line);
        }
        self.wait_for_search();
    }

    fn closing(&mut self, games: u64) {
        self.output
            .message(format_args!("closing match: {games} games"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_pauses_tuning_and_a_stopped_run_does_not_wait() {
        let flag = |value| Arc::new(AtomicBool::new(value));
        let (searching, stop) = (flag(true), flag(false));
        let progress = Progress {
            output: Arc::default(),
            searching: searching.clone(),
            stop: stop.clone(),
            last: None,
        };
        for end in [&searching, &stop] {
            searching.store(true, Ordering::Relaxed);
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| progress.wait_for_search());
                std::thread::sleep(3 * PAUSE);
                assert!(!waiting.is_finished());
                end.fetch_not(Ordering::Relaxed);
            });
        }
    }

    #[test]
    fn runs_of_a_file_are_beside_it_and_others_beside_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("small.toml");
        std::fs::write(&file, "").unwrap();
        assert_eq!(place_of_runs(&file.display().to_string()), folder.path());
        let program = std::env::current_exe().unwrap();
        assert_eq!(place_of_runs("texel"), program.parent().unwrap());
    }
}
