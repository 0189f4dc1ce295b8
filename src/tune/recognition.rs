//! Who played this? Clones of players, asked which of them would rather have made the moves.
//!
//! Each clone gives every move a likelihood: it looks one ply ahead, settles captures, and plays
//! better moves more often. The evidence for a clone is the sum of the logarithms over one side's
//! moves in a game. Clones are poor likenesses and one player's moves depend on each other, so
//! the bare posterior is far too sure of itself; and a clone that plays well all round would claim
//! everybody's games. Most of what tells masters apart are the openings they like: later they all
//! look for the best move. A [`Calibration`] on games whose players are known finds how far the
//! evidence can be trusted and how much each clone must give away for each move (logistic
//! regression), and the posterior is then a confidence that holds.

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use shakmaty::Color;

use super::fitness::{Quiescence, Searched, likelihood};
use crate::data::{PgnGame, Selection};
use crate::eval::Weights;
use crate::position::{Position, movegen};

pub struct Likeness {
    pub name: String,
    pub weights: Weights,
}

impl Likeness {
    /// Whether a player of a game, as PGN writes him, is the one it was made from.
    pub fn is(&self, player: &str) -> bool {
        player.to_lowercase().contains(&self.name.to_lowercase())
    }
}

/// How clones choose their moves.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub temperature: f64,
    pub quiescence: Quiescence,
}

/// One side of a game.
#[derive(Debug)]
pub struct Witness {
    /// Its place among the games, and whose moves they are.
    pub game: usize,
    pub color: Color,
    pub player: String,
    /// The clone of whoever played, if there is one.
    pub truth: Option<usize>,
    pub moves: usize,
    /// The log-likelihood of the moves under each clone.
    pub evidence: Vec<f64>,
}

/// Hears both sides of every game as far as the selection wants them, or only those whose players
/// are known.
pub fn witnesses(
    games: &[PgnGame],
    clones: &[Likeness],
    manner: Manner,
    selection: &Selection,
    known_only: bool,
) -> Vec<Witness> {
    let sides: Vec<_> = (0..games.len())
        .flat_map(|game| [(game, Color::White), (game, Color::Black)])
        .collect();
    let hear = |&(number, color): &(usize, Color)| {
        let game = &games[number];
        let player = game.names[color as usize].clone();
        let truth = clones.iter().position(|clone| clone.is(&player));
        if known_only && truth.is_none() || !selection.wants_side(game, color) {
            return None;
        }
        let mut witness = Witness {
            game: number,
            color,
            player,
            truth,
            moves: 0,
            evidence: vec![0.0; clones.len()],
        };
        witness.listen(game, clones, manner, selection);
        (witness.moves > 0).then_some(witness)
    };
    sides.par_iter().filter_map(hear).collect()
}

impl Witness {
    fn listen(
        &mut self,
        game: &PgnGame,
        clones: &[Likeness],
        manner: Manner,
        selection: &Selection,
    ) {
        let mut position = Position::from_chess(game.start.clone());
        for (ply, &played) in game.moves.iter().enumerate() {
            let counts = selection.wants_ply(ply) && position.turn() == self.color;
            if counts && movegen::legal_moves(&position).len() > 1 {
                self.moves += 1;
                for (sum, clone) in self.evidence.iter_mut().zip(clones) {
                    let scores = Searched::new(&position, &clone.weights, manner.quiescence);
                    let answers = scores.places(&[played]);
                    *sum += likelihood::of_scores(&scores, &answers, manner.temperature);
                }
            }
            position.play(played);
        }
    }

    /// What speaks for one clone, as the numbers a calibration multiplies: the evidence above
    /// the average of all, and the moves that are counted to that clone.
    fn features(&self, clone: usize) -> DVector<f64> {
        let count = self.evidence.len();
        let mean = self.evidence.iter().sum::<f64>() / count as f64;
        let mut features = DVector::zeros(1 + count);
        features[0] = self.evidence[clone] - mean;
        features[1 + clone] = self.moves as f64;
        features
    }
}

/// How evidence becomes a posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// First how far evidence is trusted, then what each clone gets, or gives, for a move.
    factors: DVector<f64>,
}

/// Holds factors to where they begin, as much as a fraction of one game would.
const RIDGE: f64 = 0.05;
const NEWTON_STEPS: usize = 30;

impl Calibration {
    /// Evidence as it is.
    pub fn none(clones: usize) -> Calibration {
        let mut factors = DVector::zeros(1 + clones);
        factors[0] = 1.0;
        Calibration { factors }
    }

    pub fn trust(&self) -> f64 {
        self.factors[0]
    }

    /// Fitted to sides whose players are known; none if there are no such sides.
    pub fn fit(witnesses: &[Witness], clones: usize) -> Option<Calibration> {
        let known: Vec<_> = witnesses.iter().filter(|one| one.truth.is_some()).collect();
        if known.is_empty() {
            return None;
        }
        let mut calibration = Calibration {
            factors: DVector::zeros(1 + clones),
        };
        for _ in 0..NEWTON_STEPS {
            let (slope, curvature) = calibration.slope(&known);
            let Some(step) = curvature.cholesky().map(|curved| curved.solve(&slope)) else {
                break;
            };
            // Far from the top Newton would overshoot.
            let shrink = 1.0_f64.min(1.0 / step.amax().max(1e-12));
            calibration.factors += shrink * &step;
            if step.amax() < 1e-9 {
                break;
            }
        }
        Some(calibration)
    }

