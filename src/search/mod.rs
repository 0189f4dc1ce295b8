//! The search: what to play.
//!
//! An [`Engine`] takes settings and requests and gives results. Its threads share one
//! transposition table; each runs the same iterative deepening on its own histories (lazy SMP),
//! the main one keeps the clock and reports. From the outside in:
//!
//! - [`engine`]: settings, requests, results; [`limits`]: what ends a search
//! - [`threads`]: worker threads and the flags they share
//! - [`iterative_deepening`]: iterations, aspiration windows, MultiPV, when to stop
//! - [`negamax`]: the main search of one node, in numbered steps; [`qsearch`]: captures until the
//!   position is quiet
//! - [`node_pruning`]: razoring, reverse futility pruning (RFP), null move pruning (NMP), ProbCut;
//!   [`pruning`]: the condition and margin of each rule, of whole nodes and single moves
//! - [`lmr`]: late move reductions
//! - [`move_picker`]: staged move ordering; [`history`]: butterfly, capture, continuation, pawn and
//!   correction history; [`history_update`]: what a searched node writes into them
//! - [`draws`], [`cuckoo`]: draws by rule, upcoming repetitions; [`tablebases`]: Syzygy at the
//!   root and in the tree
//! - [`transposition`], [`huge_pages`]: the transposition table (TT) and its memory
//! - [`time_management`], [`params`], [`score`], [`piece_values`]: time, constants, units
//! - [`full_width`]: another search altogether: all moves to a fixed depth and captures, for the
//!   games of the papers

mod cuckoo;
mod draws;
mod engine;
pub mod full_width;
mod history;
mod history_update;
mod huge_pages;
mod iterative_deepening;
mod limits;
mod lmr;
mod move_picker;
mod negamax;
mod node_pruning;
mod params;
mod piece_values;
mod pruning;
mod qsearch;
pub mod score;
pub mod strength;
mod tablebases;
mod threads;
mod time_management;
mod transposition;

use std::sync::Arc;
use std::time::Duration;

use shakmaty::Move;

use crate::eval::{Centipawns, Evaluator, Weights};
use crate::position::Position;
use crate::position::movegen::PackedMove;
use crate::tablebase::TablebaseResult;
use engine::Job;
pub use engine::{Engine, EngineError, EngineSettings, SearchRequest};
use history::{Context, History, PieceTo};
pub use limits::Limits;
use lmr::LmrTable;
pub use params::{ParamError, ParamInfo, SearchParams};
use piece_values::PieceValues;
use score::MAX_PLY;
use strength::Handicap;
use threads::Control;
pub use threads::STACK_BYTES;
use time_management::TimeManager;
pub use transposition::Bound;
use transposition::TranspositionTable;

/// The result of an iteration for one principal variation.
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
    pub tb_hits: u64,
    pub elapsed: Duration,
    pub pv: Vec<Move>,
}

/// The end of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// `None` when there is no legal move.
    pub best_move: Option<Move>,
    /// The reply that the search expects.
    pub ponder: Option<Move>,
    pub score: i32,
    /// A bound if the last iteration was aborted after it failed high on a new best move.
    pub bound: Bound,
    /// The last iteration that was completed.
    pub depth: i32,
    pub nodes: u64,
}

/// Receives the progress of a search, on the main search thread.
pub trait SearchObserver: Send + Sync {
    /// Whether the lines of [`SearchObserver::info`] have to be made at all.
    fn listens(&self) -> bool {
        true
    }
    fn info(&self, _info: &SearchInfo) {}
    fn current_move(&self, _depth: i32, _m: Move, _number: usize) {}
    fn message(&self, _text: &str) {}
    /// Called at the end of [`Engine::start`]; [`Engine::search`] returns the result instead.
    fn finished(&self, _result: &SearchResult) {}
}

/// An observer that ignores everything.
pub struct Silent;

impl SearchObserver for Silent {
    fn listens(&self) -> bool {
        false
    }
}

/// What a search thread keeps from one search to the next.
struct ThreadData {
    history: Box<History>,
    evaluator: Evaluator,
    piece_values: PieceValues,
    lmr: LmrTable,
    weights: Arc<Weights>,
    /// Lent to the search under way.
    stack: Vec<Ply>,
}

