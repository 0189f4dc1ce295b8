//! A cache of variations: the part of each quiescence tree that gradients near one individual need.
//!
//! With all terms free a whole tree takes about 70 KiB, most of it below moves that lose a piece.
//! Near one individual's weights the score of a move is the evaluation of a single position, its
//! principal variation leaf, or of one that is nearly as good. Keeping only those takes a tenth of
//! the memory and serves some steps of gradient ascent, after which the search is repeated. Without
//! the nearly best replies the ascent would rely on replies that the opponent no longer plays once
//! the weights change.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Batch;
use super::board_search::BoardSearch;
use super::quiescence::{INFINITE, MoveScores};
use super::quiescence_tree::{Phenotype, QuiescenceTree, TreeBuilder};
use super::softmax::SCORE_LIMIT;
use crate::data::Case;

/// For which individual cases are searched, and how much is kept.
pub struct VariationSettings {
    pub player: Phenotype,
    /// Moves this much below the best are left out.
    pub margin: i32,
    /// Replies this much below the best are left out.
    pub slack: i32,
}

/// The variations of many cases, as one individual evaluates them.
pub struct VariationCache {
    genes: Vec<f64>,
    batch: Batch,
    settings: VariationSettings,
    cached: Vec<CachedCase>,
}

/// One case as an individual evaluates it.
struct CachedCase {
    /// The variations of the moves; none if there was no memory for them.
    tree: Option<Box<QuiescenceTree>>,
    /// Whether the individual plays an answer.
    solved: bool,
}

impl VariationCache {
    /// Searches a batch of the cases. Trees that do not fit into `memory` are not kept.
    pub fn new(
        builder: &TreeBuilder,
        settings: VariationSettings,
        genes: &[f64],
        batch: &Batch,
        cases: &[Case],
        memory: usize,
    ) -> VariationCache {
        let left = AtomicUsize::new(memory);
        let see = |case: &Case| {
            let mut cached_case = cached_case(builder, case, &settings);
            cached_case.tree = cached_case
                .tree
                .take()
                .filter(|tree| is_granted(&left, tree));
            cached_case
        };
        let cached = match batch {
            Batch::All => cases.par_iter().with_min_len(16).map(see).collect(),
            Batch::Some(indices) => {
                let cases = indices.par_iter().map(|&index| &cases[index as usize]);
                cases.with_min_len(16).map(see).collect()
            }
        };
        VariationCache {
            genes: genes.to_vec(),
            batch: batch.clone(),
            settings,
            cached,
        }
    }

    /// Whether the cache belongs to this individual and these cases.
    pub fn are_of(&self, genes: &[f64], batch: &Batch) -> bool {
        self.genes == genes && self.batch == *batch
    }

    /// How many of the cases the individual solves.
    pub fn solved(&self) -> usize {
        self.cached
            .iter()
            .filter(|cached_case| cached_case.solved)
            .count()
    }

    /// Calls `visit` with the tree of a case; one that was not kept is searched again.
    pub fn with_tree<T>(
        &self,
        index: usize,
        case: &Case,
        builder: &TreeBuilder,
        visit: impl FnOnce(&QuiescenceTree) -> T,
    ) -> Option<T> {
        let kept = match &self.batch {
            Batch::All => Some(index),
            Batch::Some(indices) => indices.binary_search(&(index as u32)).ok(),
        };
        if let Some(tree) = kept.and_then(|at| self.cached[at].tree.as_ref()) {
            return Some(visit(tree));
        }
        let cached_case = cached_case(builder, case, &self.settings);
        cached_case.tree.map(|tree| visit(&tree))
    }
}

/// Takes a tree's size from the memory left, if there is enough.
pub fn is_granted(left: &AtomicUsize, tree: &QuiescenceTree) -> bool {
    let take = |left: usize| left.checked_sub(tree.size());
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    if taken.is_err() {
        // Smaller trees are refused too: trying each of them would cost as much time.
        left.store(0, Ordering::Relaxed);
    }
    taken.is_ok()
}

fn cached_case(builder: &TreeBuilder, case: &Case, settings: &VariationSettings) -> CachedCase {
    let search = BoardSearch::new(
        &case.position,
        &settings.player.weights,
        builder.quiescence(),
    )
    .with_slack(settings.slack);
    let answers = search.move_numbers(&case.answers);
    let others = 0..search.count() as u16;
    let others = others.filter(|number| !answers.contains(number));
    let mut best = (-INFINITE, u16::MAX);
    let mut variations = Vec::with_capacity(search.count());
    // The answers come first: their variations are kept however bad they are.
    for number in answers.iter().copied().chain(others) {
        let is_answer = answers.contains(&number);
        // Scores below the limit are all clamped to it, so no margin separates them.
        let alpha = match best.0.min(SCORE_LIMIT) - settings.margin {
            alpha if is_answer || alpha < -SCORE_LIMIT => -INFINITE,
            alpha => alpha,
        };
        let variation = search.variation(usize::from(number), alpha, INFINITE);
        // Among equals the earlier is played.
        let score = -variation.score;
        if score > best.0 || score == best.0 && number < best.1 {
            best = (score, number);
        }
        if is_answer || score > alpha {
            variations.push((variation, is_answer));
        }
    }
    CachedCase {
        tree: builder.tree_of_variations(case, &variations).map(Box::new),
        solved: answers.contains(&best.1),
    }
}
