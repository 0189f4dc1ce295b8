//! Contests whose outcome decides who plays the later ones.
//!
//! In a generation of kendall-2001 and of nasreddine-2006 pairs meet one after the other, and
//! the loser's place is taken at once. Played strictly in turn, most of a machine would wait.
//! But a contest needs only the two who play it: it may begin as soon as no earlier contest that
//! is still open touches its two places. Outcomes take effect strictly in turn, so what comes
//! out is what one game after the other would give, on any number of threads.

use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};
use shakmaty::Color;

use super::Individual;
use crate::play::STACK_BYTES;
use crate::play::game::PlayerResult;
use crate::tune::fitness::Arena;

/// Two games between two places of the population, one with each colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contest {
    /// The first has White in the first game.
    pub places: [usize; 2],
    pub opening: usize,
}

impl Contest {
    fn touches(&self, other: &Contest) -> bool {
        self.places.iter().any(|place| other.places.contains(place))
    }
}

/// How a contest went for the first of its two, in both games.
pub type Verdicts = [PlayerResult; 2];

/// Plays all contests; `settle` hears the outcomes in turn and may change the two places.
pub fn play_in_turn(
    arena: &Arena,
    contests: &[Contest],
    population: &mut [Individual],
    mut settle: impl FnMut(usize, &mut [Individual], Verdicts),
) {
    let mut round = Round::new(contests);
    let (jobs, todo) = unbounded();
    let (done, results) = unbounded();
    thread::scope(|scope| {
        let start = || {
            let (todo, done) = (todo.clone(), done.clone());
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            thread
                .spawn_scoped(scope, move || serve(arena, &todo, &done))
                .is_ok()
        };
        let mut idle = (0..rayon::current_num_threads())
            .filter(|_| start())
            .count();
        let alone = idle == 0;
        while !round.is_over() {
            while let Some(job) = (alone || idle > 0)
                .then(|| round.next_job(population))
                .flatten()
            {
                if alone {
                    let _ = done.send(job.play(arena));
                    break;
                }
                let _ = jobs.send(job);
                idle -= 1;
            }
            let Ok((contest, game, verdict)) = results.recv() else {
                break;
            };
            idle += 1;
            round.enter(contest, game, verdict);
            while let Some((contest, verdicts)) = round.next_settled() {
                settle(contest, population, verdicts);
            }
        }
        drop(jobs);
    });
}

fn serve(arena: &Arena, todo: &Receiver<Job>, done: &Sender<(usize, usize, PlayerResult)>) {
    for job in todo {
        let _ = done.send(job.play(arena));
    }
}

/// One game, with all that it depends on.
struct Job {
    contest: usize,
    game: usize,
    /// White's and Black's.
    genes: [Vec<f64>; 2],
    opening: usize,
}

impl Job {
    fn play(&self, arena: &Arena) -> (usize, usize, PlayerResult) {
        let result = arena.game(&self.genes[0], &self.genes[1], self.opening);
        let first = Color::from_white(self.game == 0);
        (self.contest, self.game, result.result_for(first))
    }
}

/// Which games are given out, and which are over.
struct Round<'a> {
    contests: &'a [Contest],
    /// Games given out of each contest.
    given: Vec<usize>,
    verdicts: Vec<[Option<PlayerResult>; 2]>,
    settled: usize,
}

impl<'a> Round<'a> {
    fn new(contests: &'a [Contest]) -> Round<'a> {
        Round {
            contests,
            given: vec![0; contests.len()],
            verdicts: vec![[None; 2]; contests.len()],
            settled: 0,
        }
    }

    fn is_over(&self) -> bool {
        self.settled == self.contests.len()
    }

    /// The first game in turn that waits for nobody.
    fn next_job(&mut self, population: &[Individual]) -> Option<Job> {
        let open = self.settled..self.contests.len();
        let is_free = |number: &usize| {
            let contest = &self.contests[*number];
            let mut earlier = self.contests[self.settled..*number].iter();
            self.given[*number] < 2 && !earlier.any(|other| other.touches(contest))
        };
        let number = open.into_iter().find(is_free)?;
        let Contest { places, opening } = self.contests[number];
        let game = self.given[number];
        self.given[number] += 1;
        let mut genes = places.map(|place| population[place].genes.clone());
        if game == 1 {
            genes.reverse();
        }
        Some(Job {
            contest: number,
            game,
            genes,
            opening,
        })
    }

    fn enter(&mut self, contest: usize, game: usize, verdict: PlayerResult) {
        self.verdicts[contest][game] = Some(verdict);
    }

    /// The next contest in turn, once both its games are over.
    fn next_settled(&mut self) -> Option<(usize, Verdicts)> {
        let [Some(first), Some(second)] = *self.verdicts.get(self.settled)? else {
            return None;
        };
        self.settled += 1;
        Some((self.settled - 1, [first, second]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contests(places: &[[usize; 2]]) -> Vec<Contest> {
        let contest = |places: &[usize; 2]| Contest {
            places: *places,
            opening: 0,
        };
        places.iter().map(contest).collect()
    }

    #[test]
    fn a_contest_waits_for_earlier_ones_of_its_players_and_for_no_others() {
        let contests = contests(&[[0, 3], [1, 3], [2, 4]]);
        let population = vec![Individual::new(vec![1.0]); 5];
        let mut round = Round::new(&contests);
        let mut given = Vec::new();
        while let Some(job) = round.next_job(&population) {
            given.push((job.contest, job.game));
        }
        assert_eq!(given, [(0, 0), (0, 1), (2, 0), (2, 1)]);
        for game in 0..2 {
            round.enter(2, game, PlayerResult::Win);
        }
        assert!(
            round.next_settled().is_none(),
            "outcomes take effect in turn"
        );
        for game in 0..2 {
            round.enter(0, game, PlayerResult::Draw);
        }
        assert_eq!(round.next_settled(), Some((0, [PlayerResult::Draw; 2])));
        assert_eq!(round.next_job(&population).map(|job| job.contest), Some(1));
    }
}
