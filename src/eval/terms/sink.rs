//! Sinks: the consumers of the features that the families report.
//!
//! Evaluation code never sees a weight. It reports features to a [`Sink`]: a colour, a term and
//! a count. The sink is chosen at compile time. [`Scorer`] multiplies counts by weights and adds
//! them up, [`Tracer`] records counts for tuning, `Explainer` (in `explain.rs`) keeps the sides
//! apart for display. The part that is not linear (game phase, endgame scale, complexity) is in
//! a [`Taper`] and applied by one function, [`tapered_score`], so all sinks give the same score.

use shakmaty::Color;

use super::list::{Family, Term, WEIGHT_COUNT};
use crate::eval::weights::{PackedScore, Weights};

pub trait Sink {
    /// Whether this sink needs the family.
    fn wants(&self, family: Family) -> bool;

    /// Whether this sink needs terms of the papers other than `legal_moves`. They are slow.
    #[inline(always)]
    fn wants_papers_in_full(&self) -> bool {
        true
    }

    /// `color` has the feature `count` times.
    fn add(&mut self, color: Color, term: Term, count: i32);

    /// A feature that belongs to neither side: how hard the position is to draw.
    fn add_complexity(&mut self, term: Term, count: i32);
}

/// The inputs of the tapered evaluation besides the sums of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taper {
    /// The game phase, from 0 (only kings and pawns) to [`Taper::FULL_PHASE`] (all pieces on the board).
    pub phase: i32,
    /// The endgame scale when White is better and when Black is better, out of
    /// [`Taper::FULL_SCALE`].
    pub scale: [i32; 2],
    pub turn: Color,
}

impl Taper {
    pub const FULL_PHASE: i32 = 24;
    pub const FULL_SCALE: i32 = 128;

    /// The scale of the side that is better by the endgame score. A score of zero takes the
    /// larger of the two.
    #[inline]
    pub fn scale_of(&self, endgame: i64) -> i32 {
        let [white, black] = self.scale;
        match endgame.signum() {
            1 => white,
            -1 => black,
            _ => white.max(black),
        }
    }
}

/// The largest static score. Larger scores are proven wins.
pub const SCORE_LIMIT: i32 = 19_999;

/// The sums of weights from White's point of view, in hundredths of a unit of score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub midgame: i64,
    pub endgame: i64,
    pub complexity: i64,
}

impl Totals {
    #[inline]
    fn of(sum: PackedScore, complexity: PackedScore) -> Totals {
        Totals {
            midgame: sum.midgame().into(),
            endgame: sum.endgame().into(),
            complexity: complexity.endgame().into(),
        }
    }

    /// Complexity moves the endgame score away from zero or toward it, never across.
    #[inline]
    pub fn endgame_with_complexity(&self) -> i64 {
        let size = self.endgame.abs();
        self.endgame + self.endgame.signum() * self.complexity.max(-size)
    }
}

/// The partial derivatives of White's score by each total.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScoreGradient {
    pub midgame: f64,
    pub endgame: f64,
    pub complexity: f64,
}

impl Totals {
    /// The gradient of [`tapered_score_for_white`].
    pub fn gradient(&self, taper: &Taper, scaled: bool) -> ScoreGradient {
        let side = self.endgame_with_complexity();
        let scale = match scaled {
            true => f64::from(taper.scale_of(side)) / f64::from(Taper::FULL_SCALE),
            false => 1.0,
        };
        if scale == 0.0 {
            return ScoreGradient::default();
        }
        let phase = f64::from(taper.phase) / f64::from(Taper::FULL_PHASE);
        // Where complexity has reduced the endgame score to zero, neither changes the score.
        let drawn = side == 0 && self.endgame != 0;
        let endgame = if drawn { 0.0 } else { (1.0 - phase) * scale };
        ScoreGradient {
            midgame: phase,
            endgame,
            complexity: endgame * self.endgame.signum() as f64,
        }
    }
}

/// The score from the side to move's point of view. `scaled` is whether the weights use the
/// endgame family: without it no endgame is scaled, as in the papers.
#[inline]
pub fn tapered_score(totals: Totals, taper: &Taper, scaled: bool) -> i32 {
    let white = tapered_score_for_white(totals, taper, scaled);
    if taper.turn.is_white() { white } else { -white }
}

/// The score from White's point of view.
#[inline]
pub fn tapered_score_for_white(totals: Totals, taper: &Taper, scaled: bool) -> i32 {
    let mut endgame = totals.endgame_with_complexity();
    if scaled {
        let scale = taper.scale_of(endgame);
        if scale == 0 {
            return 0;
        }
        endgame = endgame * i64::from(scale) / i64::from(Taper::FULL_SCALE);
    }
    let phase = i64::from(taper.phase);
    let full = i64::from(Taper::FULL_PHASE);
    let blended = totals.midgame * phase + endgame * (full - phase);
    let score = blended / (full * i64::from(PackedScore::UNIT));
    score.clamp(-i64::from(SCORE_LIMIT), i64::from(SCORE_LIMIT)) as i32
}

