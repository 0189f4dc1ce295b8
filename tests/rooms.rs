//! The layout of the source: rooms (top-level modules) depend on each other in one direction
//! only, and a public type name stands for one thing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms by level. A room may use rooms of lower levels only.
const LEVELS: [&[&str]; 12] = [
    &["files", "hash", "names", "random", "terminal"],
    &["position"],
    &["eval"],
    &["tablebase", "book"],
    &["search"],
    &["bench", "work"],
    &["play"],
    &["data"],
    &["analysis"],
    &["tune"],
    &["uci"],
    &["cli"],
];

/// Local names that may occur more than once.
const REPEATABLE_NAMES: [&str; 4] = ["Arguments", "Error", "Settings", "State"];

/// Uses of a higher room that are still to be removed: (room, used room).
const KNOWN_USES: &[(&str, &str)] = &[];

/// Public names that still stand for more than one thing.
const KNOWN_DUPLICATES: &[&str] = &[];

struct SourceFile {
    /// Path inside `src`, with `/` between the parts.
    path: String,
    /// The text without comments.
    code: String,
}

impl SourceFile {
    fn read(root: &Path, path: &Path) -> SourceFile {
        let text = fs::read_to_string(path).expect("a source file");
        let inside = path.strip_prefix(root).expect("a path below src");
        SourceFile {
            path: inside.to_string_lossy().replace('\\', "/"),
            code: without_comments(&text),
        }
    }

    /// The top-level module that the file belongs to.
    fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// How many `super::` lead from the file's module to the crate root.
    fn depth(&self) -> usize {
        let parts = self.path.split('/').count();
        if self.path.ends_with("/mod.rs") {
            parts - 1
        } else {
            parts
        }
    }
}

fn without_comments(text: &str) -> String {
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text.lines().map(|line| code(line) + "\n").collect()
}

fn sources() -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a source folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(SourceFile::read(&root, &path));
            }
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

fn level(room: &str) -> Option<usize> {
    LEVELS.iter().position(|rooms| rooms.contains(&room))
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The first identifiers of what follows `crate::`: one, or each of a `{...}` group.
fn first_identifiers(text: &str) -> Vec<&str> {
    let text = text.trim_start();
    let Some(group) = text.strip_prefix('{') else {
        return vec![identifier(text)];
    };
    let mut found = vec![identifier(group.trim_start())];
    let mut depth = 1;
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => found.push(identifier(group[at + 1..].trim_start())),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

/// All rooms that the file names by a path from the crate root, in `use` lines or elsewhere.
fn used_rooms(file: &SourceFile) -> Vec<&str> {
    let to_root = "super::".repeat(file.depth());
    let mut used = Vec::new();
    for root in ["crate::", to_root.as_str()] {
        for (at, _) in file.code.match_indices(root) {
            let before = file.code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
                continue;
            }
            used.extend(first_identifiers(&file.code[at + root.len()..]));
        }
    }
    used.retain(|name| level(name).is_some() && *name != file.room());
    used
}

#[test]
fn paths_are_found_in_groups_and_bodies() {
    let file = |path: &str, code: &str| SourceFile {
        path: path.to_owned(),
        code: without_comments(code),
    };
    let body = file(
        "eval/a.rs",
        "fn f() { crate::search::g(); } // crate::uci::h",
    );
    assert_eq!(used_rooms(&body), ["search"]);
    let group = file(
        "eval/a.rs",
        "use crate::{position::{self, x}, play::y, data};",
    );
    assert_eq!(used_rooms(&group), ["position", "play", "data"]);
    let relative = file(
        "eval/b/mod.rs",
        "use super::super::tune::z; use super::uci;",
    );
    assert_eq!(used_rooms(&relative), ["tune"]);
}

#[test]
fn every_top_level_module_has_a_level() {
    for file in sources() {
        let room = file.room();
        let known = level(room).is_some() || matches!(room, "lib" | "main");
        assert!(known, "{} belongs to no level of LEVELS", file.path);
    }
}

/// Levels are a total order of the rooms, so there are no cycles.
#[test]
fn a_room_uses_only_rooms_of_lower_levels() {
    let mut wrong = Vec::new();
    for file in &sources() {
        let Some(own) = level(file.room()) else {
            continue;
        };
        for used in used_rooms(file) {
            let allowed = level(used).is_some_and(|used| used < own)
                || KNOWN_USES.contains(&(file.room(), used));
            if !allowed {
                wrong.push(format!("src/{} uses crate::{used}", file.path));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The names of public structs, enums and traits with the files that declare them.
fn public_types(files: &[SourceFile]) -> BTreeMap<&str, Vec<&str>> {
    let mut types: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files {
        for line in file.code.lines() {
            let declared = ["pub struct ", "pub enum ", "pub trait "]
                .iter()
                .find_map(|start| line.trim_start().strip_prefix(start));
            // Names that macros make up are empty here.
            let name = declared.map(identifier).unwrap_or_default();
            if !name.is_empty() {
                types.entry(name).or_default().push(&file.path);
            }
        }
    }
    types
}

#[test]
fn a_public_type_name_stands_for_one_thing() {
    let files = sources();
    let types = public_types(&files);
    let repeated: Vec<_> = types
        .iter()
        .filter(|(name, files)| {
            files.len() > 1 && !REPEATABLE_NAMES.contains(name) && !KNOWN_DUPLICATES.contains(name)
        })
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert!(repeated.is_empty(), "\n{}", repeated.join("\n"));
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut blocks = 0;
    for source in sources() {
        let text = fs::read_to_string(root.join(&source.path)).expect("a source file");
        let lines: Vec<&str> = text.lines().collect();
        for (number, code) in source.code.lines().enumerate() {
            if !code.contains("unsafe {") {
                continue;
            }
            blocks += 1;
            let before = &lines[number.saturating_sub(5)..=number];
            assert!(
                before.iter().any(|line| line.contains("// SAFETY: ")),
                "{}:{}: unsafe without a SAFETY comment",
                source.path,
                number + 1
            );
        }
        let declares = |word: &str| source.code.contains(word);
        assert!(
            !declares("unsafe fn") && !declares("unsafe impl"),
            "{}",
            source.path
        );
    }
    assert!(blocks > 0);
}
