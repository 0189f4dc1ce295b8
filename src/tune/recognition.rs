//! Recognising players: which of several player models most likely made the moves of a game.
//!
//! Each model gives every move a probability: a softmax over the scores of one ply and quiescence.
//! The evidence for a model is the log-likelihood of one side's moves in a game. Models are rough
//! and a player's moves are not independent, so the raw posterior is far too confident; and a model
//! that plays well in general would claim everybody's games. Masters differ mostly in the openings
//! they prefer. A [`Calibration`] on games with known players fits how much the evidence counts and
//! an offset per move for each model (logistic regression); its posterior is a confidence that
//! holds.

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use shakmaty::Color;

use super::fitness::{BoardSearch, QuiescenceLimits, softmax};
use crate::data::{PgnGame, Selection};
use crate::eval::Weights;
use crate::position::{Position, movegen};

pub struct PlayerModel {
    pub name: String,
    pub weights: Weights,
}

impl PlayerModel {
    /// Whether this player of a PGN game is the one that is modelled.
    pub fn is(&self, player: &str) -> bool {
        player.to_lowercase().contains(&self.name.to_lowercase())
    }
}

/// How models choose moves.
#[derive(Clone, Copy, Debug)]
pub struct MoveModel {
    pub temperature: f64,
    pub quiescence: QuiescenceLimits,
}

/// One side of a game.
#[derive(Debug)]
pub struct GameSide {
    /// Index of the game.
    pub game: usize,
    pub color: Color,
    pub player: String,
    /// The index of the model of the player, if there is one.
    pub actual: Option<usize>,
    pub moves: usize,
    /// The log-likelihood of the moves under each model.
    pub evidence: Vec<f64>,
}

/// The selected moves of both sides of every game, or only of sides whose players are known.
pub fn collect_sides(
    games: &[PgnGame],
    models: &[PlayerModel],
    move_model: MoveModel,
    selection: &Selection,
    known_only: bool,
) -> Vec<GameSide> {
    let sides: Vec<_> = (0..games.len())
        .flat_map(|game| [(game, Color::White), (game, Color::Black)])
        .collect();
    let read_sides = |&(number, color): &(usize, Color)| {
        let game = &games[number];
        let player = game.names[color as usize].clone();
        let actual = models.iter().position(|model| model.is(&player));
        if known_only && actual.is_none() || !selection.wants_side(game, color) {
            return None;
        }
        let mut side = GameSide {
            game: number,
            color,
            player,
            actual,
            moves: 0,
            evidence: vec![0.0; models.len()],
        };
        side.add_evidence(game, models, move_model, selection);
        (side.moves > 0).then_some(side)
    };
    sides.par_iter().filter_map(read_sides).collect()
}

impl GameSide {
    fn add_evidence(
        &mut self,
        game: &PgnGame,
        models: &[PlayerModel],
        move_model: MoveModel,
        selection: &Selection,
    ) {
        let mut position = Position::from_chess(game.start.clone());
        for (ply, &played) in game.moves.iter().enumerate() {
            let counts = selection.wants_ply(ply) && position.turn() == self.color;
            if counts && movegen::legal_moves(&position).len() > 1 {
                self.moves += 1;
                for (sum, model) in self.evidence.iter_mut().zip(models) {
                    let scores = BoardSearch::new(&position, &model.weights, move_model.quiescence);
                    let answers = scores.move_numbers(&[played]);
                    *sum += softmax::log_likelihood_of_scores(
                        &scores,
                        &answers,
                        move_model.temperature,
                    );
                }
            }
            position.play(played);
        }
    }

    /// The features of one model in the logistic regression: its evidence above the mean, and the
    /// number of moves in the model's own slot.
    fn features(&self, model: usize) -> DVector<f64> {
        let count = self.evidence.len();
        let mean = self.evidence.iter().sum::<f64>() / count as f64;
        let mut features = DVector::zeros(1 + count);
        features[0] = self.evidence[model] - mean;
        features[1 + model] = self.moves as f64;
        features
    }
}

/// Turns evidence into a posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The scale of the evidence, then the offset per move of each model.
    factors: DVector<f64>,
}

/// Ridge penalty, as strong as a fraction of one game.
const RIDGE: f64 = 0.05;
const NEWTON_STEPS: usize = 30;

impl Calibration {
    /// No calibration: raw evidence.
    pub fn none(models: usize) -> Calibration {
        let mut factors = DVector::zeros(1 + models);
        factors[0] = 1.0;
        Calibration { factors }
    }

    pub fn evidence_scale(&self) -> f64 {
        self.factors[0]
    }

