//! Weights files: what is read, what is written, what is refused and how.

use std::path::{Path, PathBuf};

use finch::eval::{
    Family, TERMS, TaperedValue, Weights, WeightsError, WeightsProblem, differences, term,
};
use proptest::prelude::*;

const DEFAULT: &str = include_str!("../weights/default.toml");

fn files() -> Vec<PathBuf> {
    let folder = std::fs::read_dir("weights/papers").expect("the papers' weights");
    let papers = folder.map(|entry| entry.expect("a file").path());
    std::iter::once(PathBuf::from("weights/default.toml"))
        .chain(papers)
        .collect()
}

fn read(text: &str) -> Result<Weights, WeightsError> {
    Weights::from_toml(text, "test.toml")
}

fn error(text: &str) -> WeightsError {
    read(text).expect_err("a mistake")
}

#[test]
fn every_weights_file_of_the_repository_is_read() {
    for file in files() {
        let weights = Weights::load(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(!weights.provenance.is_empty(), "{}", file.display());
        assert!(
            weights.get(term::pawn()).midgame > 0.0,
            "{}",
            file.display()
        );
    }
}

#[test]
fn the_embedded_weights_are_the_default_file_and_weigh_every_family_but_two() {
    let weights = Weights::load(Path::new("weights/default.toml"));
    let weights = weights.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(weights, Weights::default());
    assert!(weights.network.is_some());
    for &family in Family::ALL {
        let unused = matches!(family, Family::Papers | Family::Patterns);
        assert_eq!(weights.uses(family), !unused, "{}", family.key());
    }
}

#[test]
fn load_save_load_gives_the_same_weights_and_the_same_text() {
    for file in files() {
        let weights = Weights::load(&file).unwrap_or_else(|error| panic!("{error}"));
        let text = weights.to_toml();
        let again = Weights::from_toml(&text, &file.display().to_string());
        let again = again.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again, weights, "{}", file.display());
        assert_eq!(again.to_toml(), text, "{}", file.display());
    }
}

#[test]
fn the_default_file_is_as_saving_would_write_it() {
    assert_eq!(Weights::default().to_toml(), DEFAULT);
}

