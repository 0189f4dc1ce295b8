//! SPSA: simultaneous perturbation stochastic approximation (Spall, 1998).
//!
//! All genes are moved at once by a step in a random direction each, and by the same steps the
//! other way; the estimate (theta) moves towards the better of the two. Where the fitness plays
//! games, the two play each other from common openings, and wins minus losses are the difference.
//! Elsewhere the difference of two values is divided by the size such differences have had so far.
//!
//! The schedule is that of fishtest and OpenBench, with their names: iterations are pairs of
//! games, `c` is the perturbation and `r` the learning rate at the end, `A`, `alpha` and `gamma`
//! shape both on the way. Several perturbations are tried at once from the same estimate, and
//! their moves are added up.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::seq::index;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::{Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState};
use crate::play::Pairing;
use crate::random::Purpose;
use crate::tune::fitness::{Arena, EVEN_SCORE};
use crate::tune::genome::{Gene, Genome};
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "spsa"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpsaSettings {
    pub name: String,
    /// Perturbations in a generation.
    pub pairs: usize,
    /// Fitness by games: games of each perturbation, two from each opening.
    pub games: usize,
    /// The perturbation at the end, as a share of each gene's range. A step that the genome
    /// gives goes first.
    pub c: f64,
    /// The perturbation of single genes at the end, in their own unit; goes before both.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub c_end: BTreeMap<String, f64>,
    /// The learning rate at the end: a move after a won pair of games is 2 r c.
    pub r: f64,
    /// Spall's `a` for ranges scaled to 1, in place of the one that follows from `r`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a: Option<f64>,
    /// The stability constant, as a share of all iterations.
    #[serde(rename = "A")]
    pub stability: f64,
    pub alpha: f64,
    pub gamma: f64,
}

impl Default for SpsaSettings {
    fn default() -> SpsaSettings {
        SpsaSettings {
            name: Self::NAME.to_owned(),
            pairs: 8,
            games: 2,
            c: 0.05,
            c_end: BTreeMap::new(),
            r: 0.002,
            a: None,
            stability: 0.1,
            alpha: 0.602,
            gamma: 0.101,
        }
    }
}

impl NamedSettings for SpsaSettings {
    const NAME: &'static str = "spsa";
}

impl MethodConfig for SpsaSettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("pairs", self.pairs, 1..=100_000)?;
        check_range("games", self.games, 2..=100_000)?;
        if !self.games.is_multiple_of(2) {
            let problem = "each opening is played with both colours: even";
            return Err(SettingError::new("games", problem));
        }
        check_range("c", self.c, 1e-6..=1.0)?;
        for (name, c) in &self.c_end {
            check_range(&format!("c_end.{name}"), *c, 1e-6..=1e9)?;
        }
        check_range("r", self.r, 1e-9..=100.0)?;
        check_range("a", self.a.unwrap_or(1.0), 1e-12..=1e6)?;
        check_range("A", self.stability, 0.0..=10.0)?;
        check_range("alpha", self.alpha, 0.0..=2.0)?;
        check_range("gamma", self.gamma, 0.0..=2.0)
    }

    fn validate_for(&self, genome: &Genome) -> Result<(), SettingError> {
        let is_unknown = |name: &&String| genome.gene_index(name).is_none();
        match self.c_end.keys().find(is_unknown) {
            Some(name) => Err(SettingError::new(
                format!("c_end.{name}"),
                format!("no gene {name}"),
            )),
            None => Ok(()),
        }
    }

    fn can_select_by_games(&self) -> bool {
        true
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(Spsa::new(self.clone()))
    }
}

/// Perturbation and gain of one gene in one generation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gains {
    c: f64,
    a: f64,
}

impl SpsaSettings {
    fn schedule(&self, gene: &Gene, iteration: f64, iterations: f64) -> Gains {
        let given = self.c_end.get(&gene.name).copied();
        let c_end = given.or(gene.step).unwrap_or(self.c * gene.range());
        let offset = self.stability * iterations;
        let a = match self.a {
            Some(a) => a * gene.range().powi(2) / (offset + iteration).powf(self.alpha),
            None => {
                let growth = (offset + iterations) / (offset + iteration);
                self.r * c_end * c_end * growth.powf(self.alpha)
            }
        };
        let c = c_end * (iterations / iteration).powf(self.gamma);
        Gains {
            // Less than half of what makes a difference would be rounded to nothing.
            c: c.max(gene.resolution / 2.0),
            a,
        }
    }

    /// The openings of a perturbation, each played with both colours.
    fn openings(&self, arena: &Arena, pair: usize, context: &GenerationContext<'_>) -> Vec<usize> {
        let (wanted, available) = (self.games / 2, arena.openings());
        let mut random = context.stream(Purpose::Sampling, pair);
        let drawn = index::sample(&mut random, available, wanted.min(available)).into_vec();
        drawn.iter().copied().cycle().take(wanted).collect()
    }

