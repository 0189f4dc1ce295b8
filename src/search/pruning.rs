//! What not to search. Each rule is a predicate with its margin; when it applies is said in one
//! line, the numbers are in [`params`](super::params).

use super::params::SearchParams;
use super::score::{MATE_IN_MAX, is_mate};

/// So far ahead that the opponent would not let it come here. Depth keeps surprises in view.
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
    depth <= params.reverse_futility_depth && !is_mate(beta) && eval - margin.max(0) >= beta
}

/// So far behind that only a capture can help.
pub fn razoring(params: &SearchParams, depth: i32, eval: i32, alpha: i32) -> bool {
    depth <= params.razoring_depth
        && eval + params.razoring_base + params.razoring_margin * depth <= alpha
}

/// Good enough that even passing should hold beta.
pub fn null_move(depth: i32, eval: i32, static_eval: i32, beta: i32) -> bool {
    depth >= 3 && eval >= beta && static_eval + 20 * depth >= beta + 120 && beta > -MATE_IN_MAX
}

pub fn null_move_reduction(params: &SearchParams, depth: i32, eval: i32, beta: i32) -> i32 {
    params.null_move_base
        + depth / params.null_move_depth_divisor
        + ((eval - beta) / params.null_move_eval_divisor).clamp(0, 3)
}

/// Quiet moves looked at before the rest are given up.
pub fn late_move_limit(params: &SearchParams, depth: i32, improving: bool) -> usize {
    let limit = params.late_move_base + depth * depth;
    (if improving { limit } else { limit / 2 }) as usize
}

/// A quiet move cannot lift this node to alpha.
pub fn futility(params: &SearchParams, reduced_depth: i32, static_eval: i32, alpha: i32) -> bool {
    let reach = params.futility_base + params.futility_margin * reduced_depth;
    reduced_depth <= params.futility_depth && static_eval + reach <= alpha
}

/// A quiet move that has failed often.
pub fn bad_history(params: &SearchParams, reduced_depth: i32, depth: i32, history: i32) -> bool {
    reduced_depth <= params.history_pruning_depth
        && history < -params.history_pruning_margin * depth
}

/// The exchange a quiet move may lose at most.
pub fn quiet_exchange_limit(params: &SearchParams, reduced_depth: i32) -> i32 {
    -params.see_quiet_margin * reduced_depth * reduced_depth
}

/// The exchange a capture may lose at most; deep nodes look at every capture.
pub fn capture_exchange_limit(params: &SearchParams, depth: i32) -> Option<i32> {
    (depth <= params.see_capture_depth).then(|| -params.see_capture_margin * depth)
}

/// Whether the moves after one that raised alpha are searched a ply less deeply.
pub(super) fn less_after_improvement(params: &SearchParams, depth: i32) -> bool {
    (3..=params.improvement_depth).contains(&depth)
}
