//! The UCI session, seen from outside: what GUIs and match runners send, and what people type.

use std::time::{Duration, Instant};

use crate::common::{Engine, field};
use crate::support::random_games;
use finch::position::Game;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

const MATED: &str = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
const STALEMATED: &str = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";

#[test]
fn introduces_itself_with_its_options() {
    let mut engine = Engine::start();
    engine.send("uci");
    let lines = engine.read_until("uciok");
    assert!(lines[0].starts_with("id name Finch"));
    let says_weights = |line: &String| line.starts_with("info string weights: ");
    assert!(lines.iter().any(says_weights), "{lines:#?}");
    for name in [
        "Hash",
        "Threads",
        "Clear Hash",
        "Ponder",
        "MultiPV",
        "Move Overhead",
        "Contempt",
        "UCI_Chess960",
        "UCI_ShowWDL",
        "UCI_AnalyseMode",
        "Debug Log File",
        "WeightsFile",
        "Network",
        "Tune",
    ] {
        let declared = format!("option name {name} type ");
        assert!(
            lines.iter().any(|line| line.starts_with(&declared)),
            "{name}"
        );
    }
}

#[test]
fn arena_may_say_xboard_first() {
    let mut engine = Engine::start();
    engine.send("xboard");
    engine.send("uci");
    assert!(engine.read_until("uciok")[0].starts_with("id name"));
}

#[test]
fn info_lines_have_every_field() {
    let mut engine = Engine::start();
    let (infos, best) = engine.go("depth 6");
    let last = infos.last().unwrap();
    for key in [
        "depth", "seldepth", "multipv", "score", "nodes", "nps", "hashfull", "tbhits", "time", "pv",
    ] {
        assert!(field(last, key).is_some(), "{key} in {last}");
    }
    assert_eq!(field(last, "depth"), Some("6"));
    assert_eq!(field(last, "pv"), Some(best.as_str()));
}

#[test]
fn is_ready_during_a_search_and_silent_after_an_idle_stop() {
    let mut engine = Engine::start();
    engine.send("go infinite");
    engine.sync();
    engine.send("stop");
    engine.read_until("bestmove");
    engine.send("stop");
    assert!(engine.stays_silent(Duration::from_millis(200)));
}

