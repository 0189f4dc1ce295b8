//! Long work that is not a search, such as perft and the benchmark, on a thread of its own: the
//! session still answers `stop` and `quit`.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::search::Control;

/// Dropping it stops the work and waits for its end.
pub struct Background {
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    pub fn start(work: impl FnOnce(&Control) + Send + 'static) -> Background {
        let control = Arc::new(Control::new(1));
        let shared = control.clone();
        Background {
            control,
            thread: Some(std::thread::spawn(move || work(&shared))),
        }
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
        self.control.stop();
        self.wait();
    }
}
