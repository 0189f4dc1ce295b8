//! Everything that decides how Finch evaluates: the values of the terms, a network, the win model,
//! and search constants; with a name and their provenance. `file` reads and writes them as TOML.
//!
//! Values of terms are stored in hundredths of an internal unit, so the numbers the papers print
//! (315.4, 5.62) are exact. Midgame and endgame share one machine word, so the evaluation adds
//! both with one instruction.

mod built_in;
mod file;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{AddAssign, Mul};
use std::sync::LazyLock;

use serde::Serialize;

use super::nnue::Network;
use super::score::WinModel;
use super::terms::papers;
use super::terms::{Family, TERMS, Term, TermInfo, WEIGHT_COUNT};
use crate::hash::StableHasher;

pub use file::{Difference, WeightsError, WeightsProblem, differences};

/// A midgame and an endgame value in one word, the endgame in the upper half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedScore(i64);

impl PackedScore {
    pub const ZERO: PackedScore = PackedScore(0);
    /// The fixed-point unit: so many parts make one internal unit.
    pub const UNIT: i32 = 100;

    #[inline]
    pub const fn new(midgame: i32, endgame: i32) -> PackedScore {
        PackedScore(((endgame as i64) << 32) + midgame as i64)
    }

    #[inline]
    pub const fn midgame(self) -> i32 {
        self.0 as i32
    }

    /// The upper half, corrected for the borrow of a negative lower half.
    #[inline]
    pub const fn endgame(self) -> i32 {
        ((self.0 + (1 << 31)) >> 32) as i32
    }
}

impl AddAssign for PackedScore {
    #[inline(always)]
    fn add_assign(&mut self, other: PackedScore) {
        self.0 += other.0;
    }
}

impl Mul<i32> for PackedScore {
    type Output = PackedScore;
    #[inline(always)]
    fn mul(self, count: i32) -> PackedScore {
        PackedScore(self.0 * i64::from(count))
    }
}

/// A midgame and an endgame value in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TaperedValue {
    pub midgame: f64,
    pub endgame: f64,
}

impl TaperedValue {
    pub const fn both(value: f64) -> TaperedValue {
        TaperedValue {
            midgame: value,
            endgame: value,
        }
    }

    /// The packed form: clamped to the bounds of its term, rounded to hundredths. NaN becomes zero.
    pub fn packed(self, info: &TermInfo) -> PackedScore {
        let fixed = |value: f64| {
            let bounded = value.clamp(f64::from(info.low), f64::from(info.high));
            (bounded * f64::from(PackedScore::UNIT)).round() as i32
        };
        PackedScore::new(fixed(self.midgame), fixed(self.endgame))
    }
}

impl From<PackedScore> for TaperedValue {
    fn from(packed: PackedScore) -> TaperedValue {
        let unit = f64::from(PackedScore::UNIT);
        TaperedValue {
            midgame: f64::from(packed.midgame()) / unit,
            endgame: f64::from(packed.endgame()) / unit,
        }
    }
}

impl std::iter::Sum for TaperedValue {
    fn sum<I: Iterator<Item = TaperedValue>>(all: I) -> TaperedValue {
        all.fold(TaperedValue::default(), |left, right| TaperedValue {
            midgame: left.midgame + right.midgame,
            endgame: left.endgame + right.endgame,
        })
    }
}

/// The capacity of the vector: a power of two, so that a masked index needs no bounds check.
const CAPACITY: usize = WEIGHT_COUNT.next_power_of_two();

/// Identifies how weights play; see [`Weights::id`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WeightsId(pub u64);

impl fmt::Display for WeightsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[derive(Clone, PartialEq)]
pub struct Weights {
    pub name: String,
    /// Where the values come from, in the order of the file: preset, data, seed, fitness, date.
    pub provenance: Vec<(String, String)>,
    packed: Box<[PackedScore; CAPACITY]>,
    /// One bit for each family that has a value other than zero.
    families: u32,
    /// Whether the papers' features weigh anything besides legal moves.
    papers_in_full: bool,
    /// Evaluates in place of the terms, except in the last endings. The search takes its piece
    /// values from the terms all the same.
    pub network: Option<Network>,
    /// The win model of the terms. A network has its own: ask [`Weights::win_model`].
    pub terms_win_model: WinModel,
    /// Search constants that differ from their defaults, by name. The search knows the names and
    /// their ranges.
    pub search: BTreeMap<String, i32>,
}

impl Weights {
    /// All values zero.
    pub fn zero(name: &str) -> Weights {
        Weights {
            name: name.to_owned(),
            provenance: Vec::new(),
            packed: Box::new([PackedScore::ZERO; CAPACITY]),
            families: 0,
            papers_in_full: false,
            network: None,
            terms_win_model: WinModel::default(),
            search: BTreeMap::new(),
        }
    }

    /// The same terms without the network: the start for tuning terms.
    pub fn without_network(mut self) -> Weights {
        self.network = None;
        self
    }

    /// The packed value of a term.
    #[inline(always)]
    pub fn packed(&self, term: Term) -> PackedScore {
        self.packed[term.index() & (CAPACITY - 1)]
    }

    /// What the scores of these weights mean.
    pub fn win_model(&self) -> WinModel {
        match &self.network {
            Some(network) => network.header.win_model,
            None => self.terms_win_model,
        }
    }

