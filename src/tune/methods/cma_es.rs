//! CMA-ES: a cloud of samples whose shape follows the steps that paid.
//!
//! Genes are scaled so that every range is 1. With very many genes the full covariance is too
//! much to learn and to invert; `diagonal` keeps each gene's own variance only (sep-CMA-ES).

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use super::{Evolving, Individual, Method, MethodConfig, Steps, Surroundings, rank};
use crate::random::{Purpose, stream};
use crate::tune::genome::Genome;
use crate::tune::settings::{NamedSettings, SettingError, check_range};

/// The table `[method]` of a preset that says `name = "cma-es"`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CmaEsSettings {
    pub name: String,
    pub population: usize,
    /// First deviation of the cloud, as a share of each gene's range.
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

/// The cloud: where its middle is, how wide it is, which way it stretches, and the two paths
/// that its middle has come along lately.
#[derive(Default, Deserialize, Serialize)]
pub struct State {
    mean: Vec<f64>,
    width: f64,
    /// Row by row; the diagonal alone when that is all there is.
    covariance: Vec<f64>,
    path: Vec<f64>,
    width_path: Vec<f64>,
    population: Vec<Individual>,
}

pub type CmaEs = Evolving<CmaEsSettings, State>;

/// Hansen's standard rates for a dimension and a population.
struct Rates {
    weights: Vec<f64>,
    effective: f64,
    path: f64,
    width_path: f64,
    one: f64,
    many: f64,
    damping: f64,
    /// Expected length of a standard normal vector.
    length: f64,
}

