//! Makes opening positions: random lines that look like chess and lead to an even game.
//!
//! A line is some 6 to 12 plies. At each ply the likely moves of a shallow search are drawn by
//! their scores: good ones often, doubtful ones now and then, blunders hardly ever. A line is
//! kept when the game goes on evenly: nobody in check, nothing to win at once, no position
//! twice, and a deeper search close to zero for both sides. Line `n` depends on the seed and `n`
//! alone, so the same call makes the same book on any number of threads.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use shakmaty::{Board, Color, Move};
use thiserror::Error;

use crate::eval::Weights;
use crate::position::{Game, movegen};
use crate::search::{
    Engine, EngineSettings, Limits, STACK_BYTES, SearchInfo, SearchObserver, SearchRequest, Silent,
};

/// What openings are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningSettings {
    pub count: usize,
    pub seed: u64,
    pub shortest: usize,
    pub longest: usize,
    /// How far from equality, in internal centipawns, the deep score may be.
    pub balance: i32,
    /// The deep search, in nodes.
    pub nodes: u64,
    pub threads: usize,
}

impl Default for OpeningSettings {
    fn default() -> OpeningSettings {
        OpeningSettings {
            count: 5_500,
            seed: 1,
            shortest: 6,
            longest: 12,
            balance: 50,
            nodes: 20_000,
            threads: 1,
        }
    }
}

#[derive(Debug, Error)]
pub enum OpeningGeneratorError {
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[error("only {found} of {wanted} openings were found")]
    Exhausted { found: usize, wanted: usize },
}

/// The search behind each random move.
const SHALLOW_DEPTH: u32 = 3;
const CANDIDATES: usize = 16;
/// A move so many centipawns worse is e times less likely.
const TEMPERATURE: f64 = 25.0;
/// The first plies are freer: that is where variety comes from.
const FREE_PLIES: usize = 4;
const FREE_TEMPERATURE: f64 = 100.0;
/// A quick look before the deep one.
const QUICK_NODES: u64 = 3_000;
const QUICK_SLACK: i32 = 40;
const LARGEST_BATCH: usize = 256;
const HASH_MIB: usize = 2;

/// Finds openings as FENs, in the order in which they were made; `progress` hears how many
/// there are after each batch of attempts.
pub fn make(
    weights: &Arc<Weights>,
    wanted: &OpeningSettings,
    mut progress: impl FnMut(usize) + Send,
) -> Result<Vec<String>, OpeningGeneratorError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(wanted.threads)
        .stack_size(STACK_BYTES)
        .build()?;
    let mut openings = Vec::new();
    let mut seen = HashSet::new();
    // Far more attempts than any sensible settings need.
    let size = (wanted.count * 4).clamp(1, LARGEST_BATCH);
    let batches = wanted.count * 100 / size + 1;
    for batch in 0..batches {
        let attempts = batch * size..(batch + 1) * size;
        let lines: Vec<Option<Game>> = pool.install(|| {
            let worker = || Worker::new(weights.clone());
            attempts
                .into_par_iter()
                .map_init(worker, |worker, attempt| worker.attempt(wanted, attempt))
                .collect()
        });
        for game in lines.into_iter().flatten() {
            if openings.len() < wanted.count && seen.insert(game.position().key()) {
                openings.push(game.position().fen());
            }
        }
        progress(openings.len());
        if openings.len() == wanted.count {
            return Ok(openings);
        }
    }
    Err(OpeningGeneratorError::Exhausted {
        found: openings.len(),
        wanted: wanted.count,
    })
}

/// A thread's engine, if there was memory for it; empty at the start of each attempt.
struct Worker {
    engine: Option<Engine>,
}

impl Worker {
    fn new(weights: Arc<Weights>) -> Worker {
        let settings = EngineSettings::neutral(weights, HASH_MIB).ok();
        Worker {
            engine: settings.and_then(|settings| Engine::new(settings).ok()),
        }
    }

