//! What a mentor's centipawns mean: its scale is the number of them that multiply the odds of
//! winning by e.

/// Scales of engines lie well within these.
const SCALES: [f64; 2] = [10.0, 2_000.0];
/// Fewer results than this say little.
const RESULTS_NEEDED: usize = 100;
/// A chance of 0 or 1 has no finite score.
pub(super) const SUREST: f64 = 1e-6;

/// The expected result of a game, from 0 to 1, that a score stands for.
pub fn win_chance(score: f64, scale: f64) -> f64 {
    1.0 / (1.0 + (-score / scale).exp())
}

/// The scale at which scores predict results best (maximum likelihood): pairs of a score and the
/// points for the same side. `None` if there are too few results.
pub fn fit_scale(results: &[(f64, f64)]) -> Option<f64> {
    (results.len() >= RESULTS_NEEDED).then(|| {
        minimise(|scale| {
            let loss = results.iter().map(|&(score, points)| {
                let chance = win_chance(score, scale).clamp(SUREST, 1.0 - SUREST);
                -points * chance.ln() - (1.0 - points) * (1.0 - chance).ln()
            });
            loss.sum()
        })
    })
}

/// The scale at which scores agree best with chances of winning (least squares).
pub fn fit_scale_to_chances(chances: &[(f64, f64)]) -> f64 {
    minimise(|scale| {
        let error = |&(score, chance): &(f64, f64)| (win_chance(score, scale) - chance).powi(2);
        chances.iter().map(error).sum()
    })
}

/// The minimum of a function of the scale with one valley (golden section search on logarithms).
fn minimise(value: impl Fn(f64) -> f64) -> f64 {
    const SECTION: f64 = 0.618_033_988_749_895;
    let [mut low, mut high] = SCALES.map(f64::ln);
    for _ in 0..40 {
        let width = SECTION * (high - low);
        if value((high - width).exp()) < value((low + width).exp()) {
            high = low + width;
        } else {
            low = high - width;
        }
    }
    ((low + high) / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_is_found() {
        let scale = minimise(|scale| (scale - 137.0).powi(2));
        assert!((scale - 137.0).abs() < 0.01, "{scale}");
    }

    #[test]
    fn a_scale_is_fitted_to_results() {
        // Of 100 games with a score of 100 three quarters are won: the odds are 3.
        let results: Vec<_> = (0..100)
            .map(|game| (100.0, if game % 4 == 0 { 0.0 } else { 1.0 }))
            .collect();
        let scale = fit_scale(&results).unwrap();
        assert!((scale - 100.0 / 3.0_f64.ln()).abs() < 0.1, "{scale}");
        assert_eq!(fit_scale(&results[1..]), None);
    }
}
