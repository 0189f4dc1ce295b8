//! Fitness `moves`: the share of positions in which an individual plays the master's move.
//!
//! An individual searches one ply and quiescence. Positions keep their quiescence trees, built on
//! first use, while the memory limit allows; the others are searched on the board each time. Both
//! give the same moves, so the limit affects only the time. For very many positions `keep =
//! "lines"` keeps, instead of trees, what gradients near one individual need (`variations.rs`).

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::board_search::BoardSearch;
use super::quiescence::{QuiescenceLimits, Ties, better_move};
use super::quiescence_tree::{Phenotype, QuiescenceTree, TreeBuilder};
use super::variations::{VariationCache, VariationSettings, is_granted};
use super::{
    Batch, BuiltFitness, CaseCounter, CaseCounts, CaseRange, Fitness, FitnessConfig, FitnessError,
    FitnessInputs, ValueAndGradient, built_in_games, softmax,
};
use crate::data::{self, Case, Collection};
use crate::random::{Purpose, stream};
use crate::tune::genome::Genome;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[fitness]` of a preset that says `name = "moves"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MovesSettings {
    pub name: String,
    pub objective: Objective,
    /// Centipawns by which a move must be better to be e times as likely.
    pub temperature: f64,
    pub quiescence: QuiescenceLimits,
    pub ties: Ties,
    /// Games drawn anew each generation; 0 takes all cases every time.
    pub games_per_generation: usize,
    /// Positions drawn anew each generation; 0 takes all cases every time.
    pub positions_per_generation: usize,
    /// What is kept of a position between evaluations.
    pub keep: Keep,
    /// Memory limit for it.
    pub memory_mib: usize,
}

impl Default for MovesSettings {
    fn default() -> MovesSettings {
        MovesSettings {
            name: Self::NAME.to_owned(),
            objective: Objective::Count,
            temperature: 60.0,
            quiescence: QuiescenceLimits::default(),
            ties: Ties::Hash,
            games_per_generation: 0,
            positions_per_generation: 0,
            keep: Keep::Trees,
            memory_mib: 4096,
        }
    }
}

impl NamedSettings for MovesSettings {
    const NAME: &'static str = "moves";
}

impl FitnessConfig for MovesSettings {
    fn validate(&self) -> Result<(), SettingError> {
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Err(SettingError::new("temperature", "must be above 0"));
        }
        if self.keep == Keep::Variations && self.ties != Ties::Hash {
            let problem = "\"hit\" needs whole trees: keep = \"trees\"";
            return Err(SettingError::new("ties", problem));
        }
        check_range("quiescence.plies", self.quiescence.plies, 0..=64)
    }

    fn format(&self, value: f64) -> String {
        match self.objective {
            Objective::Count => format!("{:.2}%", 100.0 * value),
            Objective::Likelihood => format!("{value:.4}"),
        }
    }

    /// Validation counts moves, whatever the objective.
    fn format_validation(&self, value: f64) -> String {
        format!("{:.2}%", 100.0 * value)
    }

    fn measure(&self) -> &'static str {
        match self.objective {
            Objective::Count => "moves found",
            Objective::Likelihood => "log-likelihood of the moves played",
        }
    }

    fn validates_in_same_unit(&self) -> bool {
        self.objective == Objective::Count
    }

    fn build(&self, inputs: FitnessInputs<'_>) -> Result<BuiltFitness, FitnessError> {
        let sources = inputs.sources(built_in_games);
        let collection = data::collect(&sources, inputs.selection)?;
        let counts = CaseCounts {
            tally: collection.tally.clone(),
            training: collection.training.len(),
            validation: collection.validation.len(),
        };
        let moves = MovesFitness::new(inputs.genome, self.clone(), collection);
        Ok(BuiltFitness::from_cases(moves, &sources, counts))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The share of positions solved.
    #[default]
    Count,
    /// The mean log-likelihood of the master's move under a softmax over scores: smooth where the
    /// count has steps.
    Likelihood,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Whole quiescence trees, good for any individual: best for populations.
    #[default]
    Trees,
    /// Variations near one individual, in a tenth of the memory: best for gradient ascent.
    #[serde(rename = "lines")]
    Variations,
}

