//! Parses a line of text into a command.
//!
//! [`COMMANDS`] declares every command once: `parse` looks words up in it and `help` prints it.
//! vampirc-uci reads the commands without arguments. `go`, `position` and `setoption` are parsed
//! here: vampirc-uci 0.11 loses `ponder` beside clocks, drops `movetime` beside `wtime`, panics on
//! trailing spaces and large depths, and rejects Shredder castling fields (see `tests/uci.rs`).

use std::fmt::Write as _;
use std::time::Duration;

use shakmaty::Color;
use thiserror::Error;
use vampirc_uci::{UciMessage, parse_one};

use super::genfens::Genfens;
use crate::search::Limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Uci,
    Debug(bool),
    IsReady,
    NewGame,
    Position {
        fen: Option<String>,
        moves: Vec<String>,
    },
    Go(Go),
    Perft(u32),
    Stop,
    PonderHit,
    SetOption {
        name: String,
        value: Option<String>,
    },
    Quit,
    /// Extras for people at a keyboard.
    Display,
    Flip,
    Eval,
    Bench,
    Genfens(Genfens),
    Help,
}

/// The arguments of `go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    pub limits: Limits,
    pub search_moves: Vec<String>,
    /// The first argument that was ignored, and why.
    pub warning: Option<String>,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum ParseError {
    #[error("Unknown command: '{}'. Type help", excerpt(.0))]
    Unknown(String),
    #[error("{command} needs {expected}. Type help")]
    Incomplete {
        command: &'static str,
        expected: &'static str,
    },
}

/// A command: how it is written, what it does, and how its arguments are parsed.
pub struct CommandInfo {
    pub name: &'static str,
    arguments: &'static str,
    meaning: &'static str,
    parse: fn(&[&str]) -> Result<Command, ParseError>,
}

macro_rules! commands {
    ($($name:literal $arguments:literal $meaning:literal => $parse:expr;)*) => {
        /// Every command, in the order in which `help` prints them.
        pub static COMMANDS: &[CommandInfo] = &[$(CommandInfo {
            name: $name,
            arguments: $arguments,
            meaning: $meaning,
            parse: $parse,
        }),*];
    };
}

commands! {
    "position" "startpos|fen FEN [moves M...]" "set up a position" => position;
    "go" "[depth N] [movetime MS] [infinite] ..." "search; also nodes, mate, searchmoves, wtime" => go;
    "stop" "" "end the search" => |_| simple("stop");
    "d" "" "show the board" => |_| Ok(Command::Display);
    "flip" "" "swap White and Black" => |_| Ok(Command::Flip);
    "eval" "" "explain the static evaluation" => |_| Ok(Command::Eval);
    "bench" "" "run the benchmark" => |_| Ok(Command::Bench);
    "genfens" "N seed S book FILE|None" "make openings for training games" => genfens;
    "setoption" "name NAME [value VALUE]" "change an option" => set_option;
    "uci" "" "list the options" => |_| simple("uci");
    "isready" "" "answer readyok" => |_| simple("isready");
    "ucinewgame" "" "forget the game before" => |_| simple("ucinewgame");
    "ponderhit" "" "the expected move was played" => |_| simple("ponderhit");
    "debug" "on|off" "accepted, without effect" => debug;
    "help" "" "show this text" => |_| Ok(Command::Help);
    "quit" "" "leave" => |_| simple("quit");
}

/// Parses one line; `None` if there is nothing to do. As the protocol asks, unknown words before a
/// command are skipped.
pub fn parse(line: &str) -> Result<Option<Command>, ParseError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        if let Some(info) = find(word) {
            return (info.parse)(&words[at + 1..]).map(Some);
        }
    }
    match words.first() {
        // Arena tries the other protocol first.
        None | Some(&"xboard") => Ok(None),
        Some(_) => Err(ParseError::Unknown(line.trim().to_owned())),
    }
}

/// Whether a line begins with the name of a command.
pub fn is_command(line: &str) -> bool {
    line.split_whitespace().next().and_then(find).is_some()
}

/// Whether a line holds a command with all that it needs.
pub fn is_complete(line: &str) -> bool {
    matches!(parse(line), Ok(Some(_)))
}

fn find(word: &str) -> Option<&'static CommandInfo> {
    COMMANDS.iter().find(|info| info.name == word)
}

/// The list of commands that `help` prints.
pub fn list() -> String {
    let mut text = String::new();
    for info in COMMANDS {
        let usage = format!("{} {}", info.name, info.arguments);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {usage:<44} {}", info.meaning);
    }
    text
}

/// The beginning of a text from outside, without control characters.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(LONGEST).collect();
    let dots = if characters.next().is_some() {
        "..."
    } else {
        ""
    };
    format!("{}{dots}", start.escape_debug())
}

fn simple(text: &str) -> Result<Command, ParseError> {
    match parse_one(text) {
        UciMessage::Uci => Ok(Command::Uci),
        UciMessage::Debug(on) => Ok(Command::Debug(on)),
        UciMessage::IsReady => Ok(Command::IsReady),
        UciMessage::UciNewGame => Ok(Command::NewGame),
        UciMessage::Stop => Ok(Command::Stop),
        UciMessage::PonderHit => Ok(Command::PonderHit),
        UciMessage::Quit => Ok(Command::Quit),
        _ => Err(ParseError::Unknown(text.to_owned())),
    }
}

