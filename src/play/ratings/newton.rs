//! Maximum likelihood by Newton's method.
//!
//! With d = white + advantage - black and draw threshold t, in natural units, the chance of a
//! draw is (e^2t - 1) P(win) P(loss). The logarithm of the likelihood is therefore a sum of
//! log f(d - t), as often as white did not lose, log f(-d - t), as often as black did not, and
//! log(e^2t - 1), as often as it was drawn; each is concave.

use nalgebra::{DMatrix, DVector};

use super::HeadToHead;

/// The games, and the parameters that are known already.
pub struct RatingProblem<'a> {
    pub players: usize,
    pub pairings: &'a [HeadToHead],
    /// Ratings that are held; without any, the average is held at zero.
    pub held: Vec<(usize, f64)>,
    pub advantage: Option<f64>,
    pub draw: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct FittedRatings {
    pub ratings: Vec<f64>,
    pub advantage: f64,
    pub draw: f64,
    /// Squared standard errors of the ratings.
    pub variances: Vec<f64>,
}

const ROUNDS: usize = 200;
/// Far from the maximum the quadratic model misleads, so steps are limited.
const LONGEST_STEP: f64 = 1.0;
const CONVERGED: f64 = 1e-10;
/// A tiny penalty that keeps groups of players that never met from drifting apart.
const RIDGE: f64 = 1e-9;
/// About 5,000 Elo: a rating beyond it diverges.
const OUT_OF_BOUNDS: f64 = 30.0;
const START_DRAW: f64 = 0.5;
const HALVINGS: usize = 50;

/// Gradient and negative Hessian of the log-likelihood, over ratings, then advantage, then draw
/// threshold.
struct Derivatives {
    gradient: DVector<f64>,
    hessian: DMatrix<f64>,
}

