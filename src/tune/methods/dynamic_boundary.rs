//! Dynamic boundaries, after Nasreddine, Poh and Kendall (2006): winners of two games are cloned
//! over losers, and a clone's genes mutate within an interval that lies around them and moves
//! along.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::pairing::{Population, Seed, check_seeds, play_generation, seeded_population};
use super::succession::Verdicts;
use super::{Evolving, Individual, Method, MethodConfig, Steps, Surroundings};
use crate::play::game::PlayerResult;
use crate::tune::genome::{Gene, Genome};
use crate::tune::operators::polynomial;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "dynamic-boundary"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DynamicBoundarySettings {
    pub name: String,
    pub population: usize,
    /// Members of the first population.
    pub seeded: Vec<Seed>,
    /// What a match without a winner does.
    pub tie: Tie,
    /// How close mutation stays to the old value.
    pub eta: f64,
    /// The gene that is raised to the highest of `above` when it is less; none if empty.
    pub highest: String,
    pub above: Vec<String>,
    /// The chance of each gene to mutate; at least one always does.
    pub chance: BTreeMap<String, f64>,
    /// Distance from a gene's value to the ends of its interval; a gene without one keeps the
    /// bounds of the genome.
    pub reach: BTreeMap<String, f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tie {
    /// Both stay as they are.
    #[default]
    Keep,
    /// The first of the two counts as the winner.
    First,
}

impl Default for DynamicBoundarySettings {
    fn default() -> DynamicBoundarySettings {
        DynamicBoundarySettings {
            name: Self::NAME.to_owned(),
            population: 5,
            seeded: Vec::new(),
            tie: Tie::Keep,
            eta: 20.0,
            highest: String::new(),
            above: Vec::new(),
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
        match names.find(|(_, name)| genome.place_named(name).is_none()) {
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

impl DynamicBoundarySettings {
    /// Whoever won more games is cloned over the other; a draw counts as little as a loss.
    pub fn settle(
        &self,
        places: [usize; 2],
        population: &mut [Individual],
        verdicts: Verdicts,
        genome: &Genome,
        random: &mut impl Rng,
    ) {
        let count =
            |wanted: PlayerResult| verdicts.iter().filter(|found| **found == wanted).count();
        let [winner, loser] = match count(PlayerResult::Win).cmp(&count(PlayerResult::Loss)) {
            std::cmp::Ordering::Greater => places,
            std::cmp::Ordering::Less => [places[1], places[0]],
            std::cmp::Ordering::Equal if self.tie == Tie::First => places,
            std::cmp::Ordering::Equal => return,
        };
        population[loser].genes = self.mutated(&population[winner].genes, genome, random);
    }

    /// A mutant that is not its parent over again: raising the queen may undo her mutation.
    pub fn mutated(&self, parent: &[f64], genome: &Genome, random: &mut impl Rng) -> Vec<f64> {
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
        chosen[spare] |= !chosen.contains(&true);
        let genes = parent.iter().zip(&genome.genes).zip(chosen);
        let mut genes: Vec<f64> = genes
            .map(|((value, gene), chosen)| {
                let draw: f64 = random.random();
                let interval = self.interval(gene, *value);
                if chosen {
                    polynomial(*value, interval, self.eta, draw)
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
            // Only what the evaluation itself allows ends its journey.
            Some(reach) => [
                (value - reach).max(gene.floor),
                (value + reach).min(gene.ceiling),
            ],
            None => [gene.low, gene.high],
        }
    }

    fn raise(&self, genes: &mut [f64], genome: &Genome) {
        let Some(highest) = genome.place_named(&self.highest) else {
            return;
        };
        for place in self
            .above
            .iter()
            .filter_map(|name| genome.place_named(name))
        {
            genes[highest] = genes[highest].max(genes[place]);
        }
    }
}

pub type DynamicBoundary = Evolving<DynamicBoundarySettings, Population>;

impl Steps for DynamicBoundary {
    fn begin(&mut self, around: &Surroundings<'_>) {
        let settings = &self.settings;
        self.state = seeded_population(&settings.seeded, settings.population, around);
    }

    fn advance(&mut self, around: &Surroundings<'_>) {
        let Evolving { settings, state } = self;
        let population = &mut state.population;
        play_generation(
            population,
            around,
            |places, population, verdicts, random| {
                settings.settle(places, population, verdicts, around.genome, random);
            },
        );
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }

    /// The fittest comes to stand in the last place: whoever wins there has beaten the rest.
    fn champion(&self) -> Individual {
        let population = &self.state.population;
        population
            .last()
            .cloned()
            .unwrap_or_else(|| Individual::new(Vec::new()))
    }
}
