//! Limited strength: fewer nodes and a less precise evaluation.
//!
//! A weak player sees fewer moves ahead and misjudges positions. So does Finch at a limited
//! rating: a node limit, and noise in the evaluation that depends on the position and on a seed of
//! the game. The search itself stays whole: captures are followed to the end and mates are seen as
//! far as the nodes reach, so pieces are not thrown away at random. Few nodes take little time.

use super::score::MAX_EVAL;
use crate::eval::Score;
use crate::position::Position;

/// The limits of `UCI_Elo`.
pub const MIN_ELO: u32 = 400;
pub const MAX_ELO: u32 = 2850;
/// The highest `Skill Level`, which is full strength.
pub const MAX_SKILL: u32 = 20;

/// From this rating on players know how to mate a bare king ...
const KNOWS_MATES: u32 = 1200;
/// ... and search as many nodes as that takes.
const NODES_FOR_MATES: u64 = 3_000;

/// How strong the engine is asked to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrengthSettings {
    /// Whether `elo` counts.
    pub limited: bool,
    pub elo: u32,
    /// From 0 to [`MAX_SKILL`]; counts unless `limited`.
    pub skill: u32,
    /// Chooses the errors.
    pub seed: u64,
}

impl Default for StrengthSettings {
    fn default() -> StrengthSettings {
        StrengthSettings {
            limited: false,
            elo: MAX_ELO,
            skill: MAX_SKILL,
            seed: 0,
        }
    }
}

impl StrengthSettings {
    /// The rating to play at; none for full strength. Skill levels are evenly spaced.
    pub fn rating(&self) -> Option<u32> {
        if self.limited {
            return Some(self.elo.clamp(MIN_ELO, MAX_ELO));
        }
        let skill = self.skill.min(MAX_SKILL);
        (skill < MAX_SKILL).then(|| MIN_ELO + skill * (MAX_ELO - MIN_ELO) / MAX_SKILL)
    }

    /// What limits a search of this position.
    pub fn handicap(&self, position: &Position) -> Option<Handicap> {
        let rating = self.rating()?;
        let handicap = Handicap::new(rating, self.seed);
        Some(match position.has_bare_king() && rating >= KNOWS_MATES {
            true => handicap.for_basic_mates(),
            false => handicap,
        })
    }
}

/// Settings of one rating, as measured; `docs/strength.md` has the games. Ratings in between are
/// interpolated, nodes by their logarithm.
struct Level {
    elo: u32,
    nodes: u64,
    /// Standard deviation of the noise, in centipawns.
    noise: f64,
}

const fn level(elo: u32, nodes: u64, noise: f64) -> Level {
    Level { elo, nodes, noise }
}

const LEVELS: [Level; 11] = [
    level(400, 14, 380.0),
    level(600, 28, 238.0),
    level(800, 56, 157.0),
    level(1000, 92, 119.0),
    level(1200, 155, 91.0),
    level(1350, 255, 72.0),
    level(1650, 590, 47.5),
    level(1950, 1_930, 22.5),
    level(2250, 5_750, 8.5),
    level(2550, 9_000, 5.0),
    level(2850, 16_000, 2.0),
];

/// What limits a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handicap {
    pub nodes: u64,
    /// Standard deviation of the noise, in centipawns.
    pub noise: f64,
    seed: u64,
}

impl Handicap {
    pub fn new(rating: u32, seed: u64) -> Handicap {
        let above = LEVELS.iter().position(|level| level.elo >= rating);
        let above = above.unwrap_or(LEVELS.len() - 1);
        let (low, high) = (&LEVELS[above.saturating_sub(1)], &LEVELS[above]);
        let span = f64::from(high.elo - low.elo).max(1.0);
        let share = (f64::from(rating.saturating_sub(low.elo)) / span).min(1.0);
        let between = |low: f64, high: f64| low + share * (high - low);
        let nodes = libm::exp(between(
            libm::log(low.nodes as f64),
            libm::log(high.nodes as f64),
        ));
        Handicap {
            nodes: nodes.round() as u64,
            noise: between(low.noise, high.noise),
            seed,
        }
    }

