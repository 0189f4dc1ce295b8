//! Tuning in a session: a run on a thread of its own that reports by `info string`. Weights that
//! win their closing match against those of the session wait here until the session takes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use super::output::Output;
use crate::eval::Weights;
use crate::tune::experiment::Experiment;
use crate::tune::run::{RunError, RunFolder, RunObserver, Session};

/// How long a stopped run may take to end. A run that needs longer loses nothing: its folder can
/// be resumed.
const GRACE: Duration = Duration::from_millis(500);
/// The shortest time between two lines of progress.
const INTERVAL: Duration = Duration::from_secs(1);

/// A run under way; dropping it ends the run within [`GRACE`].
pub struct Tuning {
    stop: Arc<AtomicBool>,
    outcome: Receiver<Option<Weights>>,
}

impl Tuning {
    /// Starts a run whose result has to beat the weights of the session.
    pub fn start(experiment: Experiment, playing: Weights, output: Arc<Output>) -> Tuning {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (sender, outcome) = bounded(1);
        std::thread::spawn(move || {
            let (winner, news) = match tune(&experiment, playing, &output, &stopped) {
                Ok(result) => result,
                Err(error) => (None, format!("tuning failed: {error}")),
            };
            // Sent before the message, so that a reader of the message can rely on the weights. A
            // session that has ended receives nothing.
            let _ = sender.send(winner);
            output.message(news);
        });
        Tuning { stop, outcome }
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

/// Runs an experiment. Returns its weights if they won, and a message.
fn tune(
    experiment: &Experiment,
    playing: Weights,
    output: &Arc<Output>,
    stop: &AtomicBool,
) -> Result<(Option<Weights>, String), RunError> {
    let mut progress = Progress {
        output: Arc::clone(output),
        last: None,
    };
    let mut session = Session::new(playing, &mut progress, stop);
    session.prepare(experiment)?;
    let folder = RunFolder::create_free(experiment.name())?;
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

/// Reports progress to the GUI.
struct Progress {
    output: Arc<Output>,
    last: Option<Instant>,
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
    }

    fn closing(&mut self, games: u64) {
        self.output
            .message(format_args!("closing match: {games} games"));
    }
}
