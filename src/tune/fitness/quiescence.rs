//! The search a player is judged by: one ply, then quiescence.
//!
//! What quiescence looks at is decided here and nowhere else, by the rules of the game, by
//! exchanges in fixed piece values, and by depth; never by an evaluation. So the tree below a
//! move is the same for every player, and may as well be built once (`tree.rs`) as searched
//! each time (`exact.rs`).

use serde::{Deserialize, Serialize};
use shakmaty::{Move, MoveList, Role};

use crate::position::movegen::{self, PackedMove, Stage};
use crate::position::{Position, see_at_least, see_value};
use crate::random::mix;

/// How far quiescence goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quiescence {
    /// Plies in which checks are tried besides captures.
    pub checks: u32,
    /// Plies in which every capture that loses nothing is tried, and every way out of check.
    pub captures: u32,
    /// Plies after which every position is taken as quiet. Between `captures` and this only
    /// the piece that moved last may be taken.
    pub plies: u32,
}

impl Default for Quiescence {
    fn default() -> Quiescence {
        Quiescence {
            checks: 0,
            captures: 3,
            plies: 8,
        }
    }
}

/// Beyond every evaluation; a mate found early is worth more.
pub const MATE: i32 = 30_000;
pub const INFINITE: i32 = 32_000;

/// What a position of the quiescence search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Mated,
    Stalemate,
    /// Something must be done about it: the evaluation does not count.
    InCheck,
    /// The evaluation counts if nothing better is found.
    Quiet,
}

/// What `position` is after the move `last`, and the moves to try in it; `ply` is 0 after the
/// move that is judged.
pub fn expand(
    position: &Position,
    last: Move,
    ply: u32,
    settings: Quiescence,
) -> (Standing, MoveList) {
    if ply == 0 && !position.in_check() && !movegen::has_legal_move(position) {
        return (Standing::Stalemate, MoveList::new());
    }
    if position.in_check() && ply < settings.captures {
        let moves = in_order(movegen::legal_moves(position));
        let standing = match moves.is_empty() {
            true => Standing::Mated,
            false => Standing::InCheck,
        };
        return (standing, moves);
    }
    let mut moves = MoveList::new();
    if ply < settings.plies {
        let everywhere = ply < settings.captures;
        movegen::generate(position, Stage::Tactical, |m| {
            let worthless = m.promotion().is_some_and(|role| role != Role::Queen);
            let wanted = everywhere || m.is_capture() && m.to() == last.to();
            if wanted && !worthless && see_at_least(position, m, 0) {
                moves.push(m);
            }
        });
    }
    if ply < settings.checks {
        movegen::generate(position, Stage::Quiet, |m| {
            if position.after(m).in_check() && see_at_least(position, m, 0) {
                moves.push(m);
            }
        });
    }
    (Standing::Quiet, in_order(moves))
}

/// Great victims first, taken by small pieces: only speed depends on it.
fn in_order(mut moves: MoveList) -> MoveList {
    moves.sort_by_key(|m| {
        let worth = |role: Option<Role>| role.map_or(0, see_value);
        let gain = worth(m.capture()) + worth(m.promotion());
        see_value(m.role()) / 16 - 16 * gain
    });
    moves
}

/// The legal moves in the order that decides ties: of moves with equal scores the earlier is
/// played. The order is a hash of position and move, so it leans neither to captures nor
/// to a corner of the board, nor to the right answer.
pub fn moves_in_order(position: &Position) -> MoveList {
    let mut moves = movegen::legal_moves(position);
    moves.sort_by_key(|m| mix(position.key(), PackedMove::new(*m).bits().into()));
    moves
}

/// The moves of a position by number, each with a score that can be asked for within bounds:
/// right where it lies inside them, on the right side where it does not.
pub trait Scores {
    fn count(&self) -> usize;
    fn score(&self, number: usize, alpha: i32, beta: i32) -> i32;
}

/// The move that is played.
pub fn choice(scores: &impl Scores) -> usize {
    let mut best = (-INFINITE, 0);
    for number in 0..scores.count() {
        let score = scores.score(number, best.0, INFINITE);
        if score > best.0 {
            best = (score, number);
        }
    }
    best.1
}

/// Whether one of the answers is played. Knowing the answers saves most of the work: of every
/// other move it only matters whether it is better. `suspect` is looked at first; the move
/// that proved better, if any, is told.
pub fn refutation(scores: &impl Scores, answers: &[u16], suspect: usize) -> Option<usize> {
    let mut best = (-INFINITE, usize::MAX);
    for &answer in answers {
        let number = usize::from(answer);
        let score = scores.score(number, best.0 - 1, INFINITE);
        if score > best.0 || score == best.0 && number < best.1 {
            best = (score, number);
        }
    }
    let (target, answer) = best;
    let better = |number: usize| {
        // An earlier move wins the tie.
        let needed = if number < answer { target } else { target + 1 };
        scores.score(number, needed - 1, needed) >= needed
    };
    let is_answer = |number: usize| answers.iter().any(|answer| usize::from(*answer) == number);
    if suspect < scores.count() && !is_answer(suspect) && better(suspect) {
        return Some(suspect);
    }
    (0..scores.count()).find(|&number| number != suspect && !is_answer(number) && better(number))
}
