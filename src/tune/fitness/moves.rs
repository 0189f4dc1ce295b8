//! Fitness `moves`: the share of positions in which a player chooses the master's move.
//!
//! The player searches one ply and quiescence. Positions come with trees (`tree.rs`) as long
//! as the memory granted lasts, built when they are first needed; the others are searched on
//! the board each time. Both give the same moves, so the limit changes nothing but the time.
//! For very many positions `keep = "lines"` keeps no trees but, around one individual at a
//! time, what slopes need (`lines.rs`).

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::exact::Searched;
use super::lines::{Lines, Outlook, is_granted};
use super::quiescence::{Quiescence, refutation};
use super::tree::{Builder, Player, Tree};
use super::{
    Batch, BuiltFitness, CaseCounts, Fitness, FitnessConfig, FitnessError, FitnessInputs, Sloped,
    built_in_games, likelihood,
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
    pub quiescence: Quiescence,
    /// Games drawn anew each generation; 0 takes all cases every time.
    pub games_per_generation: usize,
    /// Positions drawn anew each generation; 0 takes all cases every time.
    pub positions_per_generation: usize,
    /// What is kept of a position from one look to the next.
    pub keep: Keep,
    /// Memory for it.
    pub memory_mib: usize,
}

impl Default for MovesSettings {
    fn default() -> MovesSettings {
        MovesSettings {
            name: Self::NAME.to_owned(),
            objective: Objective::Count,
            temperature: 60.0,
            quiescence: Quiescence::default(),
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
        let moves = Moves::new(inputs.genome, self.clone(), collection);
        Ok(BuiltFitness::from_cases(moves, &sources, counts))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The share of positions solved.
    #[default]
    Count,
    /// The mean logarithm of the likelihood that the master's move is played, when better
    /// moves are more likely: smooth where the count has steps.
    Likelihood,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// All that any player could want to know: best for populations.
    #[default]
    Trees,
    /// What one player saw, in a tenth of the memory: best for climbing slopes.
    Lines,
}

/// Cases are worked on in pieces of this many. The pieces, and so the order in which real
/// numbers are added, do not depend on the number of threads.
const PIECE: usize = 64;

/// Moves this many temperatures below the best are left out of lines: one in 3,000 or less.
const LINES_HORIZON: f64 = 8.0;
/// Replies this many temperatures below the best are left out, too: more would double the
/// memory.
const LINES_SLACK: f64 = 0.5;

/// Cases with their trees.
struct Shelf {
    cases: Vec<Case>,
    trees: Vec<OnceLock<Option<Box<Tree>>>>,
    /// Last move found better than the answer: likely to be so again.
    suspects: Vec<AtomicUsize>,
    /// Where each game's cases stand.
    games: Vec<Range<usize>>,
}

impl Shelf {
    fn new(cases: Vec<Case>) -> Shelf {
        let mut games: Vec<Range<usize>> = Vec::new();
        for (place, case) in cases.iter().enumerate() {
            match games.last_mut() {
                Some(game) if cases[game.start].game == case.game => game.end = place + 1,
                _ => games.push(place..place + 1),
            }
        }
        Shelf {
            trees: cases.iter().map(|_| OnceLock::new()).collect(),
            suspects: cases.iter().map(|_| AtomicUsize::new(0)).collect(),
            cases,
            games,
        }
    }
}

pub struct Moves {
    genome: Arc<Genome>,
    builder: Builder,
    settings: MovesSettings,
    training: Shelf,
    validation: Shelf,
    memory_left: AtomicUsize,
    lines: RwLock<Option<Lines>>,
}

impl Moves {
    pub fn new(genome: Arc<Genome>, settings: MovesSettings, collection: Collection) -> Moves {
        Moves {
            builder: Builder::new(Arc::clone(&genome), settings.quiescence),
            genome,
            memory_left: AtomicUsize::new(settings.memory_mib << 20),
            lines: RwLock::new(None),
            settings,
            training: Shelf::new(collection.training),
            validation: Shelf::new(collection.validation),
        }
    }

    /// The tree of a case, if trees are kept and there is memory for it.
    fn tree<'s>(&self, shelf: &'s Shelf, place: usize) -> Option<&'s Tree> {
        if self.settings.keep == Keep::Lines {
            return None;
        }
        let build = || {
            if self.memory_left.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let tree = self.builder.build(&shelf.cases[place])?;
            is_granted(&self.memory_left, &tree).then(|| Box::new(tree))
        };
        shelf.trees[place].get_or_init(build).as_deref()
    }

