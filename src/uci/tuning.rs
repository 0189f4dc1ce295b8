//! Tuning inside a session: a run on a thread of its own, told of by `info string`. Its weights
//! wait here until the session takes them up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use super::output::Output;
use crate::data::Tally;
use crate::eval::Weights;
use crate::tune::fitness::Fitness;
use crate::tune::preset::Preset;
use crate::tune::run::{self, Folder, Observer, Row, RunError, Workshop};

/// How long a run may take to end in order when it is told to. A run that does not make it
/// loses nothing: its folder can be resumed from.
const GRACE: Duration = Duration::from_millis(500);
/// No more than a line of progress in this time.
const INTERVAL: Duration = Duration::from_secs(1);

/// Ends when dropped, within [`GRACE`].
pub struct Tuning {
    stop: Arc<AtomicBool>,
    outcome: Receiver<Result<Weights, RunError>>,
}

impl Tuning {
    pub fn start(preset: Preset, output: Arc<Output>) -> Tuning {
        let stop = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&stop);
        let (sender, outcome) = bounded(1);
        std::thread::spawn(move || {
            let result = tune(&preset, &output, &heard);
            let news = match &result {
                Ok(weights) => format!("tuned: {}", weights.summary()),
                Err(error) => format!("tuning failed: {error}"),
            };
            // Handed over before it is told: whoever reads the news may count on the weights.
            // A session that is over needs none.
            let _ = sender.send(result);
            output.message(news);
        });
        Tuning { stop, outcome }
    }

    /// Ends the run after the generation it is at.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// What came of it, once it is over. A run that was told to stop is waited for.
    pub fn outcome(&self) -> Option<Result<Weights, RunError>> {
        let patience = match self.stop.load(Ordering::Relaxed) {
            true => GRACE,
            false => Duration::ZERO,
        };
        self.outcome.recv_timeout(patience).ok()
    }
}

impl Drop for Tuning {
    fn drop(&mut self) {
        self.stop();
        let _ = self.outcome.recv_timeout(GRACE);
    }
}

fn tune(preset: &Preset, output: &Arc<Output>, stop: &AtomicBool) -> Result<Weights, RunError> {
    let mut teller = Teller {
        output: Arc::clone(output),
        last: None,
    };
    let workshop = Workshop::new(preset, &mut teller)?;
    let folder = Folder::create_free(&preset.name)?;
    folder.write_config(preset)?;
    let place = folder.path().display();
    output.message(format_args!("tuning {} in {place}", preset.name));
    let outcome = run::run(preset, &workshop, &folder, &mut teller, stop)?;
    Ok(outcome.best)
}

/// Tells the GUI how the run is getting on.
struct Teller {
    output: Arc<Output>,
    last: Option<Instant>,
}

impl Observer for Teller {
    fn prepared(&mut self, tally: &Tally, training: usize, validation: usize) {
        self.output.message(format_args!(
            "{}; {training} positions to train on, {validation} to validate with",
            tally.summary()
        ));
    }

    fn generation(&mut self, row: &Row, last: u64, fitness: &dyn Fitness) {
        let told = self.last.is_some_and(|at| at.elapsed() < INTERVAL);
        if !told || row.generation == last {
            self.last = Some(Instant::now());
            self.output.message(row.told(last, fitness));
        }
    }
}
