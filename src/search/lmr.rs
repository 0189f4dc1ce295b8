//! Late move reductions (LMR): the later a move in the order and the deeper the search, the more
//! its first search is reduced. In 1024ths of a ply, so that small adjustments add up.

use super::params::SearchParams;

pub const ONE_PLY: i32 = 1024;

const SIZE: usize = 64;

/// The reduction by depth and move number alone.
pub struct LmrTable {
    reductions: Box<[[i16; SIZE]; SIZE]>,
    /// What the table was made from.
    base: i32,
    slope: i32,
}

impl LmrTable {
    pub fn new(params: &SearchParams) -> LmrTable {
        let (base, slope) = (params.reduction_base, params.reduction_slope);
        let logarithm = |n: usize| (f64::ln(n.max(1) as f64) * 1024.0) as i32;
        let mut reductions = Box::new([[0; SIZE]; SIZE]);
        for (depth, row) in reductions.iter_mut().enumerate() {
            for (number, reduction) in row.iter_mut().enumerate() {
                let product = logarithm(depth) * logarithm(number) / 1024;
                // At most some fifteen plies: far from the limits of the type.
                *reduction = (base + slope * product / 1024) as i16;
            }
        }
        LmrTable {
            reductions,
            base,
            slope,
        }
    }

    pub fn is_made_from(&self, params: &SearchParams) -> bool {
        (self.base, self.slope) == (params.reduction_base, params.reduction_slope)
    }

    #[inline]
    pub fn reduction(&self, depth: i32, number: usize) -> i32 {
        i32::from(self.reductions[depth.clamp(0, 63) as usize][number.min(63)])
    }
}

/// What adjusts the reduction of a move.
pub struct LmrContext {
    pub pv: bool,
    pub tt_pv: bool,
    pub cut_node: bool,
    pub improving: bool,
    pub tt_move_is_capture: bool,
    pub is_refutation: bool,
    pub gives_check: bool,
    pub child_cutoffs: u32,
    pub history: i32,
}

pub fn adjusted(params: &SearchParams, base: i32, now: &LmrContext) -> i32 {
    let when = |condition: bool, amount: i32| if condition { amount } else { 0 };
    base + when(!now.improving, params.reduction_not_improving)
        + when(now.cut_node, params.reduction_cut_node)
        + when(now.tt_move_is_capture, params.reduction_table_capture)
        + when(now.child_cutoffs > 3, params.reduction_child_cutoffs)
        - when(now.pv, params.reduction_pv)
        - when(now.tt_pv, params.reduction_table_pv)
        - when(now.is_refutation, params.reduction_refutation)
        - when(now.gives_check, params.reduction_check)
        - now.history / params.reduction_history_divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_and_deeper_reduces_more() {
        let table = LmrTable::new(&SearchParams::default());
        assert!(table.reduction(10, 20) > table.reduction(10, 4));
        assert!(table.reduction(20, 10) > table.reduction(5, 10));
    }
}
