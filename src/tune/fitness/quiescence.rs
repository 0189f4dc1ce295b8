//! The search an individual is judged by: one ply, then quiescence.
//!
//! Which moves quiescence tries is decided here only, by the rules of chess, by static exchange
//! evaluation with fixed piece values and by depth; never by an evaluation. So the tree below a
//! move is the same for every individual: it can be built once (`quiescence_tree.rs`) or searched
//! each time (`board_search.rs`).

use serde::{Deserialize, Serialize};
use shakmaty::{Move, MoveList, Role};

use crate::position::movegen::{self, MoveKind, PackedMove};
use crate::position::{Position, safe_quiet_checks, see_at_least, see_value};
use crate::random::mix;

/// How far quiescence goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuiescenceLimits {
    /// Plies in which checks are tried besides captures.
    pub checks: u32,
    /// Plies in which all captures with SEE of at least 0 are tried, and all check evasions.
    pub captures: u32,
    /// Plies after which every position is evaluated statically. Between `captures` and this only
    /// recaptures on the last target square are tried.
    pub plies: u32,
}

impl Default for QuiescenceLimits {
    fn default() -> QuiescenceLimits {
        QuiescenceLimits {
            checks: 0,
            captures: 3,
            plies: 8,
        }
    }
}

/// Above every evaluation; a shorter mate scores higher.
pub const MATE: i32 = 30_000;
pub const INFINITE: i32 = 32_000;

/// What a node of the quiescence search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    Mated,
    Stalemate,
    /// No stand pat: a move must be played.
    InCheck,
    /// The evaluation is the score unless a move is better (stand pat).
    StandPat,
}

/// The kind of `position` after the move `last`, and the moves to try in it. `ply` is 0 after the
/// root move.
pub fn expand(
    position: &Position,
    last: Move,
    ply: u32,
    settings: QuiescenceLimits,
) -> (NodeKind, MoveList) {
    if ply == 0 && !position.in_check() && !movegen::has_legal_move(position) {
        return (NodeKind::Stalemate, MoveList::new());
    }
    if position.in_check() && ply < settings.captures {
        let moves = in_order(movegen::legal_moves(position));
        let standing = match moves.is_empty() {
            true => NodeKind::Mated,
            false => NodeKind::InCheck,
        };
        return (standing, moves);
    }
    let mut moves = MoveList::new();
    if ply < settings.plies {
        let everywhere = ply < settings.captures;
        movegen::generate(position, MoveKind::Tactical, |m| {
            let worthless = m.promotion().is_some_and(|role| role != Role::Queen);
            let wanted = everywhere || m.is_capture() && m.to() == last.to();
            if wanted && !worthless && see_at_least(position, m, 0) {
                moves.push(m);
            }
        });
    }
    if ply < settings.checks {
        safe_quiet_checks(position, |m| moves.push(m));
    }
    (NodeKind::StandPat, in_order(moves))
}

/// Most valuable victim first, least valuable attacker first. Only speed depends on it.
fn in_order(mut moves: MoveList) -> MoveList {
    moves.sort_by_key(|m| {
        let worth = |role: Option<Role>| role.map_or(0, see_value);
        let gain = worth(m.capture()) + worth(m.promotion());
        see_value(m.role()) / 16 - 16 * gain
    });
    moves
}

/// The legal moves in the order that breaks ties: of moves with equal scores the earlier is played.
/// The order is a hash of position and move, so it favours neither captures nor a corner of the
/// board nor the answer.
pub fn moves_in_tie_break_order(position: &Position) -> MoveList {
    let mut moves = movegen::legal_moves(position);
    moves.sort_by_key(|m| mix(position.key(), PackedMove::new(*m).bits().into()));
    moves
}

/// The moves of a position by number. A score within the bounds is exact; outside it is a bound on
/// the right side.
pub trait MoveScores {
    fn count(&self) -> usize;
    fn score(&self, number: usize, alpha: i32, beta: i32) -> i32;
}

/// The number of the move that is played.
pub fn best_move_number(scores: &impl MoveScores) -> usize {
    let mut best = (-INFINITE, 0);
    for number in 0..scores.count() {
        let score = scores.score(number, best.0, INFINITE);
        if score > best.0 {
            best = (score, number);
        }
    }
    best.1
}

/// Whether an answer counts as played when another move has the same score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ties {
    /// One of the best moves is played, chosen by a hash.
    #[default]
    Hash,
    /// Every best move counts: the most that any rule for ties can reach.
    Hit,
}

/// A move that is better than all answers, or none if an answer is played. Knowing the answers
/// saves most of the work: each other move needs only a null-window search. `first_tried` is the
/// move to test first; the caller remembers the last one found.
pub fn better_move(
    scores: &impl MoveScores,
    answers: &[u16],
    first_tried: usize,
    ties: Ties,
) -> Option<usize> {
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
        let wins_tie = ties == Ties::Hash && number < answer;
        let needed = if wins_tie { target } else { target + 1 };
        scores.score(number, needed - 1, needed) >= needed
    };
    let is_answer = |number: usize| answers.iter().any(|answer| usize::from(*answer) == number);
    if first_tried < scores.count() && !is_answer(first_tried) && better(first_tried) {
        return Some(first_tried);
    }
    (0..scores.count())
        .find(|&number| number != first_tried && !is_answer(number) && better(number))
}
