//! The quiescence search as a tree of feature vectors, built once.
//!
//! Which positions quiescence visits does not depend on the weights (`quiescence.rs`), and the
//! evaluation is linear up to its last step. So a position is fully described by how often each
//! column of genes counts in it. A tree keeps that for every position below a root, as the
//! difference from the root, which is small after a move or two. An individual's search is then a
//! minimax over short dot products, exact to a hundredth of a centipawn.

use std::collections::HashMap;
use std::sync::Arc;

use shakmaty::{Color, Move};

use super::board_search::Variation;
use super::quiescence::{
    INFINITE, MATE, MoveScores, NodeKind, QuiescenceLimits, expand, moves_in_tie_break_order,
};
use crate::data::Case;
use crate::eval::{
    Family, PackedScore, ScoreGradient, Taper, Totals, Trace, Weights, tapered_score,
    trace_families,
};
use crate::position::Position;
use crate::tune::genome::Genome;

/// Builds trees for a genome.
pub struct TreeBuilder {
    genome: Arc<Genome>,
    families: Vec<Family>,
    settings: QuiescenceLimits,
}

/// A gene column and its count.
#[derive(Clone, Copy)]
struct Entry {
    column: u16,
    count: i16,
}

/// A position's evaluation as features.
#[derive(Clone, Copy)]
struct Leaf {
    /// Index of its first entry: those of the sum first, then those of complexity.
    start: u32,
    sum_entries: u16,
    complexity_entries: u8,
    phase: u8,
    scale: [u8; 2],
    white_to_move: bool,
    /// The contribution of the fixed weights.
    base: PackedScore,
    complexity_base: i32,
}

/// Nodes are stored in depth-first order.
#[derive(Clone, Copy)]
struct Node {
    /// Index of the next node outside this one's subtree.
    end: u32,
    /// Index of the leaf, or one of the marks below.
    leaf: u32,
}

const IN_CHECK: u32 = u32::MAX;
const MATED: u32 = u32::MAX - 1;
const STALEMATE: u32 = u32::MAX - 2;
const UNEVALUATED: u32 = STALEMATE;

pub struct QuiescenceTree {
    /// First node of each root move, in the order of `moves_in_tie_break_order`.
    moves: Box<[u32]>,
    /// The numbers of the moves that are right.
    answers: Box<[u16]>,
    nodes: Box<[Node]>,
    leaves: Box<[Leaf]>,
    entries: Box<[Entry]>,
    root: Leaf,
}

impl QuiescenceTree {
    pub fn answers(&self) -> &[u16] {
        &self.answers
    }

    /// Size in bytes.
    pub fn size(&self) -> usize {
        size_of::<QuiescenceTree>()
            + size_of_val(&*self.moves)
            + size_of_val(&*self.answers)
            + size_of_val(&*self.nodes)
            + size_of_val(&*self.leaves)
            + size_of_val(&*self.entries)
    }

    /// +1 if White moves at the root, -1 if Black does.
    pub fn sign_of_mover(&self) -> f64 {
        if self.root.white_to_move { 1.0 } else { -1.0 }
    }

    /// The tree evaluated with one individual's weights.
    pub fn evaluated_by<'a>(&'a self, player: &'a Phenotype) -> EvaluatedTree<'a> {
        let mut root = self.root.base;
        for entry in self.sum_of(&self.root) {
            root += player.columns[usize::from(entry.column)] * i32::from(entry.count);
        }
        EvaluatedTree {
            tree: self,
            player,
            root,
        }
    }

    fn sum_of(&self, leaf: &Leaf) -> &[Entry] {
        let start = leaf.start as usize;
        &self.entries[start..start + usize::from(leaf.sum_entries)]
    }

    fn complexity_of(&self, leaf: &Leaf) -> &[Entry] {
        let start = leaf.start as usize + usize::from(leaf.sum_entries);
        &self.entries[start..start + usize::from(leaf.complexity_entries)]
    }
}