    /// Looks at a training case's tree, whole or cut down to lines; without memory for one it
    /// is built, looked at and forgotten.
    fn with_tree<T>(
        &self,
        lines: Option<&Lines>,
        place: usize,
        look: impl FnOnce(&Tree) -> T,
    ) -> Option<T> {
        let case = &self.training.cases[place];
        if let Some(lines) = lines {
            return lines.with_tree(place, case, &self.builder, look);
        }
        match self.tree(&self.training, place) {
            Some(tree) => Some(look(tree)),
            None => self.builder.build(case).map(|tree| look(&tree)),
        }
    }

    fn solves(&self, shelf: &Shelf, place: usize, player: &Player) -> bool {
        let suspect = shelf.suspects[place].load(Ordering::Relaxed);
        let better = match self.tree(shelf, place) {
            Some(tree) => refutation(&tree.seen_by(player), tree.answers(), suspect),
            None => {
                let case = &shelf.cases[place];
                let settings = self.settings.quiescence;
                let searched = Searched::new(&case.position, &player.weights, settings);
                refutation(&searched, &searched.places(&case.answers), suspect)
            }
        };
        if let Some(number) = better {
            shelf.suspects[place].store(number, Ordering::Relaxed);
        }
        better.is_none()
    }

    /// How many of the cases each player solves.
    fn solved(&self, shelf: &Shelf, places: &[u32], players: &[Player]) -> Vec<f64> {
        let count_piece = |piece: &[u32]| {
            let mut counts = vec![0_u32; players.len()];
            for &place in piece {
                for (count, player) in counts.iter_mut().zip(players) {
                    *count += u32::from(self.solves(shelf, place as usize, player));
                }
            }
            counts
        };
        let counts = places.par_chunks(PIECE).map(count_piece).reduce(
            || vec![0; players.len()],
            |left, right| left.iter().zip(right).map(|(a, b)| a + b).collect(),
        );
        counts.into_iter().map(f64::from).collect()
    }

    /// The sum of the training cases' log-likelihoods, with its gradient if that is asked for.
    fn likelihood(&self, places: &[u32], player: &Player, sloped: bool) -> Sloped {
        let columns = self.genome.columns();
        let temperature = self.settings.temperature;
        let lines = self.lines.read();
        let work = |piece: &[u32]| {
            let mut value = 0.0;
            let mut gradient = vec![[0.0; 2]; if sloped { columns.len() } else { 0 }];
            for &place in piece {
                let look =
                    |tree: &Tree| likelihood::of_tree(tree, player, temperature, &mut gradient);
                let seen = self.with_tree(lines.as_ref(), place as usize, look);
                value += seen.unwrap_or(0.0);
            }
            (value, gradient)
        };
        let pieces: Vec<_> = places.par_chunks(PIECE).map(work).collect();
        let mut total = Sloped {
            value: 0.0,
            gradient: vec![0.0; self.genome.len()],
        };
        for (value, gradient) in pieces {
            total.value += value;
            for (column, [midgame, endgame]) in columns.iter().zip(gradient) {
                column.share_out(midgame, endgame, &mut total.gradient);
            }
        }
        total
    }

    /// How many of the training cases an individual solves, by way of its lines.
    fn solved_by_lines(&self, genes: &[f64]) -> f64 {
        self.settle(genes, &Batch::All);
        let lines = self.lines.read();
        lines.as_ref().map_or(0, Lines::solved) as f64
    }