impl Rates {
    fn new(dimension: usize, population: usize, diagonal: bool) -> Rates {
        let n = dimension as f64;
        let parents = population / 2;
        let raw: Vec<f64> = (0..parents)
            .map(|place| ((population as f64 + 1.0) / 2.0).ln() - (place as f64 + 1.0).ln())
            .collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let effective = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let one = 2.0 / ((n + 1.3).powi(2) + effective);
        let many = 2.0 * (effective - 2.0 + 1.0 / effective) / ((n + 2.0).powi(2) + effective);
        // Fewer numbers to learn may be learnt faster.
        let haste = if diagonal { (n + 2.0) / 3.0 } else { 1.0 };
        let width_path = (effective + 2.0) / (n + effective + 5.0);
        Rates {
            path: (4.0 + effective / n) / (n + 4.0 + 2.0 * effective / n),
            width_path,
            one: (one * haste).min(0.5),
            many: (many * haste).min(0.5),
            damping: 1.0
                + width_path
                + 2.0 * (((effective - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0),
            length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
            weights,
            effective,
        }
    }
}

/// The square root of a covariance and its inverse.
enum Shape {
    Diagonal(DVector<f64>),
    Full {
        axes: DMatrix<f64>,
        lengths: DVector<f64>,
    },
}

impl Shape {
    fn of(covariance: &[f64], dimension: usize) -> Shape {
        if covariance.len() == dimension {
            let lengths = covariance.iter().map(|value| value.max(1e-20).sqrt());
            return Shape::Diagonal(DVector::from_iterator(dimension, lengths));
        }
        let matrix = DMatrix::from_row_slice(dimension, dimension, covariance);
        let eigen = SymmetricEigen::new(matrix);
        Shape::Full {
            axes: eigen.eigenvectors,
            lengths: eigen.eigenvalues.map(|value| value.max(1e-20).sqrt()),
        }
    }

    fn stretched(&self, step: &DVector<f64>) -> DVector<f64> {
        match self {
            Shape::Diagonal(lengths) => step.component_mul(lengths),
            Shape::Full { axes, lengths } => axes * step.component_mul(lengths),
        }
    }

    fn whitened(&self, step: &DVector<f64>) -> DVector<f64> {
        match self {
            Shape::Diagonal(lengths) => step.component_div(lengths),
            Shape::Full { axes, lengths } => {
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
    fn sample(&mut self, around: &Surroundings<'_>) {
        let dimension = around.genome.len();
        let mean = DVector::from_column_slice(&self.state.mean);
        let shape = Shape::of(&self.state.covariance, dimension);
        let newborn = |place: usize| {
            let mut random = stream(
                around.seed,
                Purpose::Variation,
                around.generation,
                place as u64,
            );
            let normal = (0..dimension).map(|_| random.sample::<f64, _>(StandardNormal));
            let step = shape.stretched(&DVector::from_iterator(dimension, normal));
            Individual::new(unscaled(&(&mean + self.state.width * step), around.genome))
        };
        let mut population: Vec<_> = (0..self.settings.population).map(newborn).collect();
        around.evaluate(&mut population);
        rank(&mut population);
        self.state.population = population;
    }

    /// Moves the cloud to where the better half of its samples lie.
    fn follow(&mut self, genome: &Genome) {
        let state = &mut self.state;
        let dimension = genome.len();
        let rates = Rates::new(dimension, self.settings.population, self.settings.diagonal);
        let shape = Shape::of(&state.covariance, dimension);
        let mean = DVector::from_column_slice(&state.mean);
        let steps: Vec<_> = state
            .population
            .iter()
            .take(rates.weights.len())
            .map(|one| (scaled(&one.genes, genome) - &mean) / state.width)
            .collect();
        let mut step = DVector::zeros(dimension);
        for (weight, one) in rates.weights.iter().zip(&steps) {
            step += *weight * one;
        }
        state.mean = (&mean + state.width * &step).as_slice().to_vec();

        let keep = |rate: f64| (rate * (2.0 - rate) * rates.effective).sqrt();
        let width_path = DVector::from_column_slice(&state.width_path) * (1.0 - rates.width_path)
            + keep(rates.width_path) * shape.whitened(&step);
        let stalled = width_path.norm() / rates.length > 1.4 + 2.0 / (dimension as f64 + 1.0);
        let mut path = DVector::from_column_slice(&state.path) * (1.0 - rates.path);
        if !stalled {
            path += keep(rates.path) * &step;
        }
        stretch(&mut state.covariance, &rates, &path, &steps, stalled);
        let growth = rates.width_path / rates.damping * (width_path.norm() / rates.length - 1.0);
        state.width = (state.width * growth.exp()).clamp(1e-8, 1.0);
        state.path = path.as_slice().to_vec();
        state.width_path = width_path.as_slice().to_vec();
    }
}

/// The covariance takes after the path and the steps that paid.
fn stretch(
    covariance: &mut [f64],
    rates: &Rates,
    path: &DVector<f64>,
    steps: &[DVector<f64>],
    stalled: bool,
) {
    let dimension = path.len();
    let diagonal = covariance.len() == dimension;
    let stall = if stalled {
        rates.path * (2.0 - rates.path)
    } else {
        0.0
    };
    let kept = 1.0 - rates.one - rates.many + rates.one * stall;
    for (place, value) in covariance.iter_mut().enumerate() {
        let (row, column) = match diagonal {
            true => (place, place),
            false => (place / dimension, place % dimension),
        };
        let pairs = rates.weights.iter().zip(steps);
        let spread: f64 = pairs
            .map(|(weight, step)| weight * step[row] * step[column])
            .sum();
        *value = kept * *value + rates.one * path[row] * path[column] + rates.many * spread;
    }
}

impl Steps for CmaEs {
    fn begin(&mut self, around: &Surroundings<'_>) {
        let dimension = around.genome.len();
        let first = around.first_population(1, 0.0).remove(0);
        self.state.mean = scaled(&first.genes, around.genome).as_slice().to_vec();
        self.state.width = self.settings.spread;
        self.state.covariance = match self.settings.diagonal {
            true => vec![1.0; dimension],
            false => DMatrix::<f64>::identity(dimension, dimension)
                .as_slice()
                .to_vec(),
        };
        self.state.path = vec![0.0; dimension];
        self.state.width_path = vec![0.0; dimension];
        self.sample(around);
    }

    fn advance(&mut self, around: &Surroundings<'_>) {
        self.follow(around.genome);
        self.sample(around);
    }

    fn population(&self) -> &[Individual] {
        &self.state.population
    }
}
