//! The one way to search: settings and a request in, a result out.
//!
//! UCI sessions, matches in this process, data generation, opening making and the benchmark all
//! search through an [`Engine`], so equal settings and equal requests give equal moves and node
//! counts. [`Engine::search`] works on the calling thread and returns the result;
//! [`Engine::start`] returns at once and tells an observer. Further threads (lazy SMP) help in
//! both cases.
//!
//! One thread is deterministic: same position, same history of requests since
//! [`Engine::new_game`], same hash size, same nodes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use parking_lot::Mutex;
use shakmaty::Move;
use thiserror::Error;

use super::limits::Limits;
use super::params::{ParamError, SearchParams};
use super::score::MATE_IN_MAX;
use super::strength::StrengthSettings;
use super::threads::{Control, Worker, has_room_for_thread, max_threads};
use super::transposition::OutOfMemory;
use super::{
    Search, SearchInfo, SearchObserver, SearchResult, Silent, ThreadData, TranspositionTable,
};
use crate::eval::{Centipawns, Score, Weights};
use crate::position::{Game, movegen};
use crate::tablebase::{RootRanking, SyzygySettings};

/// Everything that makes an engine play as it does. The defaults are those of UCI.
#[derive(Clone)]
pub struct EngineSettings {
    /// Size of the transposition table.
    pub hash_mib: usize,
    pub threads: usize,
    /// How many lines to report.
    pub multi_pv: usize,
    /// Time that GUI and wire take at each move.
    pub move_overhead: Duration,
    /// By how much a draw is worse than an even game, to the side that searches.
    pub contempt: Centipawns,
    /// Scores are for people to read: no contempt.
    pub analyse_mode: bool,
    pub strength: StrengthSettings,
    pub syzygy: SyzygySettings,
    pub weights: Arc<Weights>,
    pub params: SearchParams,
}

impl EngineSettings {
    pub const DEFAULT_HASH_MIB: usize = 16;
    /// A busy machine may delay a finished search by more than one tick of its scheduler.
    pub const DEFAULT_MOVE_OVERHEAD: Duration = Duration::from_millis(20);
    pub const DEFAULT_CONTEMPT: Centipawns = Centipawns(16);

    /// UCI's defaults with these weights and their search constants.
    pub fn new(weights: Arc<Weights>) -> Result<EngineSettings, ParamError> {
        let params = SearchParams::from_table(&weights.search)?;
        Ok(EngineSettings::with_params(weights, params))
    }

    fn with_params(weights: Arc<Weights>, params: SearchParams) -> EngineSettings {
        EngineSettings {
            hash_mib: EngineSettings::DEFAULT_HASH_MIB,
            threads: 1,
            multi_pv: 1,
            move_overhead: EngineSettings::DEFAULT_MOVE_OVERHEAD,
            contempt: EngineSettings::DEFAULT_CONTEMPT,
            analyse_mode: false,
            strength: StrengthSettings::default(),
            syzygy: SyzygySettings::default(),
            weights,
            params,
        }
    }

    /// Plays with other weights and their search constants; unchanged if these are wrong.
    pub fn set_weights(&mut self, weights: Arc<Weights>) -> Result<(), ParamError> {
        self.params = SearchParams::from_table(&weights.search)?;
        self.weights = weights;
        Ok(())
    }

    /// For measurements and training data: no contempt, no overhead, one thread.
    pub fn neutral(weights: Arc<Weights>, hash_mib: usize) -> Result<EngineSettings, ParamError> {
        Ok(EngineSettings {
            hash_mib,
            move_overhead: Duration::ZERO,
            contempt: Centipawns(0),
            ..EngineSettings::new(weights)?
        })
    }
}

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        let weights = Arc::new(Weights::default());
        // A test holds that the built-in weights have no wrong constants.
        let params = SearchParams::from_table(&weights.search).unwrap_or_default();
        EngineSettings::with_params(weights, params)
    }
}

/// What to search and for how long.
#[derive(Clone)]
pub struct SearchRequest {
    pub game: Game,
    pub limits: Limits,
    /// Only these root moves; empty means all.
    pub searchmoves: Vec<Move>,
    /// Ends [`Engine::search`] from outside when set.
    pub stop: Option<Arc<AtomicBool>>,
    /// When the clock began to run.
    pub started: Instant,
}

impl SearchRequest {
    pub fn new(game: Game, limits: Limits) -> SearchRequest {
        SearchRequest {
            game,
            limits,
            searchmoves: Vec::new(),
            stop: None,
            started: Instant::now(),
        }
    }
}

/// A setting that the engine cannot have.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum EngineError {
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    #[error(transparent)]
    Param(#[from] ParamError),
    #[error("{error}; Hash stays at {hash_mib} MiB")]
    Hash { error: OutOfMemory, hash_mib: usize },
    #[error("this machine has no room for {wanted} threads; Threads is {started}")]
    Threads { wanted: usize, started: usize },
}

