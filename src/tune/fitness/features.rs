//! Positions' evaluations as sparse feature vectors over the columns of a genome. A score is a
//! short dot product, exactly what the evaluation gives for the same weights.
//!
//! All positions share two flat arrays, so that a pass over them reads memory in order. Most
//! features count once for one side: their columns alone are stored, and cost an addition.

use rayon::prelude::*;

use crate::eval::{
    Family, PackedScore, Taper, Term, Totals, Trace, WEIGHT_COUNT, tapered_score_for_white,
    trace_families,
};
use crate::position::Position;
use crate::tune::genome::{ColumnValues, Genome};

/// A power of two, so that a masked column needs no bounds check.
const CAPACITY: usize = WEIGHT_COUNT.next_power_of_two();

fn place(column: u16) -> usize {
    usize::from(column) & (CAPACITY - 1)
}

/// An individual's weights by column, for many positions.
pub struct ColumnWeights {
    packed: Box<[PackedScore; CAPACITY]>,
    /// How many columns there are.
    count: usize,
    scaled: bool,
}

impl ColumnWeights {
    pub fn count(&self) -> usize {
        self.count
    }
}

impl From<&ColumnValues> for ColumnWeights {
    fn from(values: &ColumnValues) -> ColumnWeights {
        let mut packed = Box::new([PackedScore::ZERO; CAPACITY]);
        packed[..values.columns.len()].copy_from_slice(&values.columns);
        ColumnWeights {
            packed,
            count: values.columns.len(),
            scaled: values.scaled,
        }
    }
}

/// Derivatives by the midgame and endgame weight of each column, summed over positions.
pub struct ColumnGradient(Box<[[f64; 2]; CAPACITY]>);

impl ColumnGradient {
    pub fn zero() -> ColumnGradient {
        ColumnGradient(Box::new([[0.0; 2]; CAPACITY]))
    }

    /// The derivatives by the genome's columns, in their order.
    pub fn columns(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        self.0.iter().copied()
    }
}

/// What a position has besides its features, and where they are.
#[derive(Clone, Copy)]
struct Header {
    /// The first of its words.
    start: usize,
    /// The contribution of the fixed weights.
    sum_base: PackedScore,
    complexity_base: i32,
    /// Columns that count once for White, and once for Black.
    white: u16,
    black: u16,
    /// Pairs of a column and another count, and such pairs for complexity.
    pairs: u16,
    complexity: u16,
    phase: u8,
    scale: [u8; 2],
}

impl Header {
    fn taper(&self) -> Taper {
        Taper {
            phase: self.phase.into(),
            scale: self.scale.map(i32::from),
            turn: shakmaty::Color::White,
        }
    }
}

/// The features of many positions.
#[derive(Default)]
pub struct FeatureSet {
    headers: Vec<Header>,
    /// For each position the columns and pairs that its header counts, in that order.
    words: Vec<u16>,
}

/// The words of one position, by kind.
struct Words<'a> {
    white: &'a [u16],
    black: &'a [u16],
    pairs: &'a [[u16; 2]],
    complexity: &'a [[u16; 2]],
}

/// Positions that are traced together.
const TRACED_AT_ONCE: usize = 4096;

