//! The score of a match between two players, and what it says about their strength.
//!
//! Games count one by one (wins, draws, losses) and in pairs: one opening played with both colours.
//! The two games of a pair are not independent but the pairs are, so errors are computed from the
//! five possible results of a pair (the pentanomial) as soon as there are pairs. Elo is logistic.
//! Normalised Elo (nElo) measures the advantage in units of the standard deviation of one game, so
//! it does not depend on how often the openings lead to draws.

use std::fmt;
use std::ops::AddAssign;

use super::game::PlayerResult;

/// The two-sided 95% quantile of the normal distribution.
pub const SIGMAS_95: f64 = 1.959_963_984_540_054;
/// Normalised Elo per standard deviation of one game: it equals Elo where nothing is drawn.
pub const NORMALIZED_UNIT: f64 = 800.0 / std::f64::consts::LN_10;

/// An Elo difference and its 95% error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EloEstimate {
    /// Infinite if one player won every game.
    pub value: f64,
    /// `None` if the results are too few, or too much alike, for an error.
    pub error: Option<f64>,
}

impl EloEstimate {
    fn new(value: f64, error: f64) -> EloEstimate {
        let known = value.is_finite() && error.is_finite() && error > 0.0;
        EloEstimate {
            value,
            error: known.then_some(error),
        }
    }
}

impl fmt::Display for EloEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.error {
            Some(error) => write!(f, "{:.2} +/- {error:.2}", self.value),
            None if self.value.is_finite() => {
                write!(f, "{:.2} (too few games for an error)", self.value)
            }
            None if self.value > 0.0 => f.write_str("unbounded (no points lost)"),
            None => f.write_str("unbounded (no points won)"),
        }
    }
}

/// One player's results against another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchScore {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
    /// Game pairs by half points: 0 is two losses, 4 is two wins.
    pub pairs: [u64; 5],
    /// The even pairs in which each side won one game.
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

    /// Counts one game; its pair is counted by [`MatchScore::add_pair`].
    pub fn add_game(&mut self, result: PlayerResult) {
        match result {
            PlayerResult::Win => self.wins += 1,
            PlayerResult::Draw => self.draws += 1,
            PlayerResult::Loss => self.losses += 1,
        }
    }

    /// Counts a pair whose two games have been added.
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

    /// The score from the opponent's point of view.
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

    /// The distribution of the results: of pairs if there are any, else of games.
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
        EloEstimate::new(elo(mean), (high - low) / 2.0)
    }

    /// The Elo difference and its 95% error, always finite. Someone who won every game, or none,
    /// is rated as if half a point had gone the other way, with the error that another point would
    /// make.
    pub fn bounded_elo(&self) -> (f64, f64) {
        let estimate = self.elo();
        if let (true, Some(error)) = (estimate.value.is_finite(), estimate.error) {
            return (estimate.value, error);
        }
        let games = self.games().max(1) as f64;
        let at = |points: f64| elo((points / games).clamp(0.5 / games, 1.0 - 0.5 / games));
        let points = self.points();
        let nearby = (at(points + 1.0) - at(points)).max(at(points) - at(points - 1.0));
        (at(points), nearby)
    }

    pub fn normalized_elo(&self) -> EloEstimate {
        let sample = self.sample();
        let advantage = sample.mean() - 0.5;
        if advantage == 0.0 && !sample.has_spread() {
            return EloEstimate::new(0.0, 0.0);
        }
        let sigmas = advantage / sample.deviation_of_game();
        EloEstimate::new(
            sigmas * NORMALIZED_UNIT,
            SIGMAS_95 * NORMALIZED_UNIT / sample.games().sqrt(),
        )
    }

    /// The likelihood of superiority: the probability, from 0 to 1, that the player is the
    /// stronger one. `None` if the results are too few, or too much alike, for an error.
    pub fn los(&self) -> Option<f64> {
        let sample = self.sample();
        if !sample.has_spread() {
            return None;
        }
        let deviation = sample.error_of_mean() / SIGMAS_95;
        let advantage = sample.mean() - 0.5;
        let sigmas = advantage / (deviation * std::f64::consts::SQRT_2);
        Some((1.0 + libm::erf(sigmas)) / 2.0)
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

/// Counts of results whose scores are evenly spaced from 0 to 1.
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

    /// The score of each result.
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

    /// Whether not all observations are the same; false without any.
    fn has_spread(&self) -> bool {
        self.counts.iter().filter(|count| **count > 0.0).count() > 1
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

/// The Elo difference at which a player is expected to score this share of the points.
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
    fn winning_every_game_bounds_no_difference() {
        let elo = |wins, draws, losses| MatchScore::of_games(wins, draws, losses).elo().to_string();
        assert_eq!(elo(20, 0, 0), "unbounded (no points lost)");
        assert_eq!(elo(0, 0, 20), "unbounded (no points won)");
        let narrow = elo(50, 100, 50);
        assert!(narrow.starts_with("0.00 +/- 3"), "{narrow}");
    }

    #[test]
    fn a_match_won_to_nothing_has_a_finite_bounded_difference() {
        let (elo, error) = MatchScore::of_games(20, 0, 0).bounded_elo();
        assert!(elo > 500.0 && elo < 800.0 && error > 0.0, "{elo} {error}");
        let (lost, _) = MatchScore::of_games(0, 0, 20).bounded_elo();
        assert!((elo + lost).abs() < 1e-9);
        let (elo, error) = MatchScore::of_games(0, 4, 0).bounded_elo();
        assert!(elo == 0.0 && error.is_finite());
        let plain = MatchScore::of_games(50, 20, 30);
        assert_eq!(plain.bounded_elo().0, plain.elo().value);
    }

    #[test]
    fn a_match_too_short_for_an_error_says_so() {
        let one_pair = MatchScore {
            pairs: [0, 0, 0, 1, 0],
            ..MatchScore::of_games(1, 1, 0)
        };
        let drawn = MatchScore::of_games(0, 2, 0);
        for score in [MatchScore::default(), one_pair, drawn] {
            assert_eq!(score.los(), None);
            let shown = format!("{}, {}", score.elo(), score.normalized_elo());
            assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
            assert!(!shown.contains("+/-"), "{shown}");
        }
        assert_eq!(drawn.elo().to_string(), "0.00 (too few games for an error)");
    }
}
