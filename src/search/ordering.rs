//! Which move to try next. Moves are made stage by stage, so that a cut-off by the table move
//! or a good capture never pays for generating and sorting the rest.

use arrayvec::ArrayVec;
use shakmaty::{Color, Move, Role};

use super::history::{Context, History};
use crate::position::movegen::{self, MoveKind, PackedMove};
use crate::position::{Position, see_at_least, see_value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    TableMove,
    GenerateCaptures,
    GoodCaptures,
    Refutations,
    GenerateQuiets,
    Quiets,
    BadCaptures,
    GenerateChecks,
    Checks,
    Done,
}

#[derive(Clone, Copy)]
struct Scored {
    m: Move,
    score: i32,
}

/// Quiet moves that refuted siblings: two killers and the counter of the move before.
pub type Refutations = [PackedMove; 3];

pub struct Picker {
    stage: Stage,
    table_move: Option<Move>,
    refutations: Refutations,
    next_refutation: usize,
    moves: ArrayVec<Scored, 256>,
    bad_captures: ArrayVec<Move, 64>,
    next: usize,
    next_bad: usize,
    tactical_only: bool,
    /// Quiet checks after the good captures.
    with_checks: bool,
    skip_quiets: bool,
    /// A capture is good when its exchange wins at least this.
    threshold: i32,
}

impl Picker {
    /// All legal moves, best guesses first.
    #[inline]
    pub fn new(table_move: Option<Move>, refutations: Refutations) -> Picker {
        Picker {
            refutations,
            ..Picker::empty(table_move)
        }
    }

    /// Captures and queen promotions whose exchange wins at least `threshold`.
    #[inline]
    pub fn tactical(position: &Position, table_move: Option<Move>, threshold: i32) -> Picker {
        let table_move =
            table_move.filter(|m| is_tactical(*m) && see_at_least(position, *m, threshold));
        Picker {
            tactical_only: true,
            threshold,
            ..Picker::empty(table_move)
        }
    }

    /// After them, quiet checks that lose nothing and have not failed too often.
    pub fn add_checks(&mut self) {
        self.with_checks = true;
    }

    #[inline]
    fn empty(table_move: Option<Move>) -> Picker {
        Picker {
            stage: Stage::TableMove,
            table_move,
            refutations: Refutations::default(),
            next_refutation: 0,
            moves: ArrayVec::new(),
            bad_captures: ArrayVec::new(),
            next: 0,
            next_bad: 0,
            tactical_only: false,
            with_checks: false,
            skip_quiets: false,
            threshold: 0,
        }
    }

    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// From now on only captures are of interest.
    pub fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    pub fn next(
        &mut self,
        position: &Position,
        history: &History,
        context: &Context,
    ) -> Option<Move> {
        loop {
            match self.stage {
                Stage::TableMove => {
                    self.stage = Stage::GenerateCaptures;
                    if self.table_move.is_some() {
                        return self.table_move;
                    }
                }
                Stage::GenerateCaptures => {
                    self.generate_captures(position, history);
                    self.stage = Stage::GoodCaptures;
                }
                Stage::GoodCaptures => match self.next_good_capture(position) {
                    Some(m) => return Some(m),
                    None if self.with_checks => self.stage = Stage::GenerateChecks,
                    None if self.tactical_only => self.stage = Stage::Done,
                    None => self.stage = Stage::Refutations,
                },
                Stage::Refutations => match self.next_refutation(position) {
                    Some(m) => return Some(m),
                    None => self.stage = Stage::GenerateQuiets,
                },
                Stage::GenerateQuiets => {
                    if !self.skip_quiets {
                        self.generate_quiets(position, history, context);
                    }
                    self.stage = Stage::Quiets;
                }
                Stage::Quiets => match self.next_quiet() {
                    Some(m) => return Some(m),
                    None => self.stage = Stage::BadCaptures,
                },
                Stage::BadCaptures => match self.bad_captures.get(self.next_bad) {
                    Some(m) => {
                        self.next_bad += 1;
                        return Some(*m);
                    }
                    None => self.stage = Stage::Done,
                },
                Stage::GenerateChecks => {
                    self.generate_checks(position, history, context);
                    self.stage = Stage::Checks;
                }
                Stage::Checks => match self.pop_best() {
                    Some(m) if see_at_least(position, m, 0) => return Some(m),
                    Some(_) => {}
                    None => self.stage = Stage::Done,
                },
                Stage::Done => return None,
            }
        }
    }