/// Adds up weights: the sink used in play.
pub struct Scorer<'a> {
    weights: &'a Weights,
    pub sum: PackedScore,
    pub complexity: PackedScore,
}

impl<'a> Scorer<'a> {
    #[inline]
    pub fn new(weights: &'a Weights) -> Scorer<'a> {
        Scorer {
            weights,
            sum: PackedScore::ZERO,
            complexity: PackedScore::ZERO,
        }
    }

    /// The score from the side to move's point of view.
    #[inline]
    pub fn score(&self, taper: &Taper) -> i32 {
        tapered_score(self.totals(), taper, self.weights.uses(Family::Endgame))
    }

    #[inline]
    pub fn totals(&self) -> Totals {
        Totals::of(self.sum, self.complexity)
    }
}

impl Sink for Scorer<'_> {
    #[inline(always)]
    fn wants(&self, family: Family) -> bool {
        self.weights.uses(family)
    }

    #[inline(always)]
    fn wants_papers_in_full(&self) -> bool {
        self.weights.uses_papers_in_full()
    }

    #[inline(always)]
    fn add(&mut self, color: Color, term: Term, count: i32) {
        let signed = if color.is_white() { count } else { -count };
        self.sum += self.weights.packed(term) * signed;
    }

    #[inline(always)]
    fn add_complexity(&mut self, term: Term, count: i32) {
        self.complexity += self.weights.packed(term) * count;
    }
}

/// Records the counts of all terms, White's minus Black's: the sink used in tuning.
pub struct Tracer {
    counts: Counts,
    complexity: Counts,
    /// One bit for each recorded family.
    families: u32,
}

/// A count for each term, and a bit set of the terms that were touched, which are few.
struct Counts {
    values: Vec<i32>,
    touched: [u64; WEIGHT_COUNT.div_ceil(64)],
}

impl Counts {
    fn new() -> Counts {
        Counts {
            values: vec![0; WEIGHT_COUNT],
            touched: [0; WEIGHT_COUNT.div_ceil(64)],
        }
    }

    #[inline(always)]
    fn add(&mut self, term: Term, count: i32) {
        let index = term.index();
        self.values[index] += count;
        self.touched[index / 64] |= 1 << (index % 64);
    }

    /// The terms with a count other than zero, in order.
    fn sparse(&self) -> Vec<(Term, i32)> {
        let mut found = Vec::with_capacity(
            self.touched
                .iter()
                .map(|bits| bits.count_ones())
                .sum::<u32>() as usize,
        );
        for (word, &bits) in self.touched.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let index = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.values[index] != 0 {
                    found.push((Term(index as u16), self.values[index]));
                }
            }
        }
        found
    }
}

impl Sink for Tracer {
    #[inline(always)]
    fn wants(&self, family: Family) -> bool {
        self.families & (1 << family as u32) != 0
    }

    #[inline(always)]
    fn add(&mut self, color: Color, term: Term, count: i32) {
        let signed = if color.is_white() { count } else { -count };
        self.counts.add(term, signed);
    }

    #[inline(always)]
    fn add_complexity(&mut self, term: Term, count: i32) {
        self.complexity.add(term, count);
    }
}

impl Tracer {
    pub fn new(families: &[Family]) -> Tracer {
        let bit = |family: &Family| 1 << *family as u32;
        Tracer {
            counts: Counts::new(),
            complexity: Counts::new(),
            families: families.iter().fold(0, |bits, family| bits | bit(family)),
        }
    }

    pub fn into_trace(self, taper: Taper) -> Trace {
        Trace {
            counts: self.counts.sparse(),
            complexity: self.complexity.sparse(),
            taper,
        }
    }
}

/// The features of a position for tuning: the count of each term, White's minus Black's, without
/// terms whose counts cancel out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub counts: Vec<(Term, i32)>,
    pub complexity: Vec<(Term, i32)>,
    pub taper: Taper,
}

impl Trace {
    /// Equals [`evaluate_uncached`](crate::eval::evaluate_uncached) for weights without a network.
    pub fn score(&self, weights: &Weights) -> i32 {
        self.scored(weights).score(&self.taper)
    }

    /// The sums of weights that make up the score.
    pub fn totals(&self, weights: &Weights) -> Totals {
        self.scored(weights).totals()
    }

    fn scored<'a>(&self, weights: &'a Weights) -> Scorer<'a> {
        let mut scorer = Scorer::new(weights);
        for &(term, count) in &self.counts {
            scorer.add(Color::White, term, count);
        }
        for &(term, count) in &self.complexity {
            scorer.add_complexity(term, count);
        }
        scorer
    }

    /// The count of a term, White's minus Black's.
    pub fn count(&self, term: Term) -> i32 {
        let find = |list: &[(Term, i32)]| {
            list.binary_search_by_key(&term, |entry| entry.0)
                .map_or(0, |index| list[index].1)
        };
        find(&self.counts) + find(&self.complexity)
    }
}
