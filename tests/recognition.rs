//! Recognition from outside: two players of different taste, told apart in games that nothing
//! was learnt from.

use std::fmt::Write as _;
use std::process::Command;

use finch::eval::{TaperedValue, TermInfo, Weights};
use finch::position::Position;
use finch::random::{Purpose, stream};
use finch::tune::fitness::{BoardSearch, QuiescenceLimits, best_move_number};
use rand::RngExt;
use shakmaty::san::SanPlus;
use tempfile::TempDir;

fn weights(terms: &[(&str, f64)]) -> Weights {
    let mut weights = Weights::zero("player");
    for (name, value) in terms {
        for term in TermInfo::named(name).unwrap().terms() {
            weights.set(term, TaperedValue::both(*value));
        }
    }
    weights
}

/// One likes his pieces to move, the other his pawns.
fn players() -> [Weights; 2] {
    let material = [
        ("pawn", 100.0),
        ("knight", 300.0),
        ("bishop", 320.0),
        ("rook", 500.0),
        ("queen", 900.0),
    ];
    let with = |more: (&'static str, f64)| weights(&[&material[..], &[more]].concat());
    [
        with(("legal_moves", 12.0)),
        with(("pawn_advance_wing", 30.0)),
    ]
}

/// Games between the two, each with both colours, from random openings.
fn games(count: u64, seed: u64) -> String {
    let players = players();
    let names = ["Mobile,A", "Pusher,B"];
    let mut text = String::new();
    for number in 0..count {
        let white = (number % 2) as usize;
        let _ = write!(
            text,
            "[White \"{}\"]\n[Black \"{}\"]\n[Result \"*\"]\n\n",
            names[white],
            names[1 - white]
        );
        let mut random = stream(seed, Purpose::Game, 0, number);
        let mut position = Position::default();
        for ply in 0..44 {
            let player = &players[if position.turn().is_white() {
                white
            } else {
                1 - white
            }];
            let searched = BoardSearch::new(&position, player, QuiescenceLimits::default());
            if searched.moves().is_empty() {
                break;
            }
            let m = match ply {
                0..4 => random.random_range(0..searched.moves().len()),
                _ => best_move_number(&searched),
            };
            let m = searched.moves()[m];
            let san = SanPlus::from_move(position.chess().clone(), m);
            let _ = write!(text, "{san} ");
            position.play(m);
        }
        text.push_str("*\n\n");
    }
    text
}

#[test]
fn players_are_recognised_with_a_confidence_that_holds() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("known.pgn", &games(16, 1));
    write("others.pgn", &games(16, 2));
    for (name, player) in ["mobile.toml", "pusher.toml"].iter().zip(players()) {
        write(name, &player.to_toml());
    }
    let recognise = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_finch"))
            .current_dir(folder.path())
            .args([
                "recognise",
                "others.pgn",
                "--among",
                "mobile.toml",
                "Pusher=pusher.toml",
            ])
            .args(["--first-moves", "0"])
            .args(more)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    for more in [&[][..], &["--calibrate", "known.pgn"]] {
        let text = recognise(more);
        let last = text.lines().last().unwrap();
        let right = last.strip_prefix("recognised: ").unwrap();
        let (right, rest) = right.split_once(" of 32 sides").unwrap();
        assert!(right.parse::<u32>().unwrap() >= 29, "{text}");
        assert!(rest.contains("guessing 50.0%"), "{text}");
        assert_eq!(text.matches("moves;").count(), 32, "{text}");
    }
}

#[test]
fn clones_and_games_that_cannot_be_read_are_one_line() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("g.pgn"), games(1, 1)).unwrap();
    std::fs::write(folder.path().join("a.toml"), players()[0].to_toml()).unwrap();
    let refused = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_finch"))
            .current_dir(folder.path())
            .arg("recognise")
            .args(arguments)
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert_eq!(error.trim_end().lines().count(), 1, "{error}");
        error
    };
    assert!(refused(&["gone.pgn", "--among", "a.toml", "a.toml"]).contains("gone.pgn"));
    assert!(refused(&["g.pgn", "--among", "a.toml", "b.toml"]).contains("b.toml"));
    let unknown = [
        "g.pgn",
        "--among",
        "x=a.toml",
        "y=a.toml",
        "--calibrate",
        "g.pgn",
    ];
    assert!(refused(&unknown).contains("no player"));
}