/// Cases are processed in chunks of this size. The chunks, and so the order in which floating-point
/// numbers are added, do not depend on the number of threads.
const CHUNK: usize = 64;

/// The same where cases are counted: sums of whole numbers do not depend on the chunks.
const COUNTED_CHUNK: usize = 8;

/// Moves this many temperatures below the best are left out of variations: one in 3,000 or less.
const VARIATION_HORIZON: f64 = 8.0;
/// Replies this many temperatures below the best are left out; more would double the memory.
const VARIATION_SLACK: f64 = 0.5;

/// Cases with their cached trees.
struct CaseSet {
    cases: Vec<Case>,
    trees: Vec<OnceLock<Option<Box<QuiescenceTree>>>>,
    /// The move last found better than the answer: it is tried first the next time.
    likely_better: Vec<AtomicUsize>,
    /// The range of each game's cases.
    games: Vec<Range<usize>>,
}

impl CaseSet {
    fn new(cases: Vec<Case>) -> CaseSet {
        let mut games: Vec<Range<usize>> = Vec::new();
        for (index, case) in cases.iter().enumerate() {
            match games.last_mut() {
                Some(game) if cases[game.start].game == case.game => game.end = index + 1,
                _ => games.push(index..index + 1),
            }
        }
        CaseSet {
            trees: cases.iter().map(|_| OnceLock::new()).collect(),
            likely_better: cases.iter().map(|_| AtomicUsize::new(0)).collect(),
            cases,
            games,
        }
    }
}

pub struct MovesFitness {
    genome: Arc<Genome>,
    builder: TreeBuilder,
    settings: MovesSettings,
    training: CaseSet,
    validation: CaseSet,
    memory_left: AtomicUsize,
    variations: RwLock<Option<VariationCache>>,
}

impl MovesFitness {
    pub fn new(
        genome: Arc<Genome>,
        settings: MovesSettings,
        collection: Collection,
    ) -> MovesFitness {
        MovesFitness {
            builder: TreeBuilder::new(Arc::clone(&genome), settings.quiescence),
            genome,
            memory_left: AtomicUsize::new(settings.memory_mib << 20),
            variations: RwLock::new(None),
            settings,
            training: CaseSet::new(collection.training),
            validation: CaseSet::new(collection.validation),
        }
    }

