//! CMA-ES: evolution strategy with covariance matrix adaptation (Hansen and Ostermeier, 2001).
//!
//! Genes are scaled so that every range is 1. With very many genes the full covariance matrix
//! takes too long to learn and to decompose; `diagonal` keeps the variances only (sep-CMA-ES).
//! Letters in comments are those of Hansen's tutorial.

use nalgebra::{DMatrix, DMatrixViewMut, DVector, DVectorViewMut, SymmetricEigen};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use super::{Algorithm, GenerationContext, Individual, Method, MethodConfig, MethodState, rank};
use crate::random::Purpose;
use crate::tune::genome::Genome;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "cma-es"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CmaEsSettings {
    pub name: String,
    pub population: usize,
    /// The initial step size, as a share of each gene's range.
    pub spread: f64,
    pub diagonal: bool,
}

impl Default for CmaEsSettings {
    fn default() -> CmaEsSettings {
        CmaEsSettings {
            name: Self::NAME.to_owned(),
            population: 20,
            spread: 0.2,
            diagonal: false,
        }
    }
}

impl NamedSettings for CmaEsSettings {
    const NAME: &'static str = "cma-es";
}

impl MethodConfig for CmaEsSettings {
    fn validate(&self) -> Result<(), SettingError> {
        check_range("population", self.population, 4..=1_000_000)?;
        check_range("spread", self.spread, 1e-6..=10.0)
    }

    fn method(&self) -> Box<dyn Method> {
        Box::new(CmaEs::new(self.clone()))
    }
}

/// The search distribution and its two evolution paths. Aliases read checkpoints of earlier
/// versions.
#[derive(Default, Deserialize, Serialize)]
pub struct State {
    mean: Vec<f64>,
    /// Sigma.
    #[serde(alias = "width")]
    step_size: f64,
    /// C, column by column (it is symmetric); the diagonal alone with `diagonal`.
    covariance: Vec<f64>,
    /// p_c.
    #[serde(alias = "path")]
    covariance_path: Vec<f64>,
    /// p_sigma.
    #[serde(alias = "width_path")]
    step_size_path: Vec<f64>,
    population: Vec<Individual>,
}

pub type CmaEs = MethodState<CmaEsSettings, State>;

/// Hansen's default strategy parameters for a dimension and a population.
struct StrategyParameters {
    /// Recombination weights of the parents, best first.
    weights: Vec<f64>,
    mu_eff: f64,
    c_c: f64,
    c_sigma: f64,
    c_1: f64,
    c_mu: f64,
    damping: f64,
    /// Expected length of a standard normal vector (chi_n).
    expected_length: f64,
}

impl StrategyParameters {
    fn new(dimension: usize, population: usize, diagonal: bool) -> StrategyParameters {
        let n = dimension as f64;
        let parents = population / 2;
        let raw: Vec<f64> = (0..parents)
            .map(|rank| ((population as f64 + 1.0) / 2.0).ln() - (rank as f64 + 1.0).ln())
            .collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let mu_eff = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let c_1 = 2.0 / ((n + 1.3).powi(2) + mu_eff);
        let c_mu = 2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0).powi(2) + mu_eff);
        // Fewer parameters can be learned faster.
        let speedup = if diagonal { (n + 2.0) / 3.0 } else { 1.0 };
        let c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
        StrategyParameters {
            c_c: (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n),
            c_sigma,
            c_1: (c_1 * speedup).min(0.5),
            c_mu: (c_mu * speedup).min(0.5),
            damping: 1.0 + c_sigma + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0),
            expected_length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
            weights,
            mu_eff,
        }
    }
}

/// The square root of a covariance matrix and its inverse, by eigendecomposition.
enum CovarianceRoot {
    Diagonal(DVector<f64>),
    Full {
        axes: DMatrix<f64>,
        lengths: DVector<f64>,
    },
}

impl CovarianceRoot {
    fn of(covariance: &[f64], dimension: usize) -> CovarianceRoot {
        let root = |variance: f64| variance.max(1e-20).sqrt();
        if covariance.len() == dimension {
            return CovarianceRoot::Diagonal(DVector::from_column_slice(covariance).map(root));
        }
        let matrix = DMatrix::from_column_slice(dimension, dimension, covariance);
        let eigen = SymmetricEigen::new(matrix);
        CovarianceRoot::Full {
            axes: eigen.eigenvectors,
            lengths: eigen.eigenvalues.map(root),
        }
    }

    /// A standard normal vector as a sample of the distribution.
    fn transform(&self, sample: &DVector<f64>) -> DVector<f64> {
        match self {
            CovarianceRoot::Diagonal(lengths) => sample.component_mul(lengths),
            CovarianceRoot::Full { axes, lengths } => axes * sample.component_mul(lengths),
        }
    }

    /// C to the power of -1/2, applied to a step.
    fn whiten(&self, step: &DVector<f64>) -> DVector<f64> {
        match self {
            CovarianceRoot::Diagonal(lengths) => step.component_div(lengths),
            CovarianceRoot::Full { axes, lengths } => {
                axes * (axes.transpose() * step).component_div(lengths)
            }
        }
    }
}

fn scaled(genes: &[f64], genome: &Genome) -> DVector<f64> {
    let pairs = genes.iter().zip(&genome.genes);
    let values = pairs.map(|(value, gene)| (value - gene.low) / gene.range().max(1e-9));
    DVector::from_iterator(genes.len(), values)
}

fn unscaled(point: &DVector<f64>, genome: &Genome) -> Vec<f64> {
    let pairs = point.iter().zip(&genome.genes);
    pairs
        .map(|(value, gene)| (gene.low + value * gene.range()).clamp(gene.low, gene.high))
        .collect()
}

