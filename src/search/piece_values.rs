//! Piece values of the search, from the weights it plays with: weights differ in scale, and margins
//! with other piece values would prune too much.

use shakmaty::{Move, Role};

use crate::eval::{Term, Weights, term};

pub struct PieceValues {
    /// The most that capturing a piece may gain, by role.
    captures: [i32; 7],
    /// The sum of two static evaluations in a row, one from each side, if nothing changes: both
    /// include the tempo.
    pub tempo: i32,
}

impl PieceValues {
    pub fn new(weights: &Weights) -> PieceValues {
        let most = |term: Term| {
            let value = weights.get(term);
            value.midgame.max(value.endgame)
        };
        let mut captures = [0; 7];
        for (role, term) in [
            (Role::Pawn, term::pawn()),
            (Role::Knight, term::knight()),
            (Role::Bishop, term::bishop()),
            (Role::Rook, term::rook()),
            (Role::Queen, term::queen()),
        ] {
            // Its square counts, too.
            captures[role as usize] = (most(term) * 7.0 / 6.0) as i32 + 20;
        }
        PieceValues {
            captures,
            tempo: (2.0 * most(term::tempo())) as i32,
        }
    }

    #[inline]
    pub fn capture(&self, m: Move) -> i32 {
        m.capture().map_or(0, |role| self.captures[role as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::Square;

    #[test]
    fn a_piece_is_worth_what_the_weights_say_and_a_little_more() {
        let taken = |weights: &Weights, role| {
            PieceValues::new(weights).capture(Move::Normal {
                role: Role::King,
                from: Square::E1,
                capture: role,
                to: Square::E2,
                promotion: None,
            })
        };
        let weights = Weights::default();
        let queen = weights.get(term::queen());
        assert!(f64::from(taken(&weights, Some(Role::Queen))) > queen.midgame.max(queen.endgame));
        assert!(taken(&weights, Some(Role::Rook)) > taken(&weights, Some(Role::Bishop)));
        assert_eq!(taken(&weights, None), 0);
        assert!(taken(&Weights::zero("none"), Some(Role::Queen)) < 100);
    }
}
