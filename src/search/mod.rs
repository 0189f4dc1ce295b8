//! The search: what to play.
//!
//! An [`Engine`] takes settings and requests and gives results. Its threads share one
//! transposition table; each runs the same iterative deepening on its own histories (lazy SMP),
//! the main one keeps the clock and speaks. From the outside in:
//!
//! - [`engine`]: settings, requests, results; [`limits`]: what ends a search
//! - [`threads`]: worker threads and the flags they share
//! - [`iterate`]: iterative deepening, aspiration windows, MultiPV, when to stop
//! - [`negamax`]: the main search of one node; [`quiescence`]: captures until it is calm
//! - [`shortcuts`], [`pruning`], [`reduction`]: what not to search, and how deep to search the rest
//! - [`draws`]: draws by rule; [`learning`]: what a searched node teaches
//! - [`ordering`], [`history`]: which move first, and what was learned about moves
//! - [`table`], [`cuckoo`]: positions seen before
//! - [`clock`], [`params`], [`score`], [`yardstick`]: time, constants, units
//! - [`plain`]: another search altogether: full width and captures, for the games of the papers

mod clock;
mod cuckoo;
mod draws;
mod engine;
mod history;
mod iterate;
mod learning;
mod limits;
mod negamax;
mod ordering;
mod pages;
mod params;
pub mod plain;
mod pruning;
mod quiescence;
mod reduction;
pub mod score;
mod shortcuts;
mod table;
mod threads;
mod yardstick;

use std::sync::Arc;
use std::time::Duration;

use shakmaty::Move;

use crate::eval::{Evaluator, Weights};
use crate::position::Position;
use crate::position::movegen::PackedMove;
use clock::Clock;
use engine::Job;
pub use engine::{Engine, EngineError, EngineSettings, SearchRequest};
use history::{Context, History, Played};
pub use limits::Limits;
pub use params::{ParamError, SearchParams};
use reduction::LmrTable;
use score::MAX_PLY;
pub use table::Bound;
use table::Table;
use threads::Control;
pub use threads::STACK_BYTES;
use yardstick::Yardstick;

/// What is known after an iteration, for one of the lines asked for.
#[derive(Clone, Debug)]
pub struct SearchInfo {
    pub depth: i32,
    pub seldepth: usize,
    /// Counted from one.
    pub multi_pv: usize,
    pub score: i32,
    pub bound: Bound,
    pub nodes: u64,
    pub hashfull: usize,
    pub elapsed: Duration,
    pub line: Vec<Move>,
}

/// The end of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// `None` when there is no legal move.
    pub best_move: Option<Move>,
    /// The reply that the search expects.
    pub ponder: Option<Move>,
    pub score: i32,
    /// The last iteration that was completed.
    pub depth: i32,
    pub nodes: u64,
}

/// Hears what the search has to say. Called from the main search thread.
pub trait SearchObserver: Send + Sync {
    fn info(&self, _info: &SearchInfo) {}
    fn current_move(&self, _depth: i32, _m: Move, _number: usize) {}
    fn message(&self, _text: &str) {}
    /// Only of searches that were started, not of those whose result is returned.
    fn finished(&self, _result: &SearchResult) {}
}

/// An observer for searches that nobody watches.
pub struct Silent;

impl SearchObserver for Silent {}

/// What a search thread keeps from one search to the next.
struct ThreadData {
    history: Box<History>,
    evaluator: Evaluator,
    yardstick: Yardstick,
    lmr: LmrTable,
    weights: Arc<Weights>,
}

impl ThreadData {
    fn new(settings: &EngineSettings) -> ThreadData {
        cuckoo::prepare();
        let weights = settings.weights.clone();
        ThreadData {
            history: History::new(),
            evaluator: Evaluator::new(weights.clone()),
            yardstick: Yardstick::new(&weights),
            lmr: LmrTable::new(&settings.params),
            weights,
        }
    }

    fn clear(&mut self) {
        self.history.clear();
        self.evaluator.clear();
    }

