//! Means, standard deviations and standard errors.

use std::collections::HashMap;
use std::hash::Hash;

/// The mean, and the standard deviation of a sample.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub mean: f64,
    /// Infinite for a single cluster, which says nothing about the spread between clusters.
    pub standard_error: f64,
    pub count: usize,
    pub clusters: usize,
}

/// The mean of values that are independent only between clusters, such as positions of several
/// games: positions of one game resemble each other, so the plain standard error is too small.
/// The error is the cluster-robust one (the sandwich estimator with its small-sample factor);
/// with one value a cluster it is the plain one.
pub fn clustered_mean<C: Eq + Hash>(values: impl IntoIterator<Item = (C, f64)>) -> Estimate {
    let mut sums: HashMap<C, (f64, f64)> = HashMap::new();
    let (mut total, mut count) = (0.0, 0);
    for (cluster, value) in values {
        let (sum, size) = sums.entry(cluster).or_default();
        *sum += value;
        *size += 1.0;
        total += value;
        count += 1;
    }
    let number = count.max(1) as f64;
    let mean = total / number;
    // Sorted, since the order of a hash map is not the same in every process.
    let mut squares: Vec<f64> = sums
        .values()
        .map(|(sum, size)| (sum - size * mean).powi(2))
        .collect();
    squares.sort_by(f64::total_cmp);
    let clusters = squares.len();
    let standard_error = match clusters {
        0 | 1 => f64::INFINITY,
        _ => {
            let factor = clusters as f64 / (clusters as f64 - 1.0);
            (factor * squares.iter().sum::<f64>()).sqrt() / number
        }
    };
    Estimate {
        mean,
        standard_error,
        count,
        clusters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_a_cluster_has_the_plain_standard_error() {
        let values = [0.0, 1.0, 1.0, 0.0, 1.0, 3.0];
        let (mean, deviation) = mean_and_deviation(&values);
        let found = clustered_mean(values.into_iter().enumerate());
        assert_eq!(found.mean, mean);
        let plain = deviation / (values.len() as f64).sqrt();
        assert!((found.standard_error - plain).abs() < 1e-12);
    }

    #[test]
    fn copies_within_a_cluster_add_no_certainty() {
        let values = [0.0, 1.0, 1.0, 0.0];
        let once = clustered_mean(values.into_iter().enumerate());
        let copied = values.into_iter().enumerate();
        let copied = clustered_mean(copied.flat_map(|value| [value; 9]));
        assert_eq!(copied.count, 36);
        assert!((copied.standard_error - once.standard_error).abs() < 1e-12);
    }

    #[test]
    fn a_single_cluster_has_no_error_bar() {
        let one = clustered_mean([((), 1.0), ((), 0.0)]);
        assert!(one.standard_error.is_infinite());
    }
}
