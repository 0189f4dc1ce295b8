//! A fitness that is measured on all ranks of an MPI job. Each rank has built the same fitness
//! from the same preset; what travels is genes and values, bit by bit.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::{Arena, Batch, Fitness, FitnessConfig, ValueAndGradient};
use crate::play::Pairing;
use crate::work;

/// What rank 0 asks of the others.
#[derive(Deserialize, Serialize)]
enum FitnessTask {
    Value {
        genes: Vec<u64>,
        /// None for all cases.
        cases: Option<Vec<u32>>,
    },
    Game {
        white: Vec<u64>,
        black: Vec<u64>,
        opening: usize,
    },
}

fn to_bits(genes: &[f64]) -> Vec<u64> {
    genes.iter().map(|gene| gene.to_bits()).collect()
}

fn from_bits(bits: &[u64]) -> Vec<f64> {
    bits.iter().map(|bits| f64::from_bits(*bits)).collect()
}

/// The message that asks for a game between two of the players.
pub(super) fn game_message(players: &[&[f64]], pairing: &Pairing) -> Vec<u8> {
    let task = FitnessTask::Game {
        white: to_bits(players[pairing.white]),
        black: to_bits(players[pairing.black]),
        opening: pairing.opening,
    };
    serde_json::to_vec(&task).unwrap_or_default()
}

/// The fitness of rank 0: the others evaluate some of the individuals.
pub struct SharedFitness<'a>(pub &'a dyn Fitness);

impl Fitness for SharedFitness<'_> {
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        if !work::has_helpers() || individuals.len() < 2 {
            return self.0.evaluate(individuals, batch);
        }
        let cases = match batch {
            Batch::All => None,
            Batch::Some(cases) => Some(cases.clone()),
        };
        let task = |genes: &&[f64]| FitnessTask::Value {
            genes: to_bits(genes),
            cases: cases.clone(),
        };
        let tasks: Vec<FitnessTask> = individuals.iter().map(task).collect();
        let bits = work::map_in_order(&tasks, |task| value_bits(self.0, task).unwrap_or_default());
        from_bits(&bits)
    }

    fn batch(&self, seed: u64, generation: u64) -> Batch {
        self.0.batch(seed, generation)
    }

    fn is_fixed(&self) -> bool {
        self.0.is_fixed()
    }

    fn averages_generations(&self) -> bool {
        self.0.averages_generations()
    }

    fn validate(&self, individual: &[f64]) -> Option<f64> {
        self.0.validate(individual)
    }

    fn prepare_gradients(&self, individual: &[f64], batch: &Batch) {
        self.0.prepare_gradients(individual, batch);
    }

    fn gradient(&self, individual: &[f64], batch: &Batch) -> Option<ValueAndGradient> {
        self.0.gradient(individual, batch)
    }

    fn case_count(&self) -> usize {
        self.0.case_count()
    }

    fn config(&self) -> &dyn FitnessConfig {
        self.0.config()
    }

    fn arena(&self) -> Option<&Arena> {
        self.0.arena()
    }
}

/// The value of the individual that a task has, if it has one.
fn value_bits(fitness: &dyn Fitness, task: &FitnessTask) -> Option<u64> {
    let FitnessTask::Value { genes, cases } = task else {
        return None;
    };
    let batch = cases.clone().map_or(Batch::All, Batch::Some);
    let values = fitness.evaluate(&[&from_bits(genes)], &batch);
    values.first().map(|value| value.to_bits())
}

/// Does what rank 0 asks for until it needs no more.
pub fn serve(fitness: &dyn Fitness, pool: &rayon::ThreadPool) {
    let answer =
        |_: &mut (), task: &[u8], stop: &AtomicBool| match serde_json::from_slice(task).ok()? {
            FitnessTask::Game {
                white,
                black,
                opening,
            } => {
                let [white, black] = [white, black].map(|bits| from_bits(&bits));
                fitness
                    .arena()?
                    .game_as_message(&white, &black, opening, stop)
            }
            task @ FitnessTask::Value { .. } => {
                let value = pool.install(|| value_bits(fitness, &task))?;
                serde_json::to_vec(&value).ok()
            }
        };
    work::serve(pool.current_num_threads(), || (), answer);
}
