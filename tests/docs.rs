//! The commands in the documents run as printed.
//!
//! A fenced block marked `sh` or `console` holds commands: in `sh` every line, in `console` the
//! lines after `$ `; a backslash at the end continues a line. Those that start with `finch` are
//! run, one after another, in one folder for the whole document, with the files of [`fixtures`] in
//! it. Other commands (`cargo build`) and other blocks are not looked at. A block marked `uci` is a
//! UCI session: no line of it may be unknown or refused.
//!
//! A comment in the line before a block changes what is run, not what is printed:
//! - ``<!-- test: replace `--movetime 1000` by `--nodes 500` -->`` shortens commands. The text to
//!   replace must occur. Several pairs may follow each other.
//! - `<!-- test: skip, because it takes hours -->` leaves the block out.
//!
//! To check another document, add a line to the list at the end.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};

use finch::book::PolyglotBook;
use tempfile::TempDir;

use crate::common::Engine;
use crate::support::random_games;

/// A fenced block of a document, with what a comment before it asks for.
#[derive(Debug, PartialEq)]
struct Block<'a> {
    language: &'a str,
    /// Of its first line in the document, counted from one.
    line: usize,
    lines: Vec<&'a str>,
    marker: Marker<'a>,
}

#[derive(Debug, Default, PartialEq)]
struct Marker<'a> {
    skip: bool,
    /// Printed text, and what is run instead.
    replacements: Vec<(&'a str, &'a str)>,
}

impl<'a> Marker<'a> {
    /// Of the line before a block.
    fn of(line: &'a str) -> Marker<'a> {
        let Some(text) = line.trim().strip_prefix("<!-- test:") else {
            return Marker::default();
        };
        let text = text.trim_end_matches("-->").trim();
        if let Some(reason) = text.strip_prefix("skip") {
            assert!(reason.len() > 5, "why is it skipped? {line}");
            return Marker {
                skip: true,
                ..Marker::default()
            };
        }
        let quoted: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        assert!(
            text.starts_with("replace") && !quoted.is_empty() && quoted.len().is_multiple_of(2),
            "not understood: {line}"
        );
        Marker {
            skip: false,
            replacements: quoted.chunks(2).map(|pair| (pair[0], pair[1])).collect(),
        }
    }
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut open = false;
    let mut before = "";
    for (index, line) in text.lines().enumerate() {
        match line.trim_start().strip_prefix("```") {
            Some(_) if open => open = false,
            Some(language) => {
                open = true;
                blocks.push(Block {
                    language: language.trim(),
                    line: index + 2,
                    lines: Vec::new(),
                    marker: Marker::of(before),
                });
            }
            None if open => blocks.last_mut().unwrap().lines.push(line),
            None => {}
        }
        before = line;
    }
    blocks
}

impl Block<'_> {
    /// The commands of a `sh` or `console` block that start with `finch`, with their replacements.
    fn commands(&self) -> Vec<String> {
        let mut commands: Vec<String> = Vec::new();
        let mut continued = false;
        for line in &self.lines {
            let text = match (self.language, continued) {
                (_, true) | ("sh", _) => line.trim(),
                _ => match line.strip_prefix("$ ") {
                    Some(command) => command.trim(),
                    None => continue,
                },
            };
            match commands.last_mut() {
                Some(command) if continued => command.push_str(text),
                _ => commands.push(text.to_owned()),
            }
            continued = text.ends_with('\\');
            if continued {
                commands.last_mut().unwrap().pop();
            }
        }
        commands.retain(|command| command.starts_with("finch ") || command == "finch");
        self.replace(commands)
    }

    fn replace(&self, mut lines: Vec<String>) -> Vec<String> {
        for (printed, instead) in &self.marker.replacements {
            let occurs = lines.iter().any(|line| line.contains(printed));
            assert!(occurs, "line {}: no '{printed}' to replace", self.line);
            for line in &mut lines {
                *line = line.replace(printed, instead);
            }
        }
        lines
    }
}

