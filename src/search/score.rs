//! Scores of the search: centipawn-like units around zero, mates at the rim.

/// Deepest line the search follows, in plies from the root.
pub const MAX_PLY: usize = 240;

pub const DRAW: i32 = 0;
pub const MATE: i32 = 32_000;
pub const INFINITE: i32 = MATE + 1;
/// Any score at least this large is a mate that the search has seen.
pub const MATE_IN_MAX: i32 = MATE - MAX_PLY as i32;
/// Static evaluations stay clear of mates.
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

/// A mate score counts plies from the root, but a table entry is reached by many paths: it
/// keeps plies from its own position instead.
#[inline]
pub const fn to_table(score: i32, ply: usize) -> i32 {
    match score {
        s if s >= MATE_IN_MAX => s + ply as i32,
        s if s <= -MATE_IN_MAX => s - ply as i32,
        s => s,
    }
}

#[inline]
pub const fn from_table(score: i32, ply: usize) -> i32 {
    match score {
        s if s >= MATE_IN_MAX => s - ply as i32,
        s if s <= -MATE_IN_MAX => s + ply as i32,
        s => s,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
