//! Names that a person mistyped.

/// Names less alike than this are different names.
const LIKENESS: f64 = 0.8;

/// The known name that `typed` probably stands for, in any case; none if nothing is close.
pub fn similar<'n>(typed: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let typed = typed.to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&name.to_lowercase(), &typed);
    let close = known.into_iter().map(|name| (likeness(name), name));
    let close = close.filter(|(likeness, _)| *likeness > LIKENESS);
    close
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The end of an error message about an unknown name: a suggestion, or nothing.
pub fn did_you_mean<'n>(typed: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    similar(typed, known).map_or(String::new(), |name| format!("; did you mean {name}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_suggested_and_a_strange_one_gets_no_suggestion() {
        let known = ["generations", "seed", "threads"];
        assert_eq!(similar("Generation", known), Some("generations"));
        assert_eq!(did_you_mean("sead", known), "; did you mean seed?");
        assert_eq!(did_you_mean("zzz", known), "");
    }
}
