//! The sequential probability ratio test (SPRT).
//!
//! Two hypotheses, H0 "the difference is `elo0`" and H1 "the difference is `elo1`", are compared by
//! the log-likelihood ratio (LLR) of the results; the match ends when it leaves the bounds. The
//! likelihood under a hypothesis is that of the best-fitting distribution of results with that
//! difference (a generalised SPRT: nothing is assumed about draws). The difference is either the
//! expected score (logistic Elo) or the expected score over its standard deviation (normalised
//! Elo).

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::match_score::{MatchScore, NORMALIZED_UNIT, ResultSample, expected_score};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EloModel {
    #[default]
    Normalized,
    Logistic,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    pub elo0: f64,
    pub elo1: f64,
    /// The probability of a false positive: H1 accepted at `elo0`.
    pub alpha: f64,
    /// The probability of a false negative: H0 accepted at `elo1`.
    pub beta: f64,
    pub model: EloModel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprtDecision {
    /// H1: the difference is at least `elo1`.
    Accepted,
    /// H0: the difference is at most `elo0`.
    Rejected,
}

#[derive(Debug, Error, PartialEq)]
pub enum SprtError {
    #[error("'{0}' is not of the form elo0=0, elo1=5, alpha=0.05, beta=0.05 or model=normalized")]
    Syntax(String),
    #[error("elo0 ({0}) must be below elo1 ({1})")]
    Order(f64, f64),
    #[error("{0} must lie between 0 and 0.5")]
    Chance(&'static str),
}

impl Default for Sprt {
    fn default() -> Sprt {
        Sprt {
            elo0: 0.0,
            elo1: 5.0,
            alpha: 0.05,
            beta: 0.05,
            model: EloModel::default(),
        }
    }
}

impl FromStr for Sprt {
    type Err = SprtError;

    fn from_str(text: &str) -> Result<Sprt, SprtError> {
        let mut sprt = Sprt::default();
        for word in text.split_whitespace() {
            let syntax = || SprtError::Syntax(word.to_owned());
            let (key, value) = word.split_once('=').ok_or_else(syntax)?;
            let number = || {
                value
                    .parse::<f64>()
                    .ok()
                    .filter(|n| n.is_finite())
                    .ok_or_else(syntax)
            };
            match key {
                "elo0" => sprt.elo0 = number()?,
                "elo1" => sprt.elo1 = number()?,
                "alpha" => sprt.alpha = number()?,
                "beta" => sprt.beta = number()?,
                "model" => sprt.model = value.parse().map_err(|()| syntax())?,
                _ => return Err(syntax()),
            }
        }
        sprt.checked()
    }
}

impl FromStr for EloModel {
    type Err = ();

    fn from_str(text: &str) -> Result<EloModel, ()> {
        match text {
            "normalized" | "normalised" => Ok(EloModel::Normalized),
            "logistic" => Ok(EloModel::Logistic),
            _ => Err(()),
        }
    }
}

impl Sprt {
    fn checked(self) -> Result<Sprt, SprtError> {
        if self.elo0 >= self.elo1 {
            return Err(SprtError::Order(self.elo0, self.elo1));
        }
        for (name, chance) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(chance > 0.0 && chance < 0.5) {
                return Err(SprtError::Chance(name));
            }
        }
        Ok(self)
    }

    /// The LLRs at which the test ends.
    pub fn bounds(&self) -> [f64; 2] {
        [
            (self.beta / (1.0 - self.alpha)).ln(),
            ((1.0 - self.beta) / self.alpha).ln(),
        ]
    }

    /// The log-likelihood ratio of H1 against H0; zero without games.
    pub fn llr(&self, score: &MatchScore) -> f64 {
        let mut sample = score.sample();
        if sample.observations() == 0.0 {
            return 0.0;
        }
        // A result that has not occurred yet is unlikely, not impossible.
        for count in &mut sample.counts {
            *count = count.max(1e-3);
        }
        let hypothesis = |elo: f64| match self.model {
            EloModel::Logistic => likeliest_with_mean(&sample, expected_score(elo)),
            EloModel::Normalized => {
                let ratio = elo / NORMALIZED_UNIT * sample.games_each.sqrt();
                likeliest_with_ratio(&sample, ratio)
            }
        };
        let (null, alternative) = (hypothesis(self.elo0), hypothesis(self.elo1));
        let evidence = sample.counts.iter().zip(null).zip(alternative);
        evidence
            .map(|((count, p0), p1)| count * (p1 / p0).ln())
            .sum()
    }

    pub fn decision(&self, score: &MatchScore) -> Option<SprtDecision> {
        let ratio = self.llr(score);
        let [low, high] = self.bounds();
        if ratio >= high {
            Some(SprtDecision::Accepted)
        } else if ratio <= low {
            Some(SprtDecision::Rejected)
        } else {
            None
        }
    }

    /// The line fastchess prints.
    pub fn describe(&self, score: &MatchScore) -> String {
        let [low, high] = self.bounds();
        let ratio = self.llr(score);
        let decision = match self.decision(score) {
            Some(SprtDecision::Accepted) => " - H1 was accepted",
            Some(SprtDecision::Rejected) => " - H0 was accepted",
            None => "",
        };
        format!(
            "LLR: {ratio:.2} ({low:.2}, {high:.2}) [{:.2}, {:.2}]{decision}",
            self.elo0, self.elo1
        )
    }
}

impl fmt::Display for SprtDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SprtDecision::Accepted => "H1 was accepted",
            SprtDecision::Rejected => "H0 was accepted",
        })
    }
}

