//! Where heavy work is done: on the threads of this machine, and on the ranks of an MPI job if the
//! program was started as one (`mpirun -n 8 finch match …`) and built with the feature `cluster`.
//!
//! All ranks run the same command line and prepare the same things: cases, players, openings. Then
//! rank 0 speaks, writes, hands out tasks and works like the others. The others, its helpers,
//! [`serve`] tasks until they are dismissed. A task is small (genes, or the number of a game), and
//! its result depends on it alone: results are the same on any number of ranks. Helpers ask for
//! more when they are done, because games differ in length.

#[cfg(not(feature = "cluster"))]
mod alone;
#[cfg(feature = "cluster")]
mod mpi_job;

#[cfg(not(feature = "cluster"))]
use alone as doer;
#[cfg(feature = "cluster")]
use mpi_job as doer;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

pub use doer::{dismiss, has_helpers, is_helper, serve};

#[derive(Debug, Error)]
pub enum JobError {
    #[error(
        "mpirun started {0} processes, but this build cannot share work among them; build with \
         --features cluster, or start Finch without mpirun"
    )]
    NoFeature(usize),
    #[error("MPI cannot be started with several threads")]
    Threads,
}

/// Part in an MPI job, if mpirun started one. Dropping it leaves the job, when all others do.
pub struct Job {
    _membership: doer::Membership,
}

impl Job {
    pub fn join() -> Result<Job, JobError> {
        Ok(Job {
            _membership: doer::Membership::join()?,
        })
    }
}

/// How many processes mpirun started; 1 without it.
pub fn processes() -> usize {
    let size = std::env::var("OMPI_COMM_WORLD_SIZE").ok();
    size.and_then(|size| size.parse().ok()).unwrap_or(1)
}

/// Tasks that are done only once: each worker takes the next number.
pub struct TaskQueue {
    next: AtomicUsize,
    count: usize,
}

impl TaskQueue {
    pub fn new(count: usize) -> TaskQueue {
        TaskQueue {
            next: AtomicUsize::new(0),
            count,
        }
    }

    pub fn take(&self) -> Option<usize> {
        let number = self.next.fetch_add(1, Relaxed);
        (number < self.count).then_some(number)
    }

    pub fn is_empty(&self) -> bool {
        self.next.load(Relaxed) >= self.count
    }
}

/// Only one piece of work is shared at a time; work inside of it is not shared again.
static SHARING: AtomicBool = AtomicBool::new(false);

/// Lets the helpers, if there are any, do tasks of the queue, and hands their results to `done`.
/// Returns when no more are to come, or soon after `stop` is set.
pub fn share(
    queue: &TaskQueue,
    stop: &AtomicBool,
    task: impl Fn(usize) -> Vec<u8>,
    done: impl FnMut(usize, &[u8]),
) {
    if !doer::has_helpers() || SHARING.swap(true, Relaxed) {
        return;
    }
    doer::share(queue, stop, task, done);
    SHARING.store(false, Relaxed);
}

/// The results of all tasks, in their order. This thread does them one after the other with
/// `own`; helpers, whose [`serve`] must do the same with a task as JSON, do some of them.
pub fn map_in_order<T, R>(tasks: &[T], own: impl Fn(&T) -> R) -> Vec<R>
where
    T: Serialize + Sync,
    R: DeserializeOwned + Send,
{
    let results: Mutex<Vec<Option<R>>> = Mutex::new(tasks.iter().map(|_| None).collect());
    let queue = TaskQueue::new(tasks.len());
    let never = AtomicBool::new(false);
    thread::scope(|scope| {
        if doer::has_helpers() && tasks.len() > 1 {
            scope.spawn(|| {
                let task = |number: usize| serde_json::to_vec(&tasks[number]).unwrap_or_default();
                share(&queue, &never, task, |number, bytes| {
                    results.lock()[number] = serde_json::from_slice(bytes).ok();
                });
            });
        }
        while let Some(number) = queue.take() {
            let result = own(&tasks[number]);
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
}
