//! The table of a match while it grows.

use std::collections::BTreeMap;

use shakmaty::Color;

use super::game::{GameEnd, GameRecord, GameResult, PlayerResult};
use super::match_score::MatchScore;
use super::player::FaultKind;
use super::schedule::{Fixture, Schedule};

/// What counts of a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedGame {
    pub result: GameResult,
    pub fault: Option<(Color, FaultKind)>,
}

impl FinishedGame {
    pub fn of(record: &GameRecord) -> FinishedGame {
        let fault = match record.ending {
            GameEnd::Fault(offender, kind) => Some((offender, kind)),
            _ => None,
        };
        FinishedGame {
            result: record.result(),
            fault,
        }
    }
}

pub struct Crosstable {
    schedule: Schedule,
    finished: BTreeMap<usize, FinishedGame>,
    /// One for each pairing, as its first player sees it.
    scores: Vec<MatchScore>,
    /// Games before this one are all finished, and counted in `settled`.
    settled_games: usize,
    settled: MatchScore,
}

impl Crosstable {
    pub fn new(schedule: Schedule) -> Crosstable {
        Crosstable {
            scores: vec![MatchScore::default(); schedule.pairings().len()],
            schedule,
            finished: BTreeMap::new(),
            settled_games: 0,
            settled: MatchScore::default(),
        }
    }

    pub fn add(&mut self, number: usize, game: FinishedGame) {
        if self.finished.insert(number, game).is_some() {
            return;
        }
        let verdict = self.verdict(number, &game);
        let partner = self
            .finished
            .get(&(number ^ 1))
            .map(|other| self.verdict(number ^ 1, other));
        let score = &mut self.scores[number / 2 % self.schedule.pairings().len()];
        score.add_game(verdict);
        if let Some(partner) = partner {
            score.add_pair(verdict, partner);
        }
    }

    /// The game as the pairing's first player sees it, who has white in even games.
    fn verdict(&self, number: usize, game: &FinishedGame) -> PlayerResult {
        game.result
            .result_for(Color::from_white(number.is_multiple_of(2)))
    }

    /// Settles the next pair in the order of play, whatever the order in which games ended, and
    /// gives the score so far. A test that looks at these scores alone ends at the same game on
    /// any number of threads.
    pub fn settle_pair(&mut self) -> Option<MatchScore> {
        let first = self.settled_games;
        let (one, other) = (self.finished.get(&first)?, self.finished.get(&(first + 1))?);
        let verdicts = [self.verdict(first, one), self.verdict(first + 1, other)];
        for verdict in verdicts {
            self.settled.add_game(verdict);
        }
        self.settled.add_pair(verdicts[0], verdicts[1]);
        self.settled_games += 2;
        Some(self.settled)
    }

    pub fn settled_games(&self) -> usize {
        self.settled_games
    }

    /// The same table as if games from `number` on had not been played.
    pub fn before(&self, number: usize) -> Crosstable {
        let mut crosstable = Crosstable::new(self.schedule.clone());
        for (number, game) in self.finished.range(..number) {
            crosstable.add(*number, *game);
        }
        crosstable
    }

    pub fn games(&self) -> usize {
        self.finished.len()
    }

    pub fn is_finished(&self, number: usize) -> bool {
        self.finished.contains_key(&number)
    }

    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub fn fixture(&self, number: usize) -> Fixture {
        self.schedule.fixture(number)
    }

    /// Pairings with their scores, as the first of the two sees them.
    pub fn pairings(&self) -> impl Iterator<Item = ((usize, usize), MatchScore)> {
        self.schedule
            .pairings()
            .iter()
            .copied()
            .zip(self.scores.iter().copied())
    }

    /// A player's games against everyone.
    pub fn total(&self, player: usize) -> MatchScore {
        let mut total = MatchScore::default();
        for ((one, other), score) in self.pairings() {
            if one == player {
                total += score;
            } else if other == player {
                total += score.reversed();
            }
        }
        total
    }

    /// How often a player failed, in each way in which it did.
    pub fn faults(&self, player: usize) -> Vec<(FaultKind, usize)> {
        let count = |kind: FaultKind| {
            let games = self.finished.iter();
            games
                .filter(|(number, game)| {
                    game.fault.is_some_and(|(offender, fault)| {
                        let fixture = self.schedule.fixture(**number);
                        let culprit = offender.fold_wb(fixture.white, fixture.black);
                        culprit == player && fault == kind
                    })
                })
                .count()
        };
        let counts = FaultKind::ALL.into_iter().map(|kind| (kind, count(kind)));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::schedule::Format;

    fn game(result: GameResult) -> FinishedGame {
        FinishedGame {
            result,
            fault: None,
        }
    }

    #[test]
    fn pairs_are_settled_in_order_however_games_end() {
        let mut crosstable = Crosstable::new(Schedule::new(2, Format::RoundRobin, 8));
        crosstable.add(2, game(GameResult::Draw));
        crosstable.add(3, game(GameResult::BlackWins));
        crosstable.add(1, game(GameResult::WhiteWins));
        assert_eq!(crosstable.settle_pair(), None);
        crosstable.add(0, game(GameResult::WhiteWins));
        let first = crosstable.settle_pair().unwrap();
        assert_eq!((first.wins, first.losses, first.win_loss_pairs), (1, 1, 1));
        let both = crosstable.settle_pair().unwrap();
        assert_eq!(both.pairs, [0, 0, 1, 1, 0]);
        assert_eq!(crosstable.settle_pair(), None);
        assert_eq!(crosstable.before(2).total(0), first);
        assert_eq!(crosstable.total(1), both.reversed());
    }
}
