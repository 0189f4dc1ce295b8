//! Generates balanced opening positions from random lines of plausible moves.
//!
//! A line starts from the initial position, or from a position of a book that is drawn at random,
//! and has 6 to 12 plies by default. Each move is drawn from those of a shallow search with a
//! probability that falls with its score (a softmax with a temperature). A line is kept if it ends
//! balanced: no check, even material (without a book), no repeated position, and a score close to zero after a
//! deeper search. Line `n` depends on the seed and `n` alone, so the same settings give the same
//! openings on any number of threads.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use parking_lot::Mutex;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use shakmaty::{Board, Color, Move};
use thiserror::Error;

use crate::eval::Weights;
use crate::position::{Game, Position, movegen};
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

impl OpeningSettings {
    /// Openings for training games: made quickly, and less balanced than those of matches. After a
    /// position of a book the line is short.
    pub fn for_training(count: usize, seed: u64, after_book: bool) -> OpeningSettings {
        let (shortest, longest) = if after_book { (2, 6) } else { (6, 12) };
        OpeningSettings {
            count,
            seed,
            shortest,
            longest,
            balance: 150,
            nodes: QUICK_NODES,
            threads: 1,
        }
    }
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
/// Attempts of each thread between two reports of progress.
const BATCH: usize = 4;
const LEAST_ATTEMPTS: usize = 256;
const HASH_MIB: usize = 2;

/// Generates openings as FENs, after positions of `book` if there are any. `progress` is called
/// with all of them after each batch of attempts; the generation ends early when it breaks.
pub fn generate(
    weights: &Arc<Weights>,
    settings: &OpeningSettings,
    book: &[Position],
    mut progress: impl FnMut(&[String]) -> ControlFlow<()> + Send,
) -> Result<Vec<String>, OpeningGeneratorError> {
    let OpeningSettings {
        count: wanted,
        shortest,
        longest,
        threads,
        ..
    } = *settings;
    if shortest > longest || longest > MAX_PLIES {
        return Err(OpeningGeneratorError::Plies { shortest, longest });
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK_BYTES)
        .build()?;
    let mut openings = Vec::new();
    let mut seen = HashSet::new();
    let size = BATCH * threads.max(1);
    // Far more attempts than sensible settings need.
    let most = wanted.saturating_mul(100).saturating_add(LEAST_ATTEMPTS);
    for first in (0..most).step_by(size) {
        let lines: Vec<Option<Game>> = pool.install(|| {
            let worker = || Worker::new(weights.clone());
            (first..first.saturating_add(size))
                .into_par_iter()
                .map_init(worker, |worker, attempt| {
                    worker.attempt(settings, book, attempt)
                })
                .collect()
        });
        for game in lines.into_iter().flatten() {
            if openings.len() < wanted && seen.insert(game.position().key()) {
                openings.push(game.position().fen());
            }
        }
        if progress(&openings).is_break() || openings.len() == wanted {
            return Ok(openings);
        }
    }
    Err(OpeningGeneratorError::Exhausted {
        found: openings.len(),
        wanted,
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
    fn attempt(
        &mut self,
        settings: &OpeningSettings,
        book: &[Position],
        number: usize,
    ) -> Option<Game> {
        let mut random = SmallRng::seed_from_u64(settings.seed);
        // The seeds of consecutive attempts must be unrelated.
        let own: u64 = random.random::<u64>() ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = SmallRng::seed_from_u64(own);
        self.engine.as_mut()?.new_game();

        let plies = random.random_range(settings.shortest..=settings.longest);
        let mut game = match book {
            [] => Game::default(),
            book => Game::new(book[random.random_range(0..book.len())].clone()),
        };
        let mut visited = HashSet::from([game.position().key()]);
        for ply in 0..plies {
            let m = self.random_move(&game, ply, &mut random)?;
            game.play(m);
            if !visited.insert(game.position().key()) {
                return None;
            }
        }
        // Positions of a book may be gambits.
        let may_be_uneven = !book.is_empty();
        (may_be_uneven || is_material_even(game.position().board()))
            .then_some(game)
            .filter(|game| self.is_balanced(game, settings))
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
        if !quiet {
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
            generate(&weights, &settings, &[], |_| ControlFlow::Continue(())).unwrap()
        };
        let openings = make(3, 1);
        assert_eq!(openings, make(3, 2));
        assert_ne!(openings, make(4, 1));
        let distinct: HashSet<&String> = openings.iter().collect();
        assert_eq!(distinct.len(), openings.len());
    }

    #[test]
    fn lines_continue_positions_of_a_book_until_progress_breaks() {
        let weights = Arc::new(Weights::default());
        let book = ["4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 30"];
        let book = book.map(|fen| Position::from_fen(fen).unwrap());
        let settings = OpeningSettings::for_training(1_000, 5, true);
        let mut reports = 0;
        let openings = generate(&weights, &settings, &book, |_| {
            reports += 1;
            ControlFlow::Break(())
        });
        let openings = openings.unwrap();
        assert_eq!(reports, 1);
        assert!(!openings.is_empty() && openings.len() <= BATCH);
        for fen in openings {
            let position = Position::from_fen(&fen).unwrap();
            assert!(position.board().occupied().count() <= 10, "{fen}");
            let moves = position.move_number();
            assert!((31..=33).contains(&moves), "{fen}");
        }
    }
}