    /// The training cases' sum for each individual.
    fn judge(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        let player = |genes: &&[f64]| Player::new(&self.genome, genes);
        let by_lines = self.settings.keep == Keep::Lines && *batch == Batch::All;
        match (self.settings.objective, individuals) {
            // The next climb begins here on the same cases: its lines tell what is played, too.
            (Objective::Count, [genes]) if by_lines => vec![self.solved_by_lines(genes)],
            (Objective::Count, _) => {
                let players: Vec<_> = individuals.iter().map(player).collect();
                self.solved(&self.training, &self.places(batch), &players)
            }
            (Objective::Likelihood, _) => {
                let likelihood = |genes: &&[f64]| {
                    self.settle(genes, batch);
                    let places = self.places(batch);
                    self.likelihood(&places, &player(genes), false).value
                };
                individuals.iter().map(likelihood).collect()
            }
        }
    }

    fn places(&self, batch: &Batch) -> Vec<u32> {
        match batch {
            Batch::All => (0..self.training.cases.len() as u32).collect(),
            Batch::Some(places) => places.clone(),
        }
    }

    /// The share of the validation cases that a player solves, whatever the objective.
    pub fn share_solved(&self, genes: &[f64]) -> Option<f64> {
        let places: Vec<u32> = (0..self.validation.cases.len() as u32).collect();
        let player = [Player::new(&self.genome, genes)];
        let solved = self.solved(&self.validation, &places, &player);
        (!places.is_empty()).then(|| solved[0] / places.len() as f64)
    }
}

impl Fitness for Moves {
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        let number = self.places(batch).len().max(1) as f64;
        let sums = self.judge(individuals, batch);
        sums.into_iter().map(|sum| sum / number).collect()
    }

    fn batch(&self, seed: u64, generation: u64) -> Batch {
        let games = &self.training.games;
        let wanted = self.settings.games_per_generation;
        if wanted > 0 && wanted < games.len() {
            let mut numbers: Vec<usize> = (0..games.len()).collect();
            let mut random = stream(seed, Purpose::Sampling, generation, 0);
            let (drawn, _) = numbers.partial_shuffle(&mut random, wanted);
            drawn.sort_unstable();
            let places = drawn.iter().flat_map(|&number| games[number].clone());
            return Batch::Some(places.map(|place| place as u32).collect());
        }
        match self.settings.positions_per_generation {
            0 => Batch::All,
            count => Batch::drawn(self.case_count(), count, seed, generation),
        }
    }

    fn is_fixed(&self) -> bool {
        self.settings.games_per_generation == 0 && self.settings.positions_per_generation == 0
    }

    fn validate(&self, individual: &[f64]) -> Option<f64> {
        self.share_solved(individual)
    }

    fn settle(&self, individual: &[f64], batch: &Batch) {
        if self.settings.keep == Keep::Trees {
            return;
        }
        let mut lines = self.lines.write();
        if lines
            .as_ref()
            .is_some_and(|lines| lines.are_of(individual, batch))
        {
            return;
        }
        // Those of before make room first.
        *lines = None;
        let temperature = self.settings.temperature;
        let outlook = Outlook {
            player: Player::new(&self.genome, individual),
            margin: (LINES_HORIZON * temperature) as i32,
            slack: (LINES_SLACK * temperature) as i32,
        };
        let cases = &self.training.cases;
        let memory = self.settings.memory_mib << 20;
        *lines = Some(Lines::new(
            &self.builder,
            outlook,
            individual,
            batch,
            cases,
            memory,
        ));
    }

    fn slope(&self, individual: &[f64], batch: &Batch) -> Option<Sloped> {
        let player = Player::new(&self.genome, individual);
        let places = self.places(batch);
        let mut sloped = self.likelihood(&places, &player, true);
        let number = places.len().max(1) as f64;
        sloped.value /= number;
        sloped
            .gradient
            .iter_mut()
            .for_each(|share| *share /= number);
        Some(sloped)
    }

    fn case_count(&self) -> usize {
        self.training.cases.len()
    }

    fn config(&self) -> &dyn FitnessConfig {
        &self.settings
    }
}