impl ThreadData {
    fn new(settings: &EngineSettings) -> ThreadData {
        cuckoo::prepare();
        let weights = settings.weights.clone();
        ThreadData {
            history: History::new(),
            evaluator: Evaluator::new(weights.clone()),
            piece_values: PieceValues::new(&weights),
            lmr: LmrTable::new(&settings.params),
            weights,
            stack: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.history.clear();
        self.evaluator.clear();
    }

    /// New weights start with an empty history. It keeps its memory: there may be no more.
    fn adopt(&mut self, settings: &EngineSettings) {
        let weights = &settings.weights;
        if !Arc::ptr_eq(&self.weights, weights) {
            self.evaluator = Evaluator::new(weights.clone());
            self.piece_values = PieceValues::new(weights);
            self.weights = weights.clone();
            self.history.clear();
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
    /// What the score is, if the aspiration window did not contain it.
    bound: Bound,
    /// The score of the iteration before.
    previous: i32,
    seldepth: usize,
    nodes: u64,
    pv: Vec<Move>,
    /// By the tablebases; zero for all without them. Only moves of one rank compete.
    rank: i32,
    tablebase: Option<TablebaseResult>,
}

/// The search stack: one entry a ply of the current path.
struct Ply {
    /// The move that led away from here, for continuation history.
    played: PieceTo,
    /// The same if it was quiet, with its history context.
    quiet: Option<(Move, Context)>,
    killers: [PackedMove; 2],
    /// Left out of the search here, to find out whether the others are worse (singular extension).
    excluded: PackedMove,
    static_eval: Option<i32>,
    double_extensions: i32,
    /// Beta cut-offs among the children of this ply.
    cutoffs: u32,
    /// Plies since the last null move, within which repetition is possible.
    since_null: usize,
    pv: Vec<Move>,
}

impl Ply {
    /// As it is before a search. Its line keeps the memory of an earlier one.
    fn fresh(mut pv: Vec<Move>) -> Ply {
        pv.clear();
        Ply {
            played: PieceTo::NONE,
            quiet: None,
            killers: [PackedMove::NONE; 2],
            excluded: PackedMove::NONE,
            static_eval: None,
            double_extensions: 0,
            cutoffs: 0,
            since_null: MAX_PLY,
            pv,
        }
    }
}

/// Entries before the root, so that "four plies ago" exists at ply 0.
const BEFORE_ROOT: usize = 4;

/// The stack of a new search, in the memory of the last one: quick games search thousands of
/// positions a second.
fn fresh_stack(mut stack: Vec<Ply>) -> Vec<Ply> {
    stack.resize_with(BEFORE_ROOT + MAX_PLY + 4, || Ply::fresh(Vec::new()));
    for ply in &mut stack {
        *ply = Ply::fresh(std::mem::take(&mut ply.pv));
    }
    stack
}

/// One thread's search of one request.
struct Search<'a> {
    settings: &'a EngineSettings,
    request: &'a SearchRequest,
    tt: &'a TranspositionTable,
    control: &'a Control,
    observer: &'a dyn SearchObserver,
    data: &'a mut ThreadData,
    params: SearchParams,
    /// In internal units.
    contempt: i32,
    handicap: Option<Handicap>,
    /// A centipawn in internal units.
    centipawn: f64,
    node_limit: Option<u64>,
    time: TimeManager,
    /// Zero for the main thread, which keeps the clock and reports.
    id: usize,
    stack: Vec<Ply>,
    /// Keys of all positions before the current one, oldest first.
    keys: Vec<u64>,
    root_moves: Vec<RootMove>,
    /// Root moves before this one are done in this iteration (MultiPV).
    pv_index: usize,
    root_depth: i32,
    completed_depth: i32,
    seldepth: usize,
    nodes: u64,
    tb_hits: u64,
    /// The most men for which the tablebases are probed in the tree; zero for none.
    tb_men: usize,
    /// Null moves are off until this ply while one is being verified.
    null_move_from: usize,
    aborted: bool,
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        self.data.stack = std::mem::take(&mut self.stack);
    }
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
        let handicap = settings.strength.handicap(position);
        let stack = fresh_stack(std::mem::take(&mut data.stack));
        Search {
            time: TimeManager::new(
                &request.limits,
                position.turn(),
                position.move_number(),
                settings.move_overhead,
                request.started,
                &settings.params,
            ),
            keys: request.game.key_history().to_vec(),
            stack,
            root_moves: iterative_deepening::root_moves(job),
            settings,
            request,
            tt: &job.tt,
            control: &job.control,
            observer,
            data,
            params: settings.params.clone(),
            contempt: job.contempt(),
            node_limit: request
                .limits
                .nodes
                .into_iter()
                .chain(handicap.map(|one| one.nodes))
                .min(),
            centipawn: f64::from(settings.weights.win_model().score(Centipawns(100))) / 100.0,
            handicap,
            id,
            pv_index: 0,
            root_depth: 0,
            completed_depth: 0,
            seldepth: 0,
            nodes: 0,
            tb_hits: tablebases::root_hits(job, id),
            tb_men: tablebases::men_in_tree(job),
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

    /// What histories know the moves of this ply by.
    #[inline]
    fn context(&self, position: &Position, ply: usize) -> Context {
        let here = ply + BEFORE_ROOT;
        let continuation = [1, 2, 4].map(|plies| self.stack[here - plies].played);
        Context::new(position, continuation)
    }
}
