//! Who plays whom, with which colour, from which opening.
//!
//! A round is one opening; in each round every pairing plays it twice, with colours exchanged.
//! Game numbers run through the rounds, so a number alone says everything about a game.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Everyone against everyone.
    #[default]
    RoundRobin,
    /// The first against all others.
    Gauntlet,
}

/// A game to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixture {
    pub number: usize,
    pub round: usize,
    pub white: usize,
    pub black: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pairings: Vec<(usize, usize)>,
    rounds: usize,
}

impl Schedule {
    /// `games` are per pairing; an odd number is rounded up, for pairs are not broken.
    pub fn new(players: usize, format: Format, games: usize) -> Schedule {
        let first_players = match format {
            Format::RoundRobin => players,
            Format::Gauntlet => players.min(1),
        };
        let pairings = (0..first_players)
            .flat_map(|one| (one + 1..players).map(move |other| (one, other)))
            .collect();
        Schedule {
            pairings,
            rounds: games.div_ceil(2),
        }
    }

    pub fn games(&self) -> usize {
        self.pairings.len() * self.rounds * 2
    }

    pub fn pairings(&self) -> &[(usize, usize)] {
        &self.pairings
    }

    pub fn fixture(&self, number: usize) -> Fixture {
        let pair = number / 2;
        let (one, other) = self.pairings[pair % self.pairings.len()];
        let (white, black) = if number.is_multiple_of(2) {
            (one, other)
        } else {
            (other, one)
        };
        Fixture {
            number,
            round: pair / self.pairings.len(),
            white,
            black,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_meets_everyone_with_both_colours_in_each_round() {
        let schedule = Schedule::new(4, Format::RoundRobin, 3);
        assert_eq!(schedule.games(), 6 * 2 * 2);
        let mut met = std::collections::HashMap::new();
        for number in 0..schedule.games() {
            let fixture = schedule.fixture(number);
            *met.entry((fixture.round, fixture.white, fixture.black))
                .or_insert(0) += 1;
        }
        assert_eq!(met.len(), schedule.games());
        assert!(
            met.keys()
                .all(|(round, white, black)| *round < 2 && white != black)
        );
    }

    #[test]
    fn in_a_gauntlet_the_first_meets_the_others() {
        let schedule = Schedule::new(4, Format::Gauntlet, 2);
        assert_eq!(schedule.pairings(), [(0, 1), (0, 2), (0, 3)]);
    }
}
