//! Units of scores, and what a score says about the result.
//!
//! - [`Score`]: internal units. Evaluation and search count in them.
//! - [`Centipawns`]: what UCI and PGN show: 100 of them are a 50% chance of winning.
//! - [`WinModel`]: the curve between them. It belongs to whatever evaluates: a network carries its
//!   own in its file, weights without a network in their TOML, a mentor engine has another.

use serde::{Deserialize, Serialize};

/// A score in internal units, seen by the side to move. A mate is a score too, see
/// [`crate::search::score`].
pub type Score = i32;

/// A score in the units of UCI: 100 centipawns are a 50% chance of winning between equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Centipawns(pub i32);

/// The chance of winning as a function of the score:
/// `1 / (1 + exp((midpoint - score) / slope))`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WinModel {
    /// The internal score at which half of the games are won.
    pub midpoint: f64,
    /// How many internal units multiply the odds of winning by e.
    pub slope: f64,
}

impl Default for WinModel {
    /// For weights whose file states no model.
    fn default() -> WinModel {
        WinModel {
            midpoint: 200.0,
            slope: 80.0,
        }
    }
}

impl WinModel {
    /// A model whose numbers make sense: finite and positive.
    pub fn new(midpoint: f64, slope: f64) -> Option<WinModel> {
        let sound = |value: f64| (1.0..=100_000.0).contains(&value);
        (sound(midpoint) && sound(slope)).then_some(WinModel { midpoint, slope })
    }

    /// The model under which games turned out as they did most likely (logistic regression by
    /// Newton's method). Each sample is a score and the points (1, 1/2 or 0) that the side whose
    /// score it is made in the game. Nothing if the games do not determine a model: too few, or
    /// no draws and losses where the score is high.
    pub fn fit(samples: &[(Score, f64)]) -> Option<WinModel> {
        // Large scores say nothing about the middle of the curve and would only test its tails.
        let near = |sample: &&(Score, f64)| sample.0.abs() <= WinModel::LARGEST_FITTED;
        let both_sides = |&(score, points): &(Score, f64)| {
            let score = f64::from(score);
            [(score, points > 0.75), (-score, points < 0.25)]
        };
        let outcomes: Vec<(f64, bool)> = samples.iter().filter(near).flat_map(both_sides).collect();
        let mut line = LogOdds {
            offset: 0.0,
            factor: 0.0,
        };
        for _ in 0..100 {
            let step = line.newton_step(&outcomes)?;
            let before = line.likelihood(&outcomes);
            let tolerance = 1e-12 * before.abs();
            // Newton's method may overshoot: shorten the step until it helps.
            let mut next = (0..30).map(|halvings| line.moved(&step, 0.5_f64.powi(halvings)));
            line = next.find(|next| next.likelihood(&outcomes) >= before - tolerance)?;
            if step.offset.abs() < 1e-6 {
                return WinModel::new(-line.offset / line.factor, 1.0 / line.factor);
            }
        }
        None
    }

    /// The model in whole units, as files show it: the rest of a fit is noise.
    pub fn rounded(self) -> WinModel {
        WinModel {
            midpoint: self.midpoint.round(),
            slope: self.slope.round(),
        }
    }

    const LARGEST_FITTED: Score = 1500;

    pub fn centipawns(&self, score: Score) -> Centipawns {
        Centipawns((f64::from(score) * 100.0 / self.midpoint).round() as i32)
    }

    pub fn score(&self, centipawns: Centipawns) -> Score {
        (f64::from(centipawns.0) * self.midpoint / 100.0).round() as Score
    }

    /// The chance that the side to move wins.
    pub fn win_chance(&self, score: Score) -> f64 {
        self.win_chance_of(f64::from(score))
    }

    fn win_chance_of(&self, score: f64) -> f64 {
        1.0 / (1.0 + ((self.midpoint - score) / self.slope).exp())
    }

    /// The points the side to move expects: a win counts 1, a draw 1/2.
    pub fn expected_points(&self, score: Score) -> f64 {
        (1.0 + self.win_chance(score) - self.win_chance(-score)) / 2.0
    }

