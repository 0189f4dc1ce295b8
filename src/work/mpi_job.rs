//! The seam as an MPI job: messages between rank 0 and its helpers.
//!
//! A helper reports [`READY`] once for each thread that serves, with how many it stands for, then gets a [`TASK`] and answers with a
//! [`RESULT`], which reports it ready again. [`END`] ends its service; it stops what it does and
//! confirms with [`GONE`], after which nothing of that service is under way. [`SERVICE`] says what
//! comes next where a command does several things. [`BYE`] ends the job. [`FAILED`] says why a helper
//! cannot work, [`ALIVE`] that it is there: a broken network line says nothing by itself. Waiting
//! processes probe and sleep: a blocking receive would keep a core busy.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, unbounded};
use mpi::Threading;
use mpi::environment::{Universe, processor_name};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use nix::sys::signal::{SigSet, Signal, raise};
use parking_lot::Mutex;

use super::{JobError, ServiceThreads, TaskSource, processes, usage};
use crate::search::STACK_BYTES;

const READY: i32 = 1;
const TASK: i32 = 2;
const RESULT: i32 = 3;
const END: i32 = 4;
const GONE: i32 = 5;
const BYE: i32 = 6;
const SERVICE: i32 = 7;
const FAILED: i32 = 8;
const ALIVE: i32 = 9;

/// How long a waiting process sleeps at least and at most.
const PAUSES: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(2)];
/// A process that waits looks again after this part of the time it has waited: what it waited for
/// is late by this part of its length at most.
const PAUSE_DIVISOR: u32 = 32;
/// How often a helper says that it is there.
const ALIVE_EVERY: Duration = Duration::from_secs(20);
/// How long a helper with a task may be silent.
const LONGEST_SILENCE: Duration = Duration::from_secs(120);

/// This process and how many there are.
#[derive(Clone, Copy)]
struct Place {
    rank: i32,
    size: i32,
}

static PLACE: OnceLock<Place> = OnceLock::new();
/// Helpers that wait for a task, one entry for each of their threads.
static READY_HELPERS: Mutex<Vec<i32>> = Mutex::new(Vec::new());
/// The threads of helpers in the service under way, and the most there were.
static HELPER_THREADS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
/// Results of an earlier round that ended early are not wanted any more.
static ROUND: AtomicU64 = AtomicU64::new(0);
/// Rank 0 has left, or is about to.
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
        watch_for_the_end()?;
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
            while next_service().is_some() {}
        } else {
            IS_OVER.store(true, Relaxed);
            dismiss();
            for helper in helpers() {
                send(helper, BYE, &[]);
            }
        }
    }
}

