//! What a score means. Internal units become centipawns such that 100 of them are a 50% chance
//! of winning between equals, and wins, draws and losses in per mille.
//!
//! Both come from one logistic curve, fitted to 400 games of Finch against its equal at 1+0.01 s
//! (`scripts/fit_wdl.py`):
//! chance of winning = 1 / (1 + exp((middle - score) / slope)).

use crate::search::score::{MATE, is_mate};

/// The internal score at which half of the games are won.
const MIDDLE: f64 = 199.0;
/// How many units change the odds by a factor of e.
const SLOPE: f64 = 82.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UciScore {
    Centipawns(i32),
    /// Moves until mate; negative when Finch is mated.
    Mate(i32),
}

pub fn uci_score(score: i32) -> UciScore {
    if !is_mate(score) {
        return UciScore::Centipawns((f64::from(score) * 100.0 / MIDDLE).round() as i32);
    }
    let plies = MATE - score.abs();
    let moves = (plies + 1) / 2;
    UciScore::Mate(if score > 0 { moves } else { -moves })
}

/// Internal units of a score in centipawns.
pub fn internal(centipawns: i32) -> i32 {
    (f64::from(centipawns) * MIDDLE / 100.0).round() as i32
}

/// Wins, draws, losses in per mille.
pub fn wdl(score: i32) -> [u32; 3] {
    let chance = |score: f64| 1.0 / (1.0 + ((MIDDLE - score) / SLOPE).exp());
    let win = (1000.0 * chance(f64::from(score))).round() as u32;
    let loss = (1000.0 * chance(-f64::from(score))).round() as u32;
    [win, 1000_u32.saturating_sub(win + loss), loss]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_centipawns_win_half_the_games() {
        let score = MIDDLE as i32;
        assert_eq!(uci_score(score), UciScore::Centipawns(100));
        assert_eq!(wdl(score)[0], 500);
    }

    #[test]
    fn parts_add_up_and_mirror() {
        for score in [-30_000, -400, -1, 0, 37, 1_000, 31_999] {
            let [win, draw, loss] = wdl(score);
            assert_eq!(win + draw + loss, 1000);
            assert_eq!(wdl(-score), [loss, draw, win]);
        }
    }

    #[test]
    fn mates_are_counted_in_moves() {
        assert_eq!(uci_score(MATE - 1), UciScore::Mate(1));
        assert_eq!(uci_score(MATE - 3), UciScore::Mate(2));
        assert_eq!(uci_score(-MATE), UciScore::Mate(0));
        assert_eq!(uci_score(-MATE + 2), UciScore::Mate(-1));
    }
}