fn debug(words: &[&str]) -> Result<Command, ParseError> {
    simple(&format!("debug {}", words.first().unwrap_or(&"on")))
}

fn position(words: &[&str]) -> Result<Command, ParseError> {
    let (before, moves) = match words.iter().position(|word| *word == "moves") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[][..]),
    };
    let start = before
        .iter()
        .position(|word| matches!(*word, "startpos" | "fen"))
        .ok_or(ParseError::Incomplete {
            command: "position",
            expected: "startpos or fen",
        })?;
    let fen = (before[start] == "fen").then(|| before[start + 1..].join(" "));
    let moves = moves.iter().map(|m| (*m).to_owned()).collect();
    Ok(Command::Position { fen, moves })
}

fn genfens(words: &[&str]) -> Result<Command, ParseError> {
    let parsed = Genfens::parse(words).map(Command::Genfens);
    parsed.ok_or(ParseError::Incomplete {
        // A worker of OpenBench takes a message that begins with the name for an opening.
        command: "the command genfens",
        expected: "numbers: genfens N seed S book FILE|None",
    })
}

fn set_option(words: &[&str]) -> Result<Command, ParseError> {
    let name_at = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case("name"))
        .ok_or(ParseError::Incomplete {
            command: "setoption",
            expected: "the word name and an option's name",
        })?
        + 1;
    let value_at = words[name_at..]
        .iter()
        .position(|word| word.eq_ignore_ascii_case("value"));
    let (name, value) = match value_at {
        Some(at) => {
            let value = words[name_at + at + 1..].join(" ");
            (&words[name_at..name_at + at], Some(value))
        }
        None => (&words[name_at..], None),
    };
    Ok(Command::SetOption {
        name: name.join(" "),
        value,
    })
}

/// What is not understood is ignored with a warning, so that a GUI always gets its `bestmove`.
fn go(words: &[&str]) -> Result<Command, ParseError> {
    let mut go = Go::default();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        match word {
            "infinite" => go.limits.infinite = true,
            "ponder" => go.limits.ponder = true,
            "searchmoves" => {
                while let Some(m) = words.next_if(|word| looks_like_a_move(word)) {
                    go.search_moves.push(m.to_owned());
                }
            }
            "perft" => {
                let depth = words.peek().and_then(|text| integer(text));
                return Ok(Command::Perft(depth.unwrap_or(1).clamp(0, 20) as u32));
            }
            _ => {
                let value = words.peek().and_then(|text| integer(text));
                match (set_limit(&mut go.limits, word, value), value) {
                    (true, Some(_)) => {
                        words.next();
                    }
                    (true, None) => go.warn(|| format!("go {word} needs a number")),
                    (false, _) => {
                        go.warn(|| format!("go: unknown argument '{}'", excerpt(word)));
                        words.next_if(|_| value.is_some());
                    }
                }
            }
        }
    }
    Ok(Command::Go(go))
}

fn looks_like_a_move(word: &str) -> bool {
    let bytes = word.as_bytes();
    let square = |at: usize| bytes[at].is_ascii_lowercase() && bytes[at + 1].is_ascii_digit();
    matches!(bytes.len(), 4 | 5) && square(0) && square(2)
}

/// A number too large for the type becomes the largest one.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let largest = if text.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    };
    Some(text.parse().unwrap_or(largest))
}

impl Go {
    /// Keeps the first warning.
    fn warn(&mut self, text: impl FnOnce() -> String) {
        self.warning.get_or_insert_with(text);
    }

    /// Whether the search stops without `stop` or `ponderhit`.
    pub fn ends_by_itself(&self) -> bool {
        !self.limits.ponder && self.ends_after_ponderhit()
    }

    /// Whether the search stops without `stop`, once it is not or no longer pondering.
    pub fn ends_after_ponderhit(&self) -> bool {
        let limits = &self.limits;
        let limited = limits.depth.is_some()
            || limits.nodes.is_some()
            || limits.mate.is_some()
            || limits.move_time.is_some()
            || limits.remaining(Color::White).is_some();
        limited && !limits.infinite
    }

    /// Whether a move of a game is wanted, and not an analysis.
    pub fn may_use_book(&self) -> bool {
        self.ends_by_itself() && self.search_moves.is_empty() && self.limits.mate.is_none()
    }
}

/// Whether the word is one of UCI's limits; with a value, sets it. Clocks below zero have run out.
fn set_limit(limits: &mut Limits, word: &str, value: Option<i64>) -> bool {
    let time = value.map(milliseconds);
    let count = value.map(|value| value.clamp(1, 1_000) as u32);
    match word {
        "wtime" => limits.time.white = time,
        "btime" => limits.time.black = time,
        "winc" => limits.increment.white = time.unwrap_or_default(),
        "binc" => limits.increment.black = time.unwrap_or_default(),
        "movestogo" => limits.moves_to_go = count.filter(|_| value > Some(0)),
        "depth" => limits.depth = count,
        "nodes" => limits.nodes = value.map(|nodes| nodes.max(1) as u64),
        "mate" => limits.mate = count,
        "movetime" => limits.move_time = time,
        _ => return false,
    }
    true
}

