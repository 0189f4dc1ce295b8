//! Long work that is not a search, such as perft and the benchmark: it runs on a thread of its
//! own, so that the session hears `stop` and `quit` meanwhile.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::search::Control;

/// Ends when dropped: the work is told to stop and waited for.
pub struct Chore {
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
}

impl Chore {
    pub fn start(work: impl FnOnce(&Control) + Send + 'static) -> Chore {
        let control = Arc::new(Control::new(1));
        let shared = control.clone();
        Chore {
            control,
            thread: Some(std::thread::spawn(move || work(&shared))),
        }
    }
}

impl Drop for Chore {
    fn drop(&mut self) {
        self.control.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
