//! What a match says about two players.
//!
//! Games count one by one (wins, draws, losses) and in pairs: an opening played once with each
//! colour. The two games of a pair are not independent, the pairs are; errors therefore come
//! from the five possible results of a pair (the pentanomial) as soon as there are pairs.
//! Elo is logistic; normalised Elo measures the edge in units of the spread of a single game, so
//! that it does not depend on how often the opening leads to a draw.

use std::fmt;
use std::ops::AddAssign;

use super::game::PlayerResult;

/// The two-sided 95% quantile of the normal distribution.
pub const SIGMAS_95: f64 = 1.959_963_984_540_054;
/// Normalised Elo per standard deviation of one game: it equals Elo where nothing is drawn.
pub const NORMALIZED_UNIT: f64 = 800.0 / std::f64::consts::LN_10;

/// A value and its 95% error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EloEstimate {
    pub value: f64,
    pub error: f64,
}

impl fmt::Display for EloEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.value.is_finite(), self.error.is_finite()) {
            (true, true) => write!(f, "{:.2} +/- {:.2}", self.value, self.error),
            (true, false) => write!(f, "{:.2} +/- unbounded", self.value),
            // Nothing but wins, or nothing but losses.
            (false, _) => write!(f, "unbounded"),
        }
    }
}

/// One player's results against another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchScore {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// FinishedGame pairs by half points: 0 is two losses, 4 is two wins.
    pub pairs: [u64; 5],
    /// Those of the even pairs in which each side won once.
    pub win_loss_pairs: u64,
}

impl MatchScore {
    pub fn of_games(wins: u64, draws: u64, losses: u64) -> MatchScore {
        MatchScore {
            wins,
            draws,
            losses,
            ..MatchScore::default()
        }
    }

    /// Counts a game that is not part of a pair, or whose pair is counted apart.
    pub fn add_game(&mut self, verdict: PlayerResult) {
        match verdict {
            PlayerResult::Win => self.wins += 1,
            PlayerResult::Draw => self.draws += 1,
            PlayerResult::Loss => self.losses += 1,
        }
    }

    /// Counts the pair that two games, already added, make.
    pub fn add_pair(&mut self, first: PlayerResult, second: PlayerResult) {
        let half_points = first.half_points() + second.half_points();
        self.pairs[half_points as usize] += 1;
        if half_points == 2 && first != PlayerResult::Draw {
            self.win_loss_pairs += 1;
        }
    }

    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    pub fn points(&self) -> f64 {
        self.wins as f64 + self.draws as f64 / 2.0
    }

    /// Points per game; one half when there is no game.
    pub fn ratio(&self) -> f64 {
        match self.games() {
            0 => 0.5,
            games => self.points() / games as f64,
        }
    }

    /// The same games as the opponent sees them.
    pub fn reversed(&self) -> MatchScore {
        let mut pairs = self.pairs;
        pairs.reverse();
        MatchScore {
            wins: self.losses,
            losses: self.wins,
            pairs,
            ..*self
        }
    }

    /// The results as a distribution: of pairs when there are any, else of games.
    pub fn sample(&self) -> ResultSample {
        if self.pairs.iter().any(|count| *count > 0) {
            ResultSample::of_pairs(&self.pairs)
        } else {
            ResultSample::of_games(self)
        }
    }

    pub fn elo(&self) -> EloEstimate {
        let sample = self.sample();
        let (mean, error) = (sample.mean(), sample.error_of_mean());
        let [low, high] = [mean - error, mean + error].map(|score| elo(score.clamp(0.0, 1.0)));
        EloEstimate {
            value: elo(mean),
            // Of nothing but wins no bound is known.
            error: if mean > 0.0 && mean < 1.0 {
                (high - low) / 2.0
            } else {
                f64::INFINITY
            },
        }
    }

    pub fn normalized_elo(&self) -> EloEstimate {
        let sample = self.sample();
        let edge = sample.mean() - 0.5;
        // Two copies of one player may draw every pair: no edge, and no spread to divide by.
        let sigmas = if edge == 0.0 {
            0.0
        } else {
            edge / sample.deviation_of_game()
        };
        EloEstimate {
            value: sigmas * NORMALIZED_UNIT,
            error: SIGMAS_95 * NORMALIZED_UNIT / sample.games().sqrt(),
        }
    }

    /// The likelihood, from 0 to 1, that the player is the stronger one.
    pub fn los(&self) -> f64 {
        let sample = self.sample();
        let deviation = sample.error_of_mean() / SIGMAS_95;
        let edge = sample.mean() - 0.5;
        if edge == 0.0 {
            return 0.5;
        }
        (1.0 + libm::erf(edge / (deviation * std::f64::consts::SQRT_2))) / 2.0
    }
}

impl AddAssign for MatchScore {
    fn add_assign(&mut self, other: MatchScore) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
        self.win_loss_pairs += other.win_loss_pairs;
        for (pairs, more) in self.pairs.iter_mut().zip(other.pairs) {
            *pairs += more;
        }
    }
}

/// Counts of results worth evenly spaced scores from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultSample {
    pub counts: Vec<f64>,
    /// Games in one observation: 2 for pairs.
    pub games_each: f64,
}

impl ResultSample {
    fn of_pairs(pairs: &[u64; 5]) -> ResultSample {
        ResultSample {
            counts: pairs.iter().map(|count| *count as f64).collect(),
            games_each: 2.0,
        }
    }

    fn of_games(score: &MatchScore) -> ResultSample {
        ResultSample {
            counts: [score.losses, score.draws, score.wins]
                .map(|count| count as f64)
                .to_vec(),
            games_each: 1.0,
        }
    }

    /// What each count is worth.
    pub fn values(&self) -> impl Iterator<Item = f64> + use<> {
        let steps = self.counts.len() - 1;
        (0..=steps).map(move |step| step as f64 / steps as f64)
    }

    pub fn observations(&self) -> f64 {
        self.counts.iter().sum()
    }

    pub fn games(&self) -> f64 {
        self.observations() * self.games_each
    }

    pub fn mean(&self) -> f64 {
        let total = self.observations();
        if total == 0.0 {
            return 0.5;
        }
        let points: f64 = self
            .counts
            .iter()
            .zip(self.values())
            .map(|(count, value)| count * value)
            .sum();
        points / total
    }

    /// Of one observation.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        let spread: f64 = self
            .counts
            .iter()
            .zip(self.values())
            .map(|(count, value)| count * (value - mean).powi(2))
            .sum();
        spread / self.observations()
    }

    /// The standard deviation a single game would have if games were independent.
    fn deviation_of_game(&self) -> f64 {
        (self.variance() * self.games_each).sqrt()
    }

    /// 95%.
    fn error_of_mean(&self) -> f64 {
        SIGMAS_95 * (self.variance() / self.observations()).sqrt()
    }
}

/// The rating difference at which a player is expected to score so much.
pub fn elo(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

/// The inverse of [`elo`].
pub fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_wins_bounds_no_difference() {
        let score = |wins, draws, losses| MatchScore {
            wins,
            draws,
            losses,
            ..MatchScore::default()
        };
        assert_eq!(score(20, 0, 0).elo().to_string(), "unbounded");
        assert_eq!(score(0, 0, 20).elo().to_string(), "unbounded");
        let narrow = score(50, 100, 50).elo().to_string();
        assert!(narrow.starts_with("0.00 +/- 3"), "{narrow}");
    }
}
