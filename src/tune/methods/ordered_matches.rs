//! Matches in which an earlier result decides who plays the later ones.
//!
//! In a generation of kendall-2001 and of nasreddine-2006 pairs play one after the other, and the
//! loser is replaced at once. Played strictly in order, most threads would wait. But a pair depends
//! only on its two members: it may start as soon as no unfinished earlier pair shares one of them.
//! Results are applied strictly in order, so the outcome is that of sequential play on any number
//! of threads and ranks.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use parking_lot::Mutex;
use shakmaty::Color;

use super::Individual;
use crate::play::game::{GameResult, PlayerResult};
use crate::search::STACK_BYTES;
use crate::tune::fitness::Arena;
use crate::work::{self, TaskSource};

/// Two games between two members of the population, one with each colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchPair {
    /// The first has White in the first game.
    pub members: [usize; 2],
    pub opening: usize,
}

impl MatchPair {
    fn touches(&self, other: &MatchPair) -> bool {
        self.members
            .iter()
            .any(|member| other.members.contains(member))
    }
}

/// The results of both games for the first of the two.
pub type PairResults = [PlayerResult; 2];

/// Plays all pairs. `apply_result` gets the results in order and may change the two members.
pub fn play_in_order(
    arena: &Arena,
    pairs: &[MatchPair],
    population: &mut [Individual],
    mut apply_result: impl FnMut(usize, &mut [Individual], PairResults),
) {
    let mut schedule = PairSchedule::new(pairs);
    let (jobs, todo) = unbounded();
    let (done, results) = unbounded();
    let threads = rayon::current_num_threads();
    let shared = SharedJobs::new(todo.clone());
    thread::scope(|scope| {
        let start = || {
            let (todo, done) = (todo.clone(), done.clone());
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            thread
                .spawn_scoped(scope, move || serve(arena, &todo, &done))
                .is_ok()
        };
        let started = (0..threads).filter(|_| start()).count();
        if work::has_helpers() {
            let (shared, jobs, done) = (&shared, jobs.clone(), done.clone());
            scope.spawn(move || shared.share(arena, threads, &jobs, &done));
        }
        let alone = started == 0;
        let mut under_way = 0;
        while !schedule.is_over() {
            while let Some(job) = (alone || under_way < started + work::helper_threads())
                .then(|| schedule.next_job(population))
                .flatten()
            {
                if alone {
                    let _ = done.send(job.play(arena));
                    break;
                }
                let _ = jobs.send(job);
                under_way += 1;
            }
            let Ok((pair, game, verdict)) = results.recv() else {
                break;
            };
            under_way -= usize::from(!alone);
            schedule.enter(pair, game, verdict);
            while let Some((pair, results)) = schedule.next_finished() {
                apply_result(pair, population, results);
            }
        }
        shared.is_over.store(true, Relaxed);
        drop(jobs);
    });
}

fn serve(arena: &Arena, todo: &Receiver<Job>, done: &Sender<(usize, usize, PlayerResult)>) {
    for job in todo {
        let _ = done.send(work::busy(1, || job.play(arena)));
    }
}

/// Jobs that other ranks do.
struct SharedJobs {
    todo: Receiver<Job>,
    taken: Mutex<Vec<Option<Job>>>,
    is_over: AtomicBool,
}

impl TaskSource for SharedJobs {
    fn take(&self, _: usize) -> Option<usize> {
        let job = self.todo.try_recv().ok()?;
        let mut taken = self.taken.lock();
        taken.push(Some(job));
        Some(taken.len() - 1)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }
}

impl SharedJobs {
    fn new(todo: Receiver<Job>) -> SharedJobs {
        SharedJobs {
            todo,
            taken: Mutex::new(Vec::new()),
            is_over: AtomicBool::new(false),
        }
    }

