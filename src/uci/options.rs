//! The UCI options.
//!
//! [`OPTIONS`] declares each option once: name, type, default, range, meaning and what it does.
//! `uci`, `setoption` and `help` read the list; a test compares the table in docs/uci.md with it.

use std::fmt::Write as _;
use std::time::Duration;

use thiserror::Error;

use super::own_book::OwnBook;
use super::session::Session;
use crate::eval::Centipawns;
use crate::names::did_you_mean;
use crate::search::strength::{MAX_ELO, MAX_SKILL, MIN_ELO};
use crate::search::{EngineSettings, SearchParams};
use crate::tablebase::SyzygySettings;

/// What became of setting an option; the error is for people.
pub type Applied = Result<(), String>;

pub struct UciOption {
    pub name: &'static str,
    meaning: &'static str,
    kind: Kind,
}

/// The type of an option, and what setting it does to the session.
enum Kind {
    Spin {
        default: i64,
        min: i64,
        max: i64,
        set: fn(&mut Session, i64) -> Applied,
    },
    Check {
        default: bool,
        set: fn(&mut Session, bool) -> Applied,
    },
    /// Empty by default.
    Text {
        set: fn(&mut Session, &str) -> Applied,
    },
    Button {
        press: fn(&mut Session) -> Applied,
    },
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionError {
    #[error(
        "no option is called '{0}'{hint} (uci lists the options)",
        hint = did_you_mean(.0, OPTIONS.iter().map(|option| option.name))
    )]
    Unknown(String),
    #[error("option {name} needs {expected}, not '{found}'")]
    BadValue {
        name: &'static str,
        expected: String,
        found: String,
    },
    #[error("{0}")]
    Failed(String),
}

