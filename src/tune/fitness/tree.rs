//! The same search, built once: a tree of feature vectors.
//!
//! Which positions quiescence visits does not depend on the weights (`quiescence.rs`), and the
//! evaluation is linear up to its finish, so all a player needs to know of a position is how
//! often each of its genes counts there. A tree keeps that for every position below a root, as
//! the difference from the root: a move or two change little. A player is then a minimax over
//! short dot products, exact to the last hundredth of a centipawn.

use std::collections::HashMap;
use std::sync::Arc;

use shakmaty::{Color, Move};

use super::exact::Line;
use super::quiescence::{INFINITE, MATE, Quiescence, Scores, Standing, expand, moves_in_order};
use crate::data::Case;
use crate::eval::{
    Family, Packed, ScoreGradient, Taper, Totals, Trace, Weights, tapered_score, trace_families,
};
use crate::position::Position;
use crate::tune::genome::Genome;

/// How to build trees for a genome.
pub struct Builder {
    genome: Arc<Genome>,
    families: Vec<Family>,
    settings: Quiescence,
}

/// A gene column and how often it counts.
#[derive(Clone, Copy)]
struct Entry {
    column: u16,
    count: i16,
}

/// A position's evaluation, up to the weights.
#[derive(Clone, Copy)]
struct Leaf {
    /// Its entries begin here: first those of the sum, then those of complexity.
    start: u32,
    sum_entries: u16,
    complexity_entries: u8,
    phase: u8,
    scale: [u8; 2],
    white_to_move: bool,
    /// What the fixed weights add.
    base: Packed,
    complexity_base: i32,
}

/// Nodes stand in the order of a walk through the tree.
#[derive(Clone, Copy)]
struct Node {
    /// Where the next node outside this one's subtree stands.
    end: u32,
    /// Place of the evaluation, or one of the marks below.
    leaf: u32,
}

const IN_CHECK: u32 = u32::MAX;
const MATED: u32 = u32::MAX - 1;
const STALEMATE: u32 = u32::MAX - 2;
const UNEVALUATED: u32 = STALEMATE;

pub struct Tree {
    /// First node of each root move, in the order of `moves_in_order`.
    moves: Box<[u32]>,
    /// Which of the moves are right.
    answers: Box<[u16]>,
    nodes: Box<[Node]>,
    leaves: Box<[Leaf]>,
    entries: Box<[Entry]>,
    root: Leaf,
}

impl Tree {
    pub fn answers(&self) -> &[u16] {
        &self.answers
    }

    /// Bytes it takes.
    pub fn size(&self) -> usize {
        size_of::<Tree>()
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

    /// The tree as one player sees it.
    pub fn seen_by<'a>(&'a self, player: &'a Player) -> Seen<'a> {
        let mut root = self.root.base;
        for entry in self.sum_of(&self.root) {
            root += player.columns[usize::from(entry.column)] * i32::from(entry.count);
        }
        Seen {
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

/// An individual, ready to be multiplied with entries.
pub struct Player {
    columns: Vec<Packed>,
    /// Whether endgame scales count.
    scaled: bool,
    pub weights: Weights,
}

impl Player {
    pub fn new(genome: &Genome, genes: &[f64]) -> Player {
        let values = genome.column_values(genes);
        Player {
            columns: values.columns,
            scaled: values.scaled,
            weights: genome.weights(genes),
        }
    }
}

pub struct Seen<'a> {
    tree: &'a Tree,
    player: &'a Player,
    /// The root's sum, to which every leaf adds its difference.
    root: Packed,
}

impl Seen<'_> {
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

    /// The score of a node and the leaf it comes from, as marked in the node.
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

    /// A root move's score and the evaluation it rests on, if it rests on one.
    pub fn principal(&self, number: usize, alpha: i32, beta: i32) -> (i32, Option<u32>) {
        let first = self.tree.moves[number] as usize;
        let (score, leaf) = self.search(first, 0, -beta, -alpha);
        (-score, (leaf < UNEVALUATED).then_some(leaf))
    }

    /// Adds `factor` times the derivative of an evaluation, as White sees it, to `gradient`:
    /// one pair of midgame and endgame for each column. Everything is counted from the root,
    /// so the factors of one position's leaves must cancel out or [`Seen::add_root_slope`]
    /// must be told their sum.
    pub fn add_slope(&self, leaf: u32, factor: f64, gradient: &mut [[f64; 2]]) -> ScoreGradient {
        let leaf = &self.tree.leaves[leaf as usize];
        let slope = self
            .totals(leaf)
            .gradient(&taper_of(leaf), self.player.scaled);
        for entry in self.tree.sum_of(leaf) {
            let pair = &mut gradient[usize::from(entry.column)];
            let count = factor * f64::from(entry.count);
            pair[0] += slope.midgame * count;
            pair[1] += slope.endgame * count;
        }
        for entry in self.tree.complexity_of(leaf) {
            let count = factor * f64::from(entry.count);
            gradient[usize::from(entry.column)][1] += slope.complexity * count;
        }
        slope
    }

    /// The root's share of several slopes.
    pub fn add_root_slope(&self, midgame: f64, endgame: f64, gradient: &mut [[f64; 2]]) {
        for entry in self.tree.sum_of(&self.tree.root) {
            let pair = &mut gradient[usize::from(entry.column)];
            pair[0] += midgame * f64::from(entry.count);
            pair[1] += endgame * f64::from(entry.count);
        }
    }
}

impl Scores for Seen<'_> {
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

impl Builder {
    pub fn new(genome: Arc<Genome>, settings: Quiescence) -> Builder {
        Builder {
            families: genome.families(),
            genome,
            settings,
        }
    }

    pub fn quiescence(&self) -> Quiescence {
        self.settings
    }

    /// The tree of a case; none if some count is beyond what entries can hold.
    pub fn build(&self, case: &Case) -> Option<Tree> {
        let (mut growth, root) = Growth::begin(self, case)?;
        let in_order = moves_in_order(&case.position);
        let mut moves = Vec::with_capacity(in_order.len());
        for &m in &in_order {
            moves.push(growth.nodes.len() as u32);
            growth.grow(&case.position.after(m), m, 0)?;
        }
        let place = |answer| in_order.iter().position(|m| m == answer);
        let answers = case.answers.iter().filter_map(place);
        let answers = answers.map(|number| number as u16).collect();
        Some(growth.into_tree(root, moves, answers))
    }

    /// A tree of moves, right or not, that holds their lines and nothing else.
    pub fn tree_of_lines(&self, case: &Case, lines: &[(Line, bool)]) -> Option<Tree> {
        let (mut growth, root) = Growth::begin(self, case)?;
        let mut moves = Vec::with_capacity(lines.len());
        for (line, _) in lines {
            moves.push(growth.nodes.len() as u32);
            growth.enter_line(line)?;
        }
        let right = (0..lines.len() as u16).filter(|&at| lines[usize::from(at)].1);
        Some(growth.into_tree(root, moves, right.collect()))
    }
}

/// A tree being built.
struct Growth<'a> {
    builder: &'a Builder,
    /// The root's count of each column and its fixed part, from which all others differ.
    root: Vec<i32>,
    root_base: Packed,
    /// Counts of the position at hand; all zero in between.
    scratch: Vec<i32>,
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    entries: Vec<Entry>,
    /// Positions met before, with their place among the leaves.
    known: HashMap<u64, u32>,
}

impl<'a> Growth<'a> {
    fn begin(builder: &'a Builder, case: &Case) -> Option<(Growth<'a>, Leaf)> {
        let columns = builder.genome.columns().len();
        let mut growth = Growth {
            builder,
            root: vec![0; columns],
            root_base: Packed::ZERO,
            scratch: vec![0; columns],
            nodes: Vec::with_capacity(512),
            leaves: Vec::with_capacity(512),
            entries: Vec::with_capacity(4096),
            known: HashMap::new(),
        };
        let trace = trace_families(&case.position, &builder.families);
        let root = growth.entered(&trace)?;
        growth.start_from(&trace);
        Some((growth, root))
    }

