//! Where heavy work is done: on the threads of this machine, and on the ranks of an MPI job if the
//! program was started as one (`mpirun -n 8 finch match …`) and built with the feature `cluster`.
//!
//! All ranks run the same command line and prepare the same things: cases, players, openings. Then
//! rank 0 speaks, writes, hands out tasks and works like the others. The others, its helpers,
//! [`serve`] tasks until they are dismissed. A task is small (genes, or the number of a game), and
//! its result depends on it alone: results are the same on any number of ranks. Helpers ask for
//! more when they are done, because games differ in length. Where the work of a command changes on
//! the way, rank 0 [`announce`]s what comes next.

#[cfg(not(feature = "cluster"))]
mod alone;
#[cfg(feature = "cluster")]
mod mpi_job;
mod usage;

#[cfg(not(feature = "cluster"))]
use alone as doer;
#[cfg(feature = "cluster")]
use mpi_job as doer;

use std::collections::BTreeMap;
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use crossbeam_channel::unbounded;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::search::STACK_BYTES;

pub use doer::{
    announce, dismiss, fail, has_helpers, helper_threads, is_helper, next_service, serve,
};
pub use usage::{Usage, busy, usage};

#[derive(Debug, Error)]
pub enum JobError {
    #[error(
        "mpirun started {0} processes, but this build cannot share work among them; build with \
         --features cluster, or start Finch without mpirun"
    )]
    NoFeature(usize),
    #[error("MPI cannot be started with several threads")]
    Threads,
    #[error("the signals of the MPI job cannot be watched: {0}")]
    Signals(String),
}

/// Part in an MPI job, if mpirun started one. Dropping it leaves the job, when all others do.
pub struct Job {
    _membership: doer::Membership,
}

impl Job {
    pub fn join() -> Result<Job, JobError> {
        let _membership = doer::Membership::join()?;
        usage::start();
        Ok(Job { _membership })
    }
}

/// How many processes mpirun started; 1 without it.
pub fn processes() -> usize {
    number_in_environment("OMPI_COMM_WORLD_SIZE").unwrap_or(1)
}

/// Which of them this is, also before it joins the job; 0 without mpirun.
pub fn rank() -> usize {
    number_in_environment("OMPI_COMM_WORLD_RANK").unwrap_or(0)
}

fn number_in_environment(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// The threads of a helper that serve, each one task at a time.
#[derive(Clone, Copy, Debug)]
pub struct ServiceThreads {
    pub count: usize,
    /// How many threads the task of each keeps busy.
    pub width: usize,
}

impl From<usize> for ServiceThreads {
    fn from(count: usize) -> ServiceThreads {
        ServiceThreads { count, width: 1 }
    }
}

/// Where tasks come from.
pub trait TaskSource: Sync {
    /// The number of a task that nobody else gets, for a rank that will do it.
    fn take(&self, rank: usize) -> Option<usize>;

    /// Whether no more are to come.
    fn is_over(&self) -> bool;
}

/// Tasks that are done only once: each worker takes the next number.
pub struct TaskQueue {
    next: AtomicUsize,
    count: usize,
}

impl TaskSource for TaskQueue {
    fn take(&self, _: usize) -> Option<usize> {
        let number = self.next.fetch_add(1, Relaxed);
        (number < self.count).then_some(number)
    }

    fn is_over(&self) -> bool {
        self.next.load(Relaxed) >= self.count
    }
}

impl TaskQueue {
    pub fn new(count: usize) -> TaskQueue {
        TaskQueue {
            next: AtomicUsize::new(0),
            count,
        }
    }
}

/// One task for each rank, by its number. Nobody takes another's: a rank gets the same part of the
/// work each time, and finds what it has cached for it.
struct TaskOfEachRank {
    taken: Vec<AtomicBool>,
}

impl TaskOfEachRank {
    fn new(ranks: usize) -> TaskOfEachRank {
        TaskOfEachRank {
            taken: (0..ranks).map(|_| AtomicBool::new(false)).collect(),
        }
    }
}

impl TaskSource for TaskOfEachRank {
    fn take(&self, rank: usize) -> Option<usize> {
        let taken = self.taken.get(rank)?;
        (!taken.swap(true, Relaxed)).then_some(rank)
    }

    fn is_over(&self) -> bool {
        self.taken.iter().all(|taken| taken.load(Relaxed))
    }
}

/// The rank that hands out tasks.
pub const FIRST_RANK: usize = 0;

/// Only one piece of work is shared at a time; work inside of it is not shared again.
static SHARING: AtomicBool = AtomicBool::new(false);

/// Lets the helpers, if there are any, do some of the tasks that this process does on `threads`
/// threads, and hands their results to `done`. Returns when no more are to come, or soon after
/// `stop` is set.
pub fn share(
    source: &dyn TaskSource,
    threads: usize,
    stop: &AtomicBool,
    task: impl Fn(usize) -> Vec<u8>,
    done: impl FnMut(usize, &[u8]),
) {
    if !doer::has_helpers() || SHARING.swap(true, Relaxed) {
        return;
    }
    usage::own_threads(threads);
    doer::share(source, stop, task, done);
    SHARING.store(false, Relaxed);
}

/// Tasks of one kind, by number.
pub trait Tasks: Sync {
    /// What a thread keeps from task to task, such as an engine.
    type Kept;
    type Outcome: Send;

    fn prepare(&self) -> Self::Kept;

    fn work(&self, kept: &mut Self::Kept, number: usize) -> Self::Outcome;

    /// What a helper has to know to do the task.
    fn message(&self, number: usize) -> Vec<u8>;

    /// What a helper answered; `None` if it could not do the task.
    fn read(&self, answer: &[u8]) -> Option<Self::Outcome>;
}

/// Does the tasks on some threads, and on those of the helpers. `done` gets the outcomes on this
/// thread, in the order of the tasks, and may end the work early.
pub fn each_in_order<T: Tasks>(
    tasks: &T,
    numbers: Range<usize>,
    threads: usize,
    mut done: impl FnMut(usize, T::Outcome) -> ControlFlow<()>,
) -> io::Result<()> {
    let (first, count) = (numbers.start, numbers.len());
    let queue = TaskQueue::new(count);
    let stop = AtomicBool::new(false);
    let threads = threads.clamp(1, count.max(1));
    let (results, collect) = unbounded();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (queue, stop, results) = (&queue, &stop, results.clone());
            let work = move || {
                let mut kept = tasks.prepare();
                while let Some(number) = queue.take(FIRST_RANK) {
                    let outcome = busy(1, || tasks.work(&mut kept, first + number));
                    if stop.load(Relaxed) || results.send((number, Some(outcome))).is_err() {
                        return;
                    }
                }
            };
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            if let Err(error) = thread.spawn_scoped(scope, work) {
                stop.store(true, Relaxed);
                return Err(error);
            }
        }
        if doer::has_helpers() {
            let (queue, stop, results) = (&queue, &stop, results.clone());
            scope.spawn(move || {
                let message = |number| tasks.message(first + number);
                share(queue, threads, stop, message, |number, answer| {
                    // Without a receiver the work is over.
                    let _ = results.send((number, tasks.read(answer)));
                });
            });
        }
        drop(results);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (number, outcome) in collect {
            waiting.insert(number, outcome);
            while let Some(outcome) = waiting.remove(&next) {
                let number = first + next;
                // What a helper could not do is left to this process.
                let outcome = outcome.unwrap_or_else(|| tasks.work(&mut tasks.prepare(), number));
                next += 1;
                if done(number, outcome).is_break() {
                    stop.store(true, Relaxed);
                    return Ok(());
                }
            }
        }
        Ok(())
    })
}