impl CmaEs {
    /// Samples and evaluates a population.
    fn sample(&mut self, context: &GenerationContext<'_>) {
        let dimension = context.genome.len();
        let mean = DVector::from_column_slice(&self.state.mean);
        let root = CovarianceRoot::of(&self.state.covariance, dimension);
        let individual = |number: usize| {
            let mut random = context.stream(Purpose::Variation, number);
            let normal = (0..dimension).map(|_| random.sample::<f64, _>(StandardNormal));
            let step = root.transform(&DVector::from_iterator(dimension, normal));
            let point = &mean + self.state.step_size * step;
            Individual::new(unscaled(&point, context.genome))
        };
        let mut population: Vec<_> = (0..self.settings.population).map(individual).collect();
        context.evaluate(&mut population);
        rank(&mut population);
        self.state.population = population;
    }

    /// Moves mean, step size and covariance towards the better half of the population.
    fn update(&mut self, genome: &Genome) {
        let state = &mut self.state;
        let dimension = genome.len();
        let CmaEsSettings {
            population,
            diagonal,
            ..
        } = self.settings;
        let parameters = StrategyParameters::new(dimension, population, diagonal);
        let root = CovarianceRoot::of(&state.covariance, dimension);
        let mean = DVector::from_column_slice(&state.mean);
        let parents = state.population.iter().take(parameters.weights.len());
        let steps: Vec<_> = parents
            .map(|one| (scaled(&one.genes, genome) - &mean) / state.step_size)
            .collect();
        let mut step = DVector::zeros(dimension);
        for (weight, one) in parameters.weights.iter().zip(&steps) {
            step += *weight * one;
        }
        state.mean = (&mean + state.step_size * &step).as_slice().to_vec();

        let StrategyParameters { c_c, c_sigma, .. } = parameters;
        let normalise = |rate: f64| (rate * (2.0 - rate) * parameters.mu_eff).sqrt();
        let step_size_path = DVector::from_column_slice(&state.step_size_path) * (1.0 - c_sigma)
            + normalise(c_sigma) * root.whiten(&step);
        let length = step_size_path.norm() / parameters.expected_length;
        // A long path means that the step size is still growing: h_sigma is 0.
        let stalled = length > 1.4 + 2.0 / (dimension as f64 + 1.0);
        let mut path = DVector::from_column_slice(&state.covariance_path) * (1.0 - c_c);
        if !stalled {
            path += normalise(c_c) * &step;
        }
        update_covariance(&mut state.covariance, &parameters, &path, &steps, stalled);
        let growth = c_sigma / parameters.damping * (length - 1.0);
        state.step_size = (state.step_size * growth.exp()).clamp(1e-8, 1.0);
        state.covariance_path = path.as_slice().to_vec();
        state.step_size_path = step_size_path.as_slice().to_vec();
    }
}

/// The rank-one update by the evolution path and the rank-mu update by the parents' steps.
fn update_covariance(
    covariance: &mut [f64],
    parameters: &StrategyParameters,
    path: &DVector<f64>,
    steps: &[DVector<f64>],
    stalled: bool,
) {
    let dimension = path.len();
    let StrategyParameters { c_1, c_mu, c_c, .. } = *parameters;
    let correction = if stalled { c_c * (2.0 - c_c) } else { 0.0 };
    let kept = 1.0 - c_1 - c_mu + c_1 * correction;
    let weighted = parameters.weights.iter().zip(steps);
    if covariance.len() == dimension {
        let mut variances = DVectorViewMut::from_slice(covariance, dimension);
        variances *= kept;
        variances.cmpy(c_1, path, path, 1.0);
        for (weight, step) in weighted {
            variances.cmpy(c_mu * weight, step, step, 1.0);
        }
        return;
    }
    let mut matrix = DMatrixViewMut::from_slice(covariance, dimension, dimension);
    matrix *= kept;
    matrix.ger(c_1, path, path, 1.0);
    for (weight, step) in weighted {
        matrix.ger(c_mu * weight, step, step, 1.0);
    }
}

impl Algorithm for CmaEs {
    fn initialise(&mut self, context: &GenerationContext<'_>) {
        let dimension = context.genome.len();
        let first = context.initial_population(1, 0.0).remove(0);
        self.state.mean = scaled(&first.genes, context.genome).as_slice().to_vec();
        self.state.step_size = self.settings.spread;
        self.state.covariance = match self.settings.diagonal {
            true => vec![1.0; dimension],
            false => DMatrix::<f64>::identity(dimension, dimension)
                .as_slice()
                .to_vec(),
        };
        self.state.covariance_path = vec![0.0; dimension];
        self.state.step_size_path = vec![0.0; dimension];
        self.sample(context);
    }

    fn next_generation(&mut self, context: &GenerationContext<'_>) {
        self.update(context.genome);
        self.sample(context);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diagonal_of_the_full_update_is_the_diagonal_update() {
        let parameters = StrategyParameters::new(3, 8, false);
        let path = DVector::from_vec(vec![0.3, -0.2, 0.9]);
        let steps: Vec<_> = (0..4)
            .map(|step| DVector::from_fn(3, |row, _| (row as f64 - f64::from(step)) / 3.0))
            .collect();
        let mut full = DMatrix::<f64>::identity(3, 3);
        let mut diagonal = vec![1.0; 3];
        update_covariance(full.as_mut_slice(), &parameters, &path, &steps, true);
        update_covariance(&mut diagonal, &parameters, &path, &steps, true);
        for (row, variance) in diagonal.iter().enumerate() {
            assert!((full[(row, row)] - variance).abs() < 1e-12);
        }
        assert!((full[(0, 2)] - full[(2, 0)]).abs() < 1e-12);
    }
}
