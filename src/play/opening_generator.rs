//! Generates balanced opening positions from random lines of plausible moves.
//!
//! A line has 6 to 12 plies by default. Each move is drawn from those of a shallow search with a
//! probability that falls with its score (a softmax with a temperature). A line is kept if it ends
//! balanced: no check, even material, no repeated position, and a score close to zero after a
//! deeper search. Line `n` depends on the seed and `n` alone, so the same settings give the same
//! openings on any number of threads.

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

/// Which openings to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningSettings {
    pub count: usize,
    pub seed: u64,
    pub shortest: usize,
    pub longest: usize,
    /// The largest absolute score of the deep search, in internal units.
    pub balance: i32,
    /// Nodes of the deep search.
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
    #[error("lines of {shortest} to {longest} plies cannot be generated: the limit is {MAX_PLIES}")]
    Plies { shortest: usize, longest: usize },
    #[error("only {found} of {wanted} openings were found")]
    Exhausted { found: usize, wanted: usize },
}

const MAX_PLIES: usize = 60;
/// The search that scores the candidates of each random move.
const SHALLOW_DEPTH: u32 = 3;
const CANDIDATES: usize = 16;
/// A move with a score this much lower is e times less likely.
const TEMPERATURE: f64 = 25.0;
/// The first plies have a higher temperature for more variety.
const FREE_PLIES: usize = 4;
const FREE_TEMPERATURE: f64 = 100.0;
/// A short search rejects most lines before the deep one.
const QUICK_NODES: u64 = 3_000;
const QUICK_SLACK: i32 = 40;
const LARGEST_BATCH: usize = 256;
const HASH_MIB: usize = 2;

/// Generates openings as FENs. `progress` is called with their number after each batch of
/// attempts.
pub fn generate(
    weights: &Arc<Weights>,
    settings: &OpeningSettings,
    mut progress: impl FnMut(usize) + Send,
) -> Result<Vec<String>, OpeningGeneratorError> {
    let OpeningSettings {
        shortest, longest, ..
    } = *settings;
    if shortest > longest || longest > MAX_PLIES {
        return Err(OpeningGeneratorError::Plies { shortest, longest });
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.threads)
        .stack_size(STACK_BYTES)
        .build()?;
    let mut openings = Vec::new();
    let mut seen = HashSet::new();
    // Far more attempts than sensible settings need.
    let size = (settings.count * 4).clamp(1, LARGEST_BATCH);
    let batches = settings.count * 100 / size + 1;
    for batch in 0..batches {
        let attempts = batch * size..(batch + 1) * size;
        let lines: Vec<Option<Game>> = pool.install(|| {
            let worker = || Worker::new(weights.clone());
            attempts
                .into_par_iter()
                .map_init(worker, |worker, attempt| worker.attempt(settings, attempt))
                .collect()
        });
        for game in lines.into_iter().flatten() {
            if openings.len() < settings.count && seen.insert(game.position().key()) {
                openings.push(game.position().fen());
            }
        }
        progress(openings.len());
        if openings.len() == settings.count {
            return Ok(openings);
        }
    }
    Err(OpeningGeneratorError::Exhausted {
        found: openings.len(),
        wanted: settings.count,
    })
}

/// Openings as EPD, one position a line. The counters of a FEN mean nothing at the start of a game.
pub fn to_epd(openings: &[String]) -> String {
    let line = |fen: &String| {
        let fields: Vec<&str> = fen.split(' ').take(4).collect();
        format!("{}\n", fields.join(" "))
    };
    openings.iter().map(line).collect()
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

    /// One random line, if it ends balanced.
    fn attempt(&mut self, settings: &OpeningSettings, number: usize) -> Option<Game> {
        let mut random = SmallRng::seed_from_u64(settings.seed);
        // The seeds of consecutive attempts must be unrelated.
        let own: u64 = random.random::<u64>() ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = SmallRng::seed_from_u64(own);
        self.engine.as_mut()?.new_game();

        let plies = random.random_range(settings.shortest..=settings.longest);
        let mut game = Game::default();
        let mut visited = HashSet::from([game.position().key()]);
        for ply in 0..plies {
            let m = self.random_move(&game, ply, &mut random)?;
            game.play(m);
            if !visited.insert(game.position().key()) {
                return None;
            }
        }
        self.is_balanced(&game, settings).then_some(game)
    }

    /// A random move; the better, the likelier.
    fn random_move(&mut self, game: &Game, ply: usize, random: &mut SmallRng) -> Option<Move> {
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
        let lines = LineCollector::default();
        self.search(game, Limits::depth(SHALLOW_DEPTH), CANDIDATES, &lines);
        lines.moves.into_inner()
    }

    fn is_balanced(&mut self, game: &Game, settings: &OpeningSettings) -> bool {
        let position = game.position();
        let quiet = !position.in_check() && !movegen::legal_moves(position).is_empty();
        if !quiet || !is_material_even(position.board()) {
            return false;
        }
        let mut score = |nodes| self.search(game, Limits::nodes(nodes), 1, &Silent).abs();
        score(QUICK_NODES) <= settings.balance + QUICK_SLACK
            && score(settings.nodes) <= settings.balance
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

/// Gambits may be balanced too, but that depends on the evaluation.
fn is_material_even(board: &Board) -> bool {
    let count = |color: Color| board.material_side(color).map(usize::from);
    count(Color::White) == count(Color::Black)
}

/// Keeps the lines of the last iteration.
#[derive(Default)]
struct LineCollector {
    moves: Mutex<Vec<(Move, i32)>>,
}

impl SearchObserver for LineCollector {
    fn info(&self, info: &SearchInfo) {
        let mut moves = self.moves.lock();
        if info.multi_pv == 1 {
            moves.clear();
        }
        if let Some(first) = info.pv.first() {
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
            let settings = OpeningSettings {
                count: 3,
                seed,
                nodes: 500,
                longest: 7,
                threads,
                ..OpeningSettings::default()
            };
            generate(&weights, &settings, |_| {}).unwrap()
        };
        let openings = make(3, 1);
        assert_eq!(openings, make(3, 2));
        assert_ne!(openings, make(4, 1));
        let distinct: HashSet<&String> = openings.iter().collect();
        assert_eq!(distinct.len(), openings.len());
    }
}
