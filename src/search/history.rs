//! What the search has learned about moves and about its own evaluation.
//!
//! Quiet moves are remembered by squares and whether these are attacked, by the pawns on the
//! board, and by what they answer (the move before, two and four plies before), captures by what
//! took what where. Correction history remembers how
//! far the static evaluation was off for positions that share pawns or pieces. All values decay
//! towards the newest evidence: a value never leaves `-LIMIT..=LIMIT`.

use bytemuck::Zeroable;
use shakmaty::{Bitboard, Color, Move, Role};

use super::params::SearchParams;
use crate::position::Position;
use crate::position::movegen::PackedMove;

const LIMIT: i32 = 16_384;
const PIECES: usize = 12;
/// One slot more than pieces times squares: "no move", as after a null move.
const PLAYED: usize = PIECES * 64 + 1;
const PAWN_STRUCTURES: usize = 512;
const CORRECTIONS: usize = 16_384;
const CORRECTION_LIMIT: i32 = 1_024;

/// A piece and where it went: what continuation history goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Played(u16);

impl Played {
    pub const NOTHING: Played = Played((PLAYED - 1) as u16);

    #[inline]
    pub fn new(us: Color, m: Move) -> Played {
        let piece = piece_index(us, m.role());
        Played((piece * 64 + m.to() as usize) as u16)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[inline]
fn piece_index(color: Color, role: Role) -> usize {
    color as usize * 6 + role as usize - 1
}

/// What a move answers and where it is played.
#[derive(Clone, Copy)]
pub struct Context {
    /// The moves one, two and four plies ago.
    pub answered: [Played; 3],
    /// Squares the opponent attacks.
    pub attacked: Bitboard,
    pawns: usize,
}

impl Context {
    pub fn new(position: &Position, answered: [Played; 3]) -> Context {
        Context {
            answered,
            attacked: Bitboard::EMPTY,
            pawns: position.keys().pawns as usize % PAWN_STRUCTURES,
        }
    }

    /// Leaving an attacked square and entering one are different matters.
    #[inline]
    fn danger(&self, from: usize, to: usize) -> usize {
        let attacked = |square: usize| (self.attacked.0 >> square & 1) as usize;
        2 * attacked(from) + attacked(to)
    }
}

#[derive(Zeroable)]
#[repr(C)]
pub struct History {
    quiets: [[[[i16; 64]; 64]; 4]; 2],
    on_pawns: [[i16; PLAYED]; PAWN_STRUCTURES],
    captures: [[[i16; 6]; 64]; PIECES],
    continuation: [[i16; PLAYED]; PLAYED],
    counters: [u16; PLAYED],
    pawn_correction: [[i16; CORRECTIONS]; 2],
    piece_correction: [[[i16; CORRECTIONS]; 2]; 2],
    continuation_correction: [[i16; PLAYED]; PLAYED],
}

impl History {
    pub fn new() -> Box<History> {
        bytemuck::allocation::zeroed_box()
    }

    pub fn clear(&mut self) {
        bytemuck::write_zeroes(self);
    }

    #[inline]
    pub fn quiet(&self, us: Color, m: Move, context: &Context) -> i32 {
        let (from, to) = squares(m);
        let played = Played::new(us, m).index();
        let answers: i32 = context
            .answered
            .iter()
            .map(|earlier| i32::from(self.continuation[earlier.index()][played]))
            .sum();
        i32::from(self.quiets[us as usize][context.danger(from, to)][from][to])
            + i32::from(self.on_pawns[context.pawns][played])
            + answers
    }

    #[inline]
    pub fn capture(&self, us: Color, m: Move) -> i32 {
        let victim = m.capture().unwrap_or(Role::Pawn) as usize - 1;
        i32::from(self.captures[piece_index(us, m.role())][m.to() as usize][victim])
    }

    #[inline]
    pub fn counter(&self, answered: Played) -> PackedMove {
        PackedMove::from_bits(self.counters[answered.index()])
    }

    pub fn set_counter(&mut self, answered: Played, m: Move) {
        self.counters[answered.index()] = PackedMove::new(m).bits();
    }

    /// Where it went from and to, whatever it answered.
    pub fn update_squares(&mut self, us: Color, m: Move, context: &Context, bonus: i32) {
        let (from, to) = squares(m);
        let slot = &mut self.quiets[us as usize][context.danger(from, to)][from][to];
        nudge(slot, bonus);
    }

    pub fn update_quiet(&mut self, us: Color, m: Move, context: &Context, bonus: i32) {
        self.update_squares(us, m, context, bonus);
        let played = Played::new(us, m).index();
        nudge(&mut self.on_pawns[context.pawns][played], bonus);
        for earlier in &context.answered {
            nudge(&mut self.continuation[earlier.index()][played], bonus);
        }
    }

    pub fn update_capture(&mut self, us: Color, m: Move, bonus: i32) {
        let victim = m.capture().unwrap_or(Role::Pawn) as usize - 1;
        let slot = &mut self.captures[piece_index(us, m.role())][m.to() as usize][victim];
        nudge(slot, bonus);
    }

    /// How far, in evaluation units, the static score of such positions has been too low.
    pub fn correction(&self, params: &SearchParams, position: &Position, context: &Context) -> i32 {
        let us = position.turn() as usize;
        let [pawns, white, black] = correction_slots(position);
        let pieces = i32::from(self.piece_correction[0][us][white])
            + i32::from(self.piece_correction[1][us][black]);
        let line = i32::from(
            self.continuation_correction[context.answered[1].index()][context.answered[0].index()],
        );
        (i32::from(self.pawn_correction[us][pawns]) * params.correction_pawns
            + pieces * params.correction_pieces
            + line * params.correction_continuation)
            / 1024
    }

    /// The search found `score` where the static evaluation said `eval`.
    pub fn correct(
        &mut self,
        position: &Position,
        context: &Context,
        score: i32,
        eval: i32,
        depth: i32,
    ) {
        let limit = CORRECTION_LIMIT / 4;
        let bonus = ((score - eval) * depth / 8).clamp(-limit, limit);
        let us = position.turn() as usize;
        let [pawns, white, black] = correction_slots(position);
        let [of_white, of_black] = &mut self.piece_correction;
        for slot in [
            &mut self.pawn_correction[us][pawns],
            &mut of_white[us][white],
            &mut of_black[us][black],
            &mut self.continuation_correction[context.answered[1].index()]
                [context.answered[0].index()],
        ] {
            nudge_within(slot, bonus, CORRECTION_LIMIT);
        }
    }
}

fn correction_slots(position: &Position) -> [usize; 3] {
    let keys = position.keys();
    [keys.pawns, keys.non_pawn.white, keys.non_pawn.black].map(|key| key as usize % CORRECTIONS)
}

#[inline]
fn squares(m: Move) -> (usize, usize) {
    (m.from().map_or(0, |from| from as usize), m.to() as usize)
}

#[inline]
fn nudge(slot: &mut i16, bonus: i32) {
    nudge_within(slot, bonus, LIMIT);
}

/// Moves the value towards `bonus`, the slower the closer it is to the limit on that side.
#[inline]
fn nudge_within(slot: &mut i16, bonus: i32, limit: i32) {
    let value = i32::from(*slot);
    let bonus = bonus.clamp(-limit, limit);
    *slot = (value + bonus - value * bonus.abs() / limit) as i16;
}

pub fn bonus(params: &SearchParams, depth: i32) -> i32 {
    (params.history_bonus_slope * depth - params.history_bonus_offset)
        .clamp(0, params.history_bonus_limit)
}

pub fn malus(params: &SearchParams, depth: i32) -> i32 {
    -(params.history_malus_slope * depth - params.history_malus_offset)
        .clamp(0, params.history_malus_limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_approach_the_limit_and_never_pass_it() {
        let mut value = 0;
        for _ in 0..10_000 {
            nudge(&mut value, 2_000);
        }
        assert!(i32::from(value) > LIMIT * 9 / 10 && i32::from(value) <= LIMIT);
        for _ in 0..10_000 {
            nudge(&mut value, -40_000);
        }
        assert!(i32::from(value) >= -LIMIT);
    }
}