    fn generate_captures(&mut self, position: &Position, history: &History) {
        let (us, table_move, moves) = (position.turn(), self.table_move, &mut self.moves);
        movegen::generate(position, MoveKind::Tactical, |m| {
            if Some(m) != table_move {
                let score = capture_score(us, m, history);
                moves.push(Scored { m, score });
            }
        });
    }

    fn generate_quiets(&mut self, position: &Position, history: &History, context: &Context) {
        self.moves.clear();
        self.next = 0;
        let (us, table_move) = (position.turn(), self.table_move);
        let (refutations, moves) = (&self.refutations, &mut self.moves);
        movegen::generate(position, MoveKind::Quiet, |m| {
            if Some(m) != table_move && !refutations.contains(&PackedMove::new(m)) {
                let score = history.quiet(us, m, context);
                moves.push(Scored { m, score });
            }
        });
    }

    fn generate_checks(&mut self, position: &Position, history: &History, context: &Context) {
        self.moves.clear();
        self.next = 0;
        let (us, moves) = (position.turn(), &mut self.moves);
        movegen::quiet_checks(position, |m| {
            let score = history.quiet(us, m, context);
            if score >= 0 {
                moves.push(Scored { m, score });
            }
        });
    }

    fn next_good_capture(&mut self, position: &Position) -> Option<Move> {
        while let Some(m) = self.pop_best() {
            if see_at_least(position, m, self.threshold) {
                return Some(m);
            }
            // Losing captures beyond any sensible number are not worth keeping apart.
            if !self.tactical_only && self.bad_captures.try_push(m).is_err() {
                return Some(m);
            }
        }
        None
    }

    /// Unpacked only when its turn comes: most nodes are done before.
    fn next_refutation(&mut self, position: &Position) -> Option<Move> {
        while !self.skip_quiets && self.next_refutation < self.refutations.len() {
            let number = self.next_refutation;
            self.next_refutation += 1;
            let packed = self.refutations[number];
            let fresh = packed.is_some() && !self.refutations[..number].contains(&packed);
            if let Some(m) = packed.unpack(position).filter(|_| fresh)
                && !is_tactical(m)
                && Some(m) != self.table_move
            {
                return Some(m);
            }
        }
        None
    }

    fn next_quiet(&mut self) -> Option<Move> {
        if self.skip_quiets {
            None
        } else {
            self.pop_best()
        }
    }

    /// One step of a selection sort: most nodes end long before the list is sorted.
    fn pop_best(&mut self) -> Option<Move> {
        let rest = self.moves.get_mut(self.next..)?;
        let mut best = 0;
        let mut best_score = rest.first()?.score;
        for (place, scored) in rest.iter().enumerate().skip(1) {
            if scored.score > best_score {
                (best, best_score) = (place, scored.score);
            }
        }
        rest.swap(0, best);
        self.next += 1;
        Some(rest[0].m)
    }
}

/// Captures and queen promotions: what the tactical stage generates.
#[inline]
pub fn is_tactical(m: Move) -> bool {
    m.is_capture() || m.promotion() == Some(Role::Queen)
}

/// Most valuable victim first, history among equals; under-promotions at the end.
fn capture_score(us: Color, m: Move, history: &History) -> i32 {
    let promotion = match m.promotion() {
        Some(Role::Queen) => see_value(Role::Queen),
        Some(_) => -see_value(Role::Queen),
        None => 0,
    };
    let victim = m.capture().map_or(0, see_value);
    8 * (victim + promotion) + history.capture(us, m) / 4
}