/// At most a year, so that sums of durations never overflow.
fn milliseconds(value: i64) -> Duration {
    const YEAR: i64 = 365 * 24 * 3600 * 1000;
    Duration::from_millis(value.clamp(0, YEAR) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go_of(line: &str) -> Go {
        match parse(line) {
            Ok(Some(Command::Go(go))) => go,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn unknown_words_before_a_command_are_skipped() {
        assert_eq!(parse("joho debug on"), Ok(Some(Command::Debug(true))));
        assert_eq!(parse("xboard"), Ok(None));
        assert_eq!(parse(""), Ok(None));
    }

    #[test]
    fn go_keeps_ponder_and_movetime_beside_clocks() {
        let go = go_of("go ponder wtime 1000 btime 2000 movetime 50 movestogo 5");
        assert!(go.limits.ponder);
        let remaining = go.limits.remaining(Color::Black);
        assert_eq!(remaining, Some(Duration::from_secs(2)));
        assert_eq!(go.limits.move_time, Some(Duration::from_millis(50)));
        assert_eq!(go.limits.moves_to_go, Some(5));
    }

    #[test]
    fn go_survives_trailing_spaces_and_huge_numbers() {
        assert!(go_of("go infinite ").limits.infinite);
        let depth = |text: &str| go_of(text).limits.depth;
        assert_eq!(depth("go depth 99999999999999999999999"), Some(1_000));
        assert_eq!(depth("go depth 300"), Some(300));
    }

    #[test]
    fn negative_and_missing_clocks_are_usable() {
        let remaining = |text: &str| go_of(text).limits.remaining(Color::White);
        assert_eq!(remaining("go wtime -50 btime 1"), Some(Duration::ZERO));
        let only_opponent = remaining("go btime 700");
        assert_eq!(only_opponent, Some(Duration::from_millis(700)));
        let only_increment = remaining("go winc 30");
        assert_eq!(only_increment, Some(Duration::from_millis(30)));
    }

    #[test]
    fn searchmoves_end_at_the_next_keyword() {
        let go = go_of("go searchmoves e2e4 d2d4 depth 3");
        assert_eq!(go.search_moves, ["e2e4", "d2d4"]);
        assert_eq!(go.limits.depth, Some(3));
    }

    #[test]
    fn options_have_names_with_spaces_and_values_with_spaces_or_none() {
        let set = |name: &str, value: Option<&str>| {
            Ok(Some(Command::SetOption {
                name: name.into(),
                value: value.map(str::to_owned),
            }))
        };
        assert_eq!(parse("setoption name Clear Hash"), set("Clear Hash", None));
        assert_eq!(
            parse("setoption name SyzygyPath value"),
            set("SyzygyPath", Some(""))
        );
        assert_eq!(
            parse("setoption name Debug Log File value /tmp/a b.log"),
            set("Debug Log File", Some("/tmp/a b.log"))
        );
    }

    #[test]
    fn position_takes_fens_with_missing_counters() {
        let fen = "8/8/8/8/8/4k3/4p3/4K3 w - -";
        assert_eq!(
            parse(&format!("position fen {fen} moves")),
            Ok(Some(Command::Position {
                fen: Some(fen.to_owned()),
                moves: Vec::new()
            }))
        );
    }

    #[test]
    fn unknown_commands_are_named_without_control_characters_and_shortened() {
        let message = |line: &str| parse(line).unwrap_err().to_string();
        assert_eq!(message("foo"), "Unknown command: 'foo'. Type help");
        assert_eq!(
            message("\u{1b}[2J x"),
            "Unknown command: '\\u{1b}[2J x'. Type help"
        );
        assert!(message(&"word ".repeat(1_000)).len() < 100);
        assert_eq!(
            message("debug maybe"),
            "Unknown command: 'debug maybe'. Type help"
        );
        assert!(message("position").contains("startpos or fen"));
    }

    #[test]
    fn go_warns_of_what_it_ignores_and_obeys_the_rest() {
        let warning = |line: &str| go_of(line).warning.unwrap();
        assert_eq!(warning("go depth"), "go depth needs a number");
        assert_eq!(warning("go dpeth 3"), "go: unknown argument 'dpeth'");
        let go = go_of("go depth nodes 7");
        assert_eq!(go.limits.nodes, Some(7));
        assert!(go.warning.is_some());
        assert_eq!(go_of("go depth 3").warning, None);
    }

    #[test]
    fn parsing_takes_linear_time() {
        let line = "word ".repeat(200_000);
        let started = std::time::Instant::now();
        assert!(parse(&line).is_err());
        assert!(parse(&format!("go {line}")).is_ok());
        assert!(started.elapsed() < Duration::from_secs(2));
    }
}