    /// The tree of a case, if trees are kept and there is memory for it.
    fn tree<'s>(&self, set: &'s CaseSet, index: usize) -> Option<&'s QuiescenceTree> {
        if self.settings.keep == Keep::Variations {
            return None;
        }
        let build = || {
            if self.memory_left.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let tree = self.builder.build(&set.cases[index])?;
            is_granted(&self.memory_left, &tree).then(|| Box::new(tree))
        };
        set.trees[index].get_or_init(build).as_deref()
    }

    /// Calls `visit` with a training case's tree or its cached variations. Without memory for
    /// either the tree is built for this call only.
    fn with_tree<T>(
        &self,
        variations: Option<&VariationCache>,
        index: usize,
        visit: impl FnOnce(&QuiescenceTree) -> T,
    ) -> Option<T> {
        let case = &self.training.cases[index];
        if let Some(variations) = variations {
            return variations.with_tree(index, case, &self.builder, visit);
        }
        match self.tree(&self.training, index) {
            Some(tree) => Some(visit(tree)),
            None => self.builder.build(case).map(|tree| visit(&tree)),
        }
    }

    fn solves(&self, set: &CaseSet, index: usize, player: &Phenotype) -> bool {
        let first_tried = set.likely_better[index].load(Ordering::Relaxed);
        let ties = self.settings.ties;
        let better = match self.tree(set, index) {
            Some(tree) => better_move(
                &tree.evaluated_by(player),
                tree.answers(),
                first_tried,
                ties,
            ),
            None => {
                let case = &set.cases[index];
                let settings = self.settings.quiescence;
                let search = BoardSearch::new(&case.position, &player.weights, settings);
                better_move(
                    &search,
                    &search.move_numbers(&case.answers),
                    first_tried,
                    ties,
                )
            }
        };
        if let Some(number) = better {
            set.likely_better[index].store(number, Ordering::Relaxed);
        }
        better.is_none()
    }

    /// How many of the cases each individual solves.
    fn solved(&self, set: &CaseSet, indices: &[u32], players: &[Phenotype]) -> Vec<u32> {
        let count_piece = |chunk: &[u32]| {
            let mut counts = vec![0_u32; players.len()];
            for &index in chunk {
                for (count, player) in counts.iter_mut().zip(players) {
                    *count += u32::from(self.solves(set, index as usize, player));
                }
            }
            counts
        };
        indices.par_chunks(COUNTED_CHUNK).map(count_piece).reduce(
            || vec![0; players.len()],
            |left, right| left.iter().zip(right).map(|(a, b)| a + b).collect(),
        )
    }

    /// The sum of the training cases' log-likelihoods, with its gradient if requested.
    fn likelihood(
        &self,
        indices: &[u32],
        player: &Phenotype,
        with_gradient: bool,
    ) -> ValueAndGradient {
        let columns = self.genome.columns();
        let temperature = self.settings.temperature;
        let variations = self.variations.read();
        let work = |chunk: &[u32]| {
            let mut value = 0.0;
            let mut gradient = vec![[0.0; 2]; if with_gradient { columns.len() } else { 0 }];
            for &index in chunk {
                let visit = |tree: &QuiescenceTree| {
                    softmax::log_likelihood_of_tree(tree, player, temperature, &mut gradient)
                };
                let seen = self.with_tree(variations.as_ref(), index as usize, visit);
                value += seen.unwrap_or(0.0);
            }
            (value, gradient)
        };
        let chunks: Vec<_> = indices.par_chunks(CHUNK).map(work).collect();
        let mut total = ValueAndGradient {
            value: 0.0,
            gradient: vec![0.0; self.genome.len()],
        };
        for (value, gradient) in chunks {
            total.value += value;
            for (column, [midgame, endgame]) in columns.iter().zip(gradient) {
                column.add_to_genes(midgame, endgame, &mut total.gradient);
            }
        }
        total
    }

    /// How many of the training cases an individual solves, counted while its variations are
    /// cached.
    fn solved_by_variations(&self, genes: &[f64]) -> f64 {
        self.prepare_gradients(genes, &Batch::All);
        let variations = self.variations.read();
        variations.as_ref().map_or(0, VariationCache::solved) as f64
    }

    /// The sum over the training cases for each individual.
    fn judge(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        let by_variations = self.settings.keep == Keep::Variations && *batch == Batch::All;
        match (self.settings.objective, individuals) {
            // Gradient ascent continues here on the same cases, so the cache is not wasted.
            (Objective::Count, [genes]) if by_variations => vec![self.solved_by_variations(genes)],
            (Objective::Count, _) => {
                let cases = CaseRange::Batch(self.indices(batch));
                let solved = self.count_solved(individuals, &cases);
                solved.into_iter().map(f64::from).collect()
            }
            (Objective::Likelihood, _) => {
                let likelihood = |genes: &&[f64]| {
                    self.prepare_gradients(genes, batch);
                    let indices = self.indices(batch);
                    let player = Phenotype::new(&self.genome, genes);
                    self.likelihood(&indices, &player, false).value
                };
                individuals.iter().map(likelihood).collect()
            }
        }
    }

    fn indices(&self, batch: &Batch) -> Vec<u32> {
        match batch {
            Batch::All => (0..self.training.cases.len() as u32).collect(),
            Batch::Some(indices) => indices.clone(),
        }
    }

    /// The share of the validation cases that an individual solves, whatever the objective.
    pub fn validation_share_solved(&self, genes: &[f64]) -> Option<f64> {
        let count = self.validation_count();
        let solved = self.count_solved(&[genes], &CaseRange::Validation(0..count as u32));
        (count > 0).then(|| f64::from(solved[0]) / count as f64)
    }
}

