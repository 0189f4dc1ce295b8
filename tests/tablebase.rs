//! Syzygy tablebases in the engine. Tests that need tables look for them in the folder of the
//! environment variable FINCH_SYZYGY, then in ../shared/data/syzygy, and say when there are none.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use finch::eval::{Weights, evaluate_uncached};
use finch::position::{Game, Position, movegen};
use finch::random::{Purpose, stream};
use finch::search::score::DRAW;
use finch::search::{Engine, EngineSettings, Limits, SearchRequest};
use finch::tablebase::{SyzygySettings, Tablebases, Wdl};
use rand::RngExt;
use shakmaty::{Bitboard, Board, Chess, Color, Move, Piece, Role, Setup, Square};
use shakmaty::{CastlingMode, FromSetup, Position as _};
use tempfile::TempDir;

use crate::common::{Engine as Process, field};

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("FINCH_SYZYGY").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| "../shared/data/syzygy".into());
    let found = folder.join("KBNvK.rtbz").exists();
    if !found {
        eprintln!("skipped: no Syzygy tables; set FINCH_SYZYGY to their folder");
    }
    found.then_some(folder)
}

fn messages(lines: &[String]) -> Vec<&String> {
    let is_message = |line: &&String| line.starts_with("info string");
    lines.iter().filter(is_message).collect()
}

#[test]
fn missing_folders_and_tables_are_told_in_one_line_and_play_goes_on() {
    let mut finch = Process::start();
    let empty = TempDir::new().unwrap();
    let told = finch.ask("setoption name SyzygyPath value /no/such/folder");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("/no/such/folder") && told[0].contains("no tables"));
    let told = finch.ask(&format!(
        "setoption name SyzygyPath value {}",
        empty.path().display()
    ));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        finch
            .ask("setoption name SyzygyPath value <empty>")
            .is_empty()
    );
    assert!(finch.ask("setoption name SyzygyPath").is_empty());
    finch.send("position fen 8/8/8/8/8/4k3/8/Q3K3 w - - 0 1");
    assert_ne!(finch.go("depth 3").1, "0000");
}

#[test]
fn damaged_tables_are_told_once_and_play_goes_on() {
    let directory = TempDir::new().unwrap();
    // Tables have 16 bytes more than a multiple of 64.
    fs::write(directory.path().join("KQvK.rtbw"), vec![7; 64 * 9 + 16]).unwrap();
    fs::write(directory.path().join("KRvK.rtbw"), "cut short").unwrap();
    let mut finch = Process::start();
    let told = finch.ask(&format!(
        "setoption name SyzygyPath value {}",
        directory.path().display()
    ));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("1 WDL") && told[0].contains("KRvK.rtbw"),
        "{told:?}"
    );
    finch.send("position fen 8/8/8/8/8/4k3/8/Q3K3 w - - 0 1");
    let (lines, best) = finch.go("depth 4");
    let told = messages(&lines);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("KQvK.rtbw"), "{told:?}");
    assert_ne!(best, "0000");
    let (lines, _) = finch.go("depth 4");
    assert!(messages(&lines).is_empty());
}

#[test]
fn damage_inside_a_table_never_brings_the_engine_down() {
    let Some(folder) = folder() else { return };
    let original = fs::read(folder.join("KQvK.rtbw")).unwrap();
    let mut random = stream(1, Purpose::Sampling, 0, 0);
    for _ in 0..200 {
        let directory = TempDir::new().unwrap();
        let mut bytes = original.clone();
        for _ in 0..8 {
            // Headers decide how the rest is read.
            let end = if random.random_bool(0.7) {
                96
            } else {
                bytes.len()
            };
            let at = random.random_range(4..end);
            bytes[at] = random.random();
        }
        fs::write(directory.path().join("KQvK.rtbw"), bytes).unwrap();
        let tables = Tablebases::open(directory.path()).unwrap();
        for _ in 0..50 {
            let position = random_position("KQvK", &mut random);
            tables.probe_wdl(&position);
        }
    }
}

