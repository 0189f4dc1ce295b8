//! Every constant of the search, one line each: name, default, range, step.
//!
//! [`SearchParams`] holds their values. Each engine has its own, so two players in one process may
//! differ: a `[search]` table in a weights file changes them, and `setoption` reaches them by
//! name. `finch params` prints them in OpenBench's input format.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::names::did_you_mean;

/// What is known of a constant besides its value.
#[derive(Debug)]
pub struct ParamInfo {
    pub name: &'static str,
    pub default: i32,
    pub min: i32,
    pub max: i32,
    /// By how much a tuner changes it at first.
    pub step: i32,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ParamError {
    #[error("no search constant is called '{name}'{suggestion}")]
    Unknown {
        name: String,
        /// As `did_you_mean` writes it.
        suggestion: String,
    },
    #[error("search constant {name} must be from {min} to {max}, not {value}")]
    OutOfRange {
        name: &'static str,
        min: i32,
        max: i32,
        value: i32,
    },
}

macro_rules! params {
    ($($(#[$doc:meta])* $name:ident = $value:literal, $min:literal..=$max:literal, $step:literal;)*) => {
        /// The values of all search constants.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct SearchParams {
            $($(#[$doc])* pub $name: i32,)*
        }

        impl Default for SearchParams {
            fn default() -> SearchParams {
                SearchParams { $($name: $value),* }
            }
        }

        impl SearchParams {
            /// All constants, in the order of the list.
            pub const LIST: &[ParamInfo] = &[$(ParamInfo {
                name: stringify!($name),
                default: $value,
                min: $min,
                max: $max,
                step: $step,
            }),*];

            /// The values, in the order of the list.
            fn values(&self) -> [i32; SearchParams::LIST.len()] {
                [$(self.$name),*]
            }

            fn value_mut(&mut self, name: &str) -> Option<&mut i32> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

params! {
    /// Half-width of the first aspiration window.
    aspiration_width = 19, 4..=50, 3;
    /// Static score above beta by this much a ply: the node is won without a search.
    reverse_futility_margin = 57, 30..=180, 8;
    reverse_futility_improving = 23, 20..=140, 8;
    reverse_futility_depth = 9, 4..=14, 1;
    /// Static score this far below alpha: qsearch decides.
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
    /// Qsearch: a capture must be able to raise the score to alpha with this to spare.
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

impl SearchParams {
    /// The defaults with the changes of a table, such as `[search]` in a weights file.
    pub fn from_table(table: &BTreeMap<String, i32>) -> Result<SearchParams, ParamError> {
        let mut params = SearchParams::default();
        for (name, value) in table {
            params.set(name, *value)?;
        }
        Ok(params)
    }

    /// The constants that differ from their defaults.
    pub fn to_table(&self) -> BTreeMap<String, i32> {
        let changed = |(info, value): (&ParamInfo, i32)| {
            (value != info.default).then(|| (info.name.to_owned(), value))
        };
        let pairs = SearchParams::LIST.iter().zip(self.values());
        pairs.filter_map(changed).collect()
    }

    pub fn get(&self, name: &str) -> Option<i32> {
        let at = SearchParams::LIST
            .iter()
            .position(|info| info.name == name)?;
        Some(self.values()[at])
    }

    /// Sets the constant of this name, in any case.
    pub fn set(&mut self, name: &str, value: i32) -> Result<(), ParamError> {
        let info = SearchParams::info(name).ok_or_else(|| ParamError::Unknown {
            name: name.to_owned(),
            suggestion: did_you_mean(name, SearchParams::LIST.iter().map(|info| info.name)),
        })?;
        let &ParamInfo { name, min, max, .. } = info;
        if !(min..=max).contains(&value) {
            return Err(ParamError::OutOfRange {
                name,
                min,
                max,
                value,
            });
        }
        if let Some(slot) = self.value_mut(name) {
            *slot = value;
        }
        Ok(())
    }

    /// The constant of this name, in any case.
    pub fn info(name: &str) -> Option<&'static ParamInfo> {
        SearchParams::LIST
            .iter()
            .find(|info| info.name.eq_ignore_ascii_case(name))
    }

    /// Whether `uci` lists the constants as options. GUIs should not show them to people, but
    /// tuners need them: builds for OpenBench list them, and so does any other when the
    /// environment variable `FINCH_LIST_PARAMS` is set.
    pub fn are_listed() -> bool {
        cfg!(feature = "openbench") || std::env::var_os("FINCH_LIST_PARAMS").is_some()
    }
}

impl ParamInfo {
    /// The line that `uci` prints.
    pub fn uci_option(&self) -> String {
        let ParamInfo {
            name,
            default,
            min,
            max,
            ..
        } = self;
        format!("option name {name} type spin default {default} min {min} max {max}")
    }

    /// The line OpenBench's SPSA form wants.
    pub fn openbench(&self) -> String {
        let ParamInfo {
            name,
            default,
            min,
            max,
            step,
        } = self;
        format!("{name}, int, {default}.0, {min}.0, {max}.0, {step}.0, 0.002")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_lies_in_its_range() {
        for info in SearchParams::LIST {
            let range = info.min..=info.max;
            assert!(range.contains(&info.default), "{}", info.name);
            assert!(info.step > 0, "{}", info.name);
        }
    }

    #[test]
    fn a_table_changes_what_it_names_and_comes_back() {
        let table = BTreeMap::from([("iir_depth".to_owned(), 6), ("time_share".to_owned(), 30)]);
        let params = SearchParams::from_table(&table).unwrap();
        assert_eq!((params.iir_depth, params.time_share), (6, 30));
        assert_eq!(params.get("iir_depth"), Some(6));
        assert_eq!(params.to_table(), table);
        let default = SearchParams::default();
        assert_eq!(params.probcut_margin, default.probcut_margin);
        assert!(default.to_table().is_empty());
    }

    #[test]
    fn unknown_names_and_values_out_of_range_are_refused() {
        let mut params = SearchParams::default();
        let error = params.set("probcut_margins", 50).unwrap_err().to_string();
        assert!(error.ends_with("did you mean probcut_margin?"), "{error}");
        let error = params.set("IIR_Depth", 99).unwrap_err().to_string();
        assert_eq!(
            error,
            "search constant iir_depth must be from 2 to 8, not 99"
        );
        assert_eq!(params, SearchParams::default());
    }
}
