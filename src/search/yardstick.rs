//! What the search must know of the weights it plays with: files differ in scale, and margins
//! that know pieces by other values prune what should be looked at.

use shakmaty::{Move, Role};

use crate::eval::{Term, Weights, term};

pub struct Yardstick {
    /// The most that taking a piece may be worth, by role.
    captures: [i32; 7],
    /// Two static scores in a row, one from each side, add up to this when nothing happens:
    /// both count the right to move.
    pub tempo: i32,
}

impl Yardstick {
    pub fn new(weights: &Weights) -> Yardstick {
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
            // A piece counts for where it stands, too.
            captures[role as usize] = (most(term) * 7.0 / 6.0) as i32 + 20;
        }
        Yardstick {
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
            Yardstick::new(weights).capture(Move::Normal {
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
