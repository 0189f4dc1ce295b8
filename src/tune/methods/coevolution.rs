//! Co-evolution, the second stage of Vázquez-Fernández, Coello and Sagols (2013): individuals play
//! random opponents; those with the most points survive and have mutated children.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState, rank};
use crate::play::Pairing;
use crate::random::Purpose;
use crate::tune::operators::Mutation;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "coevolution"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoevolutionSettings {
    pub name: String,
    /// Folder of the run whose last population is the initial one here; without it the start is
    /// random.
    pub from: String,
    pub population: usize,
    /// How many survive to the next generation; 0 is half of them.
    pub survivors: usize,
    /// Games that each individual starts in a generation; 0 is half the population.
    pub games: usize,
    /// Games of each two individuals in the last generation, where everyone meets everyone and the
    /// best is the champion; 0 leaves that to a tournament like the others, which luck decides.
    pub final_games: usize,
    pub mutation: Mutation,
}

impl Default for CoevolutionSettings {
    fn default() -> CoevolutionSettings {
        CoevolutionSettings {
            name: Self::NAME.to_owned(),
            from: String::new(),
            population: 20,
            survivors: 0,
            games: 0,
            final_games: 0,
            mutation: Mutation::default(),
        }
    }
}

#[derive(Default, Deserialize, Serialize)]
pub struct State {
    population: Vec<Individual>,
    champion: Individual,
}

impl NamedSettings for CoevolutionSettings {
    const NAME: &'static str = "coevolution";
}

impl MethodConfig for CoevolutionSettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("population", self.population, 2..=1_000_000)?;
        check_range("survivors", self.survivors, 0..=self.population - 1)?;
        check_range("games", self.games, 0..=1_000_000)?;
        check_range("final_games", self.final_games, 0..=1_000_000)?;
        self.mutation.validate()
    }

    fn selects_by_games(&self) -> bool {
        true
    }

    fn earlier_run(&self) -> Option<&str> {
        Some(self.from.as_str()).filter(|folder| !folder.is_empty())
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(Coevolution::new(self.clone()))
    }
}

impl CoevolutionSettings {
    fn or_half(&self, count: usize) -> usize {
        match count {
            0 => self.population / 2,
            count => count,
        }
    }

    /// Each individual draws random opponents and colours; a game counts for both players.
    pub fn pairings(&self, openings: usize, context: &GenerationContext<'_>) -> Vec<Pairing> {
        if self.final_games > 0 && context.generation == context.generations {
            let mut random = context.stream(Purpose::Sampling, 0);
            return self.round_robin(|| random.random_range(0..openings));
        }
        let mut pairings = Vec::new();
        for player in 0..self.population {
            let mut random = context.stream(Purpose::Sampling, player);
            for _ in 0..self.or_half(self.games) {
                let other = random.random_range(1..self.population);
                let other = (player + other) % self.population;
                let has_white: bool = random.random();
                let (white, black) = if has_white {
                    (player, other)
                } else {
                    (other, player)
                };
                pairings.push(Pairing {
                    white,
                    black,
                    opening: random.random_range(0..openings),
                });
            }
        }
        pairings
    }

    /// Everyone against everyone, each opening with both colours.
    fn round_robin(&self, mut draw_opening: impl FnMut() -> usize) -> Vec<Pairing> {
        let mut pairings = Vec::new();
        for first in 0..self.population {
            for second in first + 1..self.population {
                let mut opening = 0;
                for game in 0..self.final_games {
                    let begins = game.is_multiple_of(2);
                    let (white, black) = match begins {
                        true => (first, second),
                        false => (second, first),
                    };
                    if begins {
                        opening = draw_opening();
                    }
                    pairings.push(Pairing {
                        white,
                        black,
                        opening,
                    });
                }
            }
        }
        pairings
    }

    /// Sets each individual's fitness to its share of the points.
    fn tournament(&self, population: &mut [Individual], context: &GenerationContext<'_>) {
        let Some(arena) = context.fitness.arena() else {
            return;
        };
        let pairings = self.pairings(arena.openings(), context);
        let players: Vec<&[f64]> = population.iter().map(|one| one.genes.as_slice()).collect();
        let results = arena.games(&players, &pairings);
        let mut points = vec![[0_u32; 2]; population.len()];
        for (pairing, result) in pairings.iter().zip(results) {
            for color in shakmaty::Color::ALL {
                let player = color.fold_wb(pairing.white, pairing.black);
                points[player][0] += result.result_for(color).half_points();
                points[player][1] += 2;
            }
        }
        for (member, [points, most]) in population.iter_mut().zip(points) {
            member.fitness = Some(f64::from(points) / f64::from(most.max(1)));
        }
        rank(population);
    }
}

pub type Coevolution = MethodState<CoevolutionSettings, State>;

impl Algorithm for Coevolution {
    /// The first champion is the best of the earlier run: later ones are compared with it.
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        let settings = &self.settings;
        let strangers = context.initial_population(settings.population, 0.0);
        let ancestors = context.ancestors.iter().cloned();
        let mut population: Vec<_> = ancestors
            .chain(strangers)
            .take(settings.population)
            .collect();
        let champion = population[0].genes.clone();
        settings.tournament(&mut population, context);
        let champion = population.iter().find(|one| one.genes == champion);
        self.state = State {
            champion: champion.unwrap_or(&population[0]).clone(),
            population,
        };
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        let MethodState { settings, state } = self;
        let survivors = settings.or_half(settings.survivors);
        let population = &mut state.population;
        population.truncate(survivors);
        let time = settings
            .mutation
            .time(context.generation, context.generations);
        for index in survivors..settings.population {
            let parent = &population[(index - survivors) % survivors];
            let mut random = context.stream(Purpose::Variation, index);
            let child = settings
                .mutation
                .child(parent, context.genome, time, &mut random);
            population.push(child);
        }
        settings.tournament(population, context);
        state.champion = population[0].clone();
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }

    fn champion(&self) -> Individual {
        self.state.champion.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_round_robin_everyone_has_each_opening_with_both_colours() {
        let settings = CoevolutionSettings {
            population: 3,
            final_games: 4,
            ..CoevolutionSettings::default()
        };
        let mut openings = 0..;
        let pairings = settings.round_robin(|| openings.next().unwrap());
        let games = |white: usize, black: usize| -> Vec<usize> {
            let of_both = |one: &&Pairing| (one.white, one.black) == (white, black);
            pairings
                .iter()
                .filter(of_both)
                .map(|one| one.opening)
                .collect()
        };
        for (number, (first, second)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            assert_eq!(games(first, second), [2 * number, 2 * number + 1]);
            assert_eq!(games(first, second), games(second, first));
        }
        assert_eq!(pairings.len(), 12);
    }
}