impl FeatureSet {
    pub fn new<'a>(
        positions: impl IndexedParallelIterator<Item = &'a Position>,
        genome: &Genome,
    ) -> FeatureSet {
        let families = genome.families();
        let traced = |positions: Vec<&Position>| {
            let mut part = FeatureSet::default();
            for position in positions {
                part.push(position, genome, &families);
            }
            part
        };
        let parts: Vec<FeatureSet> = positions.chunks(TRACED_AT_ONCE).map(traced).collect();
        let mut all = FeatureSet {
            headers: Vec::with_capacity(parts.iter().map(|part| part.headers.len()).sum()),
            words: Vec::with_capacity(parts.iter().map(|part| part.words.len()).sum()),
        };
        for part in parts {
            let start = all.words.len();
            let moved = part.headers.iter().map(|header| Header {
                start: start + header.start,
                ..*header
            });
            all.headers.extend(moved);
            all.words.extend(part.words);
        }
        all
    }

    fn push(&mut self, position: &Position, genome: &Genome, families: &[Family]) {
        let Trace {
            counts,
            complexity,
            taper,
        } = trace_families(position, families);
        let mut sum_base = PackedScore::ZERO;
        let mut complexity_base = 0;
        let counts = by_column(genome, &counts, |fixed, count| sum_base += fixed * count);
        let complexity = by_column(genome, &complexity, |fixed, count| {
            complexity_base += fixed.endgame() * count;
        });
        let start = self.words.len();
        let columns_with = |wanted: i32| {
            let chosen = counts.iter().filter(move |entry| entry.1 == wanted);
            chosen.map(|entry| entry.0)
        };
        self.words.extend(columns_with(1));
        let white = self.words.len() - start;
        self.words.extend(columns_with(-1));
        let black = self.words.len() - start - white;
        let others = counts.iter().filter(|entry| entry.1.abs() != 1);
        let pairs = push_pairs(&mut self.words, others);
        let complexity = push_pairs(&mut self.words, complexity.iter());
        self.headers.push(Header {
            start,
            sum_base,
            complexity_base,
            white: white as u16,
            black: black as u16,
            pairs,
            complexity,
            phase: taper.phase as u8,
            scale: taper.scale.map(|scale| scale as u8),
        });
    }

    /// How many bytes a pass over all positions reads.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.headers[..]) + size_of_val(&self.words[..])
    }

    /// Reads the positions of a range and adds them up: as fast as memory can be read.
    pub fn sum_bytes(&self, range: std::ops::Range<usize>) -> u64 {
        let Some(headers) = self.headers.get(range.clone()) else {
            return 0;
        };
        let start = headers.first().map_or(0, |header| header.start);
        let next = self.headers.get(range.end);
        let end = next.map_or(self.words.len(), |header| header.start);
        let (first, words, last) = bytemuck::pod_align_to::<u16, u64>(&self.words[start..end]);
        let headers = headers.iter().map(|header| header.start as u64);
        let rest = first.iter().chain(last).map(|word| u64::from(*word));
        let words = words.iter().copied();
        let add = |sum: u64, word: u64| sum.wrapping_add(word);
        headers.chain(rest).fold(words.fold(0, add), add)
    }

    /// The internal score of a position from White's point of view.
    pub fn score(&self, index: usize, weights: &ColumnWeights) -> i32 {
        let header = &self.headers[index];
        let totals = totals(header, &self.words(header), weights);
        tapered_score_for_white(totals, &header.taper(), weights.scaled)
    }

    /// Adds to `gradient` the derivative of what `derivative` makes of White's score.
    #[inline]
    pub fn add_gradient(
        &self,
        index: usize,
        weights: &ColumnWeights,
        gradient: &mut ColumnGradient,
        derivative: impl FnOnce(i32) -> f64,
    ) {
        let header = &self.headers[index];
        let words = self.words(header);
        let totals = totals(header, &words, weights);
        let taper = header.taper();
        let factor = derivative(tapered_score_for_white(totals, &taper, weights.scaled));
        let by_total = totals.gradient(&taper, weights.scaled);
        let (midgame, endgame) = (factor * by_total.midgame, factor * by_total.endgame);
        let gradient = &mut *gradient.0;
        for &column in words.white {
            let pair = &mut gradient[place(column)];
            *pair = [pair[0] + midgame, pair[1] + endgame];
        }
        for &column in words.black {
            let pair = &mut gradient[place(column)];
            *pair = [pair[0] - midgame, pair[1] - endgame];
        }
        for &[column, count] in words.pairs {
            let (pair, count) = (&mut gradient[place(column)], f64::from(count as i16));
            *pair = [pair[0] + midgame * count, pair[1] + endgame * count];
        }
        let complexity = factor * by_total.complexity;
        for &[column, count] in words.complexity {
            gradient[place(column)][1] += complexity * f64::from(count as i16);
        }
    }

    #[inline]
    fn words(&self, header: &Header) -> Words<'_> {
        let rest = &self.words[header.start..];
        let (white, rest) = rest.split_at(header.white.into());
        let (black, rest) = rest.split_at(header.black.into());
        let (pairs, rest) = rest.split_at(2 * usize::from(header.pairs));
        let complexity = &rest[..2 * usize::from(header.complexity)];
        Words {
            white,
            black,
            pairs: pairs.as_chunks().0,
            complexity: complexity.as_chunks().0,
        }
    }
}

#[inline]
fn totals(header: &Header, words: &Words<'_>, weights: &ColumnWeights) -> Totals {
    let mut sum = header.sum_base;
    for &column in words.white {
        sum += weights.packed[place(column)];
    }
    let mut black = PackedScore::ZERO;
    for &column in words.black {
        black += weights.packed[place(column)];
    }
    sum += black * -1;
    for &[column, count] in words.pairs {
        sum += weights.packed[place(column)] * i32::from(count as i16);
    }
    let mut complexity = i64::from(header.complexity_base);
    for &[column, count] in words.complexity {
        let value = weights.packed[place(column)].endgame();
        complexity += i64::from(value) * i64::from(count as i16);
    }
    Totals {
        midgame: sum.midgame().into(),
        endgame: sum.endgame().into(),
        complexity,
    }
}

/// Appends columns with their counts; a count beyond 16 bits takes several pairs. Returns how
/// many pairs there are.
fn push_pairs<'a>(words: &mut Vec<u16>, entries: impl Iterator<Item = &'a (u16, i32)>) -> u16 {
    let before = words.len();
    for &(column, count) in entries {
        let mut left = count;
        while left != 0 {
            let part = left.clamp(i16::MIN.into(), i16::MAX.into());
            words.extend([column, part as i16 as u16]);
            left -= part;
        }
    }
    ((words.len() - before) / 2) as u16
}

/// Counts by column, each column once; `add_fixed` gets the fixed weight of each term.
fn by_column(
    genome: &Genome,
    counts: &[(Term, i32)],
    mut add_fixed: impl FnMut(PackedScore, i32),
) -> Vec<(u16, i32)> {
    let mut entries: Vec<(u16, i32)> = Vec::with_capacity(counts.len());
    for &(term, count) in counts {
        let (column, fixed) = genome.column_of(term);
        add_fixed(fixed, count);
        entries.extend(column.map(|column| (column, count)));
    }
    entries.sort_unstable_by_key(|entry| entry.0);
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0 };
        same
    });
    entries.retain(|entry| entry.1 != 0);
    entries
}
