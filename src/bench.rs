//! The benchmark: fixed positions at a fixed depth. The number of nodes is the engine's
//! signature: a change that should not alter play leaves it alone.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::eval::Weights;
use crate::position::{Game, Position};
use crate::search::clock::Limits;
use crate::search::{Control, Memory, Request, Search, Silent, Table};

const DEPTH: i32 = 14;
const HASH_MEBIBYTES: usize = 16;

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

/// Searches the positions one after the other as those of one game, on this thread alone, unless
/// `control` stops it.
pub fn run(weights: &Arc<Weights>, control: &Control) -> Benchmark {
    let mut memory = Memory::new(weights.clone());
    let mut nodes = 0;
    let started = Instant::now();
    if let Ok(table) = Table::new(HASH_MEBIBYTES) {
        for position in positions() {
            table.next_search();
            let limits = Limits {
                depth: Some(DEPTH),
                ..Limits::default()
            };
            let request = Request::new(Game::new(position), limits, weights.clone());
            nodes += Search::new(&request, &table, control, &Silent, &mut memory, 0)
                .run()
                .nodes;
        }
    }
    Benchmark {
        nodes,
        elapsed: started.elapsed(),
    }
}
