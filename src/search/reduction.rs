//! Late move reductions: the later a move stands in the order and the deeper the search, the
//! less deep it is looked at first. In 1024ths of a ply, so that small doubts add up.

use std::sync::LazyLock;

use super::params;

pub const ONE_PLY: i32 = 1024;

static LOGARITHMS: LazyLock<[i32; 64]> =
    LazyLock::new(|| std::array::from_fn(|n| (f64::ln(n.max(1) as f64) * 1024.0) as i32));

/// The reduction by depth and move number alone.
#[inline]
pub fn base(depth: i32, number: usize) -> i32 {
    let of_depth = LOGARITHMS[depth.clamp(0, 63) as usize];
    let of_number = LOGARITHMS[number.min(63)];
    params::reduction_base() + params::reduction_slope() * (of_depth * of_number / 1024) / 1024
}

/// What else speaks for or against looking closely.
pub struct Circumstances {
    pub pv: bool,
    pub table_pv: bool,
    pub cut_node: bool,
    pub improving: bool,
    pub table_move_is_capture: bool,
    pub is_refutation: bool,
    pub gives_check: bool,
    pub child_cutoffs: u32,
    pub history: i32,
}

pub fn adjusted(base: i32, now: &Circumstances) -> i32 {
    let when = |condition: bool, amount: i32| if condition { amount } else { 0 };
    base + when(!now.improving, params::reduction_not_improving())
        + when(now.cut_node, params::reduction_cut_node())
        + when(now.table_move_is_capture, params::reduction_table_capture())
        + when(now.child_cutoffs > 3, params::reduction_child_cutoffs())
        - when(now.pv, params::reduction_pv())
        - when(now.table_pv, params::reduction_table_pv())
        - when(now.is_refutation, params::reduction_refutation())
        - when(now.gives_check, params::reduction_check())
        - now.history / params::reduction_history_divisor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_and_deeper_reduces_more() {
        assert!(base(10, 20) > base(10, 4));
        assert!(base(20, 10) > base(5, 10));
    }
}