    /// Wins minus losses of the first of each two players against the second.
    fn play(
        &self,
        arena: &Arena,
        players: &[Vec<f64>],
        context: &GenerationContext<'_>,
    ) -> Vec<f64> {
        let mut pairings = Vec::new();
        for pair in 0..self.pairs {
            let (first, second) = (2 * pair, 2 * pair + 1);
            for opening in self.openings(arena, pair, context) {
                for (white, black) in [(first, second), (second, first)] {
                    pairings.push(Pairing {
                        white,
                        black,
                        opening,
                    });
                }
            }
        }
        let players: Vec<&[f64]> = players.iter().map(Vec::as_slice).collect();
        let results = arena.games(&players, &pairings);
        let mut leads = vec![0.0; self.pairs];
        for (pairing, result) in pairings.iter().zip(results) {
            let first = Color::from_white(pairing.white < pairing.black);
            let points = f64::from(result.result_for(first).half_points());
            leads[pairing.white / 2] += points - 1.0;
        }
        leads
    }
}

#[derive(Default, Deserialize, Serialize)]
pub struct State {
    /// Where theta began.
    origin: Vec<f64>,
    /// Whether the fitness plays games, and how many so far.
    by_games: bool,
    games: u64,
    /// Number and sum of the squares of the differences so far.
    differences: u64,
    squares: f64,
    /// Theta.
    population: Vec<Individual>,
}

pub type Spsa = MethodState<SpsaSettings, State>;

/// How many genes a line of progress names.
const NAMED_GENES: usize = 3;

impl Spsa {
    /// How the first of each two players does against the second.
    fn differences(&mut self, players: &[Vec<f64>], context: &GenerationContext<'_>) -> Vec<f64> {
        if let Some(arena) = context.fitness.arena() {
            self.state.games += (self.settings.pairs * self.settings.games) as u64;
            return self.settings.play(arena, players, context);
        }
        let genes: Vec<&[f64]> = players.iter().map(Vec::as_slice).collect();
        let values = context.fitness.evaluate(&genes, &context.batch());
        let differences: Vec<f64> = values.chunks_exact(2).map(|two| two[0] - two[1]).collect();
        self.state.differences += differences.len() as u64;
        self.state.squares += differences.iter().map(|value| value * value).sum::<f64>();
        let size = (self.state.squares / self.state.differences as f64).sqrt();
        let scaled = differences.iter().map(|value| match size {
            0.0 => 0.0,
            size => value / size,
        });
        scaled.collect()
    }

    /// The iterations of a generation: pairs of games, or pairs of values.
    fn iterations(&self) -> f64 {
        let games = if self.state.by_games {
            self.settings.games / 2
        } else {
            1
        };
        (self.settings.pairs * games) as f64
    }

    /// Measures theta where that is possible.
    fn measure(&mut self, theta: Vec<f64>, context: &GenerationContext<'_>) {
        let mut theta = Individual::new(theta);
        theta.fitness = self.state.by_games.then_some(EVEN_SCORE);
        self.state.population = vec![theta];
        context.evaluate(&mut self.state.population);
    }
}