/// A Finch process with tables, and the last info line and move of a search.
fn search(finch: &mut Process, position: &str, go: &str) -> (String, String) {
    finch.send(&format!("position {position}"));
    let (lines, best) = finch.go(go);
    (lines.last().unwrap().clone(), best)
}

fn with_tables() -> Option<Process> {
    let folder = folder()?;
    let mut finch = Process::start();
    let told = finch.ask(&format!(
        "setoption name SyzygyPath value {}",
        folder.display()
    ));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("35 WDL and 35 DTZ"), "{told:?}");
    Some(finch)
}

#[track_caller]
fn expect(line: &str, score: &str) {
    assert!(line.contains(&format!(" score {score} ")), "{line}");
    assert_ne!(field(line, "tbhits"), Some("0"), "{line}");
}

#[test]
fn scores_are_those_of_the_tables() {
    let Some(mut finch) = with_tables() else {
        return;
    };
    let bishop_and_knight = "fen 8/8/8/8/3k4/8/8/KBN5 w - -";
    let (line, best) = search(&mut finch, &format!("{bishop_and_knight} 0 1"), "depth 6");
    expect(&line, "cp 20000");
    assert_eq!(field(&line, "pv"), Some(best.as_str()));
    let (line, _) = search(&mut finch, "fen 8/8/8/8/3k4/8/8/KBN5 b - - 0 1", "depth 6");
    expect(&line, "cp -20000");
    let (line, _) = search(&mut finch, "fen 8/8/8/4k3/8/3R4/r7/7K w - - 0 1", "depth 6");
    expect(&line, "cp 0");
    let (line, _) = search(&mut finch, "fen 8/8/8/4kn2/8/3R4/8/7K w - - 0 1", "depth 6");
    expect(&line, "cp 0");
    // Mate in one is shown as mate.
    let (line, _) = search(&mut finch, "fen k7/8/1K6/8/8/8/7Q/8 w - - 0 1", "depth 6");
    expect(&line, "mate 1");
    // Too late for the fifty-move rule, if that counts.
    let late = format!("{bishop_and_knight} 60 90");
    let (line, _) = search(&mut finch, &late, "depth 6");
    expect(&line, "cp 0");
    finch.send("setoption name Syzygy50MoveRule value false");
    let (line, _) = search(&mut finch, &late, "depth 6");
    expect(&line, "cp 20000");
}

#[test]
fn the_tree_is_probed_after_captures_and_pawn_moves() {
    let Some(mut finch) = with_tables() else {
        return;
    };
    // Taking the knight leaves four men.
    let five_men = "fen 8/8/8/2k5/3n4/8/1P6/K2Q4 w - - 0 1";
    let (line, _) = search(&mut finch, five_men, "depth 12");
    assert_ne!(field(&line, "tbhits"), Some("0"), "{line}");
    finch.send("setoption name SyzygyProbeLimit value 0");
    finch.send("ucinewgame");
    let (line, _) = search(&mut finch, five_men, "depth 8");
    assert_eq!(field(&line, "tbhits"), Some("0"), "{line}");
    let (line, _) = search(&mut finch, "fen 8/8/8/8/3k4/8/8/KBN5 w - - 0 1", "depth 4");
    assert_eq!(field(&line, "tbhits"), Some("0"), "{line}");
}

#[test]
fn several_lines_show_wins_before_draws_before_losses() {
    let Some(mut finch) = with_tables() else {
        return;
    };
    finch.send("setoption name MultiPV value 50");
    // A pawn that promotes at once, with kings that may go astray.
    finch.send("position fen 8/5P2/8/8/8/2k5/8/K5r1 w - - 0 1");
    let (lines, best) = finch.go("depth 5");
    let last: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with("info depth 5 "))
        .collect();
    let score = |line: &&String| {
        let number: i32 = field(line, "cp")
            .or(field(line, "mate"))
            .unwrap()
            .parse()
            .unwrap();
        number.signum()
    };
    assert!(
        last.iter().map(score).is_sorted_by(|a, b| a >= b),
        "{last:#?}"
    );
    assert_eq!(field(last[0], "pv"), Some(best.as_str()));
}

