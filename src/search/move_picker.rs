//! Staged move ordering: a cut-off by the TT move or a good capture never pays for generating and
//! sorting the rest.

use arrayvec::ArrayVec;
use shakmaty::{Color, Move, Role};

use super::history::{Context, History};
use crate::position::movegen::{self, MoveKind, PackedMove};
use crate::position::{Position, see_at_least, see_value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PickStage {
    TtMove,
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

/// Quiet moves that refuted siblings: two killers and the counter move.
pub type Refutations = [PackedMove; 3];

pub struct MovePicker {
    stage: PickStage,
    tt_move: Option<Move>,
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
    /// A capture is good if its static exchange evaluation (SEE) is at least this.
    threshold: i32,
}

impl MovePicker {
    /// All legal moves, best guesses first.
    #[inline]
    pub fn new(tt_move: Option<Move>, refutations: Refutations) -> MovePicker {
        MovePicker {
            refutations,
            ..MovePicker::empty(tt_move)
        }
    }

    /// Captures and queen promotions with a SEE of at least `threshold`.
    #[inline]
    pub fn tactical(position: &Position, tt_move: Option<Move>, threshold: i32) -> MovePicker {
        let tt_move = tt_move.filter(|m| is_tactical(*m) && see_at_least(position, *m, threshold));
        MovePicker {
            tactical_only: true,
            threshold,
            ..MovePicker::empty(tt_move)
        }
    }

    /// After the captures, quiet checks with a SEE of at least zero and no bad history.
    pub fn add_checks(&mut self) {
        self.with_checks = true;
    }

    #[inline]
    fn empty(tt_move: Option<Move>) -> MovePicker {
        MovePicker {
            stage: PickStage::TtMove,
            tt_move,
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

    pub fn stage(&self) -> PickStage {
        self.stage
    }

    /// Leaves out all further quiet moves.
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
                PickStage::TtMove => {
                    self.stage = PickStage::GenerateCaptures;
                    if self.tt_move.is_some() {
                        return self.tt_move;
                    }
                }
                PickStage::GenerateCaptures => {
                    self.generate_captures(position, history);
                    self.stage = PickStage::GoodCaptures;
                }
                PickStage::GoodCaptures => match self.next_good_capture(position) {
                    Some(m) => return Some(m),
                    None if self.with_checks => self.stage = PickStage::GenerateChecks,
                    None if self.tactical_only => self.stage = PickStage::Done,
                    None => self.stage = PickStage::Refutations,
                },
                PickStage::Refutations => match self.next_refutation(position) {
                    Some(m) => return Some(m),
                    None => self.stage = PickStage::GenerateQuiets,
                },
                PickStage::GenerateQuiets => {
                    if !self.skip_quiets {
                        self.generate_quiets(position, history, context);
                    }
                    self.stage = PickStage::Quiets;
                }
                PickStage::Quiets => match self.next_quiet() {
                    Some(m) => return Some(m),
                    None => self.stage = PickStage::BadCaptures,
                },
                PickStage::BadCaptures => match self.bad_captures.get(self.next_bad) {
                    Some(m) => {
                        self.next_bad += 1;
                        return Some(*m);
                    }
                    None => self.stage = PickStage::Done,
                },
                PickStage::GenerateChecks => {
                    self.generate_checks(position, history, context);
                    self.stage = PickStage::Checks;
                }
                PickStage::Checks => match self.pop_best() {
                    Some(m) if see_at_least(position, m, 0) => return Some(m),
                    Some(_) => {}
                    None => self.stage = PickStage::Done,
                },
                PickStage::Done => return None,
            }
        }
    }

    fn generate_captures(&mut self, position: &Position, history: &History) {
        let (us, tt_move, moves) = (position.turn(), self.tt_move, &mut self.moves);
        movegen::generate(position, MoveKind::Tactical, |m| {
            if Some(m) != tt_move {
                let score = capture_score(us, m, history);
                moves.push(Scored { m, score });
            }
        });
    }

    fn generate_quiets(&mut self, position: &Position, history: &History, context: &Context) {
        self.moves.clear();
        self.next = 0;
        let (us, tt_move) = (position.turn(), self.tt_move);
        let (refutations, moves) = (&self.refutations, &mut self.moves);
        movegen::generate(position, MoveKind::Quiet, |m| {
            if Some(m) != tt_move && !refutations.contains(&PackedMove::new(m)) {
                let score = history.quiet(us, m, context);
                moves.push(Scored { m, score });
            }
        });
    }

    fn generate_checks(&mut self, position: &Position, history: &History, context: &Context) {
        self.moves.clear();
        self.next = 0;
        let (us, moves) = (position.turn(), &mut self.moves);
        // Attacks are found at the first check, not at the start of each node: most have none.
        let mut context = *context;
        let mut attacks_known = false;
        movegen::quiet_checks(position, |m| {
            if !attacks_known {
                context.attacked = position.attacked_by(!us);
                attacks_known = true;
            }
            let score = history.quiet(us, m, &context);
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
            // The list of bad captures is full.
            if !self.tactical_only && self.bad_captures.try_push(m).is_err() {
                return Some(m);
            }
        }
        None
    }

    /// Unpacked only when its turn comes: most nodes have a cut-off before.
    fn next_refutation(&mut self, position: &Position) -> Option<Move> {
        while !self.skip_quiets && self.next_refutation < self.refutations.len() {
            let number = self.next_refutation;
            self.next_refutation += 1;
            let packed = self.refutations[number];
            let fresh = packed.is_some() && !self.refutations[..number].contains(&packed);
            if let Some(m) = packed.unpack(position).filter(|_| fresh)
                && !is_tactical(m)
                && Some(m) != self.tt_move
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

    /// One step of a selection sort: most nodes have a cut-off long before the list is sorted.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::history::PieceTo;

    #[test]
    fn quiet_checks_of_qsearch_are_scored_with_the_squares_under_attack() {
        // The rook on d1 is attacked by the bishop and can give check on d8.
        let fen = "6k1/5ppp/8/7b/8/8/5PPP/3R2K1 w - - 0 1";
        let position = Position::from_fen(fen).unwrap();
        let context = Context::new(&position, [PieceTo::NONE; 3]);
        let check = |history: &History| {
            let mut picker = MovePicker::tactical(&position, None, 0);
            picker.add_checks();
            picker.next(&position, history, &context)
        };
        let mut history = History::new();
        let rook_check = check(&history).unwrap();
        // It has failed before, and only from an attacked square.
        let mut attacked = context;
        attacked.attacked = position.attacked_by(Color::Black);
        history.update_butterfly(Color::White, rook_check, &attacked, -2_000);
        assert_eq!(check(&history), None);
    }
}
