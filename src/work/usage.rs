//! How well the threads of all ranks are used.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::doer;

static START: OnceLock<Instant> = OnceLock::new();
/// Nanoseconds that threads of all ranks spent on tasks.
static BUSY: AtomicU64 = AtomicU64::new(0);
static OWN_THREADS: AtomicUsize = AtomicUsize::new(1);

/// The time that all ranks together spent on tasks.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub ranks: usize,
    pub threads: usize,
    pub busy: Duration,
    pub elapsed: Duration,
}

impl Usage {
    /// What came after an earlier look.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            busy: self.busy.saturating_sub(earlier.busy),
            elapsed: self.elapsed.saturating_sub(earlier.elapsed),
            ..*self
        }
    }

    /// The share of the time in which the threads worked: 0 to 1.
    pub fn efficiency(&self) -> f64 {
        self.busy.as_secs_f64() / (self.elapsed.as_secs_f64() * self.threads as f64).max(1e-9)
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ranks, {} threads: busy {:.1}% of {:.1} s",
            self.ranks,
            self.threads,
            100.0 * self.efficiency(),
            self.elapsed.as_secs_f64()
        )
    }
}

/// The usage since this process joined its job; `None` without helpers.
pub fn usage() -> Option<Usage> {
    doer::has_helpers().then(|| Usage {
        ranks: super::processes(),
        threads: OWN_THREADS.load(Relaxed) + doer::most_helper_threads(),
        busy: Duration::from_nanos(BUSY.load(Relaxed)),
        elapsed: START.get().map_or(Duration::ZERO, Instant::elapsed),
    })
}

/// Does some work that keeps so many threads busy.
pub fn busy<R>(threads: usize, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    add(start.elapsed() * threads as u32);
    result
}

pub(super) fn start() {
    START.get_or_init(Instant::now);
}

pub(super) fn add(time: Duration) {
    BUSY.fetch_add(time.as_nanos() as u64, Relaxed);
}

pub(super) fn own_threads(threads: usize) {
    OWN_THREADS.fetch_max(threads, Relaxed);
}