    fn into_tree(self, root: Leaf, moves: Vec<u32>, answers: Box<[u16]>) -> Tree {
        Tree {
            moves: moves.into(),
            answers,
            nodes: self.nodes.into(),
            leaves: self.leaves.into(),
            entries: self.entries.into(),
            root,
        }
    }

    fn enter_line(&mut self, line: &Line) -> Option<()> {
        let leaf = match (&line.evaluated, line.standing) {
            (Some(position), _) => self.leaf(position)?,
            (None, Standing::Mated) => MATED,
            (None, Standing::Stalemate) => STALEMATE,
            // An evaluation far below the best reply is as good as none.
            (None, Standing::InCheck | Standing::Quiet) => IN_CHECK,
        };
        let place = self.nodes.len();
        self.nodes.push(Node { end: 0, leaf });
        for reply in &line.replies {
            self.enter_line(reply)?;
        }
        self.nodes[place].end = u32::try_from(self.nodes.len()).ok()?;
        Some(())
    }

    fn grow(&mut self, position: &Position, last: Move, ply: u32) -> Option<()> {
        let place = self.nodes.len();
        self.nodes.push(Node { end: 0, leaf: 0 });
        let (standing, moves) = expand(position, last, ply, self.builder.settings);
        let leaf = match standing {
            Standing::Mated => MATED,
            Standing::Stalemate => STALEMATE,
            Standing::InCheck => IN_CHECK,
            Standing::Quiet => self.leaf(position)?,
        };
        for m in moves {
            self.grow(&position.after(m), m, ply + 1)?;
        }
        let end = u32::try_from(self.nodes.len()).ok()?;
        self.nodes[place] = Node { end, leaf };
        Some(())
    }

    fn leaf(&mut self, position: &Position) -> Option<u32> {
        if let Some(&place) = self.known.get(&position.key()) {
            return Some(place);
        }
        let trace = trace_families(position, &self.builder.families);
        let leaf = self.entered(&trace)?;
        self.leaves.push(leaf);
        let place = self.leaves.len() as u32 - 1;
        self.known.insert(position.key(), place);
        Some(place)
    }

    /// From now on positions are entered by what they have more, or less, than this one.
    fn start_from(&mut self, root: &Trace) {
        self.root_base = self.count(root);
        std::mem::swap(&mut self.root, &mut self.scratch);
    }

    /// Counts columns into the scratch; answers what the fixed weights add.
    fn count(&mut self, trace: &Trace) -> Packed {
        let mut base = Packed::ZERO;
        for &(term, count) in &trace.counts {
            let (column, fixed) = self.builder.genome.place_of(term);
            base += fixed * count;
            if let Some(column) = column {
                self.scratch[usize::from(column)] += count;
            }
        }
        base
    }

    fn entered(&mut self, trace: &Trace) -> Option<Leaf> {
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
            let (column, fixed) = self.builder.genome.place_of(term);
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