/// One search, as all its threads see it.
pub(super) struct Job {
    pub(super) settings: Arc<EngineSettings>,
    pub(super) request: SearchRequest,
    pub(super) tt: Arc<TranspositionTable>,
    pub(super) control: Arc<Control>,
    /// Probed by the first thread that begins.
    ranking: OnceLock<Option<RootRanking>>,
}

impl Job {
    /// A search without an engine.
    #[cfg(test)]
    pub(super) fn new(
        settings: EngineSettings,
        request: SearchRequest,
    ) -> Result<Job, OutOfMemory> {
        Ok(Job {
            tt: Arc::new(TranspositionTable::new(settings.hash_mib)?),
            settings: Arc::new(settings),
            request,
            control: Arc::new(Control::new(1)),
            ranking: OnceLock::new(),
        })
    }

    /// The legal moves to choose from.
    pub(super) fn legal_moves(&self) -> Vec<Move> {
        let searchmoves = &self.request.searchmoves;
        let mut moves = movegen::legal_moves(self.request.game.position());
        moves.retain(|m| searchmoves.is_empty() || searchmoves.contains(m));
        moves.into_iter().collect()
    }

    /// What the tablebases say about the moves, if the position is in them.
    pub(super) fn ranking(&self) -> Option<&RootRanking> {
        let syzygy = &self.settings.syzygy;
        let rank = || syzygy.rank_root_moves(&self.request.game, &self.legal_moves());
        self.ranking.get_or_init(rank).as_ref()
    }

    /// Contempt in internal units. It is for games: an infinite search analyses.
    pub(super) fn contempt(&self) -> Score {
        if self.settings.analyse_mode || self.request.limits.infinite {
            0
        } else {
            self.settings
                .weights
                .win_model()
                .score(self.settings.contempt)
        }
    }
}

/// One thread's answer.
struct Found {
    result: SearchResult,
    /// Its best line, in case it is not the one last reported.
    info: Option<SearchInfo>,
}

/// How long a clock waits for the answers of helpers.
const HELPER_TIMEOUT: Duration = Duration::from_millis(3);

type Panic = Box<dyn Any + Send>;

/// A transposition table, the threads that share it, and the settings they search with.
pub struct Engine {
    settings: Arc<EngineSettings>,
    tt: Arc<TranspositionTable>,
    control: Arc<Control>,
    /// Of the main search thread, be that the caller's or one of the engine's own.
    main_data: Arc<Mutex<ThreadData>>,
    /// Made when a search is first started in the background.
    main: Option<Worker>,
    helpers: Vec<Worker>,
}

impl Engine {
    pub fn new(settings: EngineSettings) -> Result<Engine, EngineError> {
        let tt = TranspositionTable::new(settings.hash_mib)?;
        let mut engine = Engine {
            tt: Arc::new(tt),
            control: Arc::new(Control::new(1)),
            main_data: Arc::new(Mutex::new(ThreadData::new(&settings))),
            main: None,
            helpers: Vec::new(),
            settings: Arc::new(settings.clone()),
        };
        engine.start_helpers(settings.threads)?;
        Ok(engine)
    }

    pub fn settings(&self) -> &EngineSettings {
        &self.settings
    }

    /// Takes over new settings. New weights, another strength and another table size end a search under way and
    /// forget what was learned; another number of threads ends it, too. Where something cannot be
    /// had, the rest is applied and the settings say what there is.
    pub fn configure(&mut self, settings: EngineSettings) -> Result<(), EngineError> {
        let before = std::mem::replace(&mut self.settings, Arc::new(settings));
        let (hash_mib, threads) = (self.settings.hash_mib, self.settings.threads);
        let resized = if hash_mib == before.hash_mib {
            Ok(())
        } else {
            self.resize_table(hash_mib, before.hash_mib)
        };
        let started = if threads == before.threads {
            Ok(())
        } else {
            self.start_helpers(threads)
        };
        let same_weights = Arc::ptr_eq(&self.settings.weights, &before.weights);
        if !same_weights || self.settings.strength != before.strength {
            self.new_game();
        }
        resized.and(started)
    }

    /// Replaces the table. On failure there is an empty one of the old size.
    fn resize_table(&mut self, hash_mib: usize, before: usize) -> Result<(), EngineError> {
        let failed = |error| EngineError::Hash {
            error,
            hash_mib: before,
        };
        self.halt();
        self.wait_for_helpers();
        // What the old table takes is free for the new one.
        self.tt = Arc::new(TranspositionTable::new(1).map_err(failed)?);
        match TranspositionTable::new(hash_mib) {
            Ok(table) => {
                self.tt = Arc::new(table);
                Ok(())
            }
            Err(error) => {
                Arc::make_mut(&mut self.settings).hash_mib = before;
                self.tt = Arc::new(TranspositionTable::new(before).map_err(failed)?);
                Err(failed(error))
            }
        }
    }

