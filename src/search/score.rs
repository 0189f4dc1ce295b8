//! Scores of the search: centipawn-like units around zero, mates at the rim, tablebase wins just
//! below them.

use std::fmt;
use std::ops::Neg;

use crate::eval::{Centipawns, Score, WinModel};

/// Deepest line the search follows, in plies from the root.
pub const MAX_PLY: usize = 240;

pub const DRAW: i32 = 0;
pub const MATE: i32 = 32_000;
pub const INFINITE: i32 = MATE + 1;
/// Any score at least this large is a mate that the search has seen.
pub const MATE_IN_MAX: i32 = MATE - MAX_PLY as i32;
/// A tablebase says that the side to move wins: less than any mate that the search has seen.
const TABLEBASE_WIN: i32 = MATE_IN_MAX - 1;
/// Any score at least this large is a mate or a tablebase win.
pub const DECISIVE: i32 = TABLEBASE_WIN - MAX_PLY as i32;
/// Static evaluations stay clear of mates and tablebase wins.
pub const MAX_EVAL: i32 = 20_000;

/// The side to move mates in `plies`.
#[inline]
pub const fn mate_in(plies: usize) -> i32 {
    MATE - plies as i32
}

/// The side to move is mated in `plies`.
#[inline]
pub const fn mated_in(plies: usize) -> i32 {
    plies as i32 - MATE
}

#[inline]
pub const fn is_mate(score: i32) -> bool {
    score.abs() >= MATE_IN_MAX
}

/// The side to move reaches a position in `plies` that the tablebases call won.
#[inline]
pub const fn tablebase_win_in(plies: usize) -> i32 {
    TABLEBASE_WIN - plies as i32
}

#[inline]
pub const fn tablebase_loss_in(plies: usize) -> i32 {
    plies as i32 - TABLEBASE_WIN
}

/// A mate or a tablebase result: no longer an estimate.
#[inline]
pub const fn is_decisive(score: i32) -> bool {
    score.abs() >= DECISIVE
}

/// Plies without capture or pawn move after which the game is drawn.
pub const FIFTY_MOVES: usize = 100;

/// Plies until mate, for either side.
#[inline]
pub const fn mate_distance(score: i32) -> Option<usize> {
    if is_mate(score) {
        Some((MATE - score.abs()) as usize)
    } else {
        None
    }
}

/// A decisive score counts plies from the root, but a table entry is reached by many paths: it
/// keeps plies from its own position instead. A tablebase result stays below the mates.
#[inline]
pub const fn to_table(score: i32, ply: usize) -> i32 {
    match score {
        s if s >= DECISIVE => s + ply as i32,
        s if s <= -DECISIVE => s - ply as i32,
        s => s,
    }
}

#[inline]
pub const fn from_table(score: i32, ply: usize) -> i32 {
    match score {
        s if s >= DECISIVE => s - ply as i32,
        s if s <= -DECISIVE => s + ply as i32,
        s => s,
    }
}

/// A score as engines report it: in centipawns, or as a distance to mate. Seen by the side that
/// reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportedScore {
    Centipawns(Centipawns),
    /// Moves until mate; negative or zero when the reporting side is mated.
    Mate(i32),
}

impl ReportedScore {
    const MATE: i32 = 100_000;
    /// What GUIs know as a tablebase win; plies to the table are subtracted.
    const TABLEBASE_WIN: i32 = 20_000;

    /// What a score of the search is called outside.
    pub fn new(score: Score, win_model: &WinModel) -> ReportedScore {
        if !is_decisive(score) {
            return ReportedScore::Centipawns(win_model.centipawns(score));
        }
        if !is_mate(score) {
            let plies = TABLEBASE_WIN - score.abs();
            let centipawns = score.signum() * (ReportedScore::TABLEBASE_WIN - plies);
            return ReportedScore::Centipawns(Centipawns(centipawns));
        }
        let moves = (MATE - score.abs() + 1) / 2;
        ReportedScore::Mate(if score > 0 { moves } else { -moves })
    }

    /// One number for comparisons: mates are worth more than anything else.
    pub fn centipawns(self) -> i32 {
        match self {
            ReportedScore::Centipawns(Centipawns(score)) => score,
            ReportedScore::Mate(moves) if moves > 0 => ReportedScore::MATE - moves,
            ReportedScore::Mate(moves) => -ReportedScore::MATE - moves,
        }
    }

    pub fn is_within(self, centipawns: u32) -> bool {
        self.centipawns().unsigned_abs() <= centipawns
    }
}

impl Neg for ReportedScore {
    type Output = ReportedScore;

    /// The same score seen by the other side.
    fn neg(self) -> ReportedScore {
        match self {
            ReportedScore::Centipawns(Centipawns(score)) => {
                ReportedScore::Centipawns(Centipawns(score.saturating_neg()))
            }
            ReportedScore::Mate(moves) => ReportedScore::Mate(moves.saturating_neg()),
        }
    }
}

impl fmt::Display for ReportedScore {
    /// As PGN comments have it: `+0.25`, `-M3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ReportedScore::Centipawns(Centipawns(0)) => f.write_str("0.00"),
            ReportedScore::Centipawns(Centipawns(score)) => {
                write!(f, "{:+.2}", f64::from(score) / 100.0)
            }
            // Match runners count plies to the mate.
            ReportedScore::Mate(moves) if moves > 0 => write!(f, "+M{}", 2 * moves - 1),
            ReportedScore::Mate(moves) => write!(f, "-M{}", 2 * moves.unsigned_abs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_reported_in_moves() {
        let reported = |score| ReportedScore::new(score, &WinModel::default());
        assert_eq!(reported(MATE - 1), ReportedScore::Mate(1));
        assert_eq!(reported(MATE - 3), ReportedScore::Mate(2));
        assert_eq!(reported(-MATE), ReportedScore::Mate(0));
        assert_eq!(reported(-MATE + 2), ReportedScore::Mate(-1));
    }

    #[test]
    fn tablebase_wins_are_reported_as_200_pawns_less_the_plies_to_them() {
        let reported = |score| ReportedScore::new(score, &WinModel::default());
        let centipawns = |score| ReportedScore::Centipawns(Centipawns(score));
        assert_eq!(reported(tablebase_win_in(0)), centipawns(20_000));
        assert_eq!(reported(tablebase_win_in(7)), centipawns(19_993));
        assert_eq!(reported(tablebase_loss_in(7)), centipawns(-19_993));
        assert!(is_decisive(tablebase_loss_in(MAX_PLY)) && !is_mate(tablebase_win_in(0)));
        assert!(!is_decisive(MAX_EVAL));
    }

    #[test]
    fn tablebase_scores_survive_the_table_at_another_ply() {
        let stored = to_table(tablebase_win_in(7), 4);
        assert_eq!(from_table(stored, 2), tablebase_win_in(5));
        // Found at the probed position itself: still no mate.
        assert!(!is_mate(to_table(tablebase_win_in(MAX_PLY), MAX_PLY)));
        assert_eq!(
            from_table(to_table(tablebase_loss_in(6), 4), 2),
            tablebase_loss_in(4)
        );
    }

    #[test]
    fn mate_scores_survive_the_table_at_another_ply() {
        let seen_from_ply_4 = mate_in(7);
        let stored = to_table(seen_from_ply_4, 4);
        assert_eq!(from_table(stored, 4), mate_in(7));
        assert_eq!(from_table(stored, 2), mate_in(5));
        assert_eq!(from_table(to_table(mated_in(6), 4), 2), mated_in(4));
        assert_eq!(to_table(-123, 9), -123);
    }
}
