//! Lines: what is left of the trees once a player has looked at them.
//!
//! With all terms free a whole tree takes some 70 KiB, most of it about moves that lose a piece.
//! Near the player's weights the score of a move rests on a single position, the end of its
//! line, or on one that is nearly as good for whoever chooses. Lines keep those alone, in a
//! tenth of the memory: enough to climb a slope for some steps, and to be searched for again
//! where the climb has led. Without the near ones a climb would count on replies that the
//! opponent, as the weights change, would soon think better of.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Batch;
use super::exact::Searched;
use super::likelihood::SCORE_LIMIT;
use super::quiescence::{INFINITE, Scores};
use super::tree::{Builder, Player, Tree};
use crate::data::Case;

/// Who looks at cases, and how.
pub struct Outlook {
    pub player: Player,
    /// Moves this much below the best are left out.
    pub margin: i32,
    /// Replies this much below the best are left out.
    pub slack: i32,
}

/// The lines of many cases as one player sees them.
pub struct Lines {
    genes: Vec<f64>,
    batch: Batch,
    outlook: Outlook,
    sights: Vec<Sight>,
}

/// One case as a player sees it.
struct Sight {
    /// What the moves' lines are made of; none if there was no memory for it.
    tree: Option<Box<Tree>>,
    /// Whether he plays an answer.
    solved: bool,
}

impl Lines {
    /// Searches a batch of the cases. Trees that do not fit into `memory` are not kept.
    pub fn new(
        builder: &Builder,
        outlook: Outlook,
        genes: &[f64],
        batch: &Batch,
        cases: &[Case],
        memory: usize,
    ) -> Lines {
        let left = AtomicUsize::new(memory);
        let see = |case: &Case| {
            let mut sight = sight(builder, case, &outlook);
            sight.tree = sight.tree.take().filter(|tree| is_granted(&left, tree));
            sight
        };
        let sights = match batch {
            Batch::All => cases.par_iter().with_min_len(16).map(see).collect(),
            Batch::Some(places) => {
                let cases = places.par_iter().map(|&place| &cases[place as usize]);
                cases.with_min_len(16).map(see).collect()
            }
        };
        Lines {
            genes: genes.to_vec(),
            batch: batch.clone(),
            outlook,
            sights,
        }
    }

    /// Whose lines they are, and on which cases.
    pub fn are_of(&self, genes: &[f64], batch: &Batch) -> bool {
        self.genes == genes && self.batch == *batch
    }

    /// How many of the cases the player solves.
    pub fn solved(&self) -> usize {
        self.sights.iter().filter(|sight| sight.solved).count()
    }

    /// Looks at the tree of a case; one that was not kept is searched for again.
    pub fn with_tree<T>(
        &self,
        place: usize,
        case: &Case,
        builder: &Builder,
        look: impl FnOnce(&Tree) -> T,
    ) -> Option<T> {
        let kept = match &self.batch {
            Batch::All => Some(place),
            Batch::Some(places) => places.binary_search(&(place as u32)).ok(),
        };
        if let Some(tree) = kept.and_then(|at| self.sights[at].tree.as_ref()) {
            return Some(look(tree));
        }
        let sight = sight(builder, case, &self.outlook);
        sight.tree.map(|tree| look(&tree))
    }
}

/// Takes a tree's size from the memory left, if there is that much.
pub fn is_granted(left: &AtomicUsize, tree: &Tree) -> bool {
    let take = |left: usize| left.checked_sub(tree.size());
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
    if taken.is_err() {
        // Smaller trees are not let in either: asking for them all would take as long.
        left.store(0, Ordering::Relaxed);
    }
    taken.is_ok()
}

fn sight(builder: &Builder, case: &Case, outlook: &Outlook) -> Sight {
    let searched = Searched::new(
        &case.position,
        &outlook.player.weights,
        builder.quiescence(),
    )
    .with_slack(outlook.slack);
    let answers = searched.places(&case.answers);
    let others = 0..searched.count() as u16;
    let others = others.filter(|number| !answers.contains(number));
    let mut best = (-INFINITE, u16::MAX);
    let mut lines = Vec::with_capacity(searched.count());
    // The answers come first: their lines are kept however bad they are.
    for number in answers.iter().copied().chain(others) {
        let is_answer = answers.contains(&number);
        // Below the limit all scores count as one, so they cannot be told by their margin.
        let alpha = match best.0.min(SCORE_LIMIT) - outlook.margin {
            alpha if is_answer || alpha < -SCORE_LIMIT => -INFINITE,
            alpha => alpha,
        };
        let line = searched.line(usize::from(number), alpha, INFINITE);
        // Of equals the earlier is played.
        let score = -line.score;
        if score > best.0 || score == best.0 && number < best.1 {
            best = (score, number);
        }
        if is_answer || score > alpha {
            lines.push((line, is_answer));
        }
    }
    Sight {
        tree: builder.tree_of_lines(case, &lines).map(Box::new),
        solved: answers.contains(&best.1),
    }
}