/// When a rank dies, mpirun ends the others by SIGTERM, and a moment later by force. Rank 0 says so;
/// if it is what died, mpirun's own message has to do.
fn watch_for_the_end() -> Result<(), JobError> {
    let failed = |error: &dyn std::fmt::Display| JobError::Signals(error.to_string());
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    // Before there are other threads: they inherit it.
    signals.thread_block().map_err(|error| failed(&error))?;
    let watch = move || {
        if signals.wait().is_err() {
            return;
        }
        if place().rank == 0 {
            eprintln!(
                "finch: a rank of the MPI job died, or the job was stopped; the same command (for a \
                 run with --resume) goes on from here"
            );
        }
        let _ = signals.thread_unblock();
        let _ = raise(Signal::SIGTERM);
    };
    let thread = thread::Builder::new().name("signals".to_owned());
    thread
        .spawn(watch)
        .map(drop)
        .map_err(|error| failed(&error))
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

/// The threads of all helpers together that have reported ready.
pub fn helper_threads() -> usize {
    HELPER_THREADS[0].load(Relaxed)
}

/// The same where there were most.
pub(super) fn most_helper_threads() -> usize {
    HELPER_THREADS[1].load(Relaxed)
}

fn add_ready_thread(helper: i32, width: usize) {
    let threads = HELPER_THREADS[0].fetch_add(width, Relaxed) + width;
    HELPER_THREADS[1].fetch_max(threads, Relaxed);
    READY_HELPERS.lock().push(helper);
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
    match tag {
        // If rank 0 leaves, it has a failure of its own to tell of.
        FAILED if !IS_OVER.load(Relaxed) => end_job(&String::from_utf8_lossy(&bytes)),
        BYE => IS_OVER.store(true, Relaxed),
        _ => {}
    }
    Some((sender, tag, bytes))
}

/// Ends all ranks. What is done is on disk, as after a kill.
fn end_job(reason: &str) {
    eprintln!("finch: {reason}");
    SimpleCommunicator::world().abort(1);
}

/// Tells rank 0 why this helper cannot work; that ends the job.
pub fn fail(reason: &str) {
    let host = processor_name().unwrap_or_default();
    let text = format!("rank {} on {host}: {reason}", place().rank);
    send(0, FAILED, text.as_bytes());
}

/// Sleeps between looks at the messages.
struct Wait {
    since: Instant,
    told: Instant,
}

impl Wait {
    fn new() -> Wait {
        let now = Instant::now();
        Wait {
            since: now,
            told: now,
        }
    }

    /// Something has come.
    fn end(&mut self) {
        self.since = Instant::now();
    }

    fn pause(&mut self) {
        if is_helper() && self.told.elapsed() >= ALIVE_EVERY {
            send(0, ALIVE, &[]);
            self.told = Instant::now();
        }
        let pause = self.since.elapsed() / PAUSE_DIVISOR;
        thread::sleep(pause.clamp(PAUSES[0], PAUSES[1]));
    }
}

/// Tells the helpers what comes next.
pub fn announce(service: impl FnOnce() -> Vec<u8>) {
    if has_helpers() {
        let message = service();
        helpers().for_each(|helper| send(helper, SERVICE, &message));
    }
}

/// Waits for what rank 0 announces next; `None` if it has left.
pub fn next_service() -> Option<Vec<u8>> {
    let mut wait = Wait::new();
    while !IS_OVER.load(Relaxed) {
        match receive() {
            Some((_, SERVICE, service)) => return Some(service),
            // Nothing is under way.
            Some((sender, END, _)) => send(sender, GONE, &[]),
            Some(_) => {}
            None => wait.pause(),
        }
    }
    None
}

/// Round and number of a task: stand before the task itself and before its result.
fn head(round: u64, number: usize) -> Vec<u8> {
    [round.to_le_bytes(), (number as u64).to_le_bytes()].concat()
}

/// Round, number and the rest of a message.
fn split(message: &[u8]) -> Option<(u64, usize, &[u8])> {
    let (round, rest) = number_before(message)?;
    let (number, rest) = number_before(rest)?;
    Some((round, number as usize, rest))
}

fn number_before(message: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = message.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*number), rest))
}

pub(super) fn share(
    source: &dyn TaskSource,
    stop: &AtomicBool,
    task: impl Fn(usize) -> Vec<u8>,
    mut done: impl FnMut(usize, &[u8]),
) {
    let round = ROUND.fetch_add(1, Relaxed) + 1;
    let mut under_way = 0;
    let mut wait = Wait::new();
    let mut silence = Silence::new();
    loop {
        let stopped = stop.load(Relaxed);
        for helper in take_ready() {
            let take = || source.take(helper as usize);
            let Some(number) = (!stopped).then(take).flatten() else {
                READY_HELPERS.lock().push(helper);
                continue;
            };
            send(helper, TASK, &[head(round, number), task(number)].concat());
            silence.given(helper);
            under_way += 1;
        }
        if stopped || under_way == 0 && source.is_over() {
            return;
        }
        let Some((helper, tag, message)) = receive() else {
            silence.check();
            wait.pause();
            continue;
        };
        wait.end();
        silence.heard(helper);
        match tag {
            READY => {
                let width = number_before(&message).map_or(1, |(width, _)| width);
                add_ready_thread(helper, width as usize);
            }
            RESULT => {
                READY_HELPERS.lock().push(helper);
                if let Some((of, number, rest)) = split(&message)
                    && let Some((nanoseconds, result)) = number_before(rest)
                    && of == round
                {
                    usage::add(Duration::from_nanos(nanoseconds));
                    silence.answered(helper);
                    under_way -= 1;
                    done(number, result);
                }
            }
            _ => {}
        }
    }
}

/// All helpers that wait, the latest first.
fn take_ready() -> impl Iterator<Item = i32> {
    std::mem::take(&mut *READY_HELPERS.lock()).into_iter().rev()
}