/// The phenotype of an individual: its weights, by term and by gene column.
pub struct Phenotype {
    columns: Vec<PackedScore>,
    /// Whether endgame scales apply.
    scaled: bool,
    pub weights: Weights,
}

impl Phenotype {
    pub fn new(genome: &Genome, genes: &[f64]) -> Phenotype {
        let values = genome.column_values(genes);
        Phenotype {
            columns: values.columns,
            scaled: values.scaled,
            weights: genome.weights(genes),
        }
    }
}

pub struct EvaluatedTree<'a> {
    tree: &'a QuiescenceTree,
    player: &'a Phenotype,
    /// The root's sum, to which each leaf adds its difference.
    root: PackedScore,
}

impl EvaluatedTree<'_> {
    fn totals(&self, leaf: &Leaf) -> Totals {
        let columns = &self.player.columns;
        let mut sum = self.root;
        sum += leaf.base;
        for entry in self.tree.sum_of(leaf) {
            sum += columns[usize::from(entry.column)] * i32::from(entry.count);
        }
        let mut complexity = i64::from(leaf.complexity_base);
        for entry in self.tree.complexity_of(leaf) {
            let value = columns[usize::from(entry.column)].endgame();
            complexity += i64::from(value) * i64::from(entry.count);
        }
        Totals {
            midgame: sum.midgame().into(),
            endgame: sum.endgame().into(),
            complexity,
        }
    }

    fn evaluation(&self, leaf: u32) -> i32 {
        let leaf = &self.tree.leaves[leaf as usize];
        tapered_score(self.totals(leaf), &taper_of(leaf), self.player.scaled)
    }

    /// The score of a node and its principal variation leaf, as marked in the node.
    fn search(&self, node: usize, ply: i32, mut alpha: i32, beta: i32) -> (i32, u32) {
        let Node { end, leaf } = self.tree.nodes[node];
        let mut best = match leaf {
            MATED => return (ply - MATE, leaf),
            STALEMATE => return (0, leaf),
            IN_CHECK => (-INFINITE, leaf),
            _ => (self.evaluation(leaf), leaf),
        };
        alpha = alpha.max(best.0);
        let mut child = node + 1;
        while child < end as usize && best.0 < beta {
            let (score, from) = self.search(child, ply + 1, -beta, -alpha);
            if -score > best.0 {
                best = (-score, from);
                alpha = alpha.max(best.0);
            }
            child = self.tree.nodes[child].end as usize;
        }
        best
    }

    /// A root move's score and its principal variation leaf, if the score is an evaluation.
    pub fn principal(&self, number: usize, alpha: i32, beta: i32) -> (i32, Option<u32>) {
        let first = self.tree.moves[number] as usize;
        let (score, leaf) = self.search(first, 0, -beta, -alpha);
        (-score, (leaf < UNEVALUATED).then_some(leaf))
    }

    /// Adds `factor` times the derivative of a leaf's evaluation, from White's point of view, to
    /// `gradient`: one pair of midgame and endgame for each column. Leaves hold differences from
    /// the root: the caller adds the root's part with [`EvaluatedTree::add_root_gradient`].
    pub fn add_gradient(&self, leaf: u32, factor: f64, gradient: &mut [[f64; 2]]) -> ScoreGradient {
        let leaf = &self.tree.leaves[leaf as usize];
        let derivative = self
            .totals(leaf)
            .gradient(&taper_of(leaf), self.player.scaled);
        for entry in self.tree.sum_of(leaf) {
            let pair = &mut gradient[usize::from(entry.column)];
            let count = factor * f64::from(entry.count);
            pair[0] += derivative.midgame * count;
            pair[1] += derivative.endgame * count;
        }
        for entry in self.tree.complexity_of(leaf) {
            let count = factor * f64::from(entry.count);
            gradient[usize::from(entry.column)][1] += derivative.complexity * count;
        }
        derivative
    }

    /// Adds the root's part of the gradients of several leaves.
    pub fn add_root_gradient(&self, midgame: f64, endgame: f64, gradient: &mut [[f64; 2]]) {
        for entry in self.tree.sum_of(&self.tree.root) {
            let pair = &mut gradient[usize::from(entry.column)];
            pair[0] += midgame * f64::from(entry.count);
            pair[1] += endgame * f64::from(entry.count);
        }
    }
}