#[test]
fn an_infinite_search_that_is_finished_waits_for_stop() {
    let mut engine = Engine::start();
    // Mate in one: the search runs out of depth in no time.
    engine.send("position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
    engine.send("go infinite depth 3");
    std::thread::sleep(Duration::from_millis(300));
    let printed = engine.sync();
    assert!(!printed.iter().any(|line| line.starts_with("bestmove")));
    engine.send("stop");
    assert!(
        engine
            .read_until("bestmove")
            .last()
            .unwrap()
            .starts_with("bestmove a1a8")
    );
}

#[test]
fn ponder_waits_for_ponderhit_even_with_clocks() {
    let mut engine = Engine::start();
    engine.send("position startpos moves e2e4 e7e5");
    engine.send("go ponder wtime 300 btime 300");
    std::thread::sleep(Duration::from_millis(400));
    assert!(
        !engine
            .sync()
            .iter()
            .any(|line| line.starts_with("bestmove"))
    );
    engine.send("ponderhit");
    engine.read_until("bestmove");
    engine.send("go ponder movetime 10");
    std::thread::sleep(Duration::from_millis(100));
    assert!(
        !engine
            .sync()
            .iter()
            .any(|line| line.starts_with("bestmove"))
    );
    engine.send("stop");
    engine.read_until("bestmove");
}

#[test]
fn mate_and_stalemate_answer_at_once() {
    let mut engine = Engine::start();
    engine.send(&format!("position fen {MATED}"));
    let (infos, best) = engine.go("wtime 60000 btime 60000");
    assert_eq!(best, "0000");
    assert!(infos.last().unwrap().contains("score mate 0"));
    engine.send(&format!("position fen {STALEMATED}"));
    let (infos, best) = engine.go("wtime 60000 btime 60000");
    assert_eq!(best, "0000");
    assert!(infos.last().unwrap().contains("score cp 0"));
}

#[test]
fn a_lone_legal_move_is_played_without_thinking() {
    let mut engine = Engine::start();
    engine.send("position fen 7k/8/8/8/8/8/r7/1r5K w - - 0 1");
    engine.sync();
    engine.send("position fen k7/8/8/8/8/8/1r6/K7 w - - 0 1");
    let started = Instant::now();
    let (_, best) = engine.go("wtime 600000 btime 600000");
    assert_eq!(best, "a1b2");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn illegal_input_is_explained_and_the_last_position_kept() {
    let mut engine = Engine::start();
    engine.send("position startpos moves e2e4");
    let complaint = engine.ask("position startpos moves e2e4 e7e5 e4e5");
    assert!(
        complaint[0].starts_with("info string illegal move e4e5"),
        "{complaint:?}"
    );
    let complaint = engine.ask("position fen 8/8/8/8/8/8/8/8 w - - 0 1");
    assert!(
        complaint[0].starts_with("info string illegal position"),
        "{complaint:?}"
    );
    let complaint = engine.ask("position fen no such thing");
    assert!(
        complaint[0].starts_with("info string illegal position"),
        "{complaint:?}"
    );
    let board = engine.ask("d").join("\n");
    assert!(board.contains("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"));
}

#[test]
fn fens_come_with_missing_counters_and_all_castling_notations() {
    let mut engine = Engine::start();
    for (castling, shown) in [("KQkq", "KQkq"), ("HAha", "KQkq"), ("Hh", "Kk"), ("-", "-")] {
        engine.send(&format!(
            "position fen r3k2r/8/8/8/8/8/8/R3K2R w {castling} -"
        ));
        let board = engine.ask("d").join("\n");
        let fen = format!("Fen: r3k2r/8/8/8/8/8/8/R3K2R w {shown} - 0 1");
        assert!(board.contains(&fen), "{castling}: {board}");
    }
}

#[test]
fn chess960_castling_is_written_as_king_takes_rook() {
    let mut engine = Engine::start();
    engine.send("setoption name UCI_Chess960 value true");
    engine.send("position startpos moves g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1h1 e8h8");
    assert!(
        engine
            .ask("d")
            .join("\n")
            .contains("rnbq1rk1/ppppppbp/5np1/8/8/5NP1/PPPPPPBP/RNBQ1RK1")
    );
    engine.send("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    let (_, best) = engine.go("depth 1 searchmoves e1h1");
    assert_eq!(best, "e1h1");
    engine.send("setoption name UCI_Chess960 value false");
    engine.send("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    let (_, best) = engine.go("depth 1 searchmoves e1g1");
    assert_eq!(best, "e1g1");
}

#[test]
fn searchmoves_limits_the_choice() {
    let mut engine = Engine::start();
    let (_, best) = engine.go("depth 4 searchmoves a2a3 h2h3");
    assert!(["a2a3", "h2h3"].contains(&best.as_str()));
}

#[test]
fn multipv_gives_distinct_lines_in_order() {
    let mut engine = Engine::start();
    engine.send("setoption name multipv value 3");
    let (infos, best) = engine.go("depth 7");
    let last: Vec<&String> = infos
        .iter()
        .filter(|line| field(line, "depth") == Some("7"))
        .collect();
    assert_eq!(last.len(), 3);
    let firsts: Vec<_> = last.iter().map(|line| field(line, "pv").unwrap()).collect();
    assert_eq!(firsts[0], best);
    assert!(firsts[0] != firsts[1] && firsts[1] != firsts[2] && firsts[0] != firsts[2]);
    let scores: Vec<i32> = last
        .iter()
        .map(|line| field(line, "cp").unwrap().parse().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

#[test]
fn wdl_is_shown_when_asked_for() {
    let mut engine = Engine::start();
    engine.send("setoption name UCI_ShowWDL value true");
    let (infos, _) = engine.go("depth 3");
    let line = infos.last().unwrap();
    let start = line.find(" wdl ").unwrap() + 5;
    let parts: Vec<u32> = line[start..]
        .split_whitespace()
        .take(3)
        .map(|part| part.parse().unwrap())
        .collect();
    assert_eq!(parts.iter().sum::<u32>(), 1000);
}

#[test]
fn a_hash_that_does_not_fit_is_refused_with_a_reason() {
    let mut engine = Engine::start();
    let complaint = engine.ask("setoption name Hash value 65537");
    assert!(
        complaint[0].starts_with("info string option Hash needs"),
        "{complaint:?}"
    );
    assert!(engine.ask("setoption name Hash value 32").is_empty());
    assert!(engine.ask("setoption name Clear Hash").is_empty());
    let complaint = engine.ask("setoption name NoSuchThing value 1");
    assert!(complaint[0].contains("NoSuchThing"), "{complaint:?}");
}

#[test]
fn a_weights_file_is_loaded_and_named_or_rejected() {
    let nodes = |engine: &mut Engine| {
        engine.send("ucinewgame");
        let (infos, _) = engine.go("depth 8");
        field(infos.last().unwrap(), "nodes").unwrap().to_owned()
    };
    let mut engine = Engine::start();
    let own = nodes(&mut engine);
    let answer = engine.ask("setoption name WeightsFile value weights/papers/kendall-2001.toml");
    assert!(
        answer[0].starts_with("info string weights: Kendall"),
        "{answer:?}"
    );
    let kendall = nodes(&mut engine);
    assert_ne!(own, kendall);
    for bad in ["no/such/file.toml", "Cargo.toml", "README.md"] {
        let answer = engine.ask(&format!("setoption name WeightsFile value {bad}"));
        assert!(
            answer[0].starts_with("info string ") && answer[0].contains(bad),
            "{answer:?}"
        );
        assert_eq!(nodes(&mut engine), kendall, "{bad} changed the weights");
    }
    engine.ask("setoption name WeightsFile value <empty>");
    assert_eq!(nodes(&mut engine), own);
}

#[test]
fn one_thread_is_deterministic() {
    let nodes = || {
        let mut engine = Engine::start();
        let (infos, best) = engine.go("depth 9");
        (
            field(infos.last().unwrap(), "nodes").unwrap().to_owned(),
            best,
        )
    };
    assert_eq!(nodes(), nodes());
}

#[test]
fn a_new_game_forgets_the_old_one() {
    let mut engine = Engine::start();
    let mut nodes = || {
        engine.send("ucinewgame");
        let (infos, _) = engine.go("depth 8");
        field(infos.last().unwrap(), "nodes").unwrap().to_owned()
    };
    assert_eq!(nodes(), nodes());
}

#[test]
fn node_limits_are_kept_by_one_thread() {
    let mut engine = Engine::start();
    engine.send("setoption name MultiPV value 1");
    let (infos, _) = engine.go("nodes 5000");
    let nodes: u64 = field(infos.last().unwrap(), "nodes")
        .unwrap()
        .parse()
        .unwrap();
    assert!(nodes <= 5000, "{nodes}");
}

#[test]
fn finds_mates_and_counts_them_in_moves() {
    let mut engine = Engine::start();
    engine.send("setoption name UCI_AnalyseMode value true");
    // No mate in one, and the hundredth ply without capture or pawn move is the opponent's.
    engine.send("position fen 7k/8/5KR1/8/8/8/8/8 w - - 98 80");
    let (infos, _) = engine.go("depth 6");
    assert!(infos.last().unwrap().contains("score cp 0"), "{infos:?}");
    // Mate on the hundredth ply is mate, not a draw.
    engine.send("position fen 7k/6pp/8/8/8/8/8/R3K3 w - - 99 80");
    let (infos, best) = engine.go("depth 6");
    assert_eq!(best, "a1a8");
    assert!(infos.last().unwrap().contains("score mate 1"), "{infos:?}");
    engine.send("position fen 8/8/8/8/8/1k6/7r/K7 b - - 0 1");
    let (infos, _) = engine.go("mate 1");
    assert!(infos.last().unwrap().contains("score mate 1"), "{infos:?}");
}

#[test]
fn sees_the_third_repetition_coming() {
    let mut engine = Engine::start();
    // Queen down, but a perpetual check is at hand.
    engine.send("position fen 6k1/6p1/8/6KQ/1r6/q2b4/8/8 w - - 0 1");
    let (infos, _) = engine.go("depth 12");
    let score: i32 = field(infos.last().unwrap(), "cp").unwrap().parse().unwrap();
    assert!(score > -100, "{score}");
}

/// Black can repeat the start position for the third time.
const REPETITION: &str = "position startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1";

#[test]
fn contempt_decides_about_draws() {
    let mut engine = Engine::start();
    engine.send(REPETITION);
    let mut best = |options: &[&str]| {
        for option in options {
            engine.send(&format!("setoption name {option}"));
        }
        engine.send("ucinewgame");
        engine.go("depth 6").1
    };
    assert_ne!(best(&["Contempt value 100"]), "f6g8");
    assert_eq!(best(&["Contempt value -100"]), "f6g8");
}

#[test]
fn draws_score_zero_whatever_the_contempt() {
    let mut engine = Engine::start();
    engine.send("setoption name UCI_ShowWDL value true");
    // A knight cannot mate.
    for contempt in [35, 0, -10] {
        engine.send(&format!("setoption name Contempt value {contempt}"));
        engine.send("position fen 8/8/4k3/8/8/3NK3/8/8 w - - 0 1");
        let (infos, _) = engine.go("depth 5");
        let last = infos.last().unwrap();
        assert!(last.contains("score cp 0 wdl 0 1000 0"), "{last}");
        engine.send(REPETITION);
        let (infos, _) = engine.go("depth 5 searchmoves f6g8");
        let last = infos.last().unwrap();
        assert!(last.contains("score cp 0 "), "{last}");
    }
}

#[test]
fn stalemate_is_a_draw_and_mate_a_loss_in_wdl() {
    let mut engine = Engine::start();
    engine.send("setoption name UCI_ShowWDL value true");
    for (fen, score) in [
        (STALEMATED, "score cp 0 wdl 0 1000 0"),
        (MATED, "score mate 0 wdl 0 0 1000"),
    ] {
        engine.send(&format!("position fen {fen}"));
        let (infos, _) = engine.go("depth 1");
        assert!(infos.last().unwrap().ends_with(score), "{infos:?}");
    }
}

#[test]
fn a_score_comes_between_ponderhit_and_bestmove() {
    let mut engine = Engine::start();
    // Mate in one: the search is over long before the hit.
    engine.send("position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
    engine.send("go ponder depth 3");
    engine.read_until("info depth 3");
    engine.send("ponderhit");
    let lines = engine.read_until("bestmove");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains(" score mate 1 "), "{lines:?}");
}

#[test]
fn a_line_of_many_unknown_words_does_not_block() {
    let mut engine = Engine::start();
    engine.sync();
    let started = Instant::now();
    let answer = engine.ask(&"word ".repeat(100_000));
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(answer.len(), 1);
    assert!(answer[0].len() < 200, "{answer:?}");
}

#[test]
fn what_is_not_understood_is_named() {
    let mut engine = Engine::start();
    let unknown = engine.ask("foo bar");
    assert_eq!(
        unknown,
        ["info string Unknown command: 'foo bar'. Type help"]
    );
    engine.send("go depth");
    engine.read_until("info string go depth needs a number");
    engine.send("stop");
    engine.read_until("bestmove");
    let (infos, _) = engine.go("dpeth 3 depth 2");
    assert_eq!(infos[0], "info string go: unknown argument 'dpeth'");
}

#[test]
fn an_empty_weights_file_is_answered_in_one_line() {
    let mut engine = Engine::start();
    for empty in ["", " <empty>", " default"] {
        let answer = engine.ask(&format!("setoption name WeightsFile value{empty}"));
        assert_eq!(answer.len(), 1, "{answer:#?}");
        assert!(answer[0].starts_with("info string weights: "), "{answer:?}");
        assert!(answer[0].ends_with("(built in)"), "{answer:?}");
    }
}

#[test]
fn help_lists_commands_and_options() {
    let mut engine = Engine::start();
    let text = engine.ask("help").join("\n");
    for word in ["position", "flip", "Move Overhead", "WeightsFile"] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

/// `script` gives the program a terminal; its version on Linux takes the command by `-c`.
#[cfg(target_os = "linux")]
#[test]
fn a_person_at_a_terminal_is_greeted_with_one_line_and_a_pipe_is_not() {
    let mut piped = Engine::start();
    assert!(piped.sync().is_empty());
    let terminal = std::process::Command::new("script")
        .args(["-qec", env!("CARGO_BIN_EXE_finch"), "/dev/null"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn();
    let Ok(mut terminal) = terminal else {
        eprintln!("skipped: no program called script");
        return;
    };
    use std::io::Write as _;
    let mut input = terminal.stdin.take().unwrap();
    input.write_all(b"foo\nquit\n").unwrap();
    let output = terminal.wait_with_output().unwrap();
    drop(input);
    let text = String::from_utf8(output.stdout).unwrap();
    let greetings: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("Type help"))
        .collect();
    let greeting = format!(
        "Finch {}, a UCI chess engine; weights: ",
        env!("CARGO_PKG_VERSION")
    );
    assert!(greetings[0].starts_with(&greeting), "{text}");
    assert!(greetings[1].contains("Unknown command: 'foo'"), "{text}");
    assert_eq!(greetings.len(), 2, "{text}");
}

#[test]
fn flip_swaps_the_colours() {
    let mut engine = Engine::start();
    engine.send("position startpos moves e2e4");
    engine.send("flip");
    let board = engine.ask("d").join("\n");
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    assert!(board.contains(fen), "{board}");
}

/// What a search needs is prepared before `readyok`.
#[test]
fn the_first_search_is_as_fast_as_the_second() {
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..10 {
        let mut engine = Engine::start();
        engine.sync();
        for time in &mut fastest {
            let started = Instant::now();
            engine.go("nodes 1");
            *time = started.elapsed().min(*time);
        }
    }
    let [first, second] = fastest;
    assert!(
        first < second + Duration::from_millis(4),
        "{first:?} {second:?}"
    );
}

#[test]
fn principal_variations_are_legal_to_the_last_move() {
    let mut engine = Engine::start();
    for fen in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "4k3/8/8/8/8/8/4P3/4K3 w - - 90 1",
    ] {
        engine.send(&format!("position fen {fen}"));
        let (infos, _) = engine.go("depth 10");
        for line in infos.iter().filter(|line| line.contains(" pv ")) {
            let mut game = Game::new(finch::position::Position::from_fen(fen).unwrap());
            let start = line.find(" pv ").unwrap() + 4;
            for m in line[start..].split_whitespace() {
                game.play_uci(m)
                    .unwrap_or_else(|error| panic!("{error} in {line}"));
            }
        }
    }
}

#[test]
fn perft_counts_and_can_be_stopped() {
    let mut engine = Engine::start();
    engine.send("go perft 3");
    assert_eq!(
        engine.read_until("Nodes searched").last().unwrap(),
        "Nodes searched: 8902"
    );
    // A part of the count would look like a wrong one.
    engine.send("go perft 20");
    engine.send("stop");
    let lines = engine.read_until("info string perft was stopped");
    assert!(!lines.iter().any(|line| line.starts_with("Nodes searched")));
}

/// As `echo go perft 4 | finch` does it.
#[test]
fn work_is_finished_when_the_input_ends() {
    let mut engine = Engine::start();
    engine.send("go perft 4");
    engine.close_input();
    let lines = engine.read_until("Nodes searched");
    assert_eq!(lines.last().unwrap(), "Nodes searched: 197281");
}

#[test]
fn ends_within_a_second_of_quit_or_end_of_input_while_searching() {
    for threads in [1, 2, 4] {
        for by_quit in [true, false] {
            let mut engine = Engine::start();
            engine.send(&format!("setoption name Threads value {threads}"));
            engine.send("go infinite");
            engine.read_until("info depth 5");
            if by_quit {
                engine.send("quit");
            } else {
                engine.close_input();
            }
            let (lived_on, status) = engine.wait();
            assert!(status.success());
            assert!(
                lived_on < Duration::from_secs(5),
                "{lived_on:?} with {threads} threads"
            );
        }
    }
}

#[test]
fn the_debug_log_holds_input_and_output() {
    let folder = std::env::temp_dir().join(format!("finch-log-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("with space.log");
    let mut engine = Engine::start();
    engine.send(&format!(
        "setoption name Debug Log File value {}",
        path.display()
    ));
    engine.ask("go depth 1");
    engine.send("quit");
    engine.wait();
    let log = std::fs::read_to_string(&path).unwrap();
    assert!(
        log.contains(">> go depth 1") && log.contains("<< bestmove"),
        "{log}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Words that mean something somewhere in UCI, and some that never do.
const WORDS: &[&str] = &[
    "uci",
    "isready",
    "ucinewgame",
    "position",
    "startpos",
    "fen",
    "moves",
    "go",
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
    "perft",
    "stop",
    "ponderhit",
    "setoption",
    "name",
    "value",
    "debug",
    "on",
    "off",
    "d",
    "eval",
    "MultiPV",
    "Clear",
    "Hash",
    "Move",
    "Overhead",
    "UCI_Chess960",
    "true",
    "false",
    "UCI_ShowWDL",
    "Ponder",
    "e2e4",
    "e7e5",
    "g1f3",
    "e1g1",
    "e1h1",
    "a7a8q",
    "0000",
    "e2e9",
    "-",
    "w",
    "b",
    "KQkq",
    "HAha",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
    "8/8/8/8/8/8/8/8",
    "4k3/8/8/8/8/8/4P3/4K3",
    "r3k2r/8/8/8/8/8/8/R3K2R",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "50",
    "255",
    "256",
    "99999999999999999999",
    "18446744073709551616",
    "",
    "\u{e9}",
    "<empty>",
    "joho",
    "quit_",
];

fn random_line(random: &mut StdRng) -> Vec<u8> {
    let count = random.random_range(0..12);
    let words: Vec<&str> = (0..count).map(|_| *WORDS.choose(random).unwrap()).collect();
    let mut line = words.join(" ").into_bytes();
    // Half of the lines get a few bytes changed, inserted or removed.
    for _ in 0..random.random_range(0..4) * random.random_range(0..2) {
        let at = random.random_range(0..=line.len());
        match random.random_range(0..3) {
            0 if at < line.len() => line[at] = random.random(),
            1 if at < line.len() => drop(line.remove(at)),
            _ => line.insert(at, random.random()),
        }
    }
    line.retain(|byte| *byte != b'\n');
    line.push(b'\n');
    line
}

/// A mutation may spell a word that ends the session or allocates gigabytes on purpose; those
/// have tests of their own.
fn is_harmless(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line).to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let sets_size =
        words.contains(&"setoption") && (words.contains(&"hash") || words.contains(&"threads"));
    !words.contains(&"quit") && !words.contains(&"bench") && !sets_size
}

#[test]
fn survives_100_000_random_and_mutated_lines() {
    let mut random = StdRng::seed_from_u64(2006);
    let mut engine = Engine::start();
    for _ in 0..200 {
        for _ in 0..500 {
            let line = random_line(&mut random);
            if is_harmless(&line) {
                engine.send_bytes(&line);
            }
        }
        engine.send("stop");
        engine.sync();
    }
    engine.send("ucinewgame");
    engine.send("position startpos");
    let (_, best) = engine.go("depth 4");
    assert_eq!(best.len(), 4);
    engine.send("quit");
    assert!(engine.wait().1.success());
}

/// A folder with games and a preset that takes `generations` of them.
fn tuning_folder(generations: u64) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("games.pgn"), random_games(6, 50, 3)).unwrap();
    let preset = format!(
        "[genome.weights]\npawn = 100\nqueen = {{ low = 800, high = 1000 }}\n\
         [data]\ngames = ['games.pgn']\npositions = 40\nvalidation = 20\n\
         [fitness]\nname = 'moves'\nquiescence = {{ plies = 1 }}\n\
         [method]\nname = 'ep'\npopulation = 6\n\
         [run]\ngenerations = {generations}\n"
    );
    std::fs::write(folder.path().join("small.toml"), preset).unwrap();
    folder
}

#[test]
fn tunes_in_the_session_and_plays_with_a_result_that_wins() {
    let folder = tuning_folder(5);
    let preset = std::fs::read_to_string(folder.path().join("small.toml")).unwrap();
    let preset = preset + "closing_games = 20\nclosing_nodes = 300\n";
    std::fs::write(folder.path().join("small.toml"), preset).unwrap();
    let pawns = "name = 'pawns'\n[material]\npawn = 100\n";
    std::fs::write(folder.path().join("pawns.toml"), pawns).unwrap();
    let mut engine = Engine::start_in(folder.path());
    let material = |engine: &mut Engine| {
        engine.send("position fen 3qk3/8/8/8/8/8/8/4K3 w - - 0 1");
        let explained = engine.ask("eval").join("\n");
        explained.contains("queen") && !explained.contains("mobility")
    };
    // Material alone loses to the built-in weights, and is not used.
    engine.send("setoption name Tune value small.toml");
    let lines = engine.read_until("info string tuned: ");
    let says = |part: &str| lines.iter().any(|line| line.contains(part));
    assert!(says("40 positions to train on"), "{lines:#?}");
    assert!(says("generation 5/5"), "{lines:#?}");
    assert!(says("result against its start: "), "{lines:#?}");
    assert!(
        says("result against the weights that play now"),
        "{lines:#?}"
    );
    assert!(says("did not beat"), "{lines:#?}");
    assert!(folder.path().join("runs/small/best.toml").exists());
    assert!(!material(&mut engine));
    // It wins against weights that know no queen.
    engine.send("setoption name WeightsFile value pawns.toml");
    engine.send("setoption name Tune value small.toml");
    let lines = engine.read_until("info string tuned: ");
    assert!(
        lines.last().unwrap().contains("weights: small, seed 1"),
        "{lines:#?}"
    );
    assert!(material(&mut engine));
    engine.go("depth 4");
}

#[test]
fn tuning_survives_stop_and_ends_by_an_empty_value() {
    let folder = tuning_folder(10_000_000);
    let mut engine = Engine::start_in(folder.path());
    engine.send("setoption name Tune value small.toml");
    engine.read_until("info string generation ");
    let refused = engine.ask("setoption name Tune value vazquez-2013");
    assert!(refused.iter().any(|line| line.contains("under way")));
    engine.go("depth 3");
    // GUIs send `stop` after every ponder miss: it ends searches only.
    engine.send("stop");
    engine.read_until("info string generation ");
    engine.go("depth 3");
    let stopped = Instant::now();
    engine.send("setoption name Tune value");
    engine.read_until("info string tuning interrupted");
    assert!(stopped.elapsed() < Duration::from_secs(5));
    engine.send("setoption name Tune value small.toml");
    engine.read_until("info string generation ");
    engine.send("quit");
    let (time, status) = engine.wait();
    assert!(status.success() && time < Duration::from_secs(5));
}

#[test]
fn the_network_can_be_switched_off() {
    let mut engine = Engine::start();
    let uses_network = |engine: &mut Engine| {
        let answer = engine.ask("eval");
        answer
            .iter()
            .any(|line| line.starts_with("Network default.net"))
    };
    assert!(uses_network(&mut engine));
    engine.send("setoption name Network value false");
    assert!(!uses_network(&mut engine));
    engine.send("setoption name Network value true");
    assert!(uses_network(&mut engine));
}

#[test]
fn an_unknown_preset_is_named() {
    let mut engine = Engine::start();
    let answer = engine.ask("setoption name Tune value no-such");
    assert!(answer[0].contains("no such preset or file"), "{answer:?}");
}

#[test]
fn limited_strength_searches_little_and_still_mates() {
    let mut engine = Engine::start();
    engine.send("setoption name UCI_LimitStrength value true");
    engine.send("setoption name UCI_Elo value 800");
    engine.send("ucinewgame");
    let (infos, _) = engine.go("wtime 600000 btime 600000");
    let nodes = |line: &String| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "nodes");
        words.nth(1).unwrap().parse::<u64>().unwrap()
    };
    assert!(nodes(infos.last().unwrap()) < 2_000, "{infos:?}");
    engine.send("position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
    let (_, best) = engine.go("wtime 600000 btime 600000");
    assert_eq!(best, "a1a8");
}

#[test]
fn a_limited_player_errs_differently_in_each_game() {
    let mut engine = Engine::start();
    engine.send("setoption name Skill Level value 2");
    let mut moves = std::collections::BTreeSet::new();
    for _ in 0..20 {
        engine.send("ucinewgame");
        engine.send("position startpos");
        moves.insert(engine.go("movetime 100").1);
    }
    assert!(moves.len() > 1, "{moves:?}");
}
