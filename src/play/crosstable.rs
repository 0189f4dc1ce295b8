//! The crosstable of a match in progress.

use std::collections::BTreeMap;

use shakmaty::Color;

use super::game::{GameEnd, GameRecord, GameResult, PlayerResult};
use super::match_score::MatchScore;
use super::player::FaultKind;
use super::schedule::Schedule;

/// What the crosstable keeps of a finished game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FinishedGame {
    pub result: GameResult,
    pub fault: Option<(Color, FaultKind)>,
}

impl FinishedGame {
    pub fn of(record: &GameRecord) -> FinishedGame {
        let fault = match record.end {
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
    /// One for each two opponents, from the first one's point of view.
    scores: Vec<MatchScore>,
    /// The score of the games before `games_in_order`, all of which are finished.
    score_in_order: MatchScore,
    games_in_order: usize,
}

impl Crosstable {
    pub fn new(schedule: Schedule) -> Crosstable {
        Crosstable {
            scores: vec![MatchScore::default(); schedule.opponents().len()],
            schedule,
            finished: BTreeMap::new(),
            score_in_order: MatchScore::default(),
            games_in_order: 0,
        }
    }

    pub fn add(&mut self, number: usize, game: FinishedGame) {
        if self.finished.insert(number, game).is_some() {
            return;
        }
        let result = self.result(number, &game);
        let partner = self
            .finished
            .get(&(number ^ 1))
            .map(|other| self.result(number ^ 1, other));
        let score = &mut self.scores[number / 2 % self.schedule.opponents().len()];
        score.add_game(result);
        if let Some(partner) = partner {
            score.add_pair(result, partner);
        }
    }

    /// The result for the first of the two opponents, who has white in even games.
    fn result(&self, number: usize, game: &FinishedGame) -> PlayerResult {
        game.result
            .result_for(Color::from_white(number.is_multiple_of(2)))
    }

    /// Counts the next pair in the order of the schedule, whatever the order in which games end,
    /// and returns the score so far. An SPRT based on these scores ends at the same game on any
    /// number of threads.
    pub fn next_pair_in_order(&mut self) -> Option<MatchScore> {
        let first = self.games_in_order;
        let (one, other) = (self.finished.get(&first)?, self.finished.get(&(first + 1))?);
        let results = [self.result(first, one), self.result(first + 1, other)];
        for result in results {
            self.score_in_order.add_game(result);
        }
        self.score_in_order.add_pair(results[0], results[1]);
        self.games_in_order += 2;
        Some(self.score_in_order)
    }

    pub fn games_in_order(&self) -> usize {
        self.games_in_order
    }

    /// The crosstable without the games from `number` on.
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

    /// The score of each two opponents, from the first one's point of view.
    pub fn scores(&self) -> impl Iterator<Item = ((usize, usize), MatchScore)> {
        let opponents = self.schedule.opponents().iter().copied();
        opponents.zip(self.scores.iter().copied())
    }

    /// A player's games against everyone.
    pub fn total(&self, player: usize) -> MatchScore {
        let mut total = MatchScore::default();
        for ((one, other), score) in self.scores() {
            if one == player {
                total += score;
            } else if other == player {
                total += score.reversed();
            }
        }
        total
    }

    /// How often a player lost by each kind of fault.
    pub fn faults(&self, player: usize) -> Vec<(FaultKind, usize)> {
        let count = |kind: FaultKind| {
            let games = self.finished.iter();
            games
                .filter(|(number, game)| {
                    game.fault.is_some_and(|(offender, fault)| {
                        let pairing = self.schedule.pairing(**number);
                        let offender = offender.fold_wb(pairing.white, pairing.black);
                        offender == player && fault == kind
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
    fn pairs_are_counted_in_order_however_games_end() {
        let mut crosstable = Crosstable::new(Schedule::new(2, Format::RoundRobin, 8));
        crosstable.add(2, game(GameResult::Draw));
        crosstable.add(3, game(GameResult::BlackWins));
        crosstable.add(1, game(GameResult::WhiteWins));
        assert_eq!(crosstable.next_pair_in_order(), None);
        crosstable.add(0, game(GameResult::WhiteWins));
        let first = crosstable.next_pair_in_order().unwrap();
        assert_eq!((first.wins, first.losses, first.win_loss_pairs), (1, 1, 1));
        let both = crosstable.next_pair_in_order().unwrap();
        assert_eq!(both.pairs, [0, 0, 1, 1, 0]);
        assert_eq!(crosstable.next_pair_in_order(), None);
        assert_eq!(crosstable.before(2).total(0), first);
        assert_eq!(crosstable.total(1), both.reversed());
    }
}