impl MoveScores for EvaluatedTree<'_> {
    fn count(&self) -> usize {
        self.tree.moves.len()
    }

    fn score(&self, number: usize, alpha: i32, beta: i32) -> i32 {
        self.principal(number, alpha, beta).0
    }
}

fn taper_of(leaf: &Leaf) -> Taper {
    Taper {
        phase: leaf.phase.into(),
        scale: leaf.scale.map(i32::from),
        turn: Color::from_white(leaf.white_to_move),
    }
}

impl TreeBuilder {
    pub fn new(genome: Arc<Genome>, settings: QuiescenceLimits) -> TreeBuilder {
        TreeBuilder {
            families: genome.families(),
            genome,
            settings,
        }
    }

    pub fn quiescence(&self) -> QuiescenceLimits {
        self.settings
    }

    /// The tree of a case; none if some count does not fit into an entry.
    pub fn build(&self, case: &Case) -> Option<QuiescenceTree> {
        let (mut partial, root) = PartialTree::begin(self, case)?;
        let in_order = moves_in_tie_break_order(&case.position);
        let mut moves = Vec::with_capacity(in_order.len());
        for &m in &in_order {
            moves.push(partial.nodes.len() as u32);
            partial.push_node(&case.position.after(m), m, 0)?;
        }
        let index = |answer| in_order.iter().position(|m| m == answer);
        let answers = case.answers.iter().filter_map(index);
        let answers = answers.map(|number| number as u16).collect();
        Some(partial.into_tree(root, moves, answers))
    }

    /// A tree that holds only these variations, each marked as an answer or not.
    pub fn tree_of_variations(
        &self,
        case: &Case,
        variations: &[(Variation, bool)],
    ) -> Option<QuiescenceTree> {
        let (mut partial, root) = PartialTree::begin(self, case)?;
        let mut moves = Vec::with_capacity(variations.len());
        for (variation, _) in variations {
            moves.push(partial.nodes.len() as u32);
            partial.push_variation(variation)?;
        }
        let right = (0..variations.len() as u16).filter(|&at| variations[usize::from(at)].1);
        Some(partial.into_tree(root, moves, right.collect()))
    }
}

/// A tree being built.
struct PartialTree<'a> {
    builder: &'a TreeBuilder,
    /// The root's count of each column and its fixed part, from which all others differ.
    root: Vec<i32>,
    root_base: PackedScore,
    /// Counts of the current position; all zero between calls.
    scratch: Vec<i32>,
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    entries: Vec<Entry>,
    /// Transpositions: the leaf of each position by its key.
    known: HashMap<u64, u32>,
}

impl<'a> PartialTree<'a> {
    fn begin(builder: &'a TreeBuilder, case: &Case) -> Option<(PartialTree<'a>, Leaf)> {
        let columns = builder.genome.columns().len();
        let mut partial = PartialTree {
            builder,
            root: vec![0; columns],
            root_base: PackedScore::ZERO,
            scratch: vec![0; columns],
            nodes: Vec::with_capacity(512),
            leaves: Vec::with_capacity(512),
            entries: Vec::with_capacity(4096),
            known: HashMap::new(),
        };
        let trace = trace_families(&case.position, &builder.families);
        let root = partial.push_leaf_entries(&trace)?;
        partial.set_root(&trace);
        Some((partial, root))
    }

    fn into_tree(self, root: Leaf, moves: Vec<u32>, answers: Box<[u16]>) -> QuiescenceTree {
        QuiescenceTree {
            moves: moves.into(),
            answers,
            nodes: self.nodes.into(),
            leaves: self.leaves.into(),
            entries: self.entries.into(),
            root,
        }
    }

