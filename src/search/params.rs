//! Every constant of the search, one line each: name, value, range, step.
//!
//! In an ordinary build each is a constant function. With the feature `tunable` each becomes an
//! atomic that `setoption` changes, so that a tuner such as OpenBench's SPSA can move it;
//! `finch params` prints them in OpenBench's input format.

pub struct Param {
    pub name: &'static str,
    pub default: i32,
    pub min: i32,
    pub max: i32,
    pub step: i32,
    #[cfg(feature = "tunable")]
    pub value: &'static std::sync::atomic::AtomicI32,
}

macro_rules! params {
    ($($(#[$doc:meta])* $name:ident = $value:literal, $min:literal..=$max:literal, $step:literal;)*) => {
        $(
            #[cfg(not(feature = "tunable"))]
            $(#[$doc])*
            #[inline(always)]
            pub const fn $name() -> i32 { $value }

            #[cfg(feature = "tunable")]
            $(#[$doc])*
            #[inline(always)]
            pub fn $name() -> i32 { tunable::$name.load(std::sync::atomic::Ordering::Relaxed) }
        )*

        #[cfg(feature = "tunable")]
        #[allow(non_upper_case_globals)]
        mod tunable {
            use std::sync::atomic::AtomicI32;
            $(pub static $name: AtomicI32 = AtomicI32::new($value);)*
        }

        /// All of them, in the order of the list.
        pub static ALL: &[Param] = &[$(Param {
            name: stringify!($name),
            default: $value,
            min: $min,
            max: $max,
            step: $step,
            #[cfg(feature = "tunable")]
            value: &tunable::$name,
        }),*];
    };
}

params! {
    /// Half-width of the first aspiration window.
    aspiration_width = 19, 4..=50, 3;
    /// Static score above beta by this much a ply: the node is won without a search.
    reverse_futility_margin = 57, 30..=180, 8;
    reverse_futility_improving = 23, 20..=140, 8;
    reverse_futility_depth = 9, 4..=14, 1;
    /// Static score this far below alpha: quiescence decides.
    razoring_base = 337, 80..=450, 25;
    razoring_margin = 251, 80..=450, 25;
    razoring_depth = 4, 2..=8, 1;
    /// Null move: reduction is base + depth / divisor + (eval - beta) / eval divisor.
    null_move_base = 4, 2..=6, 1;
    null_move_depth_divisor = 4, 2..=8, 1;
    null_move_eval_divisor = 225, 80..=400, 20;
    null_move_verify_depth = 14, 8..=20, 1;
    /// A capture that beats beta by this much at reduced depth proves the node.
    probcut_margin = 149, 40..=400, 15;
    probcut_depth = 5, 3..=8, 1;
    /// Internal iterative reduction: nodes at least this deep without a table move.
    iir_depth = 4, 2..=8, 1;
    /// Late move pruning: quiet moves looked at before the rest are skipped.
    late_move_base = 4, 1..=8, 1;
    /// Futility of quiet moves: margin by reduced depth.
    futility_base = 133, 30..=220, 12;
    futility_margin = 141, 40..=160, 8;
    futility_depth = 9, 4..=14, 1;
    /// Quiet moves with a history below this much a ply are skipped.
    history_pruning_margin = 3638, 1000..=7000, 300;
    history_pruning_depth = 5, 2..=9, 1;
    /// Exchanges losing more than this are skipped, quiets by square of reduced depth.
    see_quiet_margin = 21, 8..=60, 4;
    see_capture_margin = 106, 40..=180, 10;
    see_capture_depth = 8, 4..=14, 1;
    /// Singular extension: the window below the table score, and when to extend by two.
    singular_depth = 7, 4..=10, 1;
    singular_margin = 24, 8..=48, 2;
    singular_double_margin = 24, 4..=50, 3;
    singular_double_limit = 8, 2..=16, 1;
    /// After a move that raised alpha the others get a ply less, up to this depth.
    improvement_depth = 12, 2..=20, 1;
    /// Late move reductions, in 1024ths of a ply.
    reduction_base = 1014, 300..=1600, 80;
    reduction_slope = 554, 250..=800, 30;
    reduction_not_improving = 728, 200..=1600, 90;
    reduction_cut_node = 1343, 400..=2600, 130;
    reduction_pv = 797, 200..=2000, 100;
    reduction_table_pv = 1164, 200..=2000, 100;
    reduction_table_capture = 646, 200..=2000, 100;
    reduction_refutation = 1269, 200..=2000, 100;
    reduction_check = 909, 200..=2000, 100;
    reduction_child_cutoffs = 1496, 200..=2000, 100;
    reduction_history_divisor = 10, 4..=24, 1;
    /// Search deeper or shallower after a surprising reduced result.
    deeper_margin = 19, 10..=120, 6;
    shallower_margin = 7, 2..=40, 2;
    /// History: bonus and malus by depth.
    history_bonus_slope = 171, 60..=320, 15;
    history_bonus_offset = 109, 0..=250, 15;
    history_bonus_limit = 2040, 700..=3200, 120;
    history_malus_slope = 315, 60..=400, 15;
    history_malus_offset = 61, 0..=250, 15;
    history_malus_limit = 964, 500..=3200, 120;
    /// History of the move before, by how the static score changed.
    eval_history_slope = 2, 1..=16, 1;
    eval_history_limit = 941, 200..=2000, 80;
    /// Correction history: weight of each table in 1024ths.
    correction_pawns = 54, 20..=140, 8;
    correction_pieces = 99, 20..=140, 8;
    correction_continuation = 80, 0..=140, 8;
    /// Quiescence: a capture must be able to raise the score to alpha with this to spare.
    quiescence_margin = 191, 20..=300, 15;
    /// Time: the share of the remaining time planned for a move, in per mille: of the first, by how
    /// much more with every ten moves, and of the last. So a game's first thirty moves get about
    /// as much each.
    time_share = 25, 10..=100, 2;
    time_share_growth = 10, 0..=30, 1;
    time_share_limit = 60, 20..=120, 4;
    time_increment_share = 650, 400..=1000, 40;
    time_hard_share = 400, 250..=800, 30;
    /// Milliseconds kept in hand when there is no move to go for.
    time_reserve = 180, 1..=500, 25;
}

#[cfg(feature = "tunable")]
pub fn find(name: &str) -> Option<&'static Param> {
    ALL.iter()
        .find(|param| param.name.eq_ignore_ascii_case(name))
}

impl Param {
    #[cfg(feature = "tunable")]
    pub fn set(&self, value: i32) {
        let value = value.clamp(self.min, self.max);
        self.value
            .store(value, std::sync::atomic::Ordering::Relaxed);
    }

    /// The line OpenBench's SPSA form wants.
    pub fn openbench(&self) -> String {
        let Param {
            name,
            default,
            min,
            max,
            step,
            ..
        } = self;
        format!("{name}, int, {default}.0, {min}.0, {max}.0, {step}.0, 0.002")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_lies_in_its_range() {
        for param in ALL {
            assert!(
                (param.min..=param.max).contains(&param.default),
                "{}",
                param.name
            );
            assert!(param.step > 0, "{}", param.name);
        }
    }
}
