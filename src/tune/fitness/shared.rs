//! A fitness that is measured on all ranks of an MPI job. Each rank has built the same fitness
//! from the same preset; what travels is genes and values, bit by bit.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::{Arena, Batch, CaseCounter, CaseRange, Fitness, FitnessConfig, ValueAndGradient};
use crate::play::Pairing;
use crate::work::{self, ServiceThreads};

/// What rank 0 asks of the others.
#[derive(Deserialize, Serialize)]
enum FitnessTask {
    Value {
        genes: Vec<u64>,
        /// None for all cases.
        cases: Option<Vec<u32>>,
    },
    /// Counting is shared by cases: a position is read once for all individuals.
    Solved {
        individuals: Vec<Vec<u64>>,
        cases: CaseRange,
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

/// So many cases, divided among the ranks. Where a generation has all cases, each rank gets the same
/// ones every time: making the tree of a position takes a hundred times as long as reading it.
fn parts(count: usize) -> impl Iterator<Item = Range<usize>> {
    let ranks = work::processes();
    (0..ranks).map(move |rank| count * rank / ranks..count * (rank + 1) / ranks)
}

/// Counts the cases that each individual solves, on all ranks.
fn count_on_all_ranks(
    counter: &dyn CaseCounter,
    individuals: &[&[f64]],
    cases: impl Iterator<Item = CaseRange>,
) -> Vec<f64> {
    let genes: Vec<Vec<u64>> = individuals.iter().map(|genes| to_bits(genes)).collect();
    let task = |cases| FitnessTask::Solved {
        individuals: genes.clone(),
        cases,
    };
    let tasks: Vec<FitnessTask> = cases.map(task).collect();
    let counts = work::map_by_rank(&tasks, |task| solved(counter, task).unwrap_or_default());
    let mut total = vec![0.0; individuals.len()];
    for count in counts {
        let sums = total.iter_mut().zip(count);
        sums.for_each(|(total, count)| *total += f64::from(count));
    }
    total
}

/// The counts that a task asks for, if it does.
fn solved(counter: &dyn CaseCounter, task: &FitnessTask) -> Option<Vec<u32>> {
    let FitnessTask::Solved { individuals, cases } = task else {
        return None;
    };
    let individuals: Vec<Vec<f64>> = individuals.iter().map(|bits| from_bits(bits)).collect();
    let individuals: Vec<&[f64]> = individuals.iter().map(Vec::as_slice).collect();
    Some(counter.count_solved(&individuals, cases))
}

/// The fitness of rank 0: the others evaluate some of the individuals, or count some of the cases.
pub struct SharedFitness<'a>(pub &'a dyn Fitness);

impl Fitness for SharedFitness<'_> {
    fn evaluate(&self, individuals: &[&[f64]], batch: &Batch) -> Vec<f64> {
        if !work::has_helpers() {
            return self.0.evaluate(individuals, batch);
        }
        if let Some(counter) = self.0.case_counter() {
            return self.share_solved(counter, individuals, batch);
        }
        if individuals.len() < 2 {
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
        let Some(counter) = self.0.case_counter().filter(|_| work::has_helpers()) else {
            return self.0.validate(individual);
        };
        let count = counter.validation_count();
        let cases =
            parts(count).map(|part| CaseRange::Validation(part.start as u32..part.end as u32));
        let solved = count_on_all_ranks(counter, &[individual], cases);
        (count > 0).then(|| solved[0] / count as f64)
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

impl SharedFitness<'_> {
    /// The share of a batch that each individual solves.
    fn share_solved(
        &self,
        counter: &dyn CaseCounter,
        individuals: &[&[f64]],
        batch: &Batch,
    ) -> Vec<f64> {
        let count = match batch {
            Batch::All => self.case_count(),
            Batch::Some(indices) => indices.len(),
        };
        let cases = parts(count).map(|part| match batch {
            Batch::All => CaseRange::Training(part.start as u32..part.end as u32),
            Batch::Some(indices) => CaseRange::Batch(indices[part].to_vec()),
        });
        let solved = count_on_all_ranks(counter, individuals, cases);
        let share = |solved: f64| solved / count.max(1) as f64;
        solved.into_iter().map(share).collect()
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
            task @ FitnessTask::Solved { .. } => {
                let counter = fitness.case_counter()?;
                let counts = pool.install(|| solved(counter, &task))?;
                serde_json::to_vec(&counts).ok()
            }
        };
    let threads = pool.current_num_threads();
    let threads = match fitness.case_counter() {
        // One task uses the whole pool.
        Some(_) => ServiceThreads {
            count: 1,
            width: threads,
        },
        None => threads.into(),
    };
    work::serve(threads, || (), answer);
}
