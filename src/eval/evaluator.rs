//! The evaluator of a search thread: one of two judges, with its caches.

use std::sync::Arc;

use super::nnue::{AccumulatorStack, Network};
use super::score::Score;
use super::terms::board::Pieces;
use super::terms::cache::{MaterialCache, MaterialEntry, PawnCache, PawnEntry, ScoreCache};
use super::terms::sink::Scorer;
use super::terms::{Family, endgame, kpk, material, report};
use super::weights::Weights;
use crate::position::Position;

/// So many plies from the root have accumulators of their own.
const ACCUMULATOR_PLIES: usize = 128;

/// With so few men left the terms' rules know more than a network: what is drawn, and how to mate.
const MEN_FOR_TERMS: usize = 4;

/// Whether a network hands the position over to the terms. Terms that know nothing about endings,
/// as beside a network that started from zero, judge none.
#[inline]
fn is_for_terms(position: &Position, weights: &Weights) -> bool {
    position.board().occupied().count() <= MEN_FOR_TERMS && weights.uses(Family::Endgame)
}

/// What replaces a network in pawnless endings against a bare king, if the weights know about
/// endings.
#[inline]
pub(super) fn mop_up(position: &Position, weights: &Weights) -> Option<Score> {
    if !position.has_bare_king() || !weights.uses(Family::Endgame) {
        return None;
    }
    endgame::mop_up(&Pieces::of(position), position.turn())
}

/// The network, if the weights have one and it judges the position.
#[inline]
pub(super) fn judging_network<'w>(
    position: &Position,
    weights: &'w Weights,
) -> Option<&'w Network> {
    weights
        .network
        .as_ref()
        .filter(|_| !is_for_terms(position, weights))
}

/// An evaluation with its caches: one per search thread.
pub enum Evaluator {
    /// The terms judge every position.
    Terms {
        terms: CachedTerms,
        scores: ScoreCache,
    },
    /// A network judges, and hands the last endings over to the terms.
    Network {
        network: Network,
        accumulators: Box<AccumulatorStack>,
        endings: CachedTerms,
        scores: ScoreCache,
    },
}

impl Evaluator {
    pub fn new(weights: Arc<Weights>) -> Evaluator {
        kpk::init();
        let scores = ScoreCache::new();
        match weights.network.clone() {
            Some(network) => Evaluator::Network {
                accumulators: Box::new(AccumulatorStack::new(&network, ACCUMULATOR_PLIES)),
                network,
                endings: CachedTerms::new(weights),
                scores,
            },
            None => Evaluator::Terms {
                terms: CachedTerms::new(weights),
                scores,
            },
        }
    }

    pub fn weights(&self) -> &Arc<Weights> {
        match self {
            Evaluator::Terms { terms, .. } => &terms.weights,
            Evaluator::Network { endings, .. } => &endings.weights,
        }
    }

    /// The score seen by the side to move; always within [`SCORE_LIMIT`](super::SCORE_LIMIT).
    pub fn evaluate(&mut self, position: &Position) -> Score {
        self.evaluate_at(position, 0)
    }

    /// The same, for a search `ply` plies from its root: its parent was evaluated lately.
    #[inline]
    pub fn evaluate_at(&mut self, position: &Position, ply: usize) -> Score {
        match self {
            Evaluator::Terms { terms, scores } => {
                *scores.probe(position.key(), || terms.evaluate(position))
            }
            Evaluator::Network {
                network,
                accumulators,
                endings,
                scores,
            } => *scores.probe(position.key(), || {
                if let Some(score) = mop_up(position, &endings.weights) {
                    score
                } else if is_for_terms(position, &endings.weights) {
                    endings.evaluate(position)
                } else {
                    accumulators.evaluate(network, position, ply)
                }
            }),
        }
    }

    /// Clears the caches, and what an aborted update may have left in the accumulators.
    pub fn clear(&mut self) {
        let (terms, scores) = match self {
            Evaluator::Terms { terms, scores } => (terms, scores),
            Evaluator::Network {
                network,
                accumulators,
                endings,
                scores,
            } => {
                accumulators.clear(network);
                (endings, scores)
            }
        };
        terms.pawns.clear();
        terms.material.clear();
        scores.clear();
    }
}

/// The terms, with caches for what pawns, kings and material decide.
pub struct CachedTerms {
    weights: Arc<Weights>,
    pawns: PawnCache,
    material: MaterialCache,
}

impl CachedTerms {
    fn new(weights: Arc<Weights>) -> CachedTerms {
        CachedTerms {
            weights,
            pawns: PawnCache::new(),
            material: MaterialCache::new(),
        }
    }

    #[inline]
    fn evaluate(&mut self, position: &Position) -> Score {
        let weights = &*self.weights;
        let pieces = Pieces::of(position);
        let key = position.keys().pawns_and_kings(pieces.king);
        let pawns = self.pawns.probe(key, || PawnEntry::of(&pieces, weights));
        let compute = || MaterialEntry::of(&pieces, weights);
        let material = self.material.probe(material::key(&pieces), compute);

        let mut scorer = Scorer::new(weights);
        scorer.sum += pawns.sum;
        scorer.sum += material.sum;
        scorer.complexity += pawns.complexity;
        let structure = &pawns.structure;
        let taper = report(position, &pieces, structure, material.phase, &mut scorer);
        scorer.score(&taper)
    }
}
