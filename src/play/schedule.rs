//! Who plays whom, with which colour, from which opening.
//!
//! A round is one opening. In each round every two opponents play it twice, with colours reversed.
//! Games are numbered through all rounds, so the number alone identifies a game.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Everyone against everyone.
    #[default]
    RoundRobin,
    /// The first against all others.
    Gauntlet,
}

/// One game to be played: indices of the players and of the opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    pub white: usize,
    pub black: usize,
    pub opening: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    opponents: Vec<(usize, usize)>,
    rounds: usize,
}

impl Schedule {
    /// `games` are per two opponents; an odd number is rounded up to whole pairs.
    pub fn new(players: usize, format: Format, games: usize) -> Schedule {
        let first_players = match format {
            Format::RoundRobin => players,
            Format::Gauntlet => players.min(1),
        };
        let opponents = (0..first_players)
            .flat_map(|one| (one + 1..players).map(move |other| (one, other)))
            .collect();
        Schedule {
            opponents,
            rounds: games.div_ceil(2),
        }
    }

    pub fn games(&self) -> usize {
        self.opponents.len() * self.rounds * 2
    }

    /// Who meets whom.
    pub fn opponents(&self) -> &[(usize, usize)] {
        &self.opponents
    }

    pub fn pairing(&self, number: usize) -> Pairing {
        let pair = number / 2;
        let (one, other) = self.opponents[pair % self.opponents.len()];
        let (white, black) = if number.is_multiple_of(2) {
            (one, other)
        } else {
            (other, one)
        };
        Pairing {
            white,
            black,
            opening: pair / self.opponents.len(),
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
            let pairing = schedule.pairing(number);
            *met.entry((pairing.opening, pairing.white, pairing.black))
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
        assert_eq!(schedule.opponents(), [(0, 1), (0, 2), (0, 3)]);
    }
}