pub static OPTIONS: &[UciOption] = &[
    UciOption {
        name: "Hash",
        meaning: "size of the transposition table in MiB",
        kind: Kind::Spin {
            default: EngineSettings::DEFAULT_HASH_MIB as i64,
            min: 1,
            max: 65_536,
            set: |session, mib| session.configure(|engine| engine.hash_mib = mib as usize),
        },
    },
    UciOption {
        name: "Threads",
        meaning: "search threads",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 1_024,
            set: |session, count| session.configure(|engine| engine.threads = count as usize),
        },
    },
    UciOption {
        name: "Clear Hash",
        meaning: "clear the transposition table and the histories",
        kind: Kind::Button {
            press: |session| {
                session.clear();
                Ok(())
            },
        },
    },
    UciOption {
        name: "Ponder",
        meaning: "tells Finch that the GUI may let it think on the opponent's time; play stays the same",
        kind: Kind::Check {
            default: false,
            set: |_, _| Ok(()),
        },
    },
    UciOption {
        name: "MultiPV",
        meaning: "number of principal variations to show",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 256,
            set: |session, lines| session.configure(|engine| engine.multi_pv = lines as usize),
        },
    },
    UciOption {
        name: "Move Overhead",
        meaning: "milliseconds reserved each move for the delay between engine and GUI",
        kind: Kind::Spin {
            default: EngineSettings::DEFAULT_MOVE_OVERHEAD.as_millis() as i64,
            min: 0,
            max: 10_000,
            set: |session, milliseconds| {
                let overhead = Duration::from_millis(milliseconds as u64);
                session.configure(|engine| engine.move_overhead = overhead)
            },
        },
    },
    UciOption {
        name: "Contempt",
        meaning: "centipawns by which a draw scores below equality; avoids draws against weaker opponents",
        kind: Kind::Spin {
            default: EngineSettings::DEFAULT_CONTEMPT.0 as i64,
            min: -100,
            max: 100,
            set: |session, centipawns| {
                let contempt = Centipawns(centipawns as i32);
                session.configure(|engine| engine.contempt = contempt)
            },
        },
    },
    UciOption {
        name: "UCI_LimitStrength",
        meaning: "play at the strength of UCI_Elo",
        kind: Kind::Check {
            default: false,
            set: |session, on| session.configure(|engine| engine.strength.limited = on),
        },
    },
    UciOption {
        name: "UCI_Elo",
        meaning: "the rating to play at with UCI_LimitStrength",
        kind: Kind::Spin {
            default: MAX_ELO as i64,
            min: MIN_ELO as i64,
            max: MAX_ELO as i64,
            set: |session, elo| session.configure(|engine| engine.strength.elo = elo as u32),
        },
    },
    UciOption {
        name: "Skill Level",
        meaning: "0 is the weakest play, 20 full strength; UCI_LimitStrength overrides it",
        kind: Kind::Spin {
            default: MAX_SKILL as i64,
            min: 0,
            max: MAX_SKILL as i64,
            set: |session, level| session.configure(|engine| engine.strength.skill = level as u32),
        },
    },
    UciOption {
        name: "UCI_Chess960",
        meaning: "castling moves are written as king takes rook",
        kind: Kind::Check {
            default: false,
            set: |session, on| {
                session.settings.chess960 = on;
                Ok(())
            },
        },
    },
    UciOption {
        name: "UCI_ShowWDL",
        meaning: "show wins, draws and losses in per mille beside the score",
        kind: Kind::Check {
            default: false,
            set: |session, on| {
                session.settings.show_wdl = on;
                Ok(())
            },
        },
    },
    UciOption {
        name: "UCI_AnalyseMode",
        meaning: "search without Contempt, as `go infinite` always does",
        kind: Kind::Check {
            default: false,
            set: |session, on| session.configure(|engine| engine.analyse_mode = on),
        },
    },
    UciOption {
        name: "SyzygyPath",
        meaning: "folders of Syzygy tablebases, separated by `:` (on Windows by `;`)",
        kind: Kind::Text {
            set: Session::open_tablebases,
        },
    },
    UciOption {
        name: "SyzygyProbeDepth",
        meaning: "minimum depth for probing positions with as many men as the largest tables have",
        kind: Kind::Spin {
            default: SyzygySettings::DEFAULT_PROBE_DEPTH as i64,
            min: 1,
            max: 100,
            set: |session, depth| {
                session.configure(|engine| engine.syzygy.probe_depth = depth as i32)
            },
        },
    },
    UciOption {
        name: "Syzygy50MoveRule",
        meaning: "wins that take more than fifty moves without capture or pawn move count as draws",
        kind: Kind::Check {
            default: true,
            set: |session, on| session.configure(|engine| engine.syzygy.fifty_move_rule = on),
        },
    },
    UciOption {
        name: "SyzygyProbeLimit",
        meaning: "most men, kings included, for which the tables are probed; 0 switches them off",
        kind: Kind::Spin {
            default: SyzygySettings::MAX_MEN as i64,
            min: 0,
            max: SyzygySettings::MAX_MEN as i64,
            set: |session, men| {
                session.configure(|engine| engine.syzygy.probe_limit = men as usize)
            },
        },
    },
    UciOption {
        name: "OwnBook",
        meaning: "play from an opening book",
        kind: Kind::Check {
            default: false,
            set: |session, on| {
                session.settings.book.enabled = on;
                Ok(())
            },
        },
    },
    UciOption {
        name: "BookFile",
        meaning: "the book, in Polyglot's format; empty means the built-in one",
        kind: Kind::Text {
            set: Session::open_book,
        },
    },
    UciOption {
        name: "BookDepth",
        meaning: "plies from the start of the game in which the book is used",
        kind: Kind::Spin {
            default: OwnBook::DEFAULT_PLIES as i64,
            min: 0,
            max: 1_000,
            set: |session, plies| {
                session.settings.book.plies = plies as u32;
                Ok(())
            },
        },
    },
    UciOption {
        name: "BookBest",
        meaning: "play the book move with the highest weight instead of a random one",
        kind: Kind::Check {
            default: false,
            set: |session, on| {
                session.settings.book.best = on;
                Ok(())
            },
        },
    },
    UciOption {
        name: "Debug Log File",
        meaning: "append all input and output to this file",
        kind: Kind::Text {
            set: Session::set_log_file,
        },
    },
    UciOption {
        name: "WeightsFile",
        meaning: "evaluate with this file; `default` means the built-in weights, empty the weights Finch started with",
        kind: Kind::Text {
            set: Session::load_weights,
        },
    },
    UciOption {
        name: "Network",
        meaning: "evaluate with the network of the weights; false: with their terms only",
        kind: Kind::Check {
            default: true,
            set: |session, on| {
                session.settings.network = on;
                session.choose_evaluator()
            },
        },
    },
    UciOption {
        name: "Tune",
        meaning: "name or file of a preset: tunes in the background and plays with the result if it beats the weights in use; empty ends the run",
        kind: Kind::Text { set: Session::tune },
    },
];

/// How UCI writes an empty string.
const EMPTY: &str = "<empty>";

impl UciOption {
    /// The line that `uci` prints.
    pub fn declaration(&self) -> String {
        let kind = match self.kind {
            Kind::Spin {
                default, min, max, ..
            } => {
                format!("spin default {default} min {min} max {max}")
            }
            Kind::Check { default, .. } => format!("check default {default}"),
            Kind::Text { .. } => format!("string default {EMPTY}"),
            Kind::Button { .. } => "button".to_owned(),
        };
        format!("option name {} type {kind}", self.name)
    }

    fn default_text(&self) -> String {
        match self.kind {
            Kind::Spin { default, .. } => default.to_string(),
            Kind::Check { default, .. } => default.to_string(),
            Kind::Text { .. } | Kind::Button { .. } => String::new(),
        }
    }