    /// As many threads as asked for, or as the system gives.
    fn start_helpers(&mut self, threads: usize) -> Result<(), EngineError> {
        self.halt();
        self.helpers.clear();
        let wanted = threads.max(1);
        if wanted > 1 {
            // First of all, so that the helpers do not take its memory.
            self.spawn_main();
        }
        let settings = self.settings.clone();
        let spawned = (1..wanted.min(max_threads())).map_while(|id| {
            if !has_room_for_thread() {
                return None;
            }
            let data = Arc::new(Mutex::new(ThreadData::new(&settings)));
            Worker::spawn(id, data)
        });
        self.helpers.extend(spawned);
        let started = self.helpers.len() + 1;
        Arc::make_mut(&mut self.settings).threads = started;
        if started == wanted {
            Ok(())
        } else {
            Err(EngineError::Threads { wanted, started })
        }
    }

    /// Forgets all that was learned, as before a new game.
    pub fn new_game(&mut self) {
        self.halt();
        self.wait_for_helpers();
        self.tt.clear(self.settings.threads);
        self.main_data.lock().clear();
        for helper in &self.helpers {
            helper.data.lock().clear();
        }
    }

    /// Starts the thread of [`Engine::start`] and touches the memory of the searches now, so that
    /// the first search does not spend its time on it. Forgets all that was learned.
    pub fn prepare(&mut self) {
        self.new_game();
        self.spawn_main();
    }

    fn spawn_main(&mut self) {
        if self.main.is_none() {
            self.main = Worker::spawn(0, self.main_data.clone());
        }
    }

    /// Searches on the calling thread, which needs [`STACK_BYTES`](super::STACK_BYTES) of stack,
    /// until a limit is reached. A panic of the search passes through; the engine survives it.
    pub fn search(&mut self, request: SearchRequest) -> SearchResult {
        self.search_with(request, &Silent)
    }

