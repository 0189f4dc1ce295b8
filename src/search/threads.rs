//! The pool of search threads.
//!
//! Threads are made once and wait for jobs. The first one keeps the clock and speaks; the
//! others search the same position and meet it in the shared table. When the first is done (and
//! the GUI agrees: infinite and ponder searches wait for its word) it stops the others, takes
//! the best of all results and tells the observer. A panic in one thread is caught, reported and
//! answered with a legal move: a GUI's game should not end because of a bug in ours.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use parking_lot::{Condvar, Mutex};

use super::score::MATE_IN_MAX;
use super::table::OutOfMemory;
use super::{Memory, Observer, Outcome, Report, Request, Search, Table};
use crate::eval::Weights;
use crate::position::movegen;

/// Alpha-beta recurses once a ply and keeps a list of moves in each.
const STACK_BYTES: usize = 16 << 20;

/// A counter on a cache line of its own, so that threads do not wait for each other's.
#[derive(Default)]
#[repr(align(64))]
struct Counter(AtomicU64);

/// What the threads of one search and the session that started it share.
#[derive(Default)]
pub struct Control {
    stop: AtomicBool,
    pondering: AtomicBool,
    /// While pondering: the time for this move would have been up.
    overdue: AtomicBool,
    counters: Vec<Counter>,
    /// True from `start` until the outcome has been told.
    busy: Mutex<bool>,
    changed: Condvar,
}

impl Control {
    pub fn new(threads: usize) -> Control {
        Control {
            counters: (0..threads.max(1)).map(|_| Counter::default()).collect(),
            ..Control::default()
        }
    }

    /// Ends the search; harmless when there is none.
    pub fn stop(&self) {
        // The lock orders this with the wait in `wait_for_permission`.
        let _busy = self.busy.lock();
        self.stop.store(true, Relaxed);
        self.pondering.store(false, Relaxed);
        self.changed.notify_all();
    }

    /// The expected move was played: from now on the clock, which runs since `go`, counts.
    pub fn ponderhit(&self) {
        let _busy = self.busy.lock();
        self.pondering.store(false, Relaxed);
        self.stop.fetch_or(self.overdue.load(Relaxed), Relaxed);
        self.changed.notify_all();
    }

    /// For work that is not a search but must end with it.
    pub fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    pub fn is_pondering(&self) -> bool {
        self.pondering.load(Relaxed)
    }

    /// The search would end here if it did not ponder; the hit will end it.
    pub(super) fn set_overdue(&self) {
        // The lock orders this with a hit at the same moment.
        let _busy = self.busy.lock();
        self.overdue.store(true, Relaxed);
    }

    pub(super) fn publish(&self, id: usize, nodes: u64) {
        if let Some(counter) = self.counters.get(id) {
            counter.0.store(nodes, Relaxed);
        }
    }

    /// Nodes of all threads, as last published.
    pub fn nodes(&self) -> u64 {
        self.counters
            .iter()
            .map(|counter| counter.0.load(Relaxed))
            .sum()
    }

    fn begin(&self, ponder: bool) {
        *self.busy.lock() = true;
        self.stop.store(false, Relaxed);
        self.pondering.store(ponder, Relaxed);
        self.overdue.store(false, Relaxed);
        for counter in &self.counters {
            counter.0.store(0, Relaxed);
        }
    }

    fn end(&self) {
        *self.busy.lock() = false;
        self.changed.notify_all();
    }

    fn wait_until_idle(&self) {
        let mut busy = self.busy.lock();
        while *busy {
            self.changed.wait(&mut busy);
        }
    }

    /// The protocol forbids a best move before `stop` (infinite) or `ponderhit` (ponder).
    fn wait_for_permission(&self, infinite: bool) {
        let mut busy = self.busy.lock();
        while !self.is_stopped() && (infinite || self.is_pondering()) {
            self.changed.wait(&mut busy);
        }
    }
}

enum Job {
    Search(SearchJob),
    Clear,
}

#[derive(Clone)]
struct SearchJob {
    request: Arc<Request>,
    table: Arc<Table>,
    control: Arc<Control>,
    observer: Arc<dyn Observer>,
    /// Where helpers leave their results for the first thread.
    results: Sender<Option<Found>>,
    collect: Receiver<Option<Found>>,
}

/// One thread's answer.
struct Found {
    outcome: Outcome,
    /// Its best line, in case it is not the one last reported.
    report: Option<Report>,
}

struct Thread {
    jobs: Sender<Job>,
    /// Taken when it ends.
    handle: Option<JoinHandle<()>>,
}

pub struct Pool {
    threads: Vec<Thread>,
    table: Arc<Table>,
    control: Arc<Control>,
    weights: Arc<Weights>,
}

impl Pool {
    pub fn new(
        threads: usize,
        mebibytes: usize,
        weights: Arc<Weights>,
    ) -> Result<Pool, OutOfMemory> {
        let mut pool = Pool {
            threads: Vec::new(),
            table: Arc::new(Table::new(mebibytes)?),
            control: Arc::new(Control::new(threads)),
            weights,
        };
        pool.set_threads(threads);
        Ok(pool)
    }

    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    pub fn table(&self) -> &Table {
        &self.table
    }

    /// As many threads as asked for, or as the system gives.
    pub fn set_threads(&mut self, count: usize) {
        self.halt();
        self.threads.clear();
        let spawned = (0..count.max(1)).map_while(|id| Thread::spawn(id, self.weights.clone()));
        self.threads.extend(spawned);
        self.control = Arc::new(Control::new(self.threads.len()));
    }

