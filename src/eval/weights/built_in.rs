//! Weights that are part of the program, by name. Every command that takes weights takes these
//! names as well as files.

use std::path::Path;

use super::{Weights, WeightsError, WeightsProblem};
use crate::names::similar;

/// Texts of the built-in weights beside `default`.
const FILES: &[(&str, &str)] = &[
    ("hand-set", include_str!("../../../weights/hand-set.toml")),
    ("moves", include_str!("../../../weights/moves.toml")),
    (
        "david-tabibi-2011",
        include_str!("../../../weights/papers/david-tabibi-2011.toml"),
    ),
    (
        "kendall-2001",
        include_str!("../../../weights/papers/kendall-2001.toml"),
    ),
    (
        "nasreddine-2006",
        include_str!("../../../weights/papers/nasreddine-2006.toml"),
    ),
    (
        "shannon-1950",
        include_str!("../../../weights/papers/shannon-1950.toml"),
    ),
    (
        "vazquez-2011",
        include_str!("../../../weights/papers/vazquez-2011.toml"),
    ),
    (
        "vazquez-2013",
        include_str!("../../../weights/papers/vazquez-2013.toml"),
    ),
];

impl Weights {
    /// The built-in weights of a name: `default`, `terms` (the same without their network),
    /// `hand-set`, `moves` or a paper's.
    pub fn built_in(name: &str) -> Option<Weights> {
        match name {
            "default" => Some(Weights::default()),
            "terms" => Some(Weights::default().without_network()),
            _ => {
                let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
                // A test reads them all.
                Weights::from_toml(text, name).ok()
            }
        }
    }

    /// All names that [`Weights::built_in`] knows.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        let files = FILES.iter().map(|(name, _)| *name);
        ["default", "terms"].into_iter().chain(files)
    }

    /// Built-in weights by their name, or a file. The error for a bare name says which names there are.
    pub fn named(name: &Path) -> Result<Weights, WeightsError> {
        if let Some(weights) = name.to_str().and_then(Weights::built_in) {
            return Ok(weights);
        }
        Weights::load(name).map_err(|mut error| {
            if !name.exists() {
                error.problem = unknown_name(name, error.problem);
            }
            error
        })
    }
}

/// What to say of a name that is neither a file nor built in: the nearest name, or all of them
/// where it cannot be a path.
fn unknown_name(name: &Path, problem: WeightsProblem) -> WeightsProblem {
    let text = problem.to_string();
    if let Some(name) = similar(&name.to_string_lossy(), Weights::built_in_names()) {
        return WeightsProblem::Mistyped {
            problem: text,
            name,
        };
    }
    if name.components().count() > 1 || name.extension().is_some() {
        return problem;
    }
    let names: Vec<&str> = Weights::built_in_names().collect();
    WeightsProblem::Unknown {
        problem: text,
        names: names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_weights() {
        for name in Weights::built_in_names() {
            assert!(Weights::built_in(name).is_some(), "{name}");
        }
        assert!(Weights::built_in("nobody-1900").is_none());
    }

    #[test]
    fn a_mistyped_name_gets_a_hint() {
        let error = Weights::named(Path::new("vasquez-2013")).unwrap_err();
        assert!(
            error.to_string().contains("did you mean vazquez-2013?"),
            "{error}"
        );
        let error = Weights::named(Path::new("my/own.toml")).unwrap_err();
        assert!(!error.to_string().contains("did you mean"), "{error}");
        assert!(!error.to_string().contains("built-in"), "{error}");
        let error = Weights::named(Path::new("foo")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("built-in weights are default, terms, "),
            "{error}"
        );
    }
}