    /// The same with somebody who listens.
    pub fn search_with(
        &mut self,
        request: SearchRequest,
        observer: &dyn SearchObserver,
    ) -> SearchResult {
        let (job, helpers) = self.launch(request);
        let (found, panic) = search(&job, 0, &mut self.main_data.lock(), observer);
        let result = conclude(&job, found, &helpers, observer);
        job.control.end();
        match panic {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }

    /// Starts a search and returns at once; the observer hears the result. An infinite search
    /// and one that ponders wait for [`Engine::stop`] or [`Engine::ponderhit`] before they tell
    /// it, as UCI asks. A panic is caught, reported and answered with a legal move: a GUI's game
    /// should not end because of a bug.
    pub fn start(&mut self, request: SearchRequest, observer: Arc<dyn SearchObserver>) {
        let (job, helpers) = self.launch(request);
        self.spawn_main();
        let Some(main) = &self.main else {
            let result = conclude(&job, None, &helpers, &*observer);
            observer.finished(&result);
            return job.control.end();
        };
        main.run(move |data| {
            let (found, _) = search(&job, 0, data, &*observer);
            job.control.wait_for_permission(job.request.limits.infinite);
            let result = conclude(&job, found, &helpers, &*observer);
            observer.finished(&result);
            job.control.end();
        });
    }

    /// Sets the helpers to work.
    fn launch(&mut self, request: SearchRequest) -> (Arc<Job>, Receiver<Option<Found>>) {
        self.halt();
        self.tt.next_search();
        // Flags of its own for each search: a helper that is late with the last one stays stopped.
        self.control = Arc::new(Control::new(self.helpers.len() + 1));
        self.control.begin(request.limits.ponder);
        let job = Arc::new(Job {
            settings: self.settings.clone(),
            request,
            tt: self.tt.clone(),
            control: self.control.clone(),
            ranking: OnceLock::new(),
        });
        let (sender, receiver) = bounded(self.helpers.len());
        for (number, helper) in self.helpers.iter().enumerate() {
            let (job, sender) = (job.clone(), sender.clone());
            helper.run(move |data| {
                let (found, _) = search(&job, number + 1, data, &Silent);
                let _ = sender.send(found);
            });
        }
        (job, receiver)
    }

    /// Ends the search; harmless when there is none.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// The expected move was played: the clock counts from now on.
    pub fn ponderhit(&self) {
        self.control.ponderhit();
    }

    /// Waits until the result of a started search has been told.
    pub fn wait(&self) {
        self.control.wait_until_idle();
    }

    fn halt(&self) {
        self.stop();
        self.wait();
    }

    /// Waits for those that are late with the last search: they still use the table.
    fn wait_for_helpers(&self) {
        for helper in &self.helpers {
            drop(helper.data.lock());
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.halt();
    }
}

/// One thread's part of a search. After a panic the thread's data start afresh.
fn search(
    job: &Job,
    id: usize,
    data: &mut ThreadData,
    observer: &dyn SearchObserver,
) -> (Option<Found>, Option<Panic>) {
    let searched = catch_unwind(AssertUnwindSafe(|| {
        let mut search = Search::new(job, observer, data, id);
        let result = search.run();
        // The main thread has reported its own.
        let info = (id != 0).then(|| search.best_line()).flatten();
        Found { result, info }
    }));
    match searched {
        Ok(found) => (Some(found), None),
        Err(panic) => {
            data.clear();
            (None, Some(panic))
        }
    }
}

/// Stops the helpers, collects what they found and chooses. On busy processors a helper may not get
/// its turn for longer than a move may take: a clock does not wait for it.
fn conclude(
    job: &Job,
    own: Option<Found>,
    helpers: &Receiver<Option<Found>>,
    observer: &dyn SearchObserver,
) -> SearchResult {
    job.control.stop();
    let limits = &job.request.limits;
    let timed = limits.move_time.is_some()
        || limits
            .remaining(job.request.game.position().turn())
            .is_some();
    let timeout = if timed { HELPER_TIMEOUT } else { Duration::MAX };
    let others = answers(helpers, timeout);
    if own.is_none() || others.iter().any(Option::is_none) {
        observer.message("a search thread failed; this is a bug in Finch, please report it");
    }
    let mut result = choose(job, own, others.into_iter().flatten(), observer);
    result.nodes = job.control.nodes();
    result
}

/// What arrives in time; all of it if everybody has answered.
fn answers(helpers: &Receiver<Option<Found>>, timeout: Duration) -> Vec<Option<Found>> {
    let deadline = Instant::now().checked_add(timeout);
    let next = || match deadline {
        Some(deadline) => helpers.recv_deadline(deadline).ok(),
        // The channel closes when the last helper has answered.
        None => helpers.recv().ok(),
    };
    std::iter::from_fn(next).collect()
}

/// The deepest result, or a better score at the same depth; a shorter mate beats all. Several lines are
/// the main thread's.
fn choose(
    job: &Job,
    own: Option<Found>,
    others: impl Iterator<Item = Found>,
    observer: &dyn SearchObserver,
) -> SearchResult {
    let rank = |found: &Found| {
        let result = &found.result;
        let mate = Some(result.score).filter(|score| *score >= MATE_IN_MAX);
        (mate, result.depth, result.score)
    };
    let own_move = own.as_ref().and_then(|own| own.result.best_move);
    let single_line = job.settings.multi_pv == 1;
    let others = others.filter(|_| single_line);
    // The first of equals: the main thread's, whose line was reported.
    let best = own.into_iter().chain(others).reduce(|best, other| {
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
        return SearchResult {
            best_move: first_legal,
            ..SearchResult::default()
        };
    };
    // The last line a GUI sees must begin with the move played.
    if best.result.best_move != own_move
        && let Some(info) = &best.info
    {
        observer.info(info);
    }
    best.result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_does_not_wait_for_a_helper_and_other_searches_do() {
        let (sender, helpers) = bounded(2);
        sender.send(None).unwrap();
        assert_eq!(answers(&helpers, HELPER_TIMEOUT).len(), 1);
        sender.send(None).unwrap();
        let late = std::thread::spawn(move || {
            std::thread::sleep(10 * HELPER_TIMEOUT);
            sender.send(None).is_ok()
        });
        assert_eq!(answers(&helpers, Duration::MAX).len(), 2);
        assert!(late.join().unwrap());
    }

    #[test]
    fn the_built_in_weights_have_valid_search_constants() {
        assert!(EngineSettings::new(Arc::new(Weights::default())).is_ok());
    }

    #[test]
    fn engines_of_one_process_may_differ_in_their_search_constants() {
        let weights = Arc::new(Weights::default());
        let mut changed = Weights::clone(&weights);
        changed.search.insert("reduction_base".to_owned(), 400);
        let nodes = |weights: Arc<Weights>| {
            let settings = EngineSettings::neutral(weights, 1).unwrap();
            let mut engine = Engine::new(settings).unwrap();
            let request = SearchRequest::new(Game::default(), Limits::depth(7));
            engine.search(request).nodes
        };
        let before = nodes(weights.clone());
        assert_ne!(nodes(Arc::new(changed)), before);
        assert_eq!(nodes(weights), before);
    }

    #[test]
    fn wrong_search_constants_of_weights_are_refused() {
        let mut weights = Weights::default();
        weights.search.insert("reduction_bass".to_owned(), 400);
        let error = EngineSettings::new(Arc::new(weights)).err().unwrap();
        assert!(error.to_string().contains("reduction_base"), "{error}");
    }
}
