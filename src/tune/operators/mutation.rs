//! Mutation of real genes, each within an interval that is fixed or moves with the gene.

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use crate::tune::genome::{Gene, Genome};
use crate::tune::methods::Individual;
use crate::tune::settings::{SettingError, check_range};

/// The table `[method.mutation]` of a preset.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mutation {
    pub kind: MutationKind,
    /// The mutation probability of each gene or of a whole child.
    pub probability: f64,
    pub per: MutationUnit,
    /// Michalewicz: generations of an earlier stage whose schedule goes on here. With 200 before
    /// and 50 here, the steps are those of generations 200 to 250 of 250.
    pub generations_before: u64,
    /// Michalewicz: how quickly the steps shrink.
    pub b: f64,
    /// Gaussian: standard deviation as a share of the gene's range; the initial one if
    /// self-adaptive.
    pub deviation: f64,
    pub boundary: Boundary,
    /// Dynamic boundary: its distance to either side as a share of the gene's range.
    pub reach: f64,
}

impl Default for Mutation {
    fn default() -> Mutation {
        Mutation {
            kind: MutationKind::Michalewicz,
            probability: 1.0,
            per: MutationUnit::Gene,
            generations_before: 0,
            b: 5.0,
            deviation: 0.1,
            boundary: Boundary::Fixed,
            reach: 0.25,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MutationKind {
    /// Michalewicz's non-uniform mutation: anywhere within the bounds at first, closer and closer
    /// to the old value toward the last generation.
    #[default]
    Michalewicz,
    Gaussian,
    /// Gaussian steps whose standard deviations are inherited and mutate too (Schwefel).
    SelfAdaptive,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MutationUnit {
    /// Each gene mutates with the probability, at least one of them always.
    #[default]
    Gene,
    /// All genes of a child mutate with the probability; otherwise it is a copy of its parent.
    Child,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Boundary {
    /// The bounds of the genome.
    #[default]
    Fixed,
    /// An interval around the current value, which moves with it within the bounds of the
    /// evaluation.
    Dynamic,
}

impl Mutation {
    /// Errors name the key as seen from the method's table.
    pub fn validate(&self) -> Result<(), SettingError> {
        check_range("mutation.probability", self.probability, 0.0..=1.0)?;
        check_range(
            "mutation.generations_before",
            self.generations_before,
            0..=1_000_000_000,
        )?;
        check_range("mutation.b", self.b, 0.0..=100.0)?;
        check_range("mutation.deviation", self.deviation, 0.0..=10.0)?;
        check_range("mutation.reach", self.reach, 0.0..=10.0)
    }

    /// How much of the schedule is over, from 0 to 1, when the children of generation
    /// `generation` are made. The first children of a run are made at 0.
    pub fn time(&self, generation: u64, generations: u64) -> f64 {
        let passed = self.generations_before + generation.saturating_sub(1);
        passed as f64 / (self.generations_before + generations).max(1) as f64
    }

    /// A mutated child. `time` is that of [`Mutation::time`].
    pub fn child(
        &self,
        parent: &Individual,
        genome: &Genome,
        time: f64,
        random: &mut impl Rng,
    ) -> Individual {
        let mut child = Individual {
            deviations: self.deviations(parent, random),
            ..Individual::new(parent.genes.clone())
        };
        let chosen = self.chosen(genome.len(), random);
        for (index, gene) in genome.genes.iter().enumerate() {
            if !chosen[index] {
                continue;
            }
            let deviation = child.deviations.get(index).copied();
            let value = &mut child.genes[index];
            let (low, high) = self.interval(gene, *value);
            *value = match self.kind {
                MutationKind::Michalewicz => self.michalewicz(*value, low, high, time, random),
                MutationKind::Gaussian | MutationKind::SelfAdaptive => {
                    let deviation = deviation.unwrap_or(self.deviation);
                    let step: f64 = random.sample(StandardNormal);
                    *value + gene.range() * deviation * step
                }
            }
            .clamp(low, high);
        }
        child
    }

    fn chosen(&self, count: usize, random: &mut impl Rng) -> Vec<bool> {
        if self.per == MutationUnit::Child {
            return vec![random.random_bool(self.probability); count];
        }
        let mut chosen: Vec<bool> = (0..count)
            .map(|_| random.random_bool(self.probability))
            .collect();
        let spare = random.random_range(0..count);
        chosen[spare] |= !chosen.contains(&true);
        chosen
    }

    fn interval(&self, gene: &Gene, value: f64) -> (f64, f64) {
        match self.boundary {
            Boundary::Fixed => (gene.low, gene.high),
            Boundary::Dynamic => {
                let reach = self.reach * gene.range();
                (
                    (value - reach).max(gene.floor),
                    (value + reach).min(gene.ceiling),
                )
            }
        }
    }

    fn michalewicz(
        &self,
        value: f64,
        low: f64,
        high: f64,
        time: f64,
        random: &mut impl Rng,
    ) -> f64 {
        let up: bool = random.random();
        let chance: f64 = random.random();
        let share = 1.0 - chance.powf((1.0 - time).powf(self.b));
        if up {
            value + share * (high - value)
        } else {
            value - share * (value - low)
        }
    }

    /// Schwefel's rule: one common factor and one for each gene.
    fn deviations(&self, parent: &Individual, random: &mut impl Rng) -> Vec<f64> {
        if self.kind != MutationKind::SelfAdaptive {
            return Vec::new();
        }
        let count = parent.genes.len() as f64;
        let common_rate = 1.0 / (2.0 * count).sqrt();
        let own_rate = 1.0 / (2.0 * count.sqrt()).sqrt();
        let common: f64 = random.sample(StandardNormal);
        let start = vec![self.deviation; parent.genes.len()];
        let old = if parent.deviations.is_empty() {
            &start
        } else {
            &parent.deviations
        };
        old.iter()
            .map(|deviation| {
                let own: f64 = random.sample(StandardNormal);
                let grown = deviation * (common_rate * common + own_rate * own).exp();
                grown.clamp(1e-4, 1.0)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn the_schedule_of_an_earlier_stage_goes_on() {
        let alone = Mutation::default();
        assert_eq!(alone.time(1, 50), 0.0);
        let second = Mutation {
            generations_before: 200,
            ..Mutation::default()
        };
        assert_eq!(second.time(1, 50), 0.8);
        assert_eq!(second.time(51, 50), 1.0);
    }

    #[test]
    fn a_child_mutates_as_a_whole_or_not_at_all() {
        let mutation = Mutation {
            probability: 0.5,
            per: MutationUnit::Child,
            ..Mutation::default()
        };
        let mut random = stream(1, Purpose::Variation, 0, 0);
        let children: Vec<_> = (0..100).map(|_| mutation.chosen(5, &mut random)).collect();
        let whole = children.iter().filter(|child| child[0]).count();
        assert!(
            children
                .iter()
                .all(|child| child.iter().all(|gene| *gene == child[0]))
        );
        assert!((30..70).contains(&whole), "{whole} of 100 mutated");
    }

    #[test]
    fn michalewicz_stays_within_bounds_and_stands_still_at_the_end() {
        let mutation = Mutation::default();
        let mut random = stream(1, Purpose::Variation, 0, 0);
        for step in 0..=100 {
            let time = f64::from(step) / 100.0;
            let value = mutation.michalewicz(30.0, -50.0, 100.0, time, &mut random);
            assert!((-50.0..=100.0).contains(&value));
            if step == 100 {
                assert_eq!(value, 30.0);
            }
        }
    }
}