impl Algorithm for Spsa {
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        let first = context.initial_population(1, 0.0).remove(0);
        self.state.origin = first.genes.clone();
        self.state.by_games = context.fitness.arena().is_some();
        self.measure(first.genes, context);
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        let genes = &context.genome.genes;
        let mut theta = self.state.population[0].genes.clone();
        let each = self.iterations();
        let (iteration, iterations) = (
            each * context.generation as f64,
            each * context.generations as f64,
        );
        let schedule = |gene| self.settings.schedule(gene, iteration, iterations);
        let schedules: Vec<Gains> = genes.iter().map(schedule).collect();
        let mut directions = Vec::new();
        let mut players = Vec::new();
        for pair in 0..self.settings.pairs {
            let mut random = context.stream(Purpose::Variation, pair);
            let signs = genes
                .iter()
                .map(|_| if random.random() { 1.0 } else { -1.0 });
            let signs: Vec<f64> = signs.collect();
            for way in [1.0, -1.0] {
                let moved = (0..genes.len()).map(|at| {
                    let value = theta[at] + way * schedules[at].c * signs[at];
                    value.clamp(genes[at].low, genes[at].high)
                });
                players.push(moved.collect::<Vec<f64>>());
            }
            directions.push(signs);
        }
        let differences = self.differences(&players, context);
        for (signs, difference) in directions.iter().zip(differences) {
            for (at, value) in theta.iter_mut().enumerate() {
                let Gains { c, a } = schedules[at];
                *value += a / c * difference * signs[at];
            }
        }
        for (value, gene) in theta.iter_mut().zip(genes) {
            *value = value.clamp(gene.low, gene.high);
        }
        self.measure(theta, context);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }

    /// Games so far, and the genes that have moved the most.
    fn progress(&self, genome: &Genome) -> Option<String> {
        let theta = &self.state.population.first()?.genes;
        if !self.state.by_games {
            return None;
        }
        let share = |at: usize| {
            let moved = (theta[at] - self.state.origin[at]).abs();
            moved / genome.genes[at].range().max(1e-9)
        };
        let mut order: Vec<usize> = (0..theta.len()).collect();
        order.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
        order.retain(|at| share(*at) > 0.0);
        let moved = order.into_iter().take(NAMED_GENES).map(|at| {
            let (name, from, to) = (&genome.genes[at].name, self.state.origin[at], theta[at]);
            format!("{name} {from:.1} → {to:.1}")
        });
        let games = format!("{} games", self.state.games);
        let parts: Vec<String> = [games].into_iter().chain(moved).collect();
        Some(parts.join("  "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;
    use crate::tune::fitness::{Batch, Fitness, FitnessConfig, GamesSettings, ValueAndGradient};
    use crate::tune::genome::{GenomeConfig, SearchGenome};

    /// Best at these values, with noise as large as a tenth of the range costs.
    struct NoisyQuadratic {
        settings: GamesSettings,
        best: Vec<f64>,
        ranges: Vec<f64>,
    }

    impl Fitness for NoisyQuadratic {
        fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
            let Batch::Some(generation) = batch else {
                unreachable!()
            };
            let value = |(number, genes): (usize, &&[f64])| {
                let noise = mix(u64::from(generation[0]), number as u64) as f64 / u64::MAX as f64;
                let square = |at: usize| ((genes[at] - self.best[at]) / self.ranges[at]).powi(2);
                0.01 * noise - (0..genes.len()).map(square).sum::<f64>()
            };
            individuals.iter().enumerate().map(value).collect()
        }

        fn batch(&self, _seed: u64, generation: u64) -> Batch {
            Batch::Some(vec![generation as u32])
        }

        fn is_fixed(&self) -> bool {
            false
        }

        fn validate(&self, _individual: &[f64]) -> Option<f64> {
            None
        }

        fn gradient(&self, _individual: &[f64], _batch: &Batch) -> Option<ValueAndGradient> {
            None
        }

        fn case_count(&self) -> usize {
            1
        }

        fn config(&self) -> &dyn FitnessConfig {
            &self.settings
        }
    }

    fn genome() -> Genome {
        let params = "params = { razoring_base = {}, futility_margin = {}, time_share = {} }";
        toml::from_str::<SearchGenome>(params)
            .unwrap()
            .build()
            .unwrap()
    }

    #[test]
    fn it_climbs_a_noisy_quadratic_and_resumes_where_it_was() {
        let genome = genome();
        let fitness = NoisyQuadratic {
            settings: GamesSettings::default(),
            best: genome
                .genes
                .iter()
                .map(|gene| gene.low + 0.75 * gene.range())
                .collect(),
            ranges: genome.genes.iter().map(Gene::range).collect(),
        };
        let settings = SpsaSettings {
            pairs: 4,
            r: 0.05,
            ..SpsaSettings::default()
        };
        let run = |interrupted: bool| {
            let mut spsa: Box<dyn Method> = settings.method();
            for generation in 0..=300 {
                let context = GenerationContext {
                    genome: &genome,
                    fitness: &fitness,
                    ancestors: &[],
                    seed: 5,
                    generation,
                    generations: 300,
                };
                match generation {
                    0 => spsa.initialise(&context),
                    _ => spsa.next_generation(&context),
                }
                if interrupted && generation == 123 {
                    let saved = spsa.save().unwrap();
                    spsa = settings.method();
                    spsa.restore(saved).unwrap();
                }
            }
            spsa.champion().genes
        };
        let found = run(false);
        for (at, gene) in genome.genes.iter().enumerate() {
            let distance = (found[at] - fitness.best[at]).abs() / gene.range();
            assert!(distance < 0.05, "{}: {distance}", gene.name);
        }
        assert_eq!(run(true), found);
    }

    #[test]
    fn the_schedule_ends_at_c_and_r_and_never_rounds_to_nothing() {
        let genome = genome();
        let gene = &genome.genes[0];
        let settings = SpsaSettings::default();
        let last = settings.schedule(gene, 1000.0, 1000.0);
        assert_eq!(Some(last.c), gene.step);
        assert!((last.a / (last.c * last.c) - settings.r).abs() < 1e-12);
        let first = settings.schedule(gene, 1.0, 1000.0);
        assert!(first.c > last.c && first.a > last.a);
        let tiny = SpsaSettings {
            c_end: BTreeMap::from([(gene.name.clone(), 0.01)]),
            ..settings
        };
        assert_eq!(tiny.schedule(gene, 1000.0, 1000.0).c, 0.5);
        assert!(tiny.validate_for(&genome).is_ok());
        let wrong = SpsaSettings {
            c_end: BTreeMap::from([("nothing".to_owned(), 1.0)]),
            ..tiny
        };
        assert!(wrong.validate_for(&genome).is_err());
    }
}