    /// Fitted to sides with known players; none if there are none.
    pub fn fit(collect_sides: &[GameSide], models: usize) -> Option<Calibration> {
        let known: Vec<_> = collect_sides
            .iter()
            .filter(|one| one.actual.is_some())
            .collect();
        if known.is_empty() {
            return None;
        }
        let mut calibration = Calibration {
            factors: DVector::zeros(1 + models),
        };
        for _ in 0..NEWTON_STEPS {
            let (gradient_and_hessian, hessian) = calibration.gradient(&known);
            let Some(step) = hessian
                .cholesky()
                .map(|curved| curved.solve(&gradient_and_hessian))
            else {
                break;
            };
            // Far from the maximum a full Newton step would overshoot.
            let shrink = 1.0_f64.min(1.0 / step.amax().max(1e-12));
            calibration.factors += shrink * &step;
            if step.amax() < 1e-9 {
                break;
            }
        }
        Some(calibration)
    }

    /// Gradient and negated Hessian of the log-likelihood of the actual players.
    fn gradient(&self, known: &[&GameSide]) -> (DVector<f64>, DMatrix<f64>) {
        let size = self.factors.len();
        let mut gradient_and_hessian = -RIDGE * &self.factors;
        let mut hessian = DMatrix::identity(size, size) * RIDGE;
        for side in known {
            let posterior = self.posterior(side);
            let features: Vec<_> = (0..posterior.len())
                .map(|model| side.features(model))
                .collect();
            let mut mean = DVector::zeros(size);
            for (share, own) in posterior.iter().zip(&features) {
                mean += *share * own;
                hessian += *share * own * own.transpose();
            }
            hessian -= &mean * mean.transpose();
            if let Some(actual) = side.actual {
                gradient_and_hessian += &features[actual] - mean;
            }
        }
        (gradient_and_hessian, hessian)
    }

    /// The probability of each model.
    pub fn posterior(&self, side: &GameSide) -> Vec<f64> {
        let models = 0..side.evidence.len();
        let scores = models.map(|model| self.factors.dot(&side.features(model)));
        let scores: Vec<f64> = scores.collect();
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odds: Vec<f64> = scores.iter().map(|score| (score - best).exp()).collect();
        let all: f64 = odds.iter().sum();
        odds.into_iter().map(|one| one / all).collect()
    }
}

/// How often known players were recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecognitionScore {
    pub sides: usize,
    pub right: usize,
    /// Mean confidence of the answers; if calibrated it equals the share of right ones.
    pub confidence: f64,
    /// The share that guessing reaches: always naming the most frequent player.
    pub chance: f64,
}

impl RecognitionScore {
    pub fn of(collect_sides: &[GameSide], calibration: &Calibration) -> RecognitionScore {
        let mut score = RecognitionScore::default();
        let mut played = vec![0_usize; calibration.factors.len() - 1];
        for side in collect_sides {
            let Some(actual) = side.actual else { continue };
            let posterior = calibration.posterior(side);
            let answer = most_likely(&posterior);
            played[actual] += 1;
            score.sides += 1;
            score.right += usize::from(answer == actual);
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

    /// One-sided p-value: the probability of guessing at least as many.
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

    fn side(actual: usize, evidence: [f64; 2]) -> GameSide {
        GameSide {
            game: 0,
            color: Color::White,
            player: String::new(),
            actual: Some(actual),
            moves: 10,
            evidence: evidence.to_vec(),
        }
    }

    #[test]
    fn calibration_takes_away_what_a_clone_gets_everywhere() {
        // The first model is always 5 ahead; a difference of 2 separates the players.
        let sides: Vec<_> = (0..40)
            .map(|number| {
                let noise = if number % 8 == 0 { -4.0 } else { 0.0 };
                match number % 2 {
                    0 => side(0, [7.0 + noise, 0.0]),
                    _ => side(1, [3.0 - noise, 0.0]),
                }
            })
            .collect();
        let bare = RecognitionScore::of(&sides, &Calibration::none(2));
        let fitted = RecognitionScore::of(&sides, &Calibration::fit(&sides, 2).unwrap());
        assert_eq!(bare.right, 20);
        assert!(fitted.right >= 35, "{fitted:?}");
        assert!(
            (fitted.confidence - fitted.share()).abs() < 0.05,
            "{fitted:?}"
        );
    }

    #[test]
    fn guessing_half_of_ten_right_is_no_surprise() {
        let score = |right| RecognitionScore {
            sides: 10,
            right,
            confidence: 0.5,
            chance: 0.5,
        };
        assert!((score(10).p_value() - 1.0 / 1024.0).abs() < 1e-9);
        assert!((score(0).p_value() - 1.0).abs() < 1e-9);
    }
}