    /// One random line, if it is any good.
    fn attempt(&mut self, wanted: &OpeningSettings, number: usize) -> Option<Game> {
        let mut random = SmallRng::seed_from_u64(wanted.seed);
        // Seeds of neighbouring attempts should have nothing in common.
        let own: u64 = random.random::<u64>() ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = SmallRng::seed_from_u64(own);
        self.engine.as_mut()?.new_game();

        let plies = random.random_range(wanted.shortest..=wanted.longest.max(wanted.shortest));
        let mut game = Game::default();
        let mut visited = HashSet::from([game.position().key()]);
        for ply in 0..plies {
            let m = self.draw(&game, ply, &mut random)?;
            game.play(m);
            if !visited.insert(game.position().key()) {
                return None;
            }
        }
        self.is_even(&game, wanted).then_some(game)
    }

    /// A move by chance, the better the likelier.
    fn draw(&mut self, game: &Game, ply: usize, random: &mut SmallRng) -> Option<Move> {
        let temperature = if ply < FREE_PLIES {
            FREE_TEMPERATURE
        } else {
            TEMPERATURE
        };
        let moves = self.candidates(game);
        let best = moves.iter().map(|(_, score)| *score).max()?;
        let chances: Vec<f64> = moves
            .iter()
            .map(|(_, score)| (f64::from(score - best) / temperature).exp())
            .collect();
        let mut left = random.random_range(0.0..chances.iter().sum());
        for ((m, _), chance) in moves.iter().zip(&chances) {
            if left < *chance {
                return Some(*m);
            }
            left -= chance;
        }
        moves.last().map(|(m, _)| *m)
    }

    /// The best moves of a shallow search with their scores.
    fn candidates(&mut self, game: &Game) -> Vec<(Move, i32)> {
        let listener = Listener::default();
        self.search(game, Limits::depth(SHALLOW_DEPTH), CANDIDATES, &listener);
        listener.moves.into_inner()
    }

    fn is_even(&mut self, game: &Game, wanted: &OpeningSettings) -> bool {
        let position = game.position();
        let calm = !position.in_check() && !movegen::legal_moves(position).is_empty();
        if !calm || !is_material_even(position.board()) {
            return false;
        }
        let mut score = |nodes| self.search(game, Limits::nodes(nodes), 1, &Silent).abs();
        score(QUICK_NODES) <= wanted.balance + QUICK_SLACK && score(wanted.nodes) <= wanted.balance
    }

    fn search(
        &mut self,
        game: &Game,
        limits: Limits,
        lines: usize,
        observer: &dyn SearchObserver,
    ) -> i32 {
        let Some(engine) = &mut self.engine else {
            return i32::MAX;
        };
        let settings = EngineSettings {
            multi_pv: lines,
            ..engine.settings().clone()
        };
        // The number of lines can always be had.
        let _ = engine.configure(settings);
        let request = SearchRequest::new(game.clone(), limits);
        engine.search_with(request, observer).score
    }
}

/// A pawn given for an attack may well be even, but how even depends on who judges.
fn is_material_even(board: &Board) -> bool {
    let count = |color: Color| board.material_side(color).map(usize::from);
    count(Color::White) == count(Color::Black)
}

/// Keeps the lines of the last iteration.
#[derive(Default)]
struct Listener {
    moves: Mutex<Vec<(Move, i32)>>,
}

impl SearchObserver for Listener {
    fn info(&self, info: &SearchInfo) {
        let mut moves = self.moves.lock();
        if info.multi_pv == 1 {
            moves.clear();
        }
        if let Some(first) = info.line.first() {
            moves.push((*first, info.score));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_openings_on_any_number_of_threads() {
        let weights = Arc::new(Weights::default());
        let make = |seed, threads| {
            let wanted = OpeningSettings {
                count: 3,
                seed,
                nodes: 500,
                longest: 7,
                threads,
                ..OpeningSettings::default()
            };
            super::make(&weights, &wanted, |_| {}).unwrap()
        };
        let openings = make(3, 1);
        assert_eq!(openings, make(3, 2));
        assert_ne!(openings, make(4, 1));
        let distinct: HashSet<&String> = openings.iter().collect();
        assert_eq!(distinct.len(), openings.len());
    }
}