#[test]
fn the_display_shows_what_the_tables_say() {
    let Some(mut finch) = with_tables() else {
        return;
    };
    finch.send("position fen 8/8/8/8/3k4/8/8/KBN5 w - - 0 1");
    let shown = finch.ask("d").join("\n");
    assert!(shown.contains("Tablebases WDL: Win"), "{shown}");
    assert!(shown.contains("Tablebases DTZ: "), "{shown}");
}

/// A legal position with these men on random squares and a random side to move.
fn random_position(material: &str, random: &mut impl rand::Rng) -> Position {
    loop {
        let mut board = Board::empty();
        let (white, black) = material.split_once('v').unwrap();
        for (color, men) in [(Color::White, white), (Color::Black, black)] {
            for letter in men.chars() {
                let role = Role::from_char(letter).unwrap();
                let free = !board.occupied();
                let rim = Bitboard(0xff00_0000_0000_00ff);
                let free = if role == Role::Pawn {
                    free & !rim
                } else {
                    free
                };
                let index = random.random_range(0..free.count());
                let square = free.into_iter().nth(index).unwrap_or(Square::A1);
                board.set_piece_at(square, Piece { color, role });
            }
        }
        let setup = Setup {
            board,
            turn: if random.random_bool(0.5) {
                Color::White
            } else {
                Color::Black
            },
            ..Setup::empty()
        };
        if let Ok(chess) = Chess::from_setup(setup, CastlingMode::Standard)
            && !chess.is_game_over()
        {
            return Position::from_chess(chess);
        }
    }
}

/// The move that holds out longest, by DTZ; in a draw or a win any that keeps it.
fn defence(tables: &Tablebases, game: &Game) -> Move {
    let position = game.position();
    let moves = movegen::legal_moves(position).into_iter();
    let resistance = |m: &Move| {
        let child = position.after(*m);
        let dtz = if m.is_zeroing() {
            match tables.probe_wdl(&child).unwrap() {
                Wdl::Loss | Wdl::BlessedLoss => -1,
                Wdl::Draw => 0,
                Wdl::CursedWin | Wdl::Win => 1,
            }
        } else {
            tables.probe_dtz(&child).unwrap()
        };
        // Of the opponent: a long way to win is good, a draw better, a loss best.
        match dtz {
            1.. => dtz,
            0 => 1_000,
            _ => 2_000 + dtz,
        }
    };
    moves.max_by_key(resistance).unwrap()
}

fn engine(tables: Option<&Arc<Tablebases>>) -> Engine {
    let settings = EngineSettings {
        syzygy: SyzygySettings {
            tables: tables.cloned(),
            ..SyzygySettings::default()
        },
        ..EngineSettings::new(Arc::new(Weights::default())).unwrap()
    };
    Engine::new(settings).unwrap()
}

/// How a game ends; nobody adjudicates.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Mate(Color),
    Draw,
}

fn end(game: &Game) -> Option<End> {
    let position = game.position();
    if !movegen::has_legal_move(position) {
        return Some(match position.in_check() {
            true => End::Mate(!position.turn()),
            false => End::Draw,
        });
    }
    let drawn = position.is_insufficient_material()
        || game.repetitions() >= 2
        || position.halfmoves() >= 100;
    drawn.then_some(End::Draw)
}

/// Plays to the end: `player` has one side, `opponent` the other.
fn play(
    start: &Position,
    side: Color,
    mut player: impl FnMut(&Game) -> Move,
    mut opponent: impl FnMut(&Game) -> Move,
) -> End {
    let mut game = Game::new(start.clone());
    loop {
        if let Some(end) = end(&game) {
            return end;
        }
        let m = match game.position().turn() == side {
            true => player(&game),
            false => opponent(&game),
        };
        game.play(m);
    }
}

fn search_move(engine: &mut Engine, game: &Game, limits: Limits) -> Move {
    let request = SearchRequest::new(game.clone(), limits);
    engine.search(request).best_move.unwrap()
}

