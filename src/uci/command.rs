//! A line of text becomes a command.
//!
//! vampirc-uci reads the simple commands. `go`, `position` and `setoption` are read here:
//! vampirc-uci 0.11 loses `ponder` beside clocks, drops `movetime` beside `wtime`, panics on
//! trailing spaces and large depths, and refuses Shredder castling fields (see `tests/uci.rs`).
//! As the protocol asks, unknown words before a command are skipped.

use std::time::Duration;

use vampirc_uci::{UciMessage, parse_one};

use crate::search::clock::Limits;

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
    Eval,
    Bench,
    Help,
}

/// The arguments of `go`, before anyone knows whose clock is whose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    pub search_moves: Vec<String>,
    pub white_time: Option<i64>,
    pub black_time: Option<i64>,
    pub white_increment: Option<i64>,
    pub black_increment: Option<i64>,
    pub moves_to_go: Option<i64>,
    pub depth: Option<i64>,
    pub nodes: Option<i64>,
    pub mate: Option<i64>,
    pub move_time: Option<i64>,
    pub infinite: bool,
    pub ponder: bool,
}

/// Reads one line; `None` when there is nothing in it that Finch knows.
pub fn parse(line: &str) -> Option<Command> {
    let mut words = line.split_whitespace();
    loop {
        let word = words.next()?;
        let rest: Vec<&str> = words.clone().collect();
        let command = match word {
            "uci" | "isready" | "ucinewgame" | "stop" | "ponderhit" | "quit" => simple(word),
            "debug" => simple(&format!("debug {}", rest.first().unwrap_or(&"on"))),
            "position" => position(&rest),
            "go" => Some(go(&rest)),
            "setoption" => set_option(&rest),
            "d" => Some(Command::Display),
            "eval" => Some(Command::Eval),
            "bench" => Some(Command::Bench),
            "help" => Some(Command::Help),
            _ => continue,
        };
        return command;
    }
}

fn simple(text: &str) -> Option<Command> {
    match parse_one(text) {
        UciMessage::Uci => Some(Command::Uci),
        UciMessage::Debug(on) => Some(Command::Debug(on)),
        UciMessage::IsReady => Some(Command::IsReady),
        UciMessage::UciNewGame => Some(Command::NewGame),
        UciMessage::Stop => Some(Command::Stop),
        UciMessage::PonderHit => Some(Command::PonderHit),
        UciMessage::Quit => Some(Command::Quit),
        _ => None,
    }
}

fn position(words: &[&str]) -> Option<Command> {
    let (before, moves) = match words.iter().position(|word| *word == "moves") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[][..]),
    };
    let start = before
        .iter()
        .position(|word| matches!(*word, "startpos" | "fen"))?;
    let fen = (before[start] == "fen").then(|| before[start + 1..].join(" "));
    let moves = moves.iter().map(|m| (*m).to_owned()).collect();
    Some(Command::Position { fen, moves })
}

fn set_option(words: &[&str]) -> Option<Command> {
    let name_at = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case("name"))?
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
    Some(Command::SetOption {
        name: name.join(" "),
        value,
    })
}

fn go(words: &[&str]) -> Command {
    let mut go = Go::default();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        match word {
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "searchmoves" => {
                while let Some(m) = words.next_if(|word| looks_like_a_move(word)) {
                    go.search_moves.push(m.to_owned());
                }
            }
            _ => {
                let value = words.peek().and_then(|text| integer(text));
                if word == "perft" {
                    return Command::Perft(value.unwrap_or(1).clamp(0, 20) as u32);
                }
                if let (Some(slot), Some(value)) = (go.number(word), value) {
                    *slot = Some(value);
                    words.next();
                }
            }
        }
    }
    Command::Go(go)
}

fn looks_like_a_move(word: &str) -> bool {
    let bytes = word.as_bytes();
    let square = |at: usize| bytes[at].is_ascii_lowercase() && bytes[at + 1].is_ascii_digit();
    matches!(bytes.len(), 4 | 5) && square(0) && square(2)
}

