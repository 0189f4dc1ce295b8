//! The seam as an MPI job: messages between rank 0 and its helpers.
//!
//! A helper reports [`READY`] once for each of its threads, then gets a [`TASK`] and answers with a
//! [`RESULT`], which reports it ready again. [`END`] ends its service; it stops what it does and
//! confirms with [`GONE`], after which nothing of that service is under way. [`BYE`] ends the job.
//! Waiting processes probe and sleep: a blocking receive would keep a core busy.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, unbounded};
use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use parking_lot::Mutex;

use super::{JobError, TaskQueue, processes};
use crate::search::STACK_BYTES;

const READY: i32 = 1;
const TASK: i32 = 2;
const RESULT: i32 = 3;
const END: i32 = 4;
const GONE: i32 = 5;
const BYE: i32 = 6;

const PAUSE: Duration = Duration::from_micros(200);

/// This process and how many there are.
#[derive(Clone, Copy)]
struct Place {
    rank: i32,
    size: i32,
}

static PLACE: OnceLock<Place> = OnceLock::new();
/// Helpers that wait for a task, one entry for each of their threads.
static READY_HELPERS: Mutex<Vec<i32>> = Mutex::new(Vec::new());
/// Results of an earlier round that ended early are not wanted any more.
static ROUND: AtomicU64 = AtomicU64::new(0);

/// Rank 0 has left.
static IS_OVER: AtomicBool = AtomicBool::new(false);

pub(super) struct Membership {
    universe: Option<Universe>,
}

impl Membership {
    /// Joins the job, if mpirun started one.
    pub fn join() -> Result<Membership, JobError> {
        if processes() <= 1 {
            return Ok(Membership { universe: None });
        }
        let (universe, level) =
            mpi::initialize_with_threading(Threading::Multiple).ok_or(JobError::Threads)?;
        if level < Threading::Multiple {
            return Err(JobError::Threads);
        }
        let world = universe.world();
        PLACE.get_or_init(|| Place {
            rank: world.rank(),
            size: world.size(),
        });
        Ok(Membership {
            universe: Some(universe),
        })
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if self.universe.is_none() {
            return;
        }
        if is_helper() {
            // Whatever ended this helper: rank 0 may not know yet.
            while !IS_OVER.load(Relaxed) {
                idle();
            }
        } else {
            dismiss();
            for helper in helpers() {
                send(helper, BYE, &[]);
            }
        }
    }
}

fn place() -> Place {
    PLACE.get().copied().unwrap_or(Place { rank: 0, size: 1 })
}

/// Whether this process works for rank 0.
pub fn is_helper() -> bool {
    place().rank > 0
}

/// Whether other ranks work for this process.
pub fn has_helpers() -> bool {
    place().rank == 0 && place().size > 1
}

fn helpers() -> impl Iterator<Item = i32> {
    1..place().size
}

fn send(rank: i32, tag: i32, bytes: &[u8]) {
    let world = SimpleCommunicator::world();
    world.process_at_rank(rank).send_with_tag(bytes, tag);
}

/// A message that has arrived, with its sender and tag.
fn receive() -> Option<(i32, i32, Vec<u8>)> {
    let world = SimpleCommunicator::world();
    let status = world.any_process().immediate_probe()?;
    let (sender, tag) = (status.source_rank(), status.tag());
    let (bytes, _) = world.process_at_rank(sender).receive_vec_with_tag(tag);
    Some((sender, tag, bytes))
}

/// A helper without service: tells rank 0 that nothing is under way, and notices when it leaves.
fn idle() {
    match receive() {
        Some((sender, END, _)) => send(sender, GONE, &[]),
        Some((_, BYE, _)) => IS_OVER.store(true, Relaxed),
        Some(_) => {}
        None => thread::sleep(PAUSE),
    }
}

