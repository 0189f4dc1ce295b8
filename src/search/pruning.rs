//! Conditions and margins of the pruning rules, one predicate each; the numbers are in
//! [`params`](super::params).

use super::params::SearchParams;
use super::score::{DECISIVE, is_decisive};

/// Reverse futility pruning (RFP): so far above beta that the opponent would avoid this node.
pub fn reverse_futility(
    params: &SearchParams,
    depth: i32,
    improving: bool,
    eval: i32,
    beta: i32,
) -> bool {
    let margin = params.reverse_futility_margin * depth
        - if improving {
            params.reverse_futility_improving
        } else {
            0
        };
    depth <= params.reverse_futility_depth && !is_decisive(beta) && eval - margin.max(0) >= beta
}

/// Razoring: so far below alpha that only captures can help.
pub fn razoring(params: &SearchParams, depth: i32, eval: i32, alpha: i32) -> bool {
    depth <= params.razoring_depth
        && eval + params.razoring_base + params.razoring_margin * depth <= alpha
}

/// Null move pruning (NMP): good enough that even passing should hold beta.
pub fn null_move(depth: i32, eval: i32, static_eval: i32, beta: i32) -> bool {
    depth >= 3 && eval >= beta && static_eval + 20 * depth >= beta + 120 && beta > -DECISIVE
}

pub fn null_move_reduction(params: &SearchParams, depth: i32, eval: i32, beta: i32) -> i32 {
    params.null_move_base
        + depth / params.null_move_depth_divisor
        + ((eval - beta) / params.null_move_eval_divisor).clamp(0, 3)
}

/// Late move pruning (LMP): the number of moves after which the remaining quiet ones are skipped.
pub fn late_move_limit(params: &SearchParams, depth: i32, improving: bool) -> usize {
    let limit = params.late_move_base + depth * depth;
    (if improving { limit } else { limit / 2 }) as usize
}

/// Futility pruning: a quiet move cannot raise this node to alpha.
pub fn futility(params: &SearchParams, reduced_depth: i32, static_eval: i32, alpha: i32) -> bool {
    let reach = params.futility_base + params.futility_margin * reduced_depth;
    reduced_depth <= params.futility_depth && static_eval + reach <= alpha
}

/// History pruning: a quiet move that has failed often.
pub fn bad_history(params: &SearchParams, reduced_depth: i32, depth: i32, history: i32) -> bool {
    reduced_depth <= params.history_pruning_depth
        && history < -params.history_pruning_margin * depth
}

/// SEE pruning: the worst exchange allowed to a quiet move.
pub fn quiet_see_limit(params: &SearchParams, reduced_depth: i32) -> i32 {
    -params.see_quiet_margin * reduced_depth * reduced_depth
}

/// SEE pruning: the worst exchange allowed to a capture; `None` at depths that search all captures.
pub fn capture_see_limit(params: &SearchParams, depth: i32) -> Option<i32> {
    (depth <= params.see_capture_depth).then(|| -params.see_capture_margin * depth)
}

/// Whether the moves after one that raised alpha are searched a ply less deeply.
pub(super) fn less_after_improvement(params: &SearchParams, depth: i32) -> bool {
    (3..=params.improvement_depth).contains(&depth)
}