    /// Wins, draws and losses in per mille.
    pub fn wdl(&self, score: Score) -> [u32; 3] {
        let per_mille = |chance: f64| (1000.0 * chance).round() as u32;
        let win = per_mille(self.win_chance(score));
        let loss = per_mille(self.win_chance(-score));
        [win, 1000_u32.saturating_sub(win + loss), loss]
    }
}

/// A win model as a line: the logarithm of the odds is `offset + factor * score`.
struct LogOdds {
    offset: f64,
    factor: f64,
}

impl LogOdds {
    fn chance(&self, score: f64) -> f64 {
        1.0 / (1.0 + (-(self.offset + self.factor * score)).exp())
    }

    /// The logarithm of the likelihood of the outcomes.
    fn likelihood(&self, outcomes: &[(f64, bool)]) -> f64 {
        let logarithm = |&(score, won): &(f64, bool)| {
            let log_odds = self.offset + self.factor * score;
            let against = if won { -log_odds } else { log_odds };
            // -ln(1 + exp(x)) without overflow.
            -(against.max(0.0) + (-against.abs()).exp().ln_1p())
        };
        outcomes.iter().map(logarithm).sum()
    }

    /// The step of Newton's method, if the outcomes determine one.
    fn newton_step(&self, outcomes: &[(f64, bool)]) -> Option<LogOdds> {
        let (mut gradient, mut hessian) = ([0.0; 2], [0.0; 3]);
        for &(score, won) in outcomes {
            let chance = self.chance(score);
            let error = f64::from(u8::from(won)) - chance;
            let weight = chance * (1.0 - chance);
            gradient[0] += error;
            gradient[1] += error * score;
            hessian[0] += weight;
            hessian[1] += weight * score;
            hessian[2] += weight * score * score;
        }
        let determinant = hessian[0] * hessian[2] - hessian[1] * hessian[1];
        let step = LogOdds {
            offset: (hessian[2] * gradient[0] - hessian[1] * gradient[1]) / determinant,
            factor: (hessian[0] * gradient[1] - hessian[1] * gradient[0]) / determinant,
        };
        // Where every outcome is certain, any steep enough curve would do.
        let is_determined = hessian[0] >= 5.0 && step.offset.is_finite() && step.factor.is_finite();
        is_determined.then_some(step)
    }

    fn moved(&self, step: &LogOdds, length: f64) -> LogOdds {
        LogOdds {
            offset: self.offset + length * step.offset,
            factor: self.factor + length * step.factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: WinModel = WinModel {
        midpoint: 180.0,
        slope: 75.0,
    };

    #[test]
    fn a_hundred_centipawns_win_half_the_games() {
        assert_eq!(MODEL.centipawns(180), Centipawns(100));
        assert_eq!(MODEL.score(Centipawns(100)), 180);
        assert_eq!(MODEL.wdl(180)[0], 500);
    }

    #[test]
    fn the_fit_finds_the_model_that_made_the_games() {
        let mut samples = Vec::new();
        for score in (-600..=600).step_by(20) {
            let [win, draw, loss] = MODEL.wdl(score);
            for (count, points) in [(win, 1.0), (draw, 0.5), (loss, 0.0)] {
                samples.extend(std::iter::repeat_n((score, points), count as usize));
            }
        }
        let fitted = WinModel::fit(&samples).unwrap();
        assert!((fitted.midpoint - MODEL.midpoint).abs() < 1.0, "{fitted:?}");
        assert!((fitted.slope - MODEL.slope).abs() < 1.0, "{fitted:?}");
        assert_eq!(WinModel::fit(&[]), None);
        assert_eq!(WinModel::fit(&[(100, 1.0)]), None);
    }

    #[test]
    fn wins_draws_and_losses_add_up_and_mirror() {
        for score in [-30_000, -400, -1, 0, 37, 1_000, 31_999] {
            let [win, draw, loss] = MODEL.wdl(score);
            assert_eq!(win + draw + loss, 1000);
            assert_eq!(MODEL.wdl(-score), [loss, draw, win]);
            let points = MODEL.expected_points(score) + MODEL.expected_points(-score);
            assert!((points - 1.0).abs() < 1e-12);
        }
    }
}