    /// The same without errors: small ones would hide the way to a mate in a won ending.
    fn for_basic_mates(self) -> Handicap {
        Handicap {
            nodes: self.nodes.max(NODES_FOR_MATES),
            noise: 0.0,
            ..self
        }
    }

    /// The evaluation with the error that this player makes in a position: always the same in one
    /// game. `unit` is a centipawn in internal units.
    pub fn blurred(&self, eval: Score, key: u64, unit: f64) -> Score {
        let error = self.noise * unit * deviate(key ^ self.seed);
        (eval + error as Score).clamp(-MAX_EVAL, MAX_EVAL)
    }
}

/// A number from a bell curve of standard deviation 1, made from a key.
fn deviate(key: u64) -> f64 {
    // The finaliser of SplitMix64 makes neighbouring keys independent.
    let mut mixed = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    // Four uniform numbers of 16 bits: their sum has variance 4 · 65536² / 12.
    let sum: u64 = (0..4).map(|part| mixed >> (16 * part) & 0xffff).sum();
    (sum as f64 - 131_070.0) / 37_837.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_rise_from_end_to_end() {
        assert_eq!(LEVELS[0].elo, MIN_ELO);
        assert_eq!(LEVELS[LEVELS.len() - 1].elo, MAX_ELO);
        let handicaps: Vec<Handicap> = (MIN_ELO..=MAX_ELO)
            .step_by(25)
            .map(|elo| Handicap::new(elo, 0))
            .collect();
        for pair in handicaps.windows(2) {
            assert!(pair[0].nodes <= pair[1].nodes && pair[0].noise >= pair[1].noise);
        }
        assert_eq!(Handicap::new(1350, 0).nodes, 255);
        assert_eq!(Handicap::new(1, 0), Handicap::new(MIN_ELO, 0));
    }

    #[test]
    fn the_skill_level_counts_unless_a_rating_is_set() {
        let settings = StrengthSettings::default();
        assert_eq!(settings.rating(), None);
        let weak = StrengthSettings {
            skill: 0,
            ..settings
        };
        assert_eq!(weak.rating(), Some(MIN_ELO));
        let limited = StrengthSettings {
            limited: true,
            elo: 1500,
            ..weak
        };
        assert_eq!(limited.rating(), Some(1500));
    }

    #[test]
    fn players_from_1200_on_know_the_basic_mates() {
        let handicap = |elo, fen: &str| {
            let settings = StrengthSettings {
                limited: true,
                elo,
                ..StrengthSettings::default()
            };
            settings
                .handicap(&Position::from_fen(fen).unwrap())
                .unwrap()
        };
        let (mate, ending) = (
            "8/8/8/4k3/8/8/8/4K2R w - - 0 1",
            "8/8/8/4k3/4p3/8/8/4K2R w - - 0 1",
        );
        assert_eq!(handicap(1500, mate).noise, 0.0);
        assert_eq!(handicap(1500, mate).nodes, NODES_FOR_MATES);
        assert!(handicap(1500, ending).noise > 0.0);
        assert!(handicap(1000, mate).noise > 0.0);
    }

    #[test]
    fn errors_have_the_spread_of_the_level_and_depend_on_the_seed() {
        let errors = |seed| {
            let handicap = Handicap {
                nodes: 1,
                noise: 100.0,
                seed,
            };
            (0..10_000_u64).map(move |key| f64::from(handicap.blurred(0, key, 1.0)))
        };
        let mean = errors(1).sum::<f64>() / 10_000.0;
        let variance = errors(1).map(|error| error * error).sum::<f64>() / 10_000.0;
        assert!(mean.abs() < 4.0, "{mean}");
        assert!((90.0..110.0).contains(&variance.sqrt()), "{variance}");
        assert!(errors(1).zip(errors(2)).filter(|(a, b)| a == b).count() < 200);
    }
}
