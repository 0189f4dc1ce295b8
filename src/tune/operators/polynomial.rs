//! Deb and Agrawal's polynomial mutation: mostly small steps, smaller with higher `eta`.

/// A value moved within an interval; `chance` is uniform in 0 to 1.
pub fn polynomial_mutation(value: f64, [low, high]: [f64; 2], eta: f64, chance: f64) -> f64 {
    let power = 1.0 / (eta + 1.0);
    let step = if chance < 0.5 {
        (2.0 * chance).powf(power) - 1.0
    } else {
        1.0 - (2.0 * (1.0 - chance)).powf(power)
    };
    (value + (high - low) * step).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_formula() {
        let moved = |chance: f64| polynomial_mutation(9.0, [7.0, 11.0], 20.0, chance) - 9.0;
        assert_eq!(moved(0.5), 0.0);
        assert!((moved(0.25) - 4.0 * (0.5_f64.powf(1.0 / 21.0) - 1.0)).abs() < 1e-12);
        assert!((moved(0.75) + moved(0.25)).abs() < 1e-12, "both ways alike");
        assert_eq!(moved(0.0), -2.0, "the interval ends the step");
    }
}