#[test]
fn a_saved_file_is_loaded_from_disk() {
    let folder = std::env::temp_dir().join(format!("finch-weights-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let path = folder.join("saved.toml");
    let mut weights = Weights::default().without_network();
    weights.name = "with \"quotes\" and ünïcode".to_owned();
    weights.provenance = vec![
        ("preset".to_owned(), "vazquez-2013".to_owned()),
        ("odd key".to_owned(), "line\nbreak".to_owned()),
    ];
    weights.save(&path).expect("saved");
    assert_eq!(Weights::load(&path), Ok(weights));
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 1);
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn values_are_scalars_pairs_and_arrays_of_either() {
    let text = "[material]\npawn = 100\nknight = [310.5, 320]\n\
                [pieces]\nknight_mobility = [-40, [-20, -25], 0, 5, 10, 15, 20, 24, 28.25]";
    let weights = read(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(weights.get(term::pawn()), TaperedValue::both(100.0));
    let knight = TaperedValue {
        midgame: 310.5,
        endgame: 320.0,
    };
    assert_eq!(weights.get(term::knight()), knight);
    let second = TaperedValue {
        midgame: -20.0,
        endgame: -25.0,
    };
    assert_eq!(weights.get(term::knight_mobility(1)), second);
    assert_eq!(
        weights.get(term::knight_mobility(8)),
        TaperedValue::both(28.25)
    );
    assert_eq!(weights.get(term::queen()), TaperedValue::default());
}

#[test]
fn a_missing_file_is_named() {
    let error = Weights::load(Path::new("no/such/weights.toml")).expect_err("missing");
    assert!(matches!(error.problem, WeightsProblem::Unreadable(_)));
    assert!(
        error.to_string().starts_with("no/such/weights.toml: "),
        "{error}"
    );
}

#[test]
fn a_file_that_is_not_text_is_named_with_the_line() {
    let path = std::env::temp_dir().join(format!("finch-latin-{}.toml", std::process::id()));
    std::fs::write(&path, b"name = \"x\"\n# caf\xe9\n[material]\npawn = 100\n").expect("written");
    let error = Weights::load(&path).expect_err("not UTF-8");
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(
        (error.line, &error.problem),
        (Some(2), &WeightsProblem::NotText)
    );
    assert!(error.to_string().contains(&path.display().to_string()));
}

#[test]
fn bad_files_are_refused_with_line_and_term() {
    #[rustfmt::skip]
    let cases: &[(&str, usize, Option<&str>, &str)] = &[
        ("", 1, None, "no term is given a weight"),
        ("name = \"empty\"\n[material]\n", 1, None, "no term is given a weight"),
        ("[material]\npawn = 100\n[material\n", 3, Some("pawn"), "not TOML"),
        ("[material]\npawn = \n", 2, Some("pawn"), "not TOML"),
        ("[material]\npawn = 100\npawn = 90\n", 3, Some("pawn"), "not TOML"),
        ("[material]\npawn = 100\nhorse = 300\n", 3, Some("horse"), "no such term"),
        ("[material]\nknight_mobility = 3\n", 2, Some("knight_mobility"), "belongs under [pieces]"),
        ("pawn = 100\n", 1, Some("pawn"), "no such family"),
        ("[matter]\npawn = 100\n", 1, Some("matter"), "no such family"),
        ("material = 3\n", 1, Some("material"), "integer where a table is expected"),
        ("\n[pieces]\nknight_mobility = [1, 2, 3]\n", 3, Some("knight_mobility"), "3 values where the term has 9"),
        ("[material]\npawn = [1, 2, 3]\n", 2, Some("pawn"), "3 values where the term has 2"),
        ("[material]\npawn = []\n", 2, Some("pawn"), "0 values"),
        ("[pieces]\nknight_mobility = 5\n", 2, Some("knight_mobility"), "an array of values is expected"),
        ("[material]\npawn = 4000\n", 2, Some("pawn"), "4000 is outside the bounds 0..=400"),
        ("[material]\npawn = [100, -0.5]\n", 2, Some("pawn"), "-0.5 is outside the bounds"),
        ("[material]\npawn = nan\n", 2, Some("pawn"), "nan is not a finite number"),
        ("[material]\npawn = [100, -inf]\n", 2, Some("pawn"), "-inf is not a finite number"),
        ("[material]\npawn = 1e999\n", 2, Some("pawn"), ""),
        ("[material]\npawn = \"100\"\n", 2, Some("pawn"), "string where a decimal number is expected"),
        ("[material]\npawn = true\n", 2, Some("pawn"), "boolean where"),
        ("[material]\npawn = 0x64\n", 2, Some("pawn"), "decimal number is expected"),
        ("name = 3\n[material]\npawn = 100\n", 1, Some("name"), "a string is expected"),
        ("[provenance]\nseed = 3\n[material]\npawn = 100\n", 2, Some("seed"), "a string is expected"),
        ("[pieces]\nknight_mobility = [\n0, 0, 0, 0,\n0, 0, 999, 0, 0]\n", 4, Some("knight_mobility"), "999 is outside"),
    ];
    for &(text, line, term, problem) in cases {
        let error = error(text);
        assert_eq!(error.file, "test.toml");
        assert_eq!(error.line, Some(line), "{text}: {error}");
        assert_eq!(error.term.as_deref(), term, "{text}: {error}");
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("test.toml:{line}: ")),
            "{message}"
        );
        assert!(message.contains(problem), "{text}: {message}");
    }
}

#[test]
fn differences_name_every_weight_that_changed() {
    let left = Weights::default();
    let mut right = left.clone();
    assert!(differences(&left, &right).is_empty());
    right.set(term::knight_mobility(3), TaperedValue::both(77.0));
    right.set(term::tempo(), TaperedValue::both(1.0));
    let labels: Vec<_> = differences(&left, &right)
        .iter()
        .map(|one| one.term.label())
        .collect();
    assert_eq!(labels, ["tempo", "knight_mobility[3]"]);
}

#[test]
fn setting_keeps_bounds_and_survives_what_is_no_number() {
    let mut weights = Weights::zero("bounds");
    weights.set(
        term::pawn(),
        TaperedValue {
            midgame: 9e9,
            endgame: f64::NAN,
        },
    );
    let high = TERMS[0].high;
    let kept = TaperedValue {
        midgame: f64::from(high),
        endgame: 0.0,
    };
    assert_eq!(weights.get(term::pawn()), kept);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    /// Whatever becomes of a file, it is read or refused with a message, and what is read
    /// keeps every bound.
    #[test]
    fn mutated_files_never_break_the_reader(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<char>(), 0..3_u8), 1..6)
    ) {
        let mut text: Vec<char> = SAMPLE.chars().collect();
        for (place, letter, kind) in edits {
            let place = place.index(text.len());
            match kind {
                0 => text[place] = letter,
                1 => text.insert(place, letter),
                _ => { text.remove(place); }
            }
        }
        check(&text.into_iter().collect::<String>())?;
    }

    #[test]
    fn files_cut_short_never_break_the_reader(end in 0..SAMPLE.len()) {
        check(SAMPLE.get(..end).unwrap_or(""))?;
    }

    #[test]
    fn any_number_is_kept_or_refused(number in any::<f64>()) {
        check(&format!("[material]\npawn = {number:?}\n"))?;
    }
}

const SAMPLE: &str = "name = \"sample\"\n[provenance]\nseed = \"7\"\n[material]\npawn = [82, 104.25]\n\
    knight = 300 # a comment\n[pieces]\nknight_mobility = [1, 2, 3, [4, 5], 6, 7, 8, 9, 10]\n\
    [papers]\nlegal_moves = 5.62\n";

