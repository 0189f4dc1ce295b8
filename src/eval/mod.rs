//! The evaluation: what a position is worth before anything moves.

mod board;
mod material;
mod sink;
mod squares;
mod terms;
mod weights;
mod weights_file;

use std::sync::Arc;

use crate::position::Position;
use board::{BlackSide, Pieces, WhiteSide};
use sink::{Recorder, Scorer, Sink};

pub use sink::{Frame, SCORE_LIMIT, Totals, Trace, finish};
pub use terms::{Family, TERMS, Term, TermInfo, WEIGHT_COUNT, term};
pub use weights::{Value, Weights};
pub use weights_file::{Difference, WeightsError, WeightsProblem, differences};

/// An evaluation with its caches: one per search thread.
pub struct Evaluator {
    weights: Arc<Weights>,
}

impl Evaluator {
    pub fn new(weights: Arc<Weights>) -> Evaluator {
        Evaluator { weights }
    }

    pub fn weights(&self) -> &Arc<Weights> {
        &self.weights
    }

    /// The position's worth in centipawns, seen by the side to move; always within
    /// [`SCORE_LIMIT`].
    #[inline]
    pub fn evaluate(&mut self, position: &Position) -> i32 {
        evaluate_uncached(position, &self.weights)
    }

    /// Forgets what is cached.
    pub fn clear(&mut self) {}
}

/// The same score, from the board alone.
#[inline]
pub fn evaluate_uncached(position: &Position, weights: &Weights) -> i32 {
    let mut scorer = Scorer::new(weights);
    let frame = report(position, &mut scorer);
    finish(scorer.totals(), &frame, weights.uses(Family::Endgame))
}

/// The position's features, for a tuner.
pub fn trace(position: &Position) -> Trace {
    let mut recorder = Recorder::default();
    let frame = report(position, &mut recorder);
    recorder.into_trace(frame)
}

/// The table of contents: every family reports both sides.
#[inline(always)]
fn report(position: &Position, sink: &mut impl Sink) -> Frame {
    let pieces = Pieces::of(position);
    if sink.wants(Family::Material) {
        material::report::<WhiteSide>(&pieces, sink);
        material::report::<BlackSide>(&pieces, sink);
        sink.add(position.turn(), term::tempo(), 1);
    }
    if sink.wants(Family::Squares) {
        squares::report::<WhiteSide>(&pieces, sink);
        squares::report::<BlackSide>(&pieces, sink);
    }
    Frame {
        phase: material::phase(&pieces),
        scale: [Frame::FULL_SCALE; 2],
        turn: position.turn(),
    }
}
