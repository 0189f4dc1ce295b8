//! A position's evaluation as a sparse feature vector over the columns of a genome. The score is a
//! short dot product, exactly what the evaluation gives for the same weights.

use crate::eval::{PackedScore, Taper, Totals, Trace, tapered_score_for_white};
use crate::tune::genome::{ColumnValues, Genome};

/// A column and its count.
type Entry = (u16, i32);

pub struct FeatureVector {
    sum: Box<[Entry]>,
    complexity: Box<[Entry]>,
    /// The contribution of the fixed weights.
    sum_base: PackedScore,
    complexity_base: i64,
    taper: Taper,
}

impl FeatureVector {
    pub fn new(trace: &Trace, genome: &Genome) -> FeatureVector {
        let mut sum_base = PackedScore::ZERO;
        let mut complexity_base = 0;
        FeatureVector {
            sum: entries(genome, &trace.counts, |fixed, count| {
                sum_base += fixed * count;
            }),
            complexity: entries(genome, &trace.complexity, |fixed, count| {
                complexity_base += i64::from(fixed.endgame()) * i64::from(count);
            }),
            sum_base,
            complexity_base,
            taper: trace.taper,
        }
    }

    /// The internal score from White's point of view.
    pub fn score(&self, values: &ColumnValues) -> i32 {
        tapered_score_for_white(self.totals(values), &self.taper, values.scaled)
    }

    fn totals(&self, values: &ColumnValues) -> Totals {
        let mut sum = self.sum_base;
        for &(column, count) in &self.sum {
            sum += values.columns[usize::from(column)] * count;
        }
        let mut complexity = self.complexity_base;
        for &(column, count) in &self.complexity {
            let value = values.columns[usize::from(column)].endgame();
            complexity += i64::from(value) * i64::from(count);
        }
        Totals {
            midgame: sum.midgame().into(),
            endgame: sum.endgame().into(),
            complexity,
        }
    }

    /// Adds `factor` times the derivative of the score to `gradient`, one pair of midgame and
    /// endgame for each column.
    pub fn add_gradient(&self, values: &ColumnValues, factor: f64, gradient: &mut [[f64; 2]]) {
        let derivative = self.totals(values).gradient(&self.taper, values.scaled);
        for &(column, count) in &self.sum {
            let pair = &mut gradient[usize::from(column)];
            pair[0] += factor * derivative.midgame * f64::from(count);
            pair[1] += factor * derivative.endgame * f64::from(count);
        }
        for &(column, count) in &self.complexity {
            gradient[usize::from(column)][1] += factor * derivative.complexity * f64::from(count);
        }
    }
}

/// Counts by column, each column once; `add_fixed` gets the fixed weight of each term.
fn entries(
    genome: &Genome,
    counts: &[(crate::eval::Term, i32)],
    mut add_fixed: impl FnMut(PackedScore, i32),
) -> Box<[Entry]> {
    let mut entries: Vec<Entry> = Vec::new();
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
    entries.into()
}