/// When each helper was heard of, and how many tasks it has.
struct Silence {
    helpers: Vec<(Instant, usize)>,
    checked: Instant,
}

impl Silence {
    fn new() -> Silence {
        let now = Instant::now();
        Silence {
            helpers: vec![(now, 0); place().size as usize],
            checked: now,
        }
    }

    fn heard(&mut self, helper: i32) {
        self.helpers[helper as usize].0 = Instant::now();
    }

    fn given(&mut self, helper: i32) {
        let (heard, tasks) = &mut self.helpers[helper as usize];
        if *tasks == 0 {
            *heard = Instant::now();
        }
        *tasks += 1;
    }

    fn answered(&mut self, helper: i32) {
        self.helpers[helper as usize].1 -= 1;
    }

    /// Ends the job if a helper that has a task is silent for too long.
    fn check(&mut self) {
        if self.checked.elapsed() < ALIVE_EVERY {
            return;
        }
        self.checked = Instant::now();
        let silent = helpers().find(|helper| {
            let (heard, tasks) = self.helpers[*helper as usize];
            tasks > 0 && heard.elapsed() > LONGEST_SILENCE
        });
        if let Some(helper) = silent {
            let seconds = LONGEST_SILENCE.as_secs();
            end_job(&format!(
                "rank {helper} of the MPI job has been silent for {seconds} s: is its host still there?"
            ));
        }
    }
}

/// Lets the helpers go on with what they were started for: ends their service.
pub fn dismiss() {
    if !has_helpers() {
        return;
    }
    helpers().for_each(|helper| send(helper, END, &[]));
    let mut left = helpers().count();
    let mut wait = Wait::new();
    while left > 0 {
        match receive() {
            Some((_, GONE, _)) => left -= 1,
            Some(_) => {}
            None => wait.pause(),
        }
    }
    READY_HELPERS.lock().clear();
    HELPER_THREADS[0].store(0, Relaxed);
}

/// Does tasks for rank 0 on some threads until it needs no more. Each thread keeps what `prepare`
/// makes for it; `work` may give up when its flag is set.
pub fn serve<S>(
    threads: impl Into<ServiceThreads>,
    prepare: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[u8], &AtomicBool) -> Option<Vec<u8>> + Sync,
) {
    if IS_OVER.load(Relaxed) {
        return;
    }
    let ServiceThreads { count, width } = threads.into();
    let width = width as u64;
    let stop = AtomicBool::new(false);
    let (hand_out, tasks) = unbounded::<Vec<u8>>();
    let serve_on_thread = |tasks: Receiver<Vec<u8>>| {
        let mut own = prepare();
        for message in tasks {
            let Some((round, number, task)) = split(&message) else {
                continue;
            };
            let start = Instant::now();
            let result = work(&mut own, task, &stop).unwrap_or_default();
            if stop.load(Relaxed) {
                return;
            }
            let time = start.elapsed().as_nanos() as u64 * width;
            let head = [head(round, number), time.to_le_bytes().to_vec()].concat();
            send(0, RESULT, &[head, result].concat());
        }
    };
    thread::scope(|scope| {
        let mut failure = None;
        let mut started = 0;
        for _ in 0..count.max(1) {
            let (tasks, serve_on_thread) = (tasks.clone(), &serve_on_thread);
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            match thread.spawn_scoped(scope, move || serve_on_thread(tasks)) {
                Ok(_) => {
                    send(0, READY, &width.to_le_bytes());
                    started += 1;
                }
                Err(error) => failure = Some(error),
            }
        }
        match failure {
            Some(error) if started == 0 => fail(&format!("no thread can be started: {error}")),
            Some(error) => log::warn!("a helper has only {started} threads: {error}"),
            None => {}
        }
        hand_out_until_the_end(&hand_out);
        stop.store(true, Relaxed);
        drop(hand_out);
    });
    if !IS_OVER.load(Relaxed) {
        send(0, GONE, &[]);
    }
}

fn hand_out_until_the_end(tasks: &crossbeam_channel::Sender<Vec<u8>>) {
    let mut wait = Wait::new();
    while !IS_OVER.load(Relaxed) {
        match receive() {
            Some((_, TASK, message)) => {
                let _ = tasks.send(message);
                wait.end();
            }
            Some((_, END, _)) => return,
            Some(_) => {}
            None => wait.pause(),
        }
    }
}