    /// New weights start with an empty history.
    fn adopt(&mut self, settings: &EngineSettings) {
        if !Arc::ptr_eq(&self.weights, &settings.weights) {
            *self = ThreadData::new(settings);
        }
        if !self.lmr.is_made_from(&settings.params) {
            self.lmr = LmrTable::new(&settings.params);
        }
    }
}

/// A move at the root with what the search found about it.
#[derive(Clone, Debug)]
struct RootMove {
    m: Move,
    score: i32,
    /// The score of the iteration before.
    previous: i32,
    seldepth: usize,
    nodes: u64,
    line: Vec<Move>,
}

/// What one ply of the current path remembers.
#[derive(Clone)]
struct Ply {
    /// The move that led away from here, for continuation history.
    played: Played,
    /// The same when it was quiet, with the circumstances it was chosen in.
    quiet: Option<(Move, Context)>,
    killers: [PackedMove; 2],
    /// Left out of the search here, to learn whether the others are worse.
    excluded: PackedMove,
    static_eval: Option<i32>,
    double_extensions: i32,
    /// Beta cut-offs among the children of this ply.
    cutoffs: u32,
    /// Plies since the last null move, within which repetition is possible.
    since_null: usize,
    line: Vec<Move>,
}

/// Room before the root, so that "four plies ago" exists at ply 0.
const BEFORE_ROOT: usize = 4;

/// One thread's search of one request.
struct Search<'a> {
    settings: &'a EngineSettings,
    request: &'a SearchRequest,
    table: &'a Table,
    control: &'a Control,
    observer: &'a dyn SearchObserver,
    data: &'a mut ThreadData,
    params: SearchParams,
    /// In internal units.
    contempt: i32,
    clock: Clock,
    /// Zero for the thread that keeps the clock and speaks.
    id: usize,
    stack: Vec<Ply>,
    /// Keys of all positions before the current one, oldest first.
    keys: Vec<u64>,
    root_moves: Vec<RootMove>,
    /// Root moves before this one are settled for this iteration (MultiPV).
    pv_index: usize,
    root_depth: i32,
    completed_depth: i32,
    seldepth: usize,
    nodes: u64,
    /// Null moves are off until this ply while one is being verified.
    null_move_from: usize,
    aborted: bool,
}

impl<'a> Search<'a> {
    fn new(
        job: &'a Job,
        observer: &'a dyn SearchObserver,
        data: &'a mut ThreadData,
        id: usize,
    ) -> Search<'a> {
        let Job {
            settings, request, ..
        } = job;
        data.adopt(settings);
        let position = request.game.position();
        let ply = Ply {
            played: Played::NOTHING,
            quiet: None,
            killers: [PackedMove::NONE; 2],
            excluded: PackedMove::NONE,
            static_eval: None,
            double_extensions: 0,
            cutoffs: 0,
            since_null: MAX_PLY,
            line: Vec::new(),
        };
        Search {
            clock: Clock::new(
                &request.limits,
                position.turn(),
                position.move_number(),
                settings.move_overhead,
                request.started,
                &settings.params,
            ),
            keys: request.game.key_history().to_vec(),
            stack: vec![ply; BEFORE_ROOT + MAX_PLY + 4],
            root_moves: iterate::root_moves(request),
            settings,
            request,
            table: &job.table,
            control: &job.control,
            observer,
            data,
            params: settings.params.clone(),
            contempt: job.contempt(),
            id,
            pv_index: 0,
            root_depth: 0,
            completed_depth: 0,
            seldepth: 0,
            nodes: 0,
            null_move_from: 0,
            aborted: false,
        }
    }

    #[inline]
    fn ply(&self, ply: usize) -> &Ply {
        &self.stack[ply + BEFORE_ROOT]
    }

    #[inline]
    fn ply_mut(&mut self, ply: usize) -> &mut Ply {
        &mut self.stack[ply + BEFORE_ROOT]
    }

    /// What the moves of this ply answer.
    #[inline]
    fn context(&self, position: &Position, ply: usize) -> Context {
        let here = ply + BEFORE_ROOT;
        let answered = [1, 2, 4].map(|plies| self.stack[here - plies].played);
        Context::new(position, answered)
    }
}