/// The results of all tasks, in their order. This thread does them one after the other with
/// `own`; helpers, whose [`serve`] must do the same with a task as JSON, do some of them.
pub fn map_in_order<T, R>(tasks: &[T], own: impl Fn(&T) -> R) -> Vec<R>
where
    T: Serialize + Sync,
    R: DeserializeOwned + Send,
{
    map_from(&TaskQueue::new(tasks.len()), tasks, own)
}

/// The results of as many tasks as there are [`processes`]: each rank does the one with its number.
pub fn map_by_rank<T, R>(tasks: &[T], own: impl Fn(&T) -> R) -> Vec<R>
where
    T: Serialize + Sync,
    R: DeserializeOwned + Send,
{
    // A task for a rank that is not there would never be done.
    debug_assert!(!doer::has_helpers() || tasks.len() <= processes());
    map_from(&TaskOfEachRank::new(tasks.len()), tasks, own)
}

fn map_from<T, R>(source: &dyn TaskSource, tasks: &[T], own: impl Fn(&T) -> R) -> Vec<R>
where
    T: Serialize + Sync,
    R: DeserializeOwned + Send,
{
    let results: Mutex<Vec<Option<R>>> = Mutex::new(tasks.iter().map(|_| None).collect());
    let never = AtomicBool::new(false);
    let threads = rayon::current_num_threads();
    thread::scope(|scope| {
        if doer::has_helpers() && tasks.len() > 1 {
            scope.spawn(|| {
                let task = |number: usize| serde_json::to_vec(&tasks[number]).unwrap_or_default();
                share(source, threads, &never, task, |number, bytes| {
                    results.lock()[number] = serde_json::from_slice(bytes).ok();
                });
            });
        }
        while let Some(number) = source.take(FIRST_RANK) {
            let result = busy(threads, || own(&tasks[number]));
            results.lock()[number] = Some(result);
        }
    });
    let results = results.into_inner().into_iter().zip(tasks);
    // A helper that could not read a task leaves it to this process.
    results
        .map(|(result, task)| result.unwrap_or_else(|| own(task)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_tasks() {
        let tasks: Vec<u32> = (0..100).collect();
        let doubled = map_in_order(&tasks, |task| 2 * task);
        assert_eq!(doubled, (0..100).map(|task| 2 * task).collect::<Vec<_>>());
    }

    #[test]
    fn a_rank_gets_its_own_task_once() {
        let tasks = TaskOfEachRank::new(3);
        assert_eq!(
            [2, 0, 2, 3].map(|rank| tasks.take(rank)),
            [Some(2), Some(0), None, None]
        );
        assert!(!tasks.is_over());
        assert_eq!(tasks.take(1), Some(1));
        assert!(tasks.is_over());
        // Alone, this process does the others' as well.
        assert_eq!(map_by_rank(&[1, 2, 3], |task| 2 * task), [2, 4, 6]);
    }

    struct Slow;

    impl Tasks for Slow {
        type Kept = ();
        type Outcome = usize;

        fn prepare(&self) {}

        fn work(&self, (): &mut (), number: usize) -> usize {
            // The first takes longest.
            thread::sleep(std::time::Duration::from_millis(20 / number as u64));
            10 * number
        }

        fn message(&self, _: usize) -> Vec<u8> {
            Vec::new()
        }

        fn read(&self, _: &[u8]) -> Option<usize> {
            None
        }
    }

    #[test]
    fn outcomes_arrive_in_the_order_of_the_tasks_until_one_ends_the_work() {
        let mut seen = Vec::new();
        let take = |number: usize, outcome: usize| {
            seen.push((number, outcome));
            match number {
                7 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        each_in_order(&Slow, 1..1_000, 4, take).unwrap();
        let expected: Vec<_> = (1..=7).map(|number| (number, 10 * number)).collect();
        assert_eq!(seen, expected);
    }
}
