//! Long work that is not a search, such as perft and the benchmark, on a thread of its own: the
//! session still answers `stop` and `quit`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

/// Dropping it stops the work and waits for its end.
pub struct Background {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Fails when the system has no more threads.
    pub fn start(
        work: impl FnOnce(&Arc<AtomicBool>) + Send + 'static,
    ) -> std::io::Result<Background> {
        let stop = Arc::new(AtomicBool::new(false));
        let shared = stop.clone();
        let thread = std::thread::Builder::new().spawn(move || work(&shared))?;
        Ok(Background {
            stop,
            thread: Some(thread),
        })
    }

    /// Waits until the work is done, and calls `still_working` every minute.
    pub fn wait_with(&mut self, still_working: impl Fn()) {
        const TICK: Duration = Duration::from_millis(20);
        let ended = || self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        let mut waited = Duration::ZERO;
        while !ended() {
            std::thread::sleep(TICK);
            waited += TICK;
            if waited >= Duration::from_secs(60) {
                still_working();
                waited = Duration::ZERO;
            }
        }
        self.wait();
    }

    /// Waits until the work is done.
    pub fn wait(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        self.wait();
    }
}