    fn push_variation(&mut self, variation: &Variation) -> Option<()> {
        let leaf = match (&variation.evaluated, variation.standing) {
            (Some(position), _) => self.leaf(position)?,
            (None, NodeKind::Mated) => MATED,
            (None, NodeKind::Stalemate) => STALEMATE,
            // An evaluation far below the best reply cannot become the score.
            (None, NodeKind::InCheck | NodeKind::StandPat) => IN_CHECK,
        };
        let index = self.nodes.len();
        self.nodes.push(Node { end: 0, leaf });
        for reply in &variation.replies {
            self.push_variation(reply)?;
        }
        self.nodes[index].end = u32::try_from(self.nodes.len()).ok()?;
        Some(())
    }

    fn push_node(&mut self, position: &Position, last: Move, ply: u32) -> Option<()> {
        let index = self.nodes.len();
        self.nodes.push(Node { end: 0, leaf: 0 });
        let (standing, moves) = expand(position, last, ply, self.builder.settings);
        let leaf = match standing {
            NodeKind::Mated => MATED,
            NodeKind::Stalemate => STALEMATE,
            NodeKind::InCheck => IN_CHECK,
            NodeKind::StandPat => self.leaf(position)?,
        };
        for m in moves {
            self.push_node(&position.after(m), m, ply + 1)?;
        }
        let end = u32::try_from(self.nodes.len()).ok()?;
        self.nodes[index] = Node { end, leaf };
        Some(())
    }

    fn leaf(&mut self, position: &Position) -> Option<u32> {
        if let Some(&index) = self.known.get(&position.key()) {
            return Some(index);
        }
        let trace = trace_families(position, &self.builder.families);
        let leaf = self.push_leaf_entries(&trace)?;
        self.leaves.push(leaf);
        let index = self.leaves.len() as u32 - 1;
        self.known.insert(position.key(), index);
        Some(index)
    }

    /// Leaves are stored as the difference from this position.
    fn set_root(&mut self, root: &Trace) {
        self.root_base = self.count(root);
        std::mem::swap(&mut self.root, &mut self.scratch);
    }

    /// Adds the counts by column to the scratch buffer; returns the contribution of fixed weights.
    fn count(&mut self, trace: &Trace) -> PackedScore {
        let mut base = PackedScore::ZERO;
        for &(term, count) in &trace.counts {
            let (column, fixed) = self.builder.genome.column_of(term);
            base += fixed * count;
            if let Some(column) = column {
                self.scratch[usize::from(column)] += count;
            }
        }
        base
    }

    fn push_leaf_entries(&mut self, trace: &Trace) -> Option<Leaf> {
        let start = u32::try_from(self.entries.len()).ok()?;
        let mut base = self.count(trace);
        base += self.root_base * -1;
        let pairs = self.scratch.iter_mut().zip(&self.root);
        for (column, (count, origin)) in pairs.enumerate() {
            let difference = *count - origin;
            *count = 0;
            if difference != 0 {
                self.entries.push(Entry {
                    column: column as u16,
                    count: i16::try_from(difference).ok()?,
                });
            }
        }
        let sum_entries = u16::try_from(self.entries.len() - start as usize).ok()?;
        let mut complexity_base = 0;
        let mut complexity_entries = 0;
        for &(term, count) in &trace.complexity {
            let (column, fixed) = self.builder.genome.column_of(term);
            complexity_base += fixed.endgame() * count;
            if let Some(column) = column {
                complexity_entries += 1;
                self.entries.push(Entry {
                    column,
                    count: i16::try_from(count).ok()?,
                });
            }
        }
        Some(Leaf {
            start,
            sum_entries,
            complexity_entries,
            phase: trace.taper.phase as u8,
            scale: trace.taper.scale.map(|scale| scale as u8),
            white_to_move: trace.taper.turn.is_white(),
            base,
            complexity_base,
        })
    }
}