/// The distribution that makes the sample likeliest among those whose mean is `mean`.
fn likeliest_with_mean(sample: &ResultSample, mean: f64) -> Vec<f64> {
    let centred: Vec<f64> = sample.values().map(|value| value - mean).collect();
    let total = sample.observations();
    let observed: Vec<f64> = sample.counts.iter().map(|count| count / total).collect();
    tilt(&observed, &centred)
}

/// The same for a given ratio of (mean - 1/2) to standard deviation. The deviation is that of the
/// unknown distribution, so the condition is linearised around the last guess until it converges.
fn likeliest_with_ratio(sample: &ResultSample, ratio: f64) -> Vec<f64> {
    const ROUNDS: usize = 25;
    const CLOSE: f64 = 1e-9;
    let values: Vec<f64> = sample.values().collect();
    let total = sample.observations();
    let observed: Vec<f64> = sample.counts.iter().map(|count| count / total).collect();
    let mut guess = vec![1.0 / values.len() as f64; values.len()];
    for _ in 0..ROUNDS {
        let mean: f64 = expectation(&guess, &values, |value| value);
        let variance = expectation(&guess, &values, |value| (value - mean).powi(2));
        let deviation = variance.sqrt();
        let linear: Vec<f64> = values
            .iter()
            .map(|value| {
                let standardized = (value - mean) / deviation;
                value - 0.5 - ratio * deviation / 2.0 * (1.0 + standardized.powi(2))
            })
            .collect();
        let next = tilt(&observed, &linear);
        let moved = next.iter().zip(&guess).map(|(a, b)| (a - b).abs());
        let moved = moved.fold(0.0, f64::max);
        guess = next;
        if moved < CLOSE {
            break;
        }
    }
    guess
}

fn expectation(chances: &[f64], values: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    chances
        .iter()
        .zip(values)
        .map(|(chance, value)| chance * of(*value))
        .sum()
}

/// The distribution closest to `observed` under which `values` average zero: each probability is
/// divided by `1 + multiplier * value` (a Lagrange multiplier). The average falls as the multiplier
/// grows; Newton's method finds the zero, and bisection where it would leave the interval.
fn tilt(observed: &[f64], values: &[f64]) -> Vec<f64> {
    const ROUNDS: usize = 64;
    const CLOSE: f64 = 1e-15;
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if smallest >= 0.0 || largest <= 0.0 {
        return observed.to_vec();
    }
    let (mut low, mut high) = (-1.0 / largest, -1.0 / smallest);
    let mut multiplier = 0.0;
    for _ in 0..ROUNDS {
        let bent = |value: f64| value / (1.0 + multiplier * value);
        let average = expectation(observed, values, bent);
        let fall = expectation(observed, values, |value| bent(value).powi(2));
        if average > 0.0 {
            low = multiplier;
        } else {
            high = multiplier;
        }
        let newton = multiplier + average / fall;
        let inside = newton > low && newton < high;
        let next = if inside { newton } else { (low + high) / 2.0 };
        let moved = (next - multiplier).abs();
        multiplier = next;
        if moved <= CLOSE * (1.0 + multiplier.abs()) {
            break;
        }
    }
    let bent = observed.iter().zip(values);
    bent.map(|(chance, value)| chance / (1.0 + multiplier * value))
        .collect()
}
