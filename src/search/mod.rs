//! The search: what to play.
//!
//! A [`Pool`] of persistent threads shares one [`Table`]; each thread runs the same iterative
//! deepening on its own histories (lazy SMP), the first one keeps the clock and speaks.
//! From the outside in:
//!
//! - [`threads`]: the pool, its jobs and its control flags
//! - [`iterate`]: iterative deepening, aspiration windows, MultiPV, when to stop
//! - [`negamax`]: the main search of one node; [`quiescence`]: captures until it is calm
//! - [`shortcuts`], [`pruning`], [`reduction`]: what not to search, and how deep to search the rest
//! - [`draws`]: draws by rule; [`learning`]: what a searched node teaches
//! - [`ordering`], [`history`]: which move first, and what was learned about moves
//! - [`table`], [`cuckoo`]: positions seen before
//! - [`clock`], [`params`], [`score`], [`yardstick`]: time, constants, units
//! - [`plain`]: another search altogether: full width and captures, for the games of the papers
//!
//! One thread is deterministic: same position, same hash size, same nodes.

pub mod clock;
mod cuckoo;
mod draws;
pub mod history;
mod iterate;
mod learning;
mod negamax;
mod ordering;
mod pages;
pub mod params;
pub mod plain;
mod pruning;
mod quiescence;
mod reduction;
pub mod score;
mod shortcuts;
pub mod table;
pub mod threads;
mod yardstick;

use std::sync::Arc;
use std::time::{Duration, Instant};

use shakmaty::Move;

use crate::eval::{Evaluator, Weights};
use crate::position::movegen::PackedMove;
use crate::position::{Game, Position};
use clock::{Clock, Limits};
use history::{Context, History, Played};
use score::MAX_PLY;
pub use table::{Bound, Table};
pub use threads::{Control, Pool};
use yardstick::Yardstick;

/// Everything a search needs to know.
#[derive(Clone)]
pub struct Request {
    pub game: Game,
    pub limits: Limits,
    /// `searchmoves`: only these; empty means all.
    pub only: Vec<Move>,
    pub multi_pv: usize,
    pub overhead: Duration,
    /// By how much a draw is worse than an even game, to the side that moves first.
    pub contempt: i32,
    pub weights: Arc<Weights>,
    pub started: Instant,
}

impl Request {
    pub fn new(game: Game, limits: Limits, weights: Arc<Weights>) -> Request {
        Request {
            game,
            limits,
            only: Vec::new(),
            multi_pv: 1,
            overhead: Duration::ZERO,
            contempt: 0,
            weights,
            started: Instant::now(),
        }
    }
}

/// What is known after an iteration, for one of the lines asked for.
#[derive(Clone, Debug)]
pub struct Report {
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
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// `None` when there is no legal move.
    pub best: Option<Move>,
    pub ponder: Option<Move>,
    pub score: i32,
    pub depth: i32,
    pub nodes: u64,
}

/// Hears what the search has to say. Called from the first search thread.
pub trait Observer: Send + Sync {
    fn report(&self, _report: &Report) {}
    fn current_move(&self, _depth: i32, _m: Move, _number: usize) {}
    fn message(&self, _text: &str) {}
    fn finished(&self, _outcome: &Outcome) {}
}

/// An observer for searches that nobody watches.
pub struct Silent;

impl Observer for Silent {}

/// What a search thread keeps from one search to the next.
pub struct Memory {
    history: Box<History>,
    evaluator: Evaluator,
    yardstick: Yardstick,
    weights: Arc<Weights>,
}

impl Memory {
    pub fn new(weights: Arc<Weights>) -> Memory {
        cuckoo::prepare();
        Memory {
            history: History::new(),
            evaluator: Evaluator::new(weights.clone()),
            yardstick: Yardstick::new(&weights),
            weights,
        }
    }

    pub fn clear(&mut self) {
        self.history.clear();
        self.evaluator.clear();
    }

    fn use_weights(&mut self, weights: &Arc<Weights>) {
        if !Arc::ptr_eq(&self.weights, weights) {
            *self = Memory::new(weights.clone());
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
pub struct Search<'a> {
    request: &'a Request,
    table: &'a Table,
    control: &'a Control,
    observer: &'a dyn Observer,
    memory: &'a mut Memory,
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
    pub fn new(
        request: &'a Request,
        table: &'a Table,
        control: &'a Control,
        observer: &'a dyn Observer,
        memory: &'a mut Memory,
        id: usize,
    ) -> Search<'a> {
        memory.use_weights(&request.weights);
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
                request.game.position().move_number(),
                request.overhead,
                request.started,
            ),
            keys: request.game.key_history().to_vec(),
            stack: vec![ply; BEFORE_ROOT + MAX_PLY + 4],
            root_moves: iterate::root_moves(request),
            request,
            table,
            control,
            observer,
            memory,
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
