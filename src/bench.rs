//! The benchmark: fixed positions at a fixed depth. The number of nodes is the engine's
//! signature: a change that should not alter play leaves it alone.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::eval::Weights;
use crate::position::{Game, Position};
use crate::search::{Engine, EngineError, EngineSettings, Limits, SearchRequest};

const DEPTH: u32 = 14;
const HASH_MIB: usize = 16;

pub struct Benchmark {
    pub nodes: u64,
    pub elapsed: Duration,
}

impl Benchmark {
    pub fn nodes_per_second(&self) -> u64 {
        (self.nodes as f64 / self.elapsed.as_secs_f64().max(1e-9)) as u64
    }
}

impl fmt::Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} nodes {} nps", self.nodes, self.nodes_per_second())
    }
}

/// The positions, from games that Stockfish played against itself after random openings.
pub fn positions() -> impl Iterator<Item = Position> {
    include_str!("bench.epd")
        .lines()
        .filter_map(|fen| Position::from_fen(fen).ok())
}

/// Searches the positions one after the other as those of one game, on this thread alone, until
/// `stop` is set.
pub fn run(weights: &Arc<Weights>, stop: &Arc<AtomicBool>) -> Result<Benchmark, EngineError> {
    run_to_depth(DEPTH, weights, stop)
}

/// The same to another depth than that of the signature.
pub fn run_to_depth(
    depth: u32,
    weights: &Arc<Weights>,
    stop: &Arc<AtomicBool>,
) -> Result<Benchmark, EngineError> {
    let settings = EngineSettings::neutral(weights.clone(), HASH_MIB)?;
    let mut engine = Engine::new(settings)?;
    let mut nodes = 0;
    let started = Instant::now();
    for position in positions() {
        let request = SearchRequest {
            stop: Some(stop.clone()),
            ..SearchRequest::new(Game::new(position), Limits::depth(depth))
        };
        nodes += engine.search(request).nodes;
    }
    Ok(Benchmark {
        nodes,
        elapsed: started.elapsed(),
    })
}