fn check(text: &str) -> Result<(), TestCaseError> {
    match read(text) {
        Ok(weights) => {
            for info in TERMS {
                for value in weights.values(info) {
                    let bounds = f64::from(info.low)..=f64::from(info.high);
                    prop_assert!(bounds.contains(&value.midgame), "{}", info.name);
                    prop_assert!(bounds.contains(&value.endgame), "{}", info.name);
                }
            }
            prop_assert_eq!(read(&weights.to_toml()), Ok(weights));
        }
        Err(error) => {
            prop_assert!(error.to_string().starts_with("test.toml:"));
            prop_assert!(error.line.is_some());
        }
    }
    Ok(())
}

#[test]
fn a_network_that_is_missing_or_damaged_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("w.toml");
    let text = "name = \"x\"\nnetwork = \"n.net\"\n\n[material]\npawn = 100\n";
    std::fs::write(&path, text).expect("written");
    let error = || Weights::load(&path).expect_err("no network").to_string();
    assert!(
        error().contains("w.toml:2: network: n.net: No such file"),
        "{}",
        error()
    );
    std::fs::write(folder.path().join("n.net"), "nonsense").expect("written");
    assert!(
        error().contains("n.net: not a network of Finch's"),
        "{}",
        error()
    );
    std::fs::copy("weights/default.net", folder.path().join("n.net")).expect("copied");
    let weights = Weights::load(&path).expect("a network");
    assert_eq!(
        weights.to_toml().lines().nth(1),
        Some("network = \"n.net\"")
    );
}

#[test]
fn the_id_counts_what_plays_and_nothing_else() {
    let weights = Weights::default();
    let id = weights.id();
    let changed = |change: &dyn Fn(&mut Weights)| {
        let mut other = weights.clone();
        change(&mut other);
        other.id()
    };
    let renamed = changed(&|weights| {
        weights.name = "another name".to_owned();
        weights.provenance = vec![("date".to_owned(), "2030-01-01".to_owned())];
    });
    assert_eq!(renamed, id);
    assert_ne!(weights.clone().without_network().id(), id);
    let searches = changed(&|weights| {
        weights.search.insert("lmr_base".to_owned(), 91);
    });
    assert_ne!(searches, id);
    let valued = changed(&|weights| weights.set(term::pawn(), TaperedValue::both(101.0)));
    assert_ne!(valued, id);
    // The id is written to files, so it must not depend on the build.
    let mut pawns = Weights::zero("pawns");
    pawns.set(term::pawn(), TaperedValue::both(100.0));
    assert_eq!(pawns.id().to_string(), "390f5cb62a3ed91b");
}

#[test]
fn win_model_and_search_constants_are_read_and_written() {
    let text = "[win_model]\nmidpoint = 210.5\nslope = 77\n[search]\nlmr_base = 90\n\
                [material]\npawn = 100\n";
    let weights = read(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(weights.win_model().midpoint, 210.5);
    assert_eq!(weights.win_model().slope, 77.0);
    assert_eq!(weights.search["lmr_base"], 90);
    assert_eq!(read(&weights.to_toml()), Ok(weights));
    for (text, message) in [
        (
            "[win_model]\nmiddle = 3\n",
            "test.toml:2: middle: no such key",
        ),
        (
            "[win_model]\nslope = 0\n",
            "test.toml:1: win_model: midpoint",
        ),
        (
            "[search]\nlmr_base = 1.5\n",
            "test.toml:2: lmr_base: float where",
        ),
    ] {
        let error = error(&format!("{text}[material]\npawn = 1\n")).to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn the_win_model_is_fitted_to_games_and_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pawns.toml");
    std::fs::write(&path, "[material]\npawn = 100\n").expect("written");
    // White reports +1.00 and wins three games of five; Black reports -1.00 and wins one.
    let moves = "Nf3 Nf6 Ng1 Ng8 ".repeat(5);
    let moves: Vec<_> = moves.split_whitespace().collect();
    let mut pgn = String::new();
    for result in ["1-0", "1-0", "1-0", "1/2-1/2", "0-1"].repeat(20) {
        pgn += &format!("[Result \"{result}\"]\n\n");
        for (ply, san) in moves.iter().enumerate() {
            let sign = if ply % 2 == 0 { '+' } else { '-' };
            pgn += &format!("{san} {{{sign}1.00/14 0.21s}} ");
        }
        pgn += &format!("{result}\n\n");
    }
    let games = folder.path().join("games.pgn");
    std::fs::write(&games, pgn).expect("written");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_finch"))
        .args(["weights", "win-model", "--save"])
        .args([&path, &games])
        .output()
        .expect("finch runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(
        text.starts_with("500 scored moves: midpoint 109, slope 223 "),
        "{text}"
    );
    // Odds of 1.5 at +200 units and 0.25 at -200.
    let model = Weights::load(&path).expect("weights").win_model();
    assert_eq!((model.midpoint, model.slope), (109.0, 223.0));
}