/// Round and number of a task: stand before the task itself and before its result.
fn head(round: u64, number: usize) -> Vec<u8> {
    [round.to_le_bytes(), (number as u64).to_le_bytes()].concat()
}

/// Round, number and the rest of a message.
fn split(message: &[u8]) -> Option<(u64, usize, &[u8])> {
    let (round, rest) = message.split_first_chunk::<8>()?;
    let (number, rest) = rest.split_first_chunk::<8>()?;
    let number = u64::from_le_bytes(*number) as usize;
    Some((u64::from_le_bytes(*round), number, rest))
}

pub(super) fn share(
    queue: &TaskQueue,
    stop: &AtomicBool,
    task: impl Fn(usize) -> Vec<u8>,
    mut done: impl FnMut(usize, &[u8]),
) {
    let round = ROUND.fetch_add(1, Relaxed) + 1;
    let mut under_way = 0;
    loop {
        let stopped = stop.load(Relaxed);
        while let Some(helper) = take_ready() {
            let Some(number) = queue.take().filter(|_| !stopped) else {
                READY_HELPERS.lock().push(helper);
                break;
            };
            send(helper, TASK, &[head(round, number), task(number)].concat());
            under_way += 1;
        }
        if stopped || under_way == 0 && queue.is_empty() {
            return;
        }
        match receive() {
            Some((helper, RESULT, message)) => {
                READY_HELPERS.lock().push(helper);
                if let Some((of, number, result)) = split(&message)
                    && of == round
                {
                    under_way -= 1;
                    done(number, result);
                }
            }
            Some((helper, READY, _)) => READY_HELPERS.lock().push(helper),
            Some(_) => {}
            None => thread::sleep(PAUSE),
        }
    }
}

fn take_ready() -> Option<i32> {
    READY_HELPERS.lock().pop()
}

/// Lets the helpers go on with what they were started for: ends their service.
pub fn dismiss() {
    if !has_helpers() {
        return;
    }
    helpers().for_each(|helper| send(helper, END, &[]));
    let mut left = helpers().count();
    while left > 0 {
        match receive() {
            Some((_, GONE, _)) => left -= 1,
            Some(_) => {}
            None => thread::sleep(PAUSE),
        }
    }
    READY_HELPERS.lock().clear();
}

/// Does tasks for rank 0 on some threads until it needs no more. Each thread keeps what `prepare`
/// makes for it; `work` may give up when its flag is set.
pub fn serve<S>(
    threads: usize,
    prepare: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[u8], &AtomicBool) -> Option<Vec<u8>> + Sync,
) {
    if IS_OVER.load(Relaxed) {
        return;
    }
    let stop = AtomicBool::new(false);
    let (hand_out, tasks) = unbounded::<Vec<u8>>();
    let serve_on_thread = |tasks: Receiver<Vec<u8>>| {
        let mut own = prepare();
        for message in tasks {
            let Some((round, number, task)) = split(&message) else {
                continue;
            };
            let result = work(&mut own, task, &stop).unwrap_or_default();
            if stop.load(Relaxed) {
                return;
            }
            send(0, RESULT, &[head(round, number), result].concat());
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (tasks, serve_on_thread) = (tasks.clone(), &serve_on_thread);
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            match thread.spawn_scoped(scope, move || serve_on_thread(tasks)) {
                Ok(_) => send(0, READY, &[]),
                Err(error) => log::warn!("a helper has a thread less: {error}"),
            }
        }
        loop {
            match receive() {
                Some((_, TASK, message)) => {
                    let _ = hand_out.send(message);
                }
                Some((_, END, _)) => break,
                Some((_, BYE, _)) => {
                    IS_OVER.store(true, Relaxed);
                    break;
                }
                Some(_) => {}
                None => thread::sleep(PAUSE),
            }
        }
        stop.store(true, Relaxed);
        drop(hand_out);
    });
    if !IS_OVER.load(Relaxed) {
        send(0, GONE, &[]);
    }
}