    /// Replaces the table. On failure there is an empty one of the old size.
    pub fn set_hash(&mut self, mebibytes: usize) -> Result<(), OutOfMemory> {
        self.halt();
        let before = self.table.mebibytes();
        // What the old one takes is free for the new one.
        self.table = Arc::new(Table::new(1)?);
        let (table, outcome) = match Table::new(mebibytes) {
            Ok(table) => (table, Ok(())),
            Err(error) => (Table::new(before)?, Err(error)),
        };
        self.table = Arc::new(table);
        outcome
    }

    /// Forgets all that was learned, as for a new game.
    pub fn clear(&mut self) {
        self.halt();
        self.table.clear(self.threads.len());
        for thread in &self.threads {
            // A thread that is gone has nothing to forget.
            let _ = thread.jobs.send(Job::Clear);
        }
    }

    /// Starts a search and returns at once; the observer hears the outcome.
    pub fn start(&mut self, request: Request, observer: Arc<dyn Observer>) {
        self.halt();
        self.table.next_search();
        self.control.begin(request.limits.ponder);
        let (results, collect) = bounded(self.threads.len());
        let job = SearchJob {
            request: Arc::new(request),
            table: self.table.clone(),
            control: self.control.clone(),
            observer,
            results,
            collect,
        };
        if self.threads.is_empty() {
            // Nobody could hear a later stop.
            self.stop();
            return conclude(&job, None);
        }
        // The first thread starts last: it must find the others at work.
        for thread in self.threads.iter().rev() {
            let _ = thread.jobs.send(Job::Search(job.clone()));
        }
    }

    pub fn stop(&self) {
        self.control.stop();
    }

    pub fn ponderhit(&self) {
        self.control.ponderhit();
    }

    /// Waits until the outcome has been told.
    pub fn wait(&self) {
        self.control.wait_until_idle();
    }

    fn halt(&self) {
        self.stop();
        self.wait();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.halt();
    }
}

impl Thread {
    fn spawn(id: usize, weights: Arc<Weights>) -> Option<Thread> {
        let (jobs, inbox) = unbounded();
        let handle = std::thread::Builder::new()
            .name(format!("search-{id}"))
            .stack_size(STACK_BYTES)
            .spawn(move || serve(id, inbox, weights))
            .inspect_err(|error| log::error!("search thread {id}: {error}"))
            .ok()?;
        Some(Thread {
            jobs,
            handle: Some(handle),
        })
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Closing the channel ends the thread's loop.
        self.jobs = unbounded().0;
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}

fn serve(id: usize, inbox: Receiver<Job>, weights: Arc<Weights>) {
    let mut memory = Memory::new(weights);
    for job in inbox {
        match job {
            Job::Clear => memory.clear(),
            Job::Search(job) => {
                let found = catch_unwind(AssertUnwindSafe(|| search(id, &job, &mut memory)));
                if found.is_err() {
                    memory = Memory::new(job.request.weights.clone());
                }
                let found = found.ok();
                if id == 0 {
                    conclude(&job, found);
                } else {
                    let _ = job.results.send(found);
                }
            }
        }
    }
}

fn search(id: usize, job: &SearchJob, memory: &mut Memory) -> Found {
    let observer = &*job.observer;
    let mut search = Search::new(&job.request, &job.table, &job.control, observer, memory, id);
    let outcome = search.run();
    let report = search.best_line();
    Found { outcome, report }
}

/// The first thread's last duty: wait for leave to speak, collect, choose, tell.
fn conclude(job: &SearchJob, own: Option<Found>) {
    let infinite = job.request.limits.infinite;
    job.control.wait_for_permission(infinite);
    job.control.stop();
    let helpers = job.control.counters.len() - 1;
    let others: Vec<Option<Found>> = job.collect.iter().take(helpers).collect();
    if own.is_none() || others.iter().any(Option::is_none) {
        job.observer
            .message("a search thread failed; this is a bug in Finch, please report it");
    }
    let mut outcome = choose(job, own, others.into_iter().flatten());
    outcome.nodes = job.control.nodes();
    job.observer.finished(&outcome);
    job.control.end();
}

/// The deepest result, or a better score at the same depth; a shorter mate beats all.
fn choose(job: &SearchJob, own: Option<Found>, others: impl Iterator<Item = Found>) -> Outcome {
    let rank = |found: &Found| {
        let mate = if found.outcome.score >= MATE_IN_MAX {
            found.outcome.score
        } else {
            0
        };
        (mate, found.outcome.depth, found.outcome.score)
    };
    let own_move = own.as_ref().and_then(|own| own.outcome.best);
    let single_line = job.request.multi_pv == 1;
    let best = own
        .into_iter()
        .chain(others.filter(|_| single_line))
        .reduce(|best, other| {
            if rank(&other) > rank(&best) {
                other
            } else {
                best
            }
        });
    let Some(best) = best else {
        let first_legal = movegen::legal_moves(job.request.game.position())
            .first()
            .copied();
        return Outcome {
            best: first_legal,
            ..Outcome::default()
        };
    };
    // The last line a GUI sees must begin with the move played.
    if best.outcome.best != own_move
        && let Some(report) = &best.report
    {
        job.observer.report(report);
    }
    best.outcome
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
