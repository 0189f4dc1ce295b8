//! Histories: what the search has learned about moves and about its own evaluation.
//!
//! - butterfly history: quiet moves by from and to square and whether these are attacked
//! - pawn history: quiet moves by pawn structure, piece and to square
//! - continuation history: quiet moves by the moves one, two and four plies before
//! - capture history: captures by piece, to square and captured piece
//! - counter moves: the last quiet move that refuted a move
//! - correction history: how far the static evaluation was off for positions that share pawns,
//!   pieces or the last two moves
//!
//! Updates have gravity: a value moves towards the newest evidence and never leaves
//! `-LIMIT..=LIMIT`.

use bytemuck::Zeroable;
use shakmaty::{Bitboard, Color, Move, Role};

use super::params::SearchParams;
use crate::position::Position;
use crate::position::movegen::PackedMove;

const LIMIT: i32 = 16_384;
const PIECES: usize = 12;
/// One slot more than pieces times squares: "no move", as after a null move.
const PIECE_TO: usize = PIECES * 64 + 1;
const PAWN_STRUCTURES: usize = 512;
const CORRECTIONS: usize = 16_384;
const CORRECTION_LIMIT: i32 = 1_024;

/// A piece and its to square, the index of continuation history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTo(u16);

impl PieceTo {
    pub const NONE: PieceTo = PieceTo((PIECE_TO - 1) as u16);

    #[inline]
    pub fn new(us: Color, m: Move) -> PieceTo {
        let piece = piece_index(us, m.role());
        PieceTo((piece * 64 + m.to() as usize) as u16)
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

/// What the histories of quiet moves depend on besides the move.
#[derive(Clone, Copy)]
pub struct Context {
    /// The moves one, two and four plies ago.
    pub continuation: [PieceTo; 3],
    /// Squares the opponent attacks.
    pub attacked: Bitboard,
    pawns: usize,
}

impl Context {
    pub fn new(position: &Position, continuation: [PieceTo; 3]) -> Context {
        Context {
            continuation,
            attacked: Bitboard::EMPTY,
            pawns: position.keys().pawns as usize % PAWN_STRUCTURES,
        }
    }

    /// Index of butterfly history: whether the from and the to square are attacked.
    #[inline]
    fn threat_index(&self, from: usize, to: usize) -> usize {
        let attacked = |square: usize| (self.attacked.0 >> square & 1) as usize;
        2 * attacked(from) + attacked(to)
    }
}

#[derive(Zeroable)]
#[repr(C)]
pub struct History {
    butterfly: [[[[i16; 64]; 64]; 4]; 2],
    pawn: [[i16; PIECE_TO]; PAWN_STRUCTURES],
    capture: [[[i16; 6]; 64]; PIECES],
    continuation: [[i16; PIECE_TO]; PIECE_TO],
    counter_moves: [u16; PIECE_TO],
    pawn_correction: [[i16; CORRECTIONS]; 2],
    piece_correction: [[[i16; CORRECTIONS]; 2]; 2],
    continuation_correction: [[i16; PIECE_TO]; PIECE_TO],
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
        let played = PieceTo::new(us, m).index();
        let continuation: i32 = context
            .continuation
            .iter()
            .map(|earlier| i32::from(self.continuation[earlier.index()][played]))
            .sum();
        i32::from(self.butterfly[us as usize][context.threat_index(from, to)][from][to])
            + i32::from(self.pawn[context.pawns][played])
            + continuation
    }

    #[inline]
    pub fn capture(&self, us: Color, m: Move) -> i32 {
        let victim = m.capture().unwrap_or(Role::Pawn) as usize - 1;
        i32::from(self.capture[piece_index(us, m.role())][m.to() as usize][victim])
    }

    #[inline]
    pub fn counter_move(&self, previous: PieceTo) -> PackedMove {
        PackedMove::from_bits(self.counter_moves[previous.index()])
    }

    pub fn set_counter_move(&mut self, previous: PieceTo, m: Move) {
        self.counter_moves[previous.index()] = PackedMove::new(m).bits();
    }

    pub fn update_butterfly(&mut self, us: Color, m: Move, context: &Context, bonus: i32) {
        let (from, to) = squares(m);
        let slot = &mut self.butterfly[us as usize][context.threat_index(from, to)][from][to];
        update(slot, bonus);
    }

    pub fn update_quiet(&mut self, us: Color, m: Move, context: &Context, bonus: i32) {
        self.update_butterfly(us, m, context, bonus);
        let played = PieceTo::new(us, m).index();
        update(&mut self.pawn[context.pawns][played], bonus);
        for earlier in &context.continuation {
            update(&mut self.continuation[earlier.index()][played], bonus);
        }
    }

    pub fn update_capture(&mut self, us: Color, m: Move, bonus: i32) {
        let victim = m.capture().unwrap_or(Role::Pawn) as usize - 1;
        let slot = &mut self.capture[piece_index(us, m.role())][m.to() as usize][victim];
        update(slot, bonus);
    }

    /// What to add to the static evaluation of such positions.
    pub fn correction(&self, params: &SearchParams, position: &Position, context: &Context) -> i32 {
        let us = position.turn() as usize;
        let [pawns, white, black] = correction_slots(position);
        let pieces = i32::from(self.piece_correction[0][us][white])
            + i32::from(self.piece_correction[1][us][black]);
        let line = i32::from(
            self.continuation_correction[context.continuation[1].index()]
                [context.continuation[0].index()],
        );
        (i32::from(self.pawn_correction[us][pawns]) * params.correction_pawns
            + pieces * params.correction_pieces
            + line * params.correction_continuation)
            / 1024
    }

    /// The search found `score` where the static evaluation said `eval`.
    pub fn update_correction(
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
            &mut self.continuation_correction[context.continuation[1].index()]
                [context.continuation[0].index()],
        ] {
            update_within(slot, bonus, CORRECTION_LIMIT);
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
fn update(slot: &mut i16, bonus: i32) {
    update_within(slot, bonus, LIMIT);
}

/// History gravity: the closer the value is to the limit, the less it moves.
#[inline]
fn update_within(slot: &mut i16, bonus: i32, limit: i32) {
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
            update(&mut value, 2_000);
        }
        assert!(i32::from(value) > LIMIT * 9 / 10 && i32::from(value) <= LIMIT);
        for _ in 0..10_000 {
            update(&mut value, -40_000);
        }
        assert!(i32::from(value) >= -LIMIT);
    }
}
