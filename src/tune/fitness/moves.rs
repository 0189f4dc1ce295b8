//! Fitness `moves`: the share of positions in which a player chooses the master's move.
//!
//! The player searches one ply and quiescence. Positions come with trees (`tree.rs`) as long
//! as the memory granted lasts, built when they are first needed; the others are searched on
//! the board each time. Both give the same moves, so the limit changes nothing but the time.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::exact::Searched;
use super::quiescence::{Quiescence, refutation};
use super::tree::{Builder, Player, Tree};
use super::{Batch, Fitness, Sloped, likelihood};
use crate::data::{Case, Collection};
use crate::random::{Purpose, stream};
use crate::tune::genome::{Complaint, Genome};

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
    /// Memory for trees.
    pub memory_mib: usize,
}

impl Default for MovesSettings {
    fn default() -> MovesSettings {
        MovesSettings {
            name: "moves".to_owned(),
            objective: Objective::Count,
            temperature: 60.0,
            quiescence: Quiescence::default(),
            games_per_generation: 0,
            positions_per_generation: 0,
            memory_mib: 4096,
        }
    }
}

impl MovesSettings {
    /// A value as people read it.
    pub fn shown(&self, value: f64) -> String {
        match self.objective {
            Objective::Count => format!("{:.2}%", 100.0 * value),
            Objective::Likelihood => format!("{value:.4}"),
        }
    }

    /// What is impossible, with the key that says so.
    pub fn complaint(&self) -> Option<Complaint> {
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Some(("temperature".to_owned(), "must be above 0".to_owned()));
        }
        (self.quiescence.plies > 64)
            .then(|| ("quiescence.plies".to_owned(), "more than 64".to_owned()))
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

/// Cases are worked on in pieces of this many. The pieces, and so the order in which real
/// numbers are added, do not depend on the number of threads.
const PIECE: usize = 64;

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
}

impl Moves {
    pub fn new(genome: Arc<Genome>, settings: MovesSettings, collection: Collection) -> Moves {
        Moves {
            builder: Builder::new(Arc::clone(&genome), settings.quiescence),
            genome,
            memory_left: AtomicUsize::new(settings.memory_mib << 20),
            settings,
            training: Shelf::new(collection.training),
            validation: Shelf::new(collection.validation),
        }
    }

    /// The tree of a case, if there is memory for it.
    fn tree<'s>(&self, shelf: &'s Shelf, place: usize) -> Option<&'s Tree> {
        let build = || {
            if self.memory_left.load(Ordering::Relaxed) == 0 {
                return None;
            }
            let tree = self.builder.build(&shelf.cases[place])?;
            let taken =
                self.memory_left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                        left.checked_sub(tree.size())
                    });
            if taken.is_err() {
                self.memory_left.store(0, Ordering::Relaxed);
                return None;
            }
            Some(Box::new(tree))
        };
        shelf.trees[place].get_or_init(build).as_deref()
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

    /// The sum of log-likelihoods, with its gradient if that is asked for.
    fn likelihood(&self, shelf: &Shelf, places: &[u32], player: &Player, sloped: bool) -> Sloped {
        let columns = self.genome.columns();
        let work = |piece: &[u32]| {
            let mut value = 0.0;
            let mut gradient = vec![[0.0; 2]; if sloped { columns.len() } else { 0 }];
            for &place in piece {
                let temperature = self.settings.temperature;
                value += match self.tree(shelf, place as usize) {
                    Some(tree) => likelihood::of_tree(tree, player, temperature, &mut gradient),
                    None => self.likelihood_on_board(shelf, place, player, &mut gradient),
                };
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

    /// Without memory for a tree it is built, used and forgotten.
    fn likelihood_on_board(
        &self,
        shelf: &Shelf,
        place: u32,
        player: &Player,
        gradient: &mut [[f64; 2]],
    ) -> f64 {
        let tree = self.builder.build(&shelf.cases[place as usize]);
        tree.map_or(0.0, |tree| {
            likelihood::of_tree(&tree, player, self.settings.temperature, gradient)
        })
    }

    fn judge(&self, shelf: &Shelf, places: &[u32], players: &[Player]) -> Vec<f64> {
        let number = places.len().max(1) as f64;
        let values = match self.settings.objective {
            Objective::Count => self.solved(shelf, places, players),
            Objective::Likelihood => players
                .iter()
                .map(|player| self.likelihood(shelf, places, player, false).value)
                .collect(),
        };
        values.into_iter().map(|value| value / number).collect()
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
        let players: Vec<_> = individuals
            .iter()
            .map(|genes| Player::new(&self.genome, genes))
            .collect();
        self.judge(&self.training, &self.places(batch), &players)
    }

    fn batch(&self, seed: u64, generation: u64) -> Batch {
        let games = &self.training.games;
        let wanted = self.settings.games_per_generation;
        if wanted > 0 && wanted < games.len() {
            let mut numbers: Vec<usize> = (0..games.len()).collect();
            let mut random = stream(seed, Purpose::Draw, generation, 0);
            let (drawn, _) = numbers.partial_shuffle(&mut random, wanted);
            drawn.sort_unstable();
            let places = drawn.iter().flat_map(|&number| games[number].clone());
            return Batch::Some(places.map(|place| place as u32).collect());
        }
        match self.settings.positions_per_generation {
            0 => Batch::All,
            count => self.draw(count, seed, generation),
        }
    }

    fn is_fixed(&self) -> bool {
        self.settings.games_per_generation == 0 && self.settings.positions_per_generation == 0
    }

    fn validate(&self, individual: &[f64]) -> Option<f64> {
        self.share_solved(individual)
    }

    fn slope(&self, individual: &[f64], batch: &Batch) -> Option<Sloped> {
        let player = Player::new(&self.genome, individual);
        let places = self.places(batch);
        let mut sloped = self.likelihood(&self.training, &places, &player, true);
        let number = places.len().max(1) as f64;
        sloped.value /= number;
        sloped
            .gradient
            .iter_mut()
            .for_each(|share| *share /= number);
        Some(sloped)
    }

    fn draw(&self, count: usize, seed: u64, generation: u64) -> Batch {
        Batch::drawn(self.training.cases.len(), count, seed, generation)
    }

    fn shown(&self, value: f64) -> String {
        self.settings.shown(value)
    }

    /// Validation counts moves, whatever the objective.
    fn shown_validation(&self, value: f64) -> String {
        format!("{:.2}%", 100.0 * value)
    }
}
