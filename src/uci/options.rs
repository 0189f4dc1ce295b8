//! The options of a session: one list that `uci` prints and `setoption` obeys.

use thiserror::Error;

pub const DEFAULT_HASH: i64 = 16;
pub const MAX_HASH: i64 = 65_536;
pub const MAX_THREADS: i64 = 1_024;
/// Milliseconds. A busy machine may keep a finished search waiting for longer than one tick.
pub const DEFAULT_OVERHEAD: i64 = 20;

/// Centipawns.
pub const DEFAULT_CONTEMPT: i64 = 16;

/// What an option is called, and what it may be.
pub struct UciOption {
    pub name: &'static str,
    pub kind: Kind,
}

pub enum Kind {
    Spin { default: i64, min: i64, max: i64 },
    Check { default: bool },
    Text { default: &'static str },
    Button,
}

/// A value that fits its option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Number(i64),
    Flag(bool),
    Text(String),
    Pressed,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionError {
    #[error("no option is called '{0}'")]
    Unknown(String),
    #[error("option {name} wants {wanted}, not '{got}'")]
    Unsuitable {
        name: &'static str,
        wanted: String,
        got: String,
    },
}

pub static OPTIONS: &[UciOption] = &[
    UciOption {
        name: "Hash",
        kind: Kind::Spin {
            default: DEFAULT_HASH,
            min: 1,
            max: MAX_HASH,
        },
    },
    UciOption {
        name: "Threads",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: MAX_THREADS,
        },
    },
    UciOption {
        name: "Clear Hash",
        kind: Kind::Button,
    },
    UciOption {
        name: "Ponder",
        kind: Kind::Check { default: false },
    },
    UciOption {
        name: "MultiPV",
        kind: Kind::Spin {
            default: 1,
            min: 1,
            max: 256,
        },
    },
    UciOption {
        name: "Move Overhead",
        kind: Kind::Spin {
            default: DEFAULT_OVERHEAD,
            min: 0,
            max: 10_000,
        },
    },
    UciOption {
        name: "Contempt",
        kind: Kind::Spin {
            default: DEFAULT_CONTEMPT,
            min: -100,
            max: 100,
        },
    },
    UciOption {
        name: "UCI_Chess960",
        kind: Kind::Check { default: false },
    },
    UciOption {
        name: "UCI_ShowWDL",
        kind: Kind::Check { default: false },
    },
    UciOption {
        name: "UCI_AnalyseMode",
        kind: Kind::Check { default: false },
    },
    UciOption {
        name: "Debug Log File",
        kind: Kind::Text { default: "" },
    },
    UciOption {
        name: "WeightsFile",
        kind: Kind::Text { default: "" },
    },
    UciOption {
        name: "Network",
        kind: Kind::Check { default: true },
    },
    UciOption {
        name: "Tune",
        kind: Kind::Text { default: "" },
    },
];

/// How UCI writes an empty string.
const EMPTY: &str = "<empty>";

impl UciOption {
    /// The line that `uci` prints.
    pub fn declaration(&self) -> String {
        let kind = match self.kind {
            Kind::Spin { default, min, max } => {
                format!("spin default {default} min {min} max {max}")
            }
            Kind::Check { default } => format!("check default {default}"),
            Kind::Text { default: "" } => format!("string default {EMPTY}"),
            Kind::Text { default } => format!("string default {default}"),
            Kind::Button => "button".to_owned(),
        };
        format!("option name {} type {kind}", self.name)
    }

    fn value(&self, text: Option<&str>) -> Result<Value, OptionError> {
        let text = text.unwrap_or_default();
        let unsuitable = |wanted: &str| OptionError::Unsuitable {
            name: self.name,
            wanted: wanted.to_owned(),
            got: text.to_owned(),
        };
        match self.kind {
            Kind::Button => Ok(Value::Pressed),
            Kind::Text { .. } if text == EMPTY => Ok(Value::Text(String::new())),
            Kind::Text { .. } => Ok(Value::Text(text.to_owned())),
            Kind::Check { .. } => match text.to_ascii_lowercase().as_str() {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => Err(unsuitable("true or false")),
            },
            Kind::Spin { min, max, .. } => text
                .parse()
                .ok()
                .filter(|number| (min..=max).contains(number))
                .map(Value::Number)
                .ok_or_else(|| unsuitable(&format!("a number from {min} to {max}"))),
        }
    }
}

/// Finds the option, whatever its case, and reads the value.
pub fn read(name: &str, value: Option<&str>) -> Result<(&'static str, Value), OptionError> {
    let option = OPTIONS
        .iter()
        .find(|option| option.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| OptionError::Unknown(name.to_owned()))?;
    Ok((option.name, option.value(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_in_any_case() {
        assert_eq!(read("hASH", Some("64")), Ok(("Hash", Value::Number(64))));
        assert_eq!(read("clear hash", None), Ok(("Clear Hash", Value::Pressed)));
    }

    #[test]
    fn unsuitable_values_are_explained() {
        let error = read("Hash", Some("lots")).unwrap_err().to_string();
        assert_eq!(
            error,
            "option Hash wants a number from 1 to 65536, not 'lots'"
        );
        assert!(read("Ponder", Some("maybe")).is_err());
        assert!(read("Threads", Some("0")).is_err());
        assert!(read("NoSuch", None).is_err());
    }

    #[test]
    fn empty_strings_come_in_two_spellings() {
        for text in ["", EMPTY] {
            let empty = Ok(("WeightsFile", Value::Text(String::new())));
            assert_eq!(read("WeightsFile", Some(text)), empty);
        }
    }
}