impl Fitness for MovesFitness {
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        let number = self.indices(batch).len().max(1) as f64;
        let sums = self.judge(individuals, batch);
        sums.into_iter().map(|sum| sum / number).collect()
    }

    fn batch(&self, seed: u64, generation: u64) -> Batch {
        let games = &self.training.games;
        let wanted = self.settings.games_per_generation;
        if wanted > 0 && wanted < games.len() {
            let mut numbers: Vec<usize> = (0..games.len()).collect();
            let mut random = stream(seed, Purpose::Sampling, generation, 0);
            let (sampled, _) = numbers.partial_shuffle(&mut random, wanted);
            sampled.sort_unstable();
            let indices = sampled.iter().flat_map(|&number| games[number].clone());
            return Batch::Some(indices.map(|index| index as u32).collect());
        }
        match self.settings.positions_per_generation {
            0 => Batch::All,
            count => Batch::sample(self.case_count(), count, seed, generation),
        }
    }

    fn is_fixed(&self) -> bool {
        self.settings.games_per_generation == 0 && self.settings.positions_per_generation == 0
    }

    fn validate(&self, individual: &[f64]) -> Option<f64> {
        self.validation_share_solved(individual)
    }

    fn prepare_gradients(&self, individual: &[f64], batch: &Batch) {
        if self.settings.keep == Keep::Trees {
            return;
        }
        let mut variations = self.variations.write();
        if variations
            .as_ref()
            .is_some_and(|variations| variations.are_of(individual, batch))
        {
            return;
        }
        // Frees the old cache before the new one is built.
        *variations = None;
        let temperature = self.settings.temperature;
        let settings = VariationSettings {
            player: Phenotype::new(&self.genome, individual),
            margin: (VARIATION_HORIZON * temperature) as i32,
            slack: (VARIATION_SLACK * temperature) as i32,
        };
        let cases = &self.training.cases;
        let memory = self.settings.memory_mib << 20;
        *variations = Some(VariationCache::new(
            &self.builder,
            settings,
            individual,
            batch,
            cases,
            memory,
        ));
    }

    fn gradient(&self, individual: &[f64], batch: &Batch) -> Option<ValueAndGradient> {
        let player = Phenotype::new(&self.genome, individual);
        let indices = self.indices(batch);
        let mut with_gradient = self.likelihood(&indices, &player, true);
        let number = indices.len().max(1) as f64;
        with_gradient.value /= number;
        with_gradient
            .gradient
            .iter_mut()
            .for_each(|share| *share /= number);
        Some(with_gradient)
    }

    fn case_count(&self) -> usize {
        self.training.cases.len()
    }

    fn config(&self) -> &dyn FitnessConfig {
        &self.settings
    }

    fn case_counter(&self) -> Option<&dyn CaseCounter> {
        let counts = self.settings.objective == Objective::Count;
        (counts && self.settings.keep == Keep::Trees).then_some(self)
    }
}

impl CaseCounter for MovesFitness {
    fn count_solved(&self, individuals: &[&[f64]], cases: &CaseRange) -> Vec<u32> {
        let player = |genes: &&[f64]| Phenotype::new(&self.genome, genes);
        let players: Vec<_> = individuals.iter().map(player).collect();
        let all = |range: &Range<u32>| range.clone().collect();
        let (set, indices): (_, Vec<u32>) = match cases {
            CaseRange::Training(range) => (&self.training, all(range)),
            CaseRange::Batch(indices) => (&self.training, indices.clone()),
            CaseRange::Validation(range) => (&self.validation, all(range)),
        };
        self.solved(set, &indices, &players)
    }

    fn validation_count(&self) -> usize {
        self.validation.cases.len()
    }
}
