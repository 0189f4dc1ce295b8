//! Tables of settings: what is wrong with one, and lists of the tables that share a place.
//!
//! Methods and fitnesses are each declared in one list ([`settings_list!`]). The list gives the
//! names a preset may use, reads the table of a name and leads to everything else through the
//! trait that all entries implement. An entry is one line; without its trait it does not compile.

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde::de::DeserializeOwned;
use thiserror::Error;

/// Why a table of settings is refused: the key, as seen from that table, and the problem.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{key}: {problem}")]
pub struct SettingError {
    pub key: String,
    pub problem: String,
}

impl SettingError {
    pub fn new(key: impl Into<String>, problem: impl Into<String>) -> SettingError {
        SettingError {
            key: key.into(),
            problem: problem.into(),
        }
    }

    /// The same error as seen from the table around this one.
    pub fn in_table(self, table: &str) -> SettingError {
        SettingError {
            key: format!("{table}.{}", self.key),
            ..self
        }
    }
}

/// Fails unless the value lies within the range.
pub fn check_range<T: PartialOrd + Display>(
    key: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), SettingError> {
    if range.contains(&value) {
        return Ok(());
    }
    let (low, high) = range.into_inner();
    let problem = format!("{value} is not within {low} to {high}");
    Err(SettingError::new(key, problem))
}

/// Settings that a preset selects by `name = "..."`.
pub trait NamedSettings {
    const NAME: &'static str;
}

/// Reads one table of a document as whatever type is asked for.
pub trait ReadTable {
    type Error;

    fn read<T: DeserializeOwned>(&self) -> Result<T, Self::Error>;
}

/// Declares an enum with one variant for each kind of settings. It dereferences to the trait
/// that all of them implement.
macro_rules! settings_list {
    (
        $(#[$attribute:meta])*
        pub enum $list:ident: $config:ident {
            $($variant:ident($settings:ty)),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum $list {
            $($variant($settings)),+
        }

        impl $list {
            /// Every name a preset may use.
            pub const NAMES: &[&str] =
                &[$(<$settings as $crate::tune::settings::NamedSettings>::NAME),+];

            pub fn name(&self) -> &'static str {
                match self {
                    $($list::$variant(_) => {
                        <$settings as $crate::tune::settings::NamedSettings>::NAME
                    })+
                }
            }

            /// The settings of this name, read from their table; none if the name is unknown.
            pub fn read<R: $crate::tune::settings::ReadTable>(
                name: &str,
                table: &R,
            ) -> Option<Result<$list, R::Error>> {
                $(if name == <$settings as $crate::tune::settings::NamedSettings>::NAME {
                    return Some(table.read().map($list::$variant));
                })+
                None
            }
        }

        impl std::ops::Deref for $list {
            type Target = dyn $config;

            fn deref(&self) -> &(dyn $config + 'static) {
                match self {
                    $($list::$variant(settings) => settings),+
                }
            }
        }
    };
}

pub(crate) use settings_list;