/// Small files under the names that the documents use.
fn fixtures(folder: &Path) {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("games.pgn", &random_games(3, 12, 1));
    write(
        "game.pgn",
        "[Event \"Casual game\"]\n[White \"Anna\"]\n[Black \"Ben\"]\n[Result \"1-0\"]\n\n\
         1. e4 {[%clk 0:03:00]} e5 {[%clk 0:02:58]} 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n",
    );
    write(
        "suite.epd",
        "6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Ra8#; id \"back rank\";\n\
         k7/8/1K6/8/8/8/8/7R w - - bm Rh8#; id \"corner\";\n",
    );
    let book = PolyglotBook::built_in();
    std::fs::write(folder.join("yours.bin"), book.to_bytes()).unwrap();
}

/// A folder with the fixtures and a program of its own, beside which weights may be installed.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("bin/finch");
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    crate::common::copy_finch(&program);
    fixtures(folder.path());
    folder
}

fn run_command(command: &str, folder: &Path, place: &str) {
    let path = format!(
        "{}:{}",
        folder.join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let output = Command::new("sh")
        .args(["-c", command])
        .env("PATH", path)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{place}: {command}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn run_session(lines: &[String], folder: &Path, place: &str) {
    let mut engine = Engine::start_in(folder);
    for line in lines.iter().filter(|line| !line.starts_with("quit")) {
        let answers = match line.starts_with("go") {
            true => engine.go(line.strip_prefix("go").unwrap()).0,
            false => engine.ask(line),
        };
        let refused = |answer: &&String| {
            let words = ["Unknown command", "no option is called", "needs", "illegal"];
            words.iter().any(|word| answer.contains(word))
        };
        let refused = answers.iter().find(refused);
        assert!(refused.is_none(), "{place}: {line}\n{refused:?}");
    }
}

/// Runs every command of a document; some must be there.
fn check(document: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(file).unwrap();
    let folder = folder();
    let mut run = 0;
    for block in blocks(&text) {
        let place = format!("{document}, line {}", block.line);
        match block.language {
            _ if block.marker.skip => continue,
            "sh" | "console" => {
                for command in block.commands() {
                    run_command(&command, folder.path(), &place);
                    run += 1;
                }
            }
            "uci" => {
                let lines = block.lines.iter().map(|line| (*line).to_owned()).collect();
                run_session(&block.replace(lines), folder.path(), &place);
                run += 1;
            }
            _ => {}
        }
    }
    assert!(run > 0, "{document} has no commands");
}

#[test]
fn commands_are_found_shortened_and_skipped_as_the_markers_say() {
    let text = "\
```sh
finch solve suite.epd \\
    --nodes 1000   # quick
cargo build
```
<!-- test: replace `1000` by `10` -->
```console
$ finch solve suite.epd --nodes 1000
Finch: 2 of 2 solved
$ ls
```
<!-- test: skip, it takes hours -->
```sh
finch evolve
```
";
    let blocks = blocks(text);
    let commands: Vec<_> = blocks.iter().map(|block| block.commands()).collect();
    assert_eq!(
        commands[0],
        ["finch solve suite.epd --nodes 1000   # quick"]
    );
    assert_eq!(commands[1], ["finch solve suite.epd --nodes 10"]);
    let skipped: Vec<bool> = blocks.iter().map(|block| block.marker.skip).collect();
    assert_eq!(skipped, [false, false, true]);
    assert_eq!(blocks[1].line, 8);
}

#[test]
#[should_panic(expected = "no '--depth 9' to replace")]
fn a_replacement_that_replaces_nothing_is_told() {
    let text = "<!-- test: replace `--depth 9` by `--depth 1` -->\n```sh\nfinch bench\n```\n";
    blocks(text)[0].commands();
}

#[test]
#[should_panic(expected = "nonsense")]
fn a_command_that_fails_is_told_with_its_output() {
    run_command("finch nonsense", folder().path(), "here");
}

#[test]
#[should_panic(expected = "Unknown command")]
fn an_unknown_uci_command_is_told() {
    run_session(&["israedy".to_owned()], folder().path(), "here");
}

macro_rules! documents {
    ($($name:ident: $file:literal;)*) => {
        $(
            #[test]
            fn $name() {
                check($file);
            }
        )*
    };
}

documents! {
    the_commands_of_analysis_run_as_printed: "docs/analysis.md";
    the_commands_of_the_readme_run_as_printed: "README.md";
    the_commands_of_json_run_as_printed: "docs/json.md";
    the_commands_of_network_run_as_printed: "docs/network.md";
    the_commands_of_tuning_run_as_printed: "docs/tuning.md";
    the_commands_of_uci_run_as_printed: "docs/uci.md";
}
