//! Dynamic boundaries, after Nasreddine, Poh and Kendall (2006): a clone of the winner of two games
//! replaces the loser, and its genes mutate within an interval that is centred on them and so
//! moves.

use std::collections::BTreeMap;

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::loser_replacement::{
    ReplacesLosers, SeedGenes, check_seeds, play_generation, seeded_population,
};
use super::ordered_matches::PairResults;
use super::{
    Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState, PopulationState,
};
use crate::play::game::PlayerResult;
use crate::tune::genome::{Gene, Genome};
use crate::tune::operators::polynomial_mutation;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "dynamic-boundary"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DynamicBoundarySettings {
    pub name: String,
    pub population: usize,
    /// Members of the initial population.
    pub seeded: Vec<SeedGenes>,
    /// What a match without a winner does.
    pub tie: TieRule,
    /// Distribution index of polynomial mutation: higher stays closer to the old value.
    pub eta: f64,
    /// The gene that is raised to the highest of `above` if it is lower; none if empty.
    pub highest: String,
    pub above: Vec<String>,
    /// Whether at least one gene of every clone mutates.
    pub forced: bool,
    /// The mutation probability of each gene.
    pub chance: BTreeMap<String, f64>,
    /// Distance from a gene's value to the ends of its interval. A gene without one keeps the
    /// bounds of the genome.
    pub reach: BTreeMap<String, f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TieRule {
    /// Both stay unchanged.
    #[default]
    Keep,
    /// The first of the two counts as the winner ...
    First,
    /// ... or the second, or either of them by chance.
    Second,
    Random,
}

impl Default for DynamicBoundarySettings {
    fn default() -> DynamicBoundarySettings {
        DynamicBoundarySettings {
            name: Self::NAME.to_owned(),
            population: 5,
            seeded: Vec::new(),
            tie: TieRule::Keep,
            eta: 20.0,
            highest: String::new(),
            above: Vec::new(),
            forced: true,
            chance: BTreeMap::new(),
            reach: BTreeMap::new(),
        }
    }
}

impl NamedSettings for DynamicBoundarySettings {
    const NAME: &'static str = "dynamic-boundary";
}

impl MethodConfig for DynamicBoundarySettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("population", self.population, 2..=1_000_000)?;
        check_range("seeded", self.seeded.len(), 0..=self.population)?;
        check_range("eta", self.eta, 0.0..=1e6)?;
        for (name, chance) in &self.chance {
            check_range(&format!("chance.{name}"), *chance, 0.0..=1.0)?;
        }
        for (name, reach) in &self.reach {
            check_range(&format!("reach.{name}"), *reach, 0.0..=1e6)?;
        }
        Ok(())
    }

    fn validate_for(&self, genome: &Genome) -> Result<(), SettingError> {
        check_seeds(&self.seeded, genome)?;
        let tables = [("chance", &self.chance), ("reach", &self.reach)];
        let mut names = tables
            .into_iter()
            .flat_map(|(table, entries)| entries.keys().map(move |name| (table, name)))
            .chain(self.above.iter().map(|name| ("above", name)))
            .chain(Some(("highest", &self.highest)).filter(|(_, name)| !name.is_empty()));
        match names.find(|(_, name)| genome.gene_index(name).is_none()) {
            Some((key, name)) => Err(SettingError::new(key, format!("no gene {name}"))),
            None => Ok(()),
        }
    }

    fn selects_by_games(&self) -> bool {
        true
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(DynamicBoundary::new(self.clone()))
    }
}

impl ReplacesLosers for DynamicBoundarySettings {
    /// Clones the winner of more games over the other; a draw counts as much as a loss.
    fn apply_result(
        &self,
        members: [usize; 2],
        population: &mut [Individual],
        results: PairResults,
        genome: &Genome,
        random: &mut ChaCha8Rng,
    ) {
        let count = |wanted: PlayerResult| results.iter().filter(|found| **found == wanted).count();
        let [winner, loser] = match count(PlayerResult::Win).cmp(&count(PlayerResult::Loss)) {
            std::cmp::Ordering::Greater => members,
            std::cmp::Ordering::Less => [members[1], members[0]],
            std::cmp::Ordering::Equal => match self.tie {
                TieRule::Keep => return,
                TieRule::First => members,
                TieRule::Second => [members[1], members[0]],
                TieRule::Random if random.random() => members,
                TieRule::Random => [members[1], members[0]],
            },
        };
        population[loser].genes = self.mutated(&population[winner].genes, genome, random);
    }
}

impl DynamicBoundarySettings {
    /// A mutant. With `forced` it differs from its parent: raising the queen's value may undo her
    /// mutation.
    pub fn mutated(&self, parent: &[f64], genome: &Genome, random: &mut impl Rng) -> Vec<f64> {
        if !self.forced {
            return self.mutant(parent, genome, random);
        }
        const ATTEMPTS: usize = 100;
        let mut mutants = (0..ATTEMPTS).map(|_| self.mutant(parent, genome, random));
        let different = mutants.find(|genes| genes != parent);
        different.unwrap_or_else(|| parent.to_vec())
    }

    fn mutant(&self, parent: &[f64], genome: &Genome, random: &mut impl Rng) -> Vec<f64> {
        let chance = |gene: &Gene| self.chance.get(&gene.name).copied().unwrap_or(1.0);
        let mut chosen: Vec<bool> = genome
            .genes
            .iter()
            .map(|gene| random.random_bool(chance(gene)))
            .collect();
        let spare = random.random_range(0..chosen.len());
        chosen[spare] |= self.forced && !chosen.contains(&true);
        let genes = parent.iter().zip(&genome.genes).zip(chosen);
        let mut genes: Vec<f64> = genes
            .map(|((value, gene), chosen)| {
                let draw: f64 = random.random();
                let interval = self.interval(gene, *value);
                if chosen {
                    polynomial_mutation(*value, interval, self.eta, draw)
                } else {
                    *value
                }
            })
            .collect();
        self.raise(&mut genes, genome);
        genes
    }

    fn interval(&self, gene: &Gene, value: f64) -> [f64; 2] {
        match self.reach.get(&gene.name) {
            // The interval ends only at the bounds of the evaluation.
            Some(reach) => [
                (value - reach).max(gene.floor),
                (value + reach).min(gene.ceiling),
            ],
            None => [gene.low, gene.high],
        }
    }

    fn raise(&self, genes: &mut [f64], genome: &Genome) {
        let Some(highest) = genome.gene_index(&self.highest) else {
            return;
        };
        for index in self.above.iter().filter_map(|name| genome.gene_index(name)) {
            genes[highest] = genes[highest].max(genes[index]);
        }
    }
}

pub type DynamicBoundary = MethodState<DynamicBoundarySettings, PopulationState>;

impl Algorithm for DynamicBoundary {
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        let settings = &self.settings;
        self.state = seeded_population(&settings.seeded, settings.population, context);
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        let MethodState { settings, state } = self;
        let population = &mut state.population;
        play_generation(population, context, settings);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }

    /// The last member: whoever wins there has beaten the others.
    fn champion(&self) -> Individual {
        let population = &self.state.population;
        population
            .last()
            .cloned()
            .unwrap_or_else(|| Individual::new(Vec::new()))
    }
}
