//! Lines: what is left of the trees once a player has looked at them.
//!
//! With all terms free a whole tree takes some 70 KiB, most of it about moves that lose a piece.
//! Near the player's weights the score of a move rests on a single position, the end of its
//! line. Lines keep those ends alone, in a twentieth of the memory: enough to climb a slope
//! for some steps, and to be searched for again where the climb has led.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Batch;
use super::exact::Searched;
use super::likelihood::SCORE_LIMIT;
use super::quiescence::{INFINITE, Scores};
use super::tree::{Builder, Player, Tree};
use crate::data::Case;

/// Who looks at cases, and how.
pub struct Outlook<'a> {
    pub builder: &'a Builder,
    pub player: Player,
    /// Moves this much below the best are left out.
    pub margin: i32,
}

/// The lines of many cases as one player sees them.
pub struct Lines {
    genes: Vec<f64>,
    batch: Batch,
    player: Player,
    margin: i32,
    sights: Vec<Sight>,
}

/// One case as a player sees it.
struct Sight {
    /// Each move leading straight to the end of its line; none if there was no memory for it.
    tree: Option<Box<Tree>>,
    /// Whether he plays an answer.
    solved: bool,
}

impl Lines {
    /// Searches a batch of the cases. Trees that do not fit into `memory` are not kept.
    pub fn new(
        outlook: Outlook<'_>,
        genes: &[f64],
        batch: &Batch,
        cases: &[Case],
        memory: usize,
    ) -> Lines {
        let left = AtomicUsize::new(memory);
        let see = |case: &Case| {
            let mut sight = outlook.sight(case);
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
            player: outlook.player,
            margin: outlook.margin,
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
        let sight = sight(builder, case, &self.player, self.margin);
        sight.tree.map(|tree| look(&tree))
    }
}

impl Outlook<'_> {
    fn sight(&self, case: &Case) -> Sight {
        sight(self.builder, case, &self.player, self.margin)
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

fn sight(builder: &Builder, case: &Case, player: &Player, margin: i32) -> Sight {
    let searched = Searched::new(&case.position, &player.weights, builder.quiescence());
    let answers = searched.places(&case.answers);
    let others = 0..searched.count() as u16;
    let others = others.filter(|number| !answers.contains(number));
    let mut best = (-INFINITE, u16::MAX);
    let mut lines = Vec::with_capacity(searched.count());
    // The answers come first: their lines are kept however bad they are.
    for number in answers.iter().copied().chain(others) {
        let is_answer = answers.contains(&number);
        // Below the limit all scores count as one, so they cannot be told by their margin.
        let alpha = match best.0.min(SCORE_LIMIT) - margin {
            alpha if is_answer || alpha < -SCORE_LIMIT => -INFINITE,
            alpha => alpha,
        };
        let line = searched.line(usize::from(number), alpha, INFINITE);
        // Of equals the earlier is played.
        if line.score > best.0 || line.score == best.0 && number < best.1 {
            best = (line.score, number);
        }
        if is_answer || line.score > alpha {
            lines.push((line, is_answer));
        }
    }
    Sight {
        tree: builder.tree_of_lines(case, &lines).map(Box::new),
        solved: answers.contains(&best.1),
    }
}