    /// A hash over everything that decides how these weights play: the terms' values (they judge
    /// small endings and give piece values even beside a network), the network, the win model
    /// (it converts contempt) and the search constants. Names, dates and files do not count. The
    /// value is the same in every build, and terms added to the list later do not change it as
    /// long as they weigh nothing.
    pub fn id(&self) -> WeightsId {
        let mut hasher = StableHasher::new();
        for info in TERMS {
            for (index, term) in info.terms().enumerate() {
                let packed = self.packed(term);
                if packed != PackedScore::ZERO {
                    hasher.write(info.name.as_bytes());
                    hasher.write_u64(index as u64);
                    hasher.write_u64(packed.0 as u64);
                }
            }
        }
        hasher.write(b"network");
        hasher.write_u64(self.network.as_ref().map_or(0, Network::hash));
        let model = self.win_model();
        hasher.write_u64(model.midpoint.to_bits());
        hasher.write_u64(model.slope.to_bits());
        for (name, value) in &self.search {
            hasher.write(name.as_bytes());
            hasher.write_u64(i64::from(*value) as u64);
        }
        WeightsId(hasher.finish())
    }

    /// Name and provenance, one line each.
    pub fn summary(&self) -> String {
        let mut summary = format!("weights: {}", self.name);
        for (key, value) in &self.provenance {
            summary += &format!("\n{key}: {value}");
        }
        for (key, value) in self
            .network
            .iter()
            .flat_map(|network| &network.header.provenance)
        {
            summary += &format!("\nnetwork_{key}: {value}");
        }
        summary
    }

    /// Whether any weight of the family is not zero.
    #[inline(always)]
    pub fn uses(&self, family: Family) -> bool {
        self.families & (1 << family as u32) != 0
    }

    /// Two of the papers use only legal moves of the papers' features; the others are then skipped,
    /// because those two play many games.
    #[inline(always)]
    pub fn uses_papers_in_full(&self) -> bool {
        self.papers_in_full
    }

    pub fn get(&self, term: Term) -> TaperedValue {
        self.packed(term).into()
    }

    /// Sets a value, rounded to hundredths and clamped to the term's bounds. NaN becomes zero.
    pub fn set(&mut self, term: Term, value: TaperedValue) {
        let info = term.info();
        self.set_all(info, [(term, value)]);
    }

    /// Sets several values of one term.
    pub(super) fn set_all(
        &mut self,
        info: &TermInfo,
        values: impl IntoIterator<Item = (Term, TaperedValue)>,
    ) {
        for (term, value) in values {
            self.packed[term.index()] = value.packed(info);
        }
        self.refresh_family(info.family);
    }

    fn refresh_family(&mut self, family: Family) {
        let lines = TERMS.iter().filter(|info| info.family == family);
        let weighing: Vec<Term> = lines
            .flat_map(TermInfo::terms)
            .filter(|term| self.packed(*term) != PackedScore::ZERO)
            .collect();
        if family == Family::Papers {
            self.papers_in_full = weighing
                .iter()
                .any(|term| papers::needs_more_than_legal_moves(*term));
        }
        let used = !weighing.is_empty();
        let bit = 1 << family as u32;
        self.families = if used {
            self.families | bit
        } else {
            self.families & !bit
        };
    }

    /// All values of a term.
    pub fn values(&self, info: &TermInfo) -> Vec<TaperedValue> {
        info.terms().map(|term| self.get(term)).collect()
    }

    /// The gene vector: midgame and endgame of each weight in turn.
    pub fn genes(&self) -> Vec<f64> {
        let terms = (0..WEIGHT_COUNT).filter_map(Term::from_index);
        terms
            .map(|term| self.get(term))
            .flat_map(|value| [value.midgame, value.endgame])
            .collect()
    }

    /// The inverse of [`genes`](Weights::genes); values are clamped to the terms' bounds.
    pub fn set_genes(&mut self, genes: &[f64]) {
        let mut values = genes.chunks_exact(2).map(|pair| TaperedValue {
            midgame: pair[0],
            endgame: pair[1],
        });
        for info in TERMS {
            let line: Vec<_> = info.terms().zip(values.by_ref()).collect();
            self.set_all(info, line);
        }
    }

    /// The built-in weights: `weights/default.toml` and its network at build time.
    pub fn embedded() -> &'static Weights {
        static EMBEDDED: LazyLock<Weights> = LazyLock::new(|| {
            let text = include_str!("../../../weights/default.toml");
            let network = include_bytes!(env!("FINCH_NETWORK"));
            // A test loads the same files, so a build that falls back here cannot pass.
            Weights::read(text, "weights/default.toml", |file| {
                Network::from_bytes(file, network)
            })
            .unwrap_or_else(|_| Weights::zero("none"))
        });
        &EMBEDDED
    }
}

impl Default for Weights {
    fn default() -> Weights {
        Weights::embedded().clone()
    }
}

impl std::fmt::Debug for Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Weights")
            .field("name", &self.name)
            .field("provenance", &self.provenance)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_halves_do_not_disturb_each_other() {
        for (midgame, endgame) in [(1, -1), (-1, 1), (-70_000, 123_456), (5, 0), (-5, 0)] {
            let mut packed = PackedScore::new(midgame, endgame) * 3;
            packed += PackedScore::new(-midgame, -endgame);
            assert_eq!(packed.midgame(), 2 * midgame);
            assert_eq!(packed.endgame(), 2 * endgame);
        }
    }

    #[test]
    fn genes_round_trip() {
        let weights = Weights::default();
        let mut copy = Weights::zero("copy");
        copy.set_genes(&weights.genes());
        assert_eq!(copy.genes(), weights.genes());
    }
}