impl RatingProblem<'_> {
    /// `None` when the likelihood rises forever.
    pub fn solve(&self) -> Option<FittedRatings> {
        let (advantage, draw) = (self.players, self.players + 1);
        let mut at = vec![0.0; self.players + 2];
        for (player, rating) in &self.held {
            at[*player] = *rating;
        }
        at[advantage] = self.advantage.unwrap_or(0.0);
        let drawn = self.pairings.iter().any(|pairing| pairing.draws > 0.0);
        at[draw] = match self.draw {
            Some(draw) => draw,
            None if drawn => START_DRAW,
            None => 0.0,
        };
        let free = self.free(drawn);
        for _ in 0..ROUNDS {
            let Derivatives { gradient, hessian } = self.derivatives(&at, &free);
            let step = hessian.cholesky()?.solve(&gradient);
            let longest = step.amax();
            let share = LONGEST_STEP / longest.max(LONGEST_STEP);
            at = self.line_search(at, &free, &step, share);
            if at.iter().any(|value| value.abs() > OUT_OF_BOUNDS) {
                return None;
            }
            if longest < CONVERGED {
                return self.parameters(at, &free);
            }
        }
        None
    }

    /// Takes the step, halved until the likelihood does not fall: Newton may overshoot.
    fn line_search(
        &self,
        at: Vec<f64>,
        free: &[usize],
        step: &DVector<f64>,
        mut share: f64,
    ) -> Vec<f64> {
        let start = self.log_likelihood(&at);
        for _ in 0..HALVINGS {
            let mut next = at.clone();
            for (index, part) in free.iter().zip(step.iter()) {
                next[*index] += share * part;
            }
            // Within the rounding error counts as not falling; NaN does not.
            if self.log_likelihood(&next) >= start - 1e-9 * start.abs() {
                return next;
            }
            share /= 2.0;
        }
        at
    }

    /// The log-likelihood minus the penalty.
    fn log_likelihood(&self, at: &[f64]) -> f64 {
        let (advantage, threshold) = (at[self.players], at[self.players + 1]);
        let results = self.pairings.iter().map(|pairing| {
            let edge = at[pairing.white] - at[pairing.black] + advantage;
            let decided = (pairing.wins + pairing.draws) * log_logistic(edge - threshold)
                + (pairing.losses + pairing.draws) * log_logistic(-edge - threshold);
            let drawn = match pairing.draws {
                0.0 => 0.0,
                draws => draws * (2.0 * threshold + (-(-2.0 * threshold).exp_m1()).ln()),
            };
            decided + drawn
        });
        let sum: f64 = at[..self.players].iter().sum();
        results.sum::<f64>() - self.penalty() * sum * sum / 2.0
    }

    /// Indices of the parameters that are estimated.
    fn free(&self, drawn: bool) -> Vec<usize> {
        let is_held = |player: &usize| self.held.iter().any(|(held, _)| held == player);
        let mut free: Vec<usize> = (0..self.players)
            .filter(|player| !is_held(player))
            .collect();
        if self.advantage.is_none() {
            free.push(self.players);
        }
        if self.draw.is_none() && drawn {
            free.push(self.players + 1);
        }
        free
    }

    /// The penalty that holds the average at zero if no rating is held. It does not affect the
    /// differences.
    fn penalty(&self) -> f64 {
        if self.held.is_empty() { 1.0 } else { 0.0 }
    }

    fn derivatives(&self, at: &[f64], free: &[usize]) -> Derivatives {
        let size = self.players + 2;
        let mut all = Derivatives {
            gradient: DVector::zeros(size),
            hessian: DMatrix::identity(size, size) * RIDGE,
        };
        for pairing in self.pairings {
            self.add_games(pairing, at, &mut all);
        }
        let penalty = self.penalty();
        let sum: f64 = at[..self.players].iter().sum();
        for player in 0..self.players {
            all.gradient[player] -= penalty * sum;
            for other in 0..self.players {
                all.hessian[(player, other)] += penalty;
            }
        }
        Derivatives {
            gradient: all.gradient.select_rows(free),
            hessian: all.hessian.select_rows(free).select_columns(free),
        }
    }

    /// Adds the derivatives of the games between two players.
    fn add_games(&self, pairing: &HeadToHead, at: &[f64], sum: &mut Derivatives) {
        let Derivatives { gradient, hessian } = sum;
        let (advantage, draw) = (self.players, self.players + 1);
        let threshold = at[draw];
        let edge = at[pairing.white] - at[pairing.black] + at[advantage];
        let win = logistic(edge - threshold);
        let loss = logistic(-edge - threshold);
        let not_lost = pairing.wins + pairing.draws;
        let not_won = pairing.losses + pairing.draws;

        let (pull_win, pull_loss) = (not_lost * (1.0 - win), not_won * (1.0 - loss));
        let (bend_win, bend_loss) = (pull_win * win, pull_loss * loss);
        let by_edge = pull_win - pull_loss;
        let bend = bend_win + bend_loss;
        let cross = bend_loss - bend_win;
        let directions = [
            (pairing.white, 1.0),
            (pairing.black, -1.0),
            (advantage, 1.0),
        ];
        for (row, sign) in directions {
            gradient[row] += sign * by_edge;
            hessian[(row, draw)] += sign * cross;
            hessian[(draw, row)] += sign * cross;
            for (column, other) in directions {
                hessian[(row, column)] += sign * other * bend;
            }
        }
        gradient[draw] -= pull_win + pull_loss;
        hessian[(draw, draw)] += bend;
        if pairing.draws > 0.0 {
            // d/dt log(e^2t - 1), written so that it neither overflows nor cancels.
            let tail = -(-2.0 * threshold).exp_m1();
            gradient[draw] += pairing.draws * 2.0 / tail;
            hessian[(draw, draw)] += pairing.draws * 4.0 * (1.0 - tail) / (tail * tail);
        }
    }

    fn parameters(&self, at: Vec<f64>, free: &[usize]) -> Option<FittedRatings> {
        let covariance = self.derivatives(&at, free).hessian.cholesky()?.inverse();
        // The part that the penalty alone contributes: the average is a convention, not a
        // measurement.
        let convention = match self.penalty() {
            0.0 => 0.0,
            penalty => 1.0 / (penalty * (self.players as f64).powi(2)),
        };
        let mut variances = vec![0.0; self.players];
        for (row, index) in free.iter().enumerate() {
            if let Some(variance) = variances.get_mut(*index) {
                *variance = covariance[(row, row)] - convention;
            }
        }
        Some(FittedRatings {
            advantage: at[self.players],
            draw: at[self.players + 1],
            ratings: at[..self.players].to_vec(),
            variances,
        })
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The logarithm of the logistic function, also where that function is nearly zero.
fn log_logistic(x: f64) -> f64 {
    if x < 0.0 {
        x - x.exp().ln_1p()
    } else {
        -(-x).exp().ln_1p()
    }
}