/// The side that the tables call winning, if there is one.
fn winner(tables: &Tablebases, position: &Position) -> Option<Color> {
    match tables.probe_wdl(position)? {
        Wdl::Win => Some(position.turn()),
        Wdl::Loss => Some(!position.turn()),
        _ => None,
    }
}

/// Random positions of an ending that are won for somebody, or that are drawn.
fn positions(tables: &Tablebases, material: &str, won: bool, count: usize) -> Vec<Position> {
    let mut random = stream(18, Purpose::Sampling, u64::from(won), 0);
    let mut found = Vec::new();
    while found.len() < count {
        let position = random_position(material, &mut random);
        let wdl = tables.probe_wdl(&position).unwrap();
        let decided = matches!(wdl, Wdl::Win | Wdl::Loss);
        if decided == won && (decided || wdl == Wdl::Draw) {
            found.push(position);
        }
    }
    found
}

/// Wins won positions of an ending with tables against the best defence, and holds drawn ones
/// against Finch without tables.
fn endings_with_tables(material: &str, count: usize) {
    let Some(folder) = folder() else { return };
    let tables = Arc::new(Tablebases::open_all(folder).unwrap());
    let limits = Limits::nodes(400);
    let mut with = engine(Some(&tables));
    let mut without = engine(None);
    for start in positions(&tables, material, true, count) {
        with.new_game();
        let winner = winner(&tables, &start).unwrap();
        let player = |game: &Game| search_move(&mut with, game, limits);
        let result = play(&start, winner, player, |game| defence(&tables, game));
        assert_eq!(result, End::Mate(winner), "{}", start.fen());
    }
    for start in positions(&tables, material, false, count) {
        with.new_game();
        without.new_game();
        let side = start.turn();
        let player = |game: &Game| search_move(&mut with, game, limits);
        let opponent = |game: &Game| search_move(&mut without, game, limits);
        let result = play(&start, side, player, opponent);
        assert_ne!(result, End::Mate(!side), "{}", start.fen());
    }
    println!("{material}: {count} wins won, {count} draws held");
}

#[test]
fn with_tables_wins_are_won_and_draws_are_held() {
    for material in ["KQvKR", "KRvKP", "KBNvK", "KPvKP"] {
        endings_with_tables(material, 2);
    }
}

#[test]
#[ignore = "minutes"]
fn with_tables_200_wins_of_each_ending_are_won_and_200_draws_held() {
    for material in ["KQvKR", "KRvKP", "KBNvK", "KPvKP"] {
        endings_with_tables(material, 200);
    }
}

/// Plays won positions without tables against the best defence; the positions that were not won.
fn mates_without_tables(material: &str, count: usize, limits: Limits) -> Vec<String> {
    let Some(folder) = folder() else {
        return Vec::new();
    };
    let tables = Tablebases::open_all(folder).unwrap();
    let mut finch = engine(None);
    let mut failed = Vec::new();
    for start in positions(&tables, material, true, count) {
        finch.new_game();
        let winner = winner(&tables, &start).unwrap();
        let player = |game: &Game| search_move(&mut finch, game, limits);
        let result = play(&start, winner, player, |game| defence(&tables, game));
        if result != End::Mate(winner) {
            failed.push(start.fen());
        }
    }
    failed
}

