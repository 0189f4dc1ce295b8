//! The options that an engine declares in answer to `uci`.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredOption {
    pub name: String,
    pub kind: OptionKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    Spin { default: i64, min: i64, max: i64 },
    Check,
    Combo(Vec<String>),
    Text,
    Button,
}

impl OptionKind {
    /// Whether an option of this kind can have that value.
    pub fn accepts(&self, value: &str) -> bool {
        match self {
            OptionKind::Spin { min, max, .. } => {
                let number = value.parse::<i64>();
                number.is_ok_and(|number| (min..=max).contains(&&number))
            }
            OptionKind::Check => matches!(value, "true" | "false"),
            OptionKind::Combo(values) => {
                let mut values = values.iter();
                values.any(|known| known.eq_ignore_ascii_case(value))
            }
            OptionKind::Text => true,
            OptionKind::Button => false,
        }
    }
}

impl fmt::Display for OptionKind {
    /// What an option of this kind takes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionKind::Spin { min, max, .. } => write!(f, "a number from {min} to {max}"),
            OptionKind::Check => f.write_str("true or false"),
            OptionKind::Combo(values) => write!(f, "one of {}", values.join(", ")),
            OptionKind::Text => f.write_str("a text"),
            OptionKind::Button => f.write_str("no value"),
        }
    }
}

impl DeclaredOption {
    /// Reads `option name Move Overhead type spin default 20 min 0 max 5000`. A spin without
    /// bounds is a text.
    pub fn parse(line: &str) -> Option<DeclaredOption> {
        let rest = line.trim().strip_prefix("option name ")?;
        let (name, rest) = rest.split_once(" type ")?;
        let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = |key: &str| -> Option<i64> {
            let mut words = rest.split_whitespace();
            words.find(|word| *word == key)?;
            words.next()?.parse().ok()
        };
        let spin = || {
            Some(OptionKind::Spin {
                default: number("default")?,
                min: number("min")?,
                max: number("max")?,
            })
        };
        let kind = match kind {
            "spin" => spin().unwrap_or(OptionKind::Text),
            "check" => OptionKind::Check,
            "combo" => {
                let values = format!(" {rest}");
                let values = values.split(" var ").skip(1);
                OptionKind::Combo(values.map(|value| value.trim().to_owned()).collect())
            }
            "button" => OptionKind::Button,
            _ => OptionKind::Text,
        };
        Some(DeclaredOption {
            name: name.trim().to_owned(),
            kind,
        })
    }

    /// The least and the greatest value of a number, and its default.
    pub fn spin(&self) -> Option<[i64; 3]> {
        match self.kind {
            OptionKind::Spin { default, min, max } => Some([min, max, default]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_engines_declare_them() {
        let option = |line: &str| DeclaredOption::parse(line).unwrap();
        let spin = option("option name Move Overhead type spin default 20 min 0 max 5000");
        assert_eq!(spin.name, "Move Overhead");
        assert_eq!(spin.spin(), Some([0, 5000, 20]));
        assert!(spin.kind.accepts("5000") && !spin.kind.accepts("5001"));
        let combo = option("option name Style type combo default Very Calm var Very Calm var Wild");
        assert!(combo.kind.accepts("very calm") && !combo.kind.accepts("Calm"));
        let check = option("option name Ponder type check default false");
        assert!(check.kind.accepts("true") && !check.kind.accepts("1"));
        assert!(
            !option("option name Clear Hash type button")
                .kind
                .accepts("")
        );
        assert_eq!(option("option name A type spin default x").spin(), None);
        assert_eq!(DeclaredOption::parse("id name Finch"), None);
    }
}