    /// Lets other ranks play until all is over. What they cannot play goes back to `jobs`.
    fn share(
        &self,
        arena: &Arena,
        threads: usize,
        jobs: &Sender<Job>,
        done: &Sender<(usize, usize, PlayerResult)>,
    ) {
        let message = |number: usize| {
            let taken = self.taken.lock();
            let job = taken[number].as_ref();
            job.map(|job| arena.message(&job.genes[0], &job.genes[1], job.opening))
                .unwrap_or_default()
        };
        let never = AtomicBool::new(false);
        work::share(self, threads, &never, message, |number, bytes| {
            let Some(job) = self.taken.lock()[number].take() else {
                return;
            };
            let _ = match arena.result_in(bytes, job.opening) {
                Some(result) => done.send(job.verdict(result)).is_ok(),
                None => jobs.send(job).is_ok(),
            };
        });
    }
}

/// One game with everything it depends on.
struct Job {
    pair: usize,
    game: usize,
    /// White's genes, then Black's.
    genes: [Vec<f64>; 2],
    opening: usize,
}

impl Job {
    fn play(&self, arena: &Arena) -> (usize, usize, PlayerResult) {
        self.verdict(arena.game(&self.genes[0], &self.genes[1], self.opening))
    }

    fn verdict(&self, result: GameResult) -> (usize, usize, PlayerResult) {
        let first = Color::from_white(self.game == 0);
        (self.pair, self.game, result.result_for(first))
    }
}

/// Which games have been handed out, and which are finished.
struct PairSchedule<'a> {
    pairs: &'a [MatchPair],
    /// How many games of each pair have been handed out.
    given: Vec<usize>,
    results: Vec<[Option<PlayerResult>; 2]>,
    finished: usize,
}

impl<'a> PairSchedule<'a> {
    fn new(pairs: &'a [MatchPair]) -> PairSchedule<'a> {
        PairSchedule {
            pairs,
            given: vec![0; pairs.len()],
            results: vec![[None; 2]; pairs.len()],
            finished: 0,
        }
    }

    fn is_over(&self) -> bool {
        self.finished == self.pairs.len()
    }

    /// The first game in order that waits for no earlier pair.
    fn next_job(&mut self, population: &[Individual]) -> Option<Job> {
        let open = self.finished..self.pairs.len();
        let is_free = |number: &usize| {
            let pair = &self.pairs[*number];
            let mut earlier = self.pairs[self.finished..*number].iter();
            self.given[*number] < 2 && !earlier.any(|other| other.touches(pair))
        };
        let number = open.into_iter().find(is_free)?;
        let MatchPair { members, opening } = self.pairs[number];
        let game = self.given[number];
        self.given[number] += 1;
        let mut genes = members.map(|index| population[index].genes.clone());
        if game == 1 {
            genes.reverse();
        }
        Some(Job {
            pair: number,
            game,
            genes,
            opening,
        })
    }

    fn enter(&mut self, pair: usize, game: usize, verdict: PlayerResult) {
        self.results[pair][game] = Some(verdict);
    }

    /// The next pair in order, once both its games are finished.
    fn next_finished(&mut self) -> Option<(usize, PairResults)> {
        let [Some(first), Some(second)] = *self.results.get(self.finished)? else {
            return None;
        };
        self.finished += 1;
        Some((self.finished - 1, [first, second]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(members: &[[usize; 2]]) -> Vec<MatchPair> {
        let pair = |members: &[usize; 2]| MatchPair {
            members: *members,
            opening: 0,
        };
        members.iter().map(pair).collect()
    }

    #[test]
    fn a_match_waits_for_earlier_ones_of_its_players_and_for_no_others() {
        let pairs = pairs(&[[0, 3], [1, 3], [2, 4]]);
        let population = vec![Individual::new(vec![1.0]); 5];
        let mut schedule = PairSchedule::new(&pairs);
        let mut given = Vec::new();
        while let Some(job) = schedule.next_job(&population) {
            given.push((job.pair, job.game));
        }
        assert_eq!(given, [(0, 0), (0, 1), (2, 0), (2, 1)]);
        for game in 0..2 {
            schedule.enter(2, game, PlayerResult::Win);
        }
        assert!(
            schedule.next_finished().is_none(),
            "outcomes take effect in turn"
        );
        for game in 0..2 {
            schedule.enter(0, game, PlayerResult::Draw);
        }
        assert_eq!(schedule.next_finished(), Some((0, [PlayerResult::Draw; 2])));
        assert_eq!(schedule.next_job(&population).map(|job| job.pair), Some(1));
    }
}
