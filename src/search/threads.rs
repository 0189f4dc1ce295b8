//! Search threads and the flags they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;

use crossbeam_channel::{Sender, bounded, unbounded};
use parking_lot::{Condvar, Mutex};

use super::ThreadData;

/// Alpha-beta recurses once a ply and keeps a list of moves in each.
pub const STACK_BYTES: usize = 16 << 20;

/// Memory that has to be free for one more thread: its stack, its histories and caches, and a
/// rest for the others to work with.
const THREAD_BYTES: usize = STACK_BYTES + (32 << 20);

/// As many threads as make sense here. With many more than processors, the one that keeps the
/// clock waits for its turn longer than a move may take.
pub(super) fn max_threads() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (4 * processors).max(32)
}

/// Whether there is memory for one more thread. An allocation that fails ends the process, so
/// it is asked for before. Nothing is written to it: it costs little.
pub(super) fn has_room_for_thread() -> bool {
    Vec::<u8>::new().try_reserve_exact(THREAD_BYTES).is_ok()
}

/// The counters of a thread on a cache line of their own, so that threads do not wait for each other's.
#[derive(Default)]
#[repr(align(64))]
struct Counters {
    nodes: AtomicU64,
    tb_hits: AtomicU64,
}

/// What the threads of one search and the engine that started it share.
#[derive(Default)]
pub(super) struct Control {
    stop: AtomicBool,
    pondering: AtomicBool,
    /// While pondering: the time for this move would have been up.
    overdue: AtomicBool,
    counters: Vec<Counters>,
    /// True from `begin` until the result has been told.
    busy: Mutex<bool>,
    changed: Condvar,
}

impl Control {
    pub(super) fn new(threads: usize) -> Control {
        Control {
            counters: (0..threads.max(1)).map(|_| Counters::default()).collect(),
            ..Control::default()
        }
    }

    /// Ends the search; harmless when there is none.
    pub(super) fn stop(&self) {
        // The lock orders this with the wait in `wait_for_permission`.
        let _busy = self.busy.lock();
        self.stop.store(true, Relaxed);
        self.pondering.store(false, Relaxed);
        self.changed.notify_all();
    }

    /// The expected move was played: from now on the clock, which runs since `go`, counts.
    pub(super) fn ponderhit(&self) {
        let _busy = self.busy.lock();
        self.pondering.store(false, Relaxed);
        self.stop.fetch_or(self.overdue.load(Relaxed), Relaxed);
        self.changed.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    pub(super) fn is_pondering(&self) -> bool {
        self.pondering.load(Relaxed)
    }

    /// The search would end here if it did not ponder; the hit will end it.
    pub(super) fn set_overdue(&self) {
        // The lock orders this with a hit at the same moment.
        let _busy = self.busy.lock();
        self.overdue.store(true, Relaxed);
    }

    pub(super) fn publish(&self, id: usize, nodes: u64, tb_hits: u64) {
        if let Some(counters) = self.counters.get(id) {
            counters.nodes.store(nodes, Relaxed);
            counters.tb_hits.store(tb_hits, Relaxed);
        }
    }

    /// Nodes of all threads, as last published.
    pub(super) fn nodes(&self) -> u64 {
        let nodes = |counters: &Counters| counters.nodes.load(Relaxed);
        self.counters.iter().map(nodes).sum()
    }

    /// Positions that all threads found in the tablebases.
    pub(super) fn tb_hits(&self) -> u64 {
        let hits = |counters: &Counters| counters.tb_hits.load(Relaxed);
        self.counters.iter().map(hits).sum()
    }

    pub(super) fn begin(&self, ponder: bool) {
        *self.busy.lock() = true;
        self.stop.store(false, Relaxed);
        self.pondering.store(ponder, Relaxed);
        self.overdue.store(false, Relaxed);
        for id in 0..self.counters.len() {
            self.publish(id, 0, 0);
        }
    }

    pub(super) fn end(&self) {
        *self.busy.lock() = false;
        self.changed.notify_all();
    }

    pub(super) fn wait_until_idle(&self) {
        let mut busy = self.busy.lock();
        while *busy {
            self.changed.wait(&mut busy);
        }
    }

    /// The protocol forbids a best move before `stop` (infinite) or `ponderhit` (ponder).
    pub(super) fn wait_for_permission(&self, infinite: bool) {
        let mut busy = self.busy.lock();
        while !self.is_stopped() && (infinite || self.is_pondering()) {
            self.changed.wait(&mut busy);
        }
    }
}

type Task = Box<dyn FnOnce(&mut ThreadData) + Send>;

/// A persistent thread that runs tasks on its own data, one after the other.
pub(super) struct Worker {
    tasks: Sender<Task>,
    /// Taken when it ends.
    handle: Option<JoinHandle<()>>,
    /// Locked while a task runs.
    pub(super) data: Arc<Mutex<ThreadData>>,
}

impl Worker {
    /// `None` when the system has no more threads.
    pub(super) fn spawn(id: usize, data: Arc<Mutex<ThreadData>>) -> Option<Worker> {
        let (tasks, inbox) = unbounded::<Task>();
        let (ready, started) = bounded::<()>(1);
        let shared = data.clone();
        let serve = move || {
            // The allocator reserves memory for a thread when it first asks for some: do that before
            // anyone looks whether there is room for one more.
            drop(std::hint::black_box(Box::new(0_u8)));
            drop(ready);
            for task in inbox {
                task(&mut shared.lock());
            }
        };
        let handle = std::thread::Builder::new()
            .name(format!("search-{id}"))
            .stack_size(STACK_BYTES)
            .spawn(serve)
            .inspect_err(|error| log::error!("search thread {id}: {error}"))
            .ok()?;
        // Fails when the sender is gone, which is what it waits for.
        let _ = started.recv();
        Some(Worker {
            tasks,
            handle: Some(handle),
            data,
        })
    }

    pub(super) fn run(&self, task: impl FnOnce(&mut ThreadData) + Send + 'static) {
        // Tasks do not panic, so the thread is there as long as its worker.
        let _ = self.tasks.send(Box::new(task));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Closing the channel ends the thread's loop.
        self.tasks = unbounded().0;
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_ends_a_search_whose_time_is_up_and_no_other() {
        let control = Control::new(1);
        for overdue in [false, true, false] {
            control.begin(true);
            if overdue {
                control.set_overdue();
            }
            assert!(control.is_pondering() && !control.is_stopped());
            control.ponderhit();
            assert!(!control.is_pondering());
            assert_eq!(control.is_stopped(), overdue);
            control.end();
        }
    }
}