    /// The derivative of the log-likelihood of the truth, and how it bends.
    fn slope(&self, known: &[&Witness]) -> (DVector<f64>, DMatrix<f64>) {
        let size = self.factors.len();
        let mut slope = -RIDGE * &self.factors;
        let mut curvature = DMatrix::identity(size, size) * RIDGE;
        for witness in known {
            let posterior = self.posterior(witness);
            let features: Vec<_> = (0..posterior.len())
                .map(|clone| witness.features(clone))
                .collect();
            let mut mean = DVector::zeros(size);
            for (share, own) in posterior.iter().zip(&features) {
                mean += *share * own;
                curvature += *share * own * own.transpose();
            }
            curvature -= &mean * mean.transpose();
            if let Some(truth) = witness.truth {
                slope += &features[truth] - mean;
            }
        }
        (slope, curvature)
    }

    /// How likely each clone is to be the one.
    pub fn posterior(&self, witness: &Witness) -> Vec<f64> {
        let clones = 0..witness.evidence.len();
        let scores = clones.map(|clone| self.factors.dot(&witness.features(clone)));
        let scores: Vec<f64> = scores.collect();
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odds: Vec<f64> = scores.iter().map(|score| (score - best).exp()).collect();
        let all: f64 = odds.iter().sum();
        odds.into_iter().map(|one| one / all).collect()
    }
}

/// How often sides whose players are known were recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    pub sides: usize,
    pub right: usize,
    /// Mean confidence in the answers: as high as the share of right ones if it means anything.
    pub confidence: f64,
    /// What guessing would reach: the share of whoever played most.
    pub chance: f64,
}

impl Score {
    pub fn of(witnesses: &[Witness], calibration: &Calibration) -> Score {
        let mut score = Score::default();
        let mut played = vec![0_usize; calibration.factors.len() - 1];
        for witness in witnesses {
            let Some(truth) = witness.truth else { continue };
            let posterior = calibration.posterior(witness);
            let answer = most_likely(&posterior);
            played[truth] += 1;
            score.sides += 1;
            score.right += usize::from(answer == truth);
            score.confidence += posterior[answer];
        }
        let sides = score.sides.max(1) as f64;
        score.confidence /= sides;
        let most = played.iter().max().copied().unwrap_or(0) as f64;
        score.chance = (most / sides).max(1.0 / played.len().max(1) as f64);
        score
    }

    pub fn share(&self) -> f64 {
        self.right as f64 / self.sides.max(1) as f64
    }

    /// The probability of guessing at least as many.
    pub fn p_value(&self) -> f64 {
        let count = self.sides as f64;
        let ways = |hits: f64| {
            let choose = libm::lgamma(count + 1.0)
                - libm::lgamma(hits + 1.0)
                - libm::lgamma(count - hits + 1.0);
            choose + hits * self.chance.ln() + (count - hits) * (1.0 - self.chance).ln()
        };
        let tail = (self.right..=self.sides).map(|hits| ways(hits as f64).exp());
        tail.sum::<f64>().min(1.0)
    }
}

pub fn most_likely(posterior: &[f64]) -> usize {
    let places = 0..posterior.len();
    places
        .max_by(|a, b| posterior[*a].total_cmp(&posterior[*b]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(truth: usize, evidence: [f64; 2]) -> Witness {
        Witness {
            game: 0,
            color: Color::White,
            player: String::new(),
            truth: Some(truth),
            moves: 10,
            evidence: evidence.to_vec(),
        }
    }

    #[test]
    fn calibration_takes_away_what_a_clone_gets_everywhere() {
        // The first clone is always 5 ahead; 2 more or less are what tells the players apart.
        let sides: Vec<_> = (0..40)
            .map(|number| {
                let noise = if number % 8 == 0 { -4.0 } else { 0.0 };
                match number % 2 {
                    0 => witness(0, [7.0 + noise, 0.0]),
                    _ => witness(1, [3.0 - noise, 0.0]),
                }
            })
            .collect();
        let bare = Score::of(&sides, &Calibration::none(2));
        let fitted = Score::of(&sides, &Calibration::fit(&sides, 2).unwrap());
        assert_eq!(bare.right, 20);
        assert!(fitted.right >= 35, "{fitted:?}");
        assert!(
            (fitted.confidence - fitted.share()).abs() < 0.05,
            "{fitted:?}"
        );
    }

    #[test]
    fn guessing_half_of_ten_right_is_no_surprise() {
        let score = |right| Score {
            sides: 10,
            right,
            confidence: 0.5,
            chance: 0.5,
        };
        assert!((score(10).p_value() - 1.0 / 1024.0).abs() < 1e-9);
        assert!((score(0).p_value() - 1.0).abs() < 1e-9);
    }
}