#[test]
fn without_tables_a_bishop_and_a_knight_mate() {
    let failed = mates_without_tables("KBNvK", 1, Limits::nodes(10_000));
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
#[ignore = "minutes"]
fn without_tables_the_elementary_mates_are_found_at_50_ms_a_move() {
    let limits = Limits::move_time(Duration::from_millis(50));
    for material in ["KQvK", "KRvK", "KBBvK", "KBNvK"] {
        let failed = mates_without_tables(material, 100, limits);
        println!("{material}: {} of 100 won {failed:?}", 100 - failed.len());
        let allowed = usize::from(material == "KBNvK");
        assert!(failed.len() <= allowed, "{material}: {failed:?}");
    }
}

/// Every `step`-th position of king and pawn against king, with the pawn on the files a to d.
fn king_and_pawn_endings(step: usize) -> impl Iterator<Item = Position> {
    let square = |number: usize| Square::new((number % 64) as u32);
    (0..2 * 64 * 64 * 24)
        .step_by(step)
        .filter_map(move |number| {
            let (turn, kings, pawn) = (number % 2, number / 2 % 4096, number / 8192);
            let mut board = Board::empty();
            let pawn = square(8 + pawn / 4 * 8 + pawn % 4);
            let men = [
                (square(kings), Role::King.of(Color::White)),
                (square(kings / 64), Role::King.of(Color::Black)),
                (pawn, Role::Pawn.of(Color::White)),
            ];
            for (square, piece) in men {
                board.set_piece_at(square, piece);
            }
            let setup = Setup {
                board,
                turn: [Color::White, Color::Black][turn],
                ..Setup::empty()
            };
            let chess = Chess::from_setup(setup, CastlingMode::Standard).ok()?;
            (!chess.is_game_over()).then(|| Position::from_chess(chess))
        })
}

/// The evaluator's bitbase, on all of its positions.
#[test]
fn king_and_pawn_against_king_is_evaluated_as_the_tables_say() {
    let Some(folder) = folder() else { return };
    let tables = Tablebases::open_all(folder).unwrap();
    let mut compared = 0;
    for position in king_and_pawn_endings(1) {
        let wdl = tables.probe_wdl(&position).unwrap().signum();
        let score = evaluate_uncached(&position, Weights::embedded());
        assert_eq!(score.signum(), wdl, "{}: {score}", position.fen());
        compared += 1;
    }
    assert!(compared > 150_000, "{compared}");
}

/// Searches the endings a little without tables: scores and moves must be what the tables say.
fn king_and_pawn_is_right(step: usize) {
    let Some(folder) = folder() else { return };
    let tables = Tablebases::open_all(folder).unwrap();
    let settings = EngineSettings::neutral(Arc::new(Weights::default()), 1).unwrap();
    let mut finch = Engine::new(settings).unwrap();
    let mut searched = 0;
    for position in king_and_pawn_endings(step) {
        let fen = position.fen();
        let wdl = tables.probe_wdl(&position).unwrap();
        finch.new_game();
        let request = SearchRequest::new(Game::new(position.clone()), Limits::depth(4));
        let result = finch.search(request);
        let right = match wdl {
            Wdl::Win => result.score > 300,
            Wdl::Loss => result.score < -300,
            // Correction history moves a known draw by a little.
            _ => (result.score - DRAW).abs() < 50,
        };
        assert!(right, "{fen}: {wdl:?}, but the score is {}", result.score);
        let child = position.after(result.best_move.unwrap());
        let after = tables.probe_dtz(&child).unwrap();
        assert_eq!(
            after.signum(),
            -wdl.signum(),
            "{fen}: {wdl:?}, then {}",
            child.fen()
        );
        searched += 1;
    }
    println!("{searched} positions of king and pawn against king");
}

/// After a7 Kb7 a8=R the evaluation says that White wins. Black takes the rook, which is worth less
/// than the score says.
#[test]
fn a_rook_that_is_taken_at_once_does_not_win() {
    let settings = EngineSettings::neutral(Arc::new(Weights::default()), 1).unwrap();
    let mut finch = Engine::new(settings).unwrap();
    for king in ["K7", "1K6", "4K3", "7K"] {
        let fen = format!("8/8/P1k5/8/8/8/8/{king} w - - 0 1");
        let game = Game::new(Position::from_fen(&fen).unwrap());
        for depth in 1..=6 {
            finch.new_game();
            let request = SearchRequest::new(game.clone(), Limits::depth(depth));
            let score = finch.search(request).score;
            assert!(score.abs() < 50, "{fen} at depth {depth}: {score}");
        }
    }
}

#[test]
fn king_and_pawn_against_king_is_scored_and_played_right() {
    king_and_pawn_is_right(997);
}

#[test]
#[ignore = "minutes"]
fn all_positions_of_king_and_pawn_against_king_are_scored_and_played_right() {
    king_and_pawn_is_right(1);
}
