//! The static evaluation: hand-crafted terms, or a neural network (NNUE).
//!
//! The code of the terms never sees a weight. It reports features ("White has a rook on an open
//! file") to a [`Sink`](terms::sink::Sink). One report serves three purposes: the score in play
//! ([`Evaluator`], [`evaluate_uncached`]), the features for tuning ([`trace`]) and the table for
//! display ([`explain`]). All run the same code, so for any weights without a network
//! `trace(p).score(w) == evaluate_uncached(p, w)`.
//!
//! - `terms/` is the hand-crafted evaluation: `list.rs` declares all terms, `sink.rs` has the
//!   sinks and the tapered score, and one file per family reports its terms
//! - `score.rs` has the units of scores and the win model
//! - `nnue/` is the network, the other judge
//! - `evaluator.rs`: [`Evaluator`] is one judge or the other, with its caches
//! - `weights/` holds what plays: the terms' values, the network, the search constants; and their
//!   TOML file
//! - `installed.rs`: the weights file beside the program, which replaces the built-in weights
//!
//! # How to add a term
//!
//! It takes three lines. For example, to score a rook on the file of an enemy queen, first declare
//! the term with its meaning and bounds in `terms/list.rs`, under its family:
//!
//! ```text
//! /// A rook on the file of an enemy queen.
//! rook_on_queen_file in -100..=100;
//! ```
//!
//! Then report it in the family's file, here `terms/pieces.rs`:
//!
//! ```text
//! sink.add(S::COLOR, term::rook_on_queen_file(), count(facing));
//! ```
//!
//! Then give it a midgame and an endgame value in `weights/default.toml`:
//!
//! ```text
//! rook_on_queen_file = [8, 8]
//! ```
//!
//! No other source file names the term. `finch eval`, `finch weights`, tuning and the symmetry
//! tests take it from the list. `tests/terms.rs` fails until it has a position where the term
//! counts and one where it does not. A table is declared with its length, `knight_mobility[9]`,
//! and reported by index, `term::knight_mobility(squares)`.
//!
//! What is not linear in the weights has a fixed form: king danger is an index into a table
//! (`terms/king.rs`), drawish endgames are scaled (`terms/endgame.rs`), and complexity moves the
//! endgame score but never across zero ([`Totals::endgame_with_complexity`]).
//!
//! # A network instead of the terms
//!
//! A weights file may name a network (`nnue/`). The network then evaluates all positions
//! with more than four pieces. If the terms know about endings (the endgame family has a weight),
//! they evaluate the others, and a mop-up evaluation (`terms/endgame.rs`) all pawnless endings
//! against a bare king. The terms also give the search its piece values, and can be tuned.
//! [`explain`] shows both.
//!
//! A family whose weights are all zero is skipped. So the papers' features cost nothing in play,
//! and a weights file with a paper's six weights is exactly that paper's evaluation. Endgames are
//! scaled only if the endgame family has a weight other than zero.

mod evaluator;
mod installed;
mod loaded;
mod nnue;
mod score;
mod terms;
mod weights;

use std::hint::black_box;
use std::time::Instant;

use crate::position::Position;
use evaluator::{judging_network, mop_up};
use terms::explain::Explainer;
use terms::report_all;
use terms::sink::{Scorer, Tracer};

pub use evaluator::Evaluator;
pub use installed::{install, installed_path, installed_weights, uninstall};
pub use loaded::{LoadedWeights, WeightsOrigin};
pub use nnue::{
    Architecture, FEATURES, MAX_OUTPUT_WEIGHT, Network, NetworkError, NetworkHeader,
    NetworkParameters, OutputLayer, Perspective, QA, QB, UnsupportedArchitecture,
};
pub use score::{Centipawns, Score, WinModel};
pub use terms::explain::{Explanation, FamilyLines, TermLine};
pub use terms::sink::{
    SCORE_LIMIT, ScoreGradient, Taper, Totals, Trace, tapered_score, tapered_score_for_white,
};
pub use terms::{Family, TERMS, Term, TermInfo, WEIGHT_COUNT, term};
pub use weights::{
    Difference, PackedScore, TaperedValue, Weights, WeightsError, WeightsId, WeightsProblem,
    differences,
};

/// The score of a position, from the board alone; the same that an [`Evaluator`] gives.
#[inline]
pub fn evaluate_uncached(position: &Position, weights: &Weights) -> Score {
    if let Some(score) = replaced_by_mop_up(position, weights) {
        return score;
    }
    if let Some(network) = judging_network(position, weights) {
        return network.evaluate(position);
    }
    let mut scorer = Scorer::new(weights);
    let frame = report_all(position, &mut scorer);
    scorer.score(&frame)
}

/// The mop-up evaluation, where it replaces a network.
#[inline]
fn replaced_by_mop_up(position: &Position, weights: &Weights) -> Option<Score> {
    let network = weights.network.as_ref();
    network.and_then(|_| mop_up(position, weights))
}

/// The position's features, for a tuner.
pub fn trace(position: &Position) -> Trace {
    trace_families(position, Family::ALL)
}

/// The features of some families only: all a tuner needs when the others weigh nothing.
pub fn trace_families(position: &Position, families: &[Family]) -> Trace {
    let mut tracer = Tracer::new(families);
    let frame = report_all(position, &mut tracer);
    tracer.into_trace(frame)
}

/// The position's score taken apart, for a person.
pub fn explain(position: &Position, weights: &Weights) -> Explanation {
    let mut explainer = Explainer::new(weights);
    let frame = report_all(position, &mut explainer);
    let explanation = explainer.into_explanation(position, frame);
    if let Some(score) = replaced_by_mop_up(position, weights) {
        return explanation.with_mop_up(score);
    }
    match judging_network(position, weights) {
        Some(network) => explanation.with_network(network, position),
        None => explanation,
    }
}

/// How many evaluations a second one core makes of the positions, without caches.
pub fn evaluations_per_second(positions: &[Position], weights: &Weights, seconds: f64) -> f64 {
    let start = Instant::now();
    let mut evaluations = 0_usize;
    loop {
        for position in positions {
            black_box(evaluate_uncached(black_box(position), weights));
        }
        evaluations += positions.len();
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed >= seconds || positions.is_empty() {
            return evaluations as f64 / elapsed;
        }
    }
}
