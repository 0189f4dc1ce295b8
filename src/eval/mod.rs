//! The evaluation: what a position is worth before anything moves.

mod attacks;
mod board;
mod endgame;
mod initiative;
mod king;
mod kpk;
mod material;
mod moves;
mod papers;
mod passed;
mod pawns;
mod pieces;
mod sink;
mod space;
mod squares;
mod terms;
mod threats;
mod weights;
mod weights_file;

use std::sync::Arc;

use crate::position::Position;
use attacks::Attacks;
use board::{BlackSide, Pieces, WhiteSide};
use pawns::PawnFacts;
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

/// Families that need to know who attacks what.
const ON_ATTACKS: [Family; 5] = [
    Family::Pieces,
    Family::King,
    Family::Threats,
    Family::Passed,
    Family::Space,
];

/// The table of contents: every family reports both sides.
#[inline(always)]
fn report(position: &Position, sink: &mut impl Sink) -> Frame {
    let pieces = Pieces::of(position);
    let pawns = PawnFacts::of(&pieces);
    if sink.wants(Family::Material) {
        material::report::<WhiteSide>(&pieces, sink);
        material::report::<BlackSide>(&pieces, sink);
        sink.add(position.turn(), term::tempo(), 1);
    }
    if sink.wants(Family::Squares) {
        squares::report::<WhiteSide>(&pieces, sink);
        squares::report::<BlackSide>(&pieces, sink);
    }
    if sink.wants(Family::Pawns) {
        pawns::report::<WhiteSide>(&pieces, &pawns, sink);
        pawns::report::<BlackSide>(&pieces, &pawns, sink);
    }
    if ON_ATTACKS.iter().any(|family| sink.wants(*family)) {
        report_attacks(position, &pieces, &pawns, sink);
    }
    if sink.wants(Family::Initiative) {
        initiative::report(&pieces, &pawns, sink);
    }
    let mut scale = [Frame::FULL_SCALE; 2];
    if sink.wants(Family::Endgame) {
        endgame::report::<WhiteSide>(&pieces, position.turn(), sink);
        endgame::report::<BlackSide>(&pieces, position.turn(), sink);
        scale = endgame::scales(&pieces, &pawns, position.turn());
    }
    if sink.wants(Family::Papers) {
        papers::report(position, &pieces, &pawns, sink);
    }
    Frame {
        phase: material::phase(&pieces),
        scale,
        turn: position.turn(),
    }
}

/// The families that need attacks. The pieces come first: they enter what they attack.
#[inline(always)]
fn report_attacks(position: &Position, pieces: &Pieces, pawns: &PawnFacts, sink: &mut impl Sink) {
    let castles = position.castles();
    let mut attacks = Attacks::new(pieces, pawns);
    pieces::report::<WhiteSide>(pieces, pawns, castles, &mut attacks, sink);
    pieces::report::<BlackSide>(pieces, pawns, castles, &mut attacks, sink);
    if sink.wants(Family::King) {
        king::report::<WhiteSide>(pieces, pawns, &attacks, sink);
        king::report::<BlackSide>(pieces, pawns, &attacks, sink);
        king::report_castling::<WhiteSide>(castles, sink);
        king::report_castling::<BlackSide>(castles, sink);
    }
    if sink.wants(Family::Threats) {
        threats::report::<WhiteSide>(pieces, &attacks, sink);
        threats::report::<BlackSide>(pieces, &attacks, sink);
    }
    if sink.wants(Family::Passed) {
        passed::report::<WhiteSide>(pieces, pawns, &attacks, position.turn(), sink);
        passed::report::<BlackSide>(pieces, pawns, &attacks, position.turn(), sink);
    }
    if sink.wants(Family::Space) {
        space::report::<WhiteSide>(pieces, &attacks, sink);
        space::report::<BlackSide>(pieces, &attacks, sink);
    }
}