/// Numbers too large to hold mean "very many", as they would to a person.
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
    fn number(&mut self, word: &str) -> Option<&mut Option<i64>> {
        Some(match word {
            "wtime" => &mut self.white_time,
            "btime" => &mut self.black_time,
            "winc" => &mut self.white_increment,
            "binc" => &mut self.black_increment,
            "movestogo" => &mut self.moves_to_go,
            "depth" => &mut self.depth,
            "nodes" => &mut self.nodes,
            "mate" => &mut self.mate,
            "movetime" => &mut self.move_time,
            _ => return None,
        })
    }

    /// The limits for the side to move. Negative clocks have run out; a clock that is missing
    /// is taken to be the opponent's, or as much as one increment.
    pub fn limits(&self, white_moves: bool) -> Limits {
        let (ours, theirs, increment) = match white_moves {
            true => (self.white_time, self.black_time, self.white_increment),
            false => (self.black_time, self.white_time, self.black_increment),
        };
        let increment = increment.map(milliseconds).unwrap_or_default();
        let assumed = (!increment.is_zero()).then_some(increment);
        Limits {
            depth: self.depth.map(|depth| depth.clamp(1, 1_000) as i32),
            nodes: self.nodes.map(|nodes| nodes.max(1) as u64),
            mate: self.mate.map(|moves| moves.clamp(1, 1_000) as u32),
            move_time: self.move_time.map(milliseconds),
            remaining: ours.or(theirs).map(milliseconds).or(assumed),
            increment,
            moves_to_go: self
                .moves_to_go
                .filter(|moves| *moves > 0)
                .map(|moves| moves.min(1_000) as u32),
            infinite: self.infinite,
            ponder: self.ponder,
        }
    }
}

/// A year is as good as forever and keeps sums of durations far from overflow.
fn milliseconds(value: i64) -> Duration {
    const YEAR: i64 = 365 * 24 * 3600 * 1000;
    Duration::from_millis(value.clamp(0, YEAR) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go_of(line: &str) -> Go {
        match parse(line) {
            Some(Command::Go(go)) => go,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn unknown_words_before_a_command_are_skipped() {
        assert_eq!(parse("joho debug on"), Some(Command::Debug(true)));
        assert_eq!(parse("xboard"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn go_keeps_ponder_and_movetime_beside_clocks() {
        let go = go_of("go ponder wtime 1000 btime 2000 movetime 50 movestogo 5");
        assert!(go.ponder);
        let limits = go.limits(false);
        assert_eq!(limits.remaining, Some(Duration::from_secs(2)));
        assert_eq!(limits.move_time, Some(Duration::from_millis(50)));
        assert_eq!(limits.moves_to_go, Some(5));
    }

    #[test]
    fn go_survives_trailing_spaces_and_huge_numbers() {
        assert!(go_of("go infinite ").infinite);
        assert_eq!(
            go_of("go depth 99999999999999999999999").limits(true).depth,
            Some(1_000)
        );
        assert_eq!(go_of("go depth 300").limits(true).depth, Some(300));
    }

    #[test]
    fn negative_and_missing_clocks_are_usable() {
        assert_eq!(
            go_of("go wtime -50 btime 1").limits(true).remaining,
            Some(Duration::ZERO)
        );
        let only_opponent = go_of("go btime 700").limits(true);
        assert_eq!(only_opponent.remaining, Some(Duration::from_millis(700)));
        let only_increment = go_of("go winc 30").limits(true);
        assert_eq!(only_increment.remaining, Some(Duration::from_millis(30)));
    }

    #[test]
    fn searchmoves_end_at_the_next_keyword() {
        let go = go_of("go searchmoves e2e4 d2d4 depth 3");
        assert_eq!(go.search_moves, ["e2e4", "d2d4"]);
        assert_eq!(go.depth, Some(3));
    }

    #[test]
    fn options_have_names_with_spaces_and_values_with_spaces_or_none() {
        let set = |name: &str, value: Option<&str>| {
            Some(Command::SetOption {
                name: name.into(),
                value: value.map(str::to_owned),
            })
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
            Some(Command::Position {
                fen: Some(fen.to_owned()),
                moves: Vec::new()
            })
        );
    }
}
