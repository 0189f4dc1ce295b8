//! The summit of the likelihood, by Newton's method.
//!
//! With d = white + advantage - black and draw threshold t, in natural units, the chance of a
//! draw is (e^2t - 1) P(win) P(loss). The logarithm of the likelihood is therefore a sum of
//! log f(d - t), as often as white did not lose, log f(-d - t), as often as black did not, and
//! log(e^2t - 1), as often as it was drawn; each is concave.

use super::HeadToHead;

/// What is to be found, and what is known already.
pub struct Problem<'a> {
    pub players: usize,
    pub pairings: &'a [HeadToHead],
    /// Ratings that do not move; without any, the average is held at zero.
    pub held: Vec<(usize, f64)>,
    pub advantage: Option<f64>,
    pub draw: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct Parameters {
    pub ratings: Vec<f64>,
    pub advantage: f64,
    pub draw: f64,
    /// Squared standard errors of the ratings.
    pub variances: Vec<f64>,
}

const ROUNDS: usize = 200;
/// No step is longer than this: far from the summit the curvature misleads.
const LONGEST_STEP: f64 = 1.0;
const SETTLED: f64 = 1e-10;
/// Nearly nothing: keeps groups that never met from drifting.
const RIDGE: f64 = 1e-9;
/// Some 5,000 Elo: whoever gets there is on the way to infinity.
const OUT_OF_BOUNDS: f64 = 30.0;
const START_DRAW: f64 = 0.5;
const HALVINGS: usize = 50;

/// Gradient and negated curvature, over ratings, then advantage, then draw threshold.
struct Slope {
    gradient: Vec<f64>,
    curvature: Vec<Vec<f64>>,
}

impl Problem<'_> {
    /// `None` when the likelihood rises forever.
    pub fn solve(&self) -> Option<Parameters> {
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
            let slope = self.slope(&at, &free);
            let step = solve(slope.curvature, slope.gradient)?;
            let longest = step
                .iter()
                .fold(0.0f64, |longest, part| longest.max(part.abs()));
            at = self.climb(at, &free, &step, LONGEST_STEP / longest.max(LONGEST_STEP));
            if at.iter().any(|value| value.abs() > OUT_OF_BOUNDS) {
                return None;
            }
            if longest < SETTLED {
                return self.parameters(at, &free);
            }
        }
        None
    }

    /// Goes the step, or as much of it as leads upwards: Newton may overshoot the summit.
    fn climb(&self, at: Vec<f64>, free: &[usize], step: &[f64], share: f64) -> Vec<f64> {
        let height = self.likelihood(&at);
        let mut share = share;
        for _ in 0..HALVINGS {
            let mut next = at.clone();
            for (index, part) in free.iter().zip(step) {
                next[*index] += share * part;
            }
            // Rounding hides rises smaller than this. What is not a number is not higher.
            if self.likelihood(&next) >= height - 1e-9 * height.abs() {
                return next;
            }
            share /= 2.0;
        }
        at
    }

    /// The logarithm of the likelihood, less the penalty.
    fn likelihood(&self, at: &[f64]) -> f64 {
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

    /// The places of the parameters that may move.
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

    /// The penalty that holds the average at zero when no rating is held; it does not disturb
    /// the differences.
    fn penalty(&self) -> f64 {
        if self.held.is_empty() { 1.0 } else { 0.0 }
    }

    fn slope(&self, at: &[f64], free: &[usize]) -> Slope {
        let size = self.players + 2;
        let mut gradient = vec![0.0; size];
        let mut curvature = vec![vec![0.0; size]; size];
        for pairing in self.pairings {
            self.add_encounter(pairing, at, &mut gradient, &mut curvature);
        }
        let penalty = self.penalty();
        let sum: f64 = at[..self.players].iter().sum();
        for player in 0..self.players {
            gradient[player] -= penalty * sum;
            for cell in &mut curvature[player][..self.players] {
                *cell += penalty;
            }
        }
        for (index, row) in curvature.iter_mut().enumerate() {
            row[index] += RIDGE;
        }
        Slope {
            gradient: free.iter().map(|index| gradient[*index]).collect(),
            curvature: free
                .iter()
                .map(|row| free.iter().map(|column| curvature[*row][*column]).collect())
                .collect(),
        }
    }

    fn add_encounter(
        &self,
        pairing: &HeadToHead,
        at: &[f64],
        gradient: &mut [f64],
        curvature: &mut [Vec<f64>],
    ) {
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
            curvature[row][draw] += sign * cross;
            curvature[draw][row] += sign * cross;
            for (column, other) in directions {
                curvature[row][column] += sign * other * bend;
            }
        }
        gradient[draw] -= pull_win + pull_loss;
        curvature[draw][draw] += bend;
        if pairing.draws > 0.0 {
            // d/dt log(e^2t - 1), written so that it neither overflows nor cancels.
            let tail = -(-2.0 * threshold).exp_m1();
            gradient[draw] += pairing.draws * 2.0 / tail;
            curvature[draw][draw] += pairing.draws * 4.0 * (1.0 - tail) / (tail * tail);
        }
    }

    fn parameters(&self, at: Vec<f64>, free: &[usize]) -> Option<Parameters> {
        let covariance = invert(&self.slope(&at, free).curvature)?;
        // What the penalty alone contributes: the average is a convention, not a measurement.
        let convention = match self.penalty() {
            0.0 => 0.0,
            penalty => 1.0 / (penalty * (self.players as f64).powi(2)),
        };
        let mut variances = vec![0.0; self.players];
        for (place, index) in free.iter().enumerate() {
            if let Some(variance) = variances.get_mut(*index) {
                *variance = covariance[place][place] - convention;
            }
        }
        Some(Parameters {
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

/// The lower triangle whose square is the matrix; `None` when it is not positive definite.
fn cholesky(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    for row in 0..matrix.len() {
        for column in 0..=row {
            let known: f64 = (0..column)
                .map(|k| matrix[row][k] * matrix[column][k])
                .sum();
            let rest = matrix[row][column] - known;
            matrix[row][column] = if row == column {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / matrix[column][column]
            };
        }
    }
    Some(matrix)
}

fn substitute(lower: &[Vec<f64>], mut right: Vec<f64>) -> Vec<f64> {
    let size = lower.len();
    for row in 0..size {
        let known: f64 = (0..row).map(|k| lower[row][k] * right[k]).sum();
        right[row] = (right[row] - known) / lower[row][row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|k| lower[k][row] * right[k]).sum();
        right[row] = (right[row] - known) / lower[row][row];
    }
    right
}

fn solve(matrix: Vec<Vec<f64>>, right: Vec<f64>) -> Option<Vec<f64>> {
    Some(substitute(&cholesky(matrix)?, right))
}

fn invert(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let lower = cholesky(matrix.to_vec())?;
    let unit = |one: usize| {
        (0..matrix.len())
            .map(|at| f64::from(u8::from(at == one)))
            .collect()
    };
    Some(
        (0..matrix.len())
            .map(|one| substitute(&lower, unit(one)))
            .collect(),
    )
}
