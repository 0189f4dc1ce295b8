//! Units of scores, and what a score says about the result.
//!
//! - [`Score`]: internal units. Evaluation and search count in them.
//! - [`Centipawns`]: what UCI and PGN show: 100 of them are a 50% chance of winning.
//! - [`WinModel`]: the curve between them. It belongs to whatever evaluates: a network carries its
//!   own in its file, weights without a network in their TOML, a mentor engine has another.

/// A score in internal units, seen by the side to move. A mate is a score too, see
/// [`crate::search::score`].
pub type Score = i32;

/// A score in the units of UCI: 100 centipawns are a 50% chance of winning between equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Centipawns(pub i32);

/// The chance of winning as a function of the score:
/// `1 / (1 + exp((midpoint - score) / slope))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WinModel {
    /// The internal score at which half of the games are won.
    pub midpoint: f64,
    /// How many internal units multiply the odds of winning by e.
    pub slope: f64,
}

impl Default for WinModel {
    /// For weights whose file states no model.
    fn default() -> WinModel {
        WinModel {
            midpoint: 200.0,
            slope: 80.0,
        }
    }
}

impl WinModel {
    /// A model whose numbers make sense: finite and positive.
    pub fn new(midpoint: f64, slope: f64) -> Option<WinModel> {
        let sound = |value: f64| (1.0..=100_000.0).contains(&value);
        (sound(midpoint) && sound(slope)).then_some(WinModel { midpoint, slope })
    }

    pub fn centipawns(&self, score: Score) -> Centipawns {
        Centipawns((f64::from(score) * 100.0 / self.midpoint).round() as i32)
    }

    pub fn score(&self, centipawns: Centipawns) -> Score {
        (f64::from(centipawns.0) * self.midpoint / 100.0).round() as Score
    }

    /// The chance that the side to move wins.
    pub fn win_chance(&self, score: Score) -> f64 {
        self.win_chance_of(f64::from(score))
    }

    fn win_chance_of(&self, score: f64) -> f64 {
        1.0 / (1.0 + ((self.midpoint - score) / self.slope).exp())
    }

    /// The points the side to move expects: a win counts 1, a draw 1/2.
    pub fn expected_points(&self, score: Score) -> f64 {
        (1.0 + self.win_chance(score) - self.win_chance(-score)) / 2.0
    }

    /// Wins, draws and losses in per mille.
    pub fn wdl(&self, score: Score) -> [u32; 3] {
        let per_mille = |chance: f64| (1000.0 * chance).round() as u32;
        let win = per_mille(self.win_chance(score));
        let loss = per_mille(self.win_chance(-score));
        [win, 1000_u32.saturating_sub(win + loss), loss]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: WinModel = WinModel {
        midpoint: 180.0,
        slope: 75.0,
    };

    #[test]
    fn a_hundred_centipawns_win_half_the_games() {
        assert_eq!(MODEL.centipawns(180), Centipawns(100));
        assert_eq!(MODEL.score(Centipawns(100)), 180);
        assert_eq!(MODEL.wdl(180)[0], 500);
    }

    #[test]
    fn wins_draws_and_losses_add_up_and_mirror() {
        for score in [-30_000, -400, -1, 0, 37, 1_000, 31_999] {
            let [win, draw, loss] = MODEL.wdl(score);
            assert_eq!(win + draw + loss, 1000);
            assert_eq!(MODEL.wdl(-score), [loss, draw, win]);
            let points = MODEL.expected_points(score) + MODEL.expected_points(-score);
            assert!((points - 1.0).abs() < 1e-12);
        }
    }
}