    fn range_text(&self) -> String {
        match self.kind {
            Kind::Spin { min, max, .. } => format!("{min} to {max}"),
            Kind::Check { .. } => "true, false".to_owned(),
            Kind::Text { .. } => "text".to_owned(),
            Kind::Button { .. } => "button".to_owned(),
        }
    }

    fn apply(&self, session: &mut Session, text: &str) -> Result<(), OptionError> {
        let bad_value = |expected: String| OptionError::BadValue {
            name: self.name,
            expected,
            found: text.to_owned(),
        };
        let applied = match self.kind {
            Kind::Button { press } => press(session),
            Kind::Text { set } => set(session, if text == EMPTY { "" } else { text }),
            Kind::Check { set, .. } => {
                let on = text.to_ascii_lowercase().parse();
                set(
                    session,
                    on.map_err(|_| bad_value("true or false".to_owned()))?,
                )
            }
            Kind::Spin { min, max, set, .. } => {
                let number = text.parse().ok().filter(|n| (min..=max).contains(n));
                let number =
                    number.ok_or_else(|| bad_value(format!("a number from {min} to {max}")))?;
                set(session, number)
            }
        };
        applied.map_err(OptionError::Failed)
    }
}

/// Sets an option, found by its name in any case.
pub fn set(session: &mut Session, name: &str, value: Option<&str>) -> Result<(), OptionError> {
    if let Some(info) = SearchParams::info(name) {
        return set_search_constant(session, info.name, value.unwrap_or_default());
    }
    let option = OPTIONS
        .iter()
        .find(|option| option.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| OptionError::Unknown(name.to_owned()))?;
    option.apply(session, value.unwrap_or_default())
}

/// The constants of the search are options of every build, though most do not list them.
fn set_search_constant(
    session: &mut Session,
    name: &'static str,
    value: &str,
) -> Result<(), OptionError> {
    let number = value.parse().map_err(|_| OptionError::BadValue {
        name,
        expected: "a number".to_owned(),
        found: value.to_owned(),
    })?;
    let mut params = session.engine().params.clone();
    let changed = params.set(name, number).map_err(|error| error.to_string());
    changed
        .and_then(|()| session.configure(|engine| engine.params = params))
        .map_err(OptionError::Failed)
}

/// The list of options that `help` prints.
pub fn list() -> String {
    let mut text = String::new();
    for option in OPTIONS {
        let values = match option.default_text().as_str() {
            "" => option.range_text(),
            default => format!("{default} ({})", option.range_text()),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {:<16} {values:<20} {}",
            option.name, option.meaning
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::LoadedWeights;

    #[test]
    fn the_table_of_the_document_is_this_list() {
        let mut table = "| option | default | values | meaning |\n|---|---|---|---|\n".to_owned();
        for option in OPTIONS {
            let (default, range) = (option.default_text(), option.range_text());
            let meaning = option.meaning;
            let _ = writeln!(
                table,
                "| {} | {default} | {range} | {meaning} |",
                option.name
            );
        }
        let document = include_str!("../../docs/uci.md");
        assert!(
            document.contains(&table),
            "docs/uci.md should contain\n{table}"
        );
    }

    #[test]
    fn names_are_unique_and_hold_no_keyword() {
        for (at, option) in OPTIONS.iter().enumerate() {
            let name = option.name.to_ascii_lowercase();
            assert!(!name.split(' ').any(|word| word == "value"), "{name}");
            let twice = OPTIONS[..at]
                .iter()
                .any(|other| other.name.eq_ignore_ascii_case(&name));
            assert!(!twice, "{name}");
        }
    }

    fn session() -> Session {
        Session::new(LoadedWeights::built_in()).unwrap()
    }

    #[test]
    fn names_match_in_any_case() {
        let mut session = session();
        assert_eq!(set(&mut session, "mULTIpv", Some("64")), Ok(()));
        assert_eq!(session.engine().multi_pv, 64);
        assert_eq!(set(&mut session, "clear hash", None), Ok(()));
    }

    #[test]
    fn bad_values_are_explained_and_change_nothing() {
        let mut session = session();
        let error = set(&mut session, "Hash", Some("lots")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "option Hash needs a number from 1 to 65536, not 'lots'"
        );
        assert!(set(&mut session, "Ponder", Some("maybe")).is_err());
        assert!(set(&mut session, "Threads", Some("0")).is_err());
        assert!(set(&mut session, "MultiPV", None).is_err());
        assert_eq!(session.engine().multi_pv, 1);
        assert!(set(&mut session, "NoSuch", None).is_err());
    }

    #[test]
    fn empty_strings_have_two_spellings() {
        let mut session = session();
        for text in ["", EMPTY] {
            assert_eq!(set(&mut session, "WeightsFile", Some(text)), Ok(()));
        }
    }
}
