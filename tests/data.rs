//! Games become positions: filters, split, limits, and input of every sort of badness.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use crate::support::random_games;
use finch::data::{Collection, DataError, Date, Outcomes, Selection, Side, Source, collect};
use proptest::prelude::*;
use shakmaty::Color;
use shakmaty::san::SanPlus;
use tempfile::TempDir;

fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn read_bytes(name: &str, bytes: &[u8], selection: &Selection) -> Result<Collection, DataError> {
    let folder = TempDir::new().unwrap();
    let path = write(&folder, name, bytes);
    collect(&[Source::file(path)], selection)
}

fn read(text: &str, selection: &Selection) -> Collection {
    read_bytes("games.pgn", text.as_bytes(), selection).unwrap()
}

fn everything() -> Selection {
    Selection {
        positions: 0,
        validation: 0,
        distinct: false,
        forced: true,
        ..Selection::default()
    }
}

#[test]
fn every_move_of_every_game_is_a_case() {
    let cases = read(&random_games(6, 20, 1), &everything()).training;
    assert_eq!(cases.len(), 120);
    assert!(cases.iter().all(|case| case.answers.len() == 1));
}

fn zstd(text: &str) -> Vec<u8> {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    ruzstd::encoding::compress_to_vec(text.as_bytes(), level)
}

#[test]
fn compressed_files_give_the_same_cases() {
    let text = random_games(4, 30, 2);
    let plain = read(&text, &everything()).training.len();
    let zst = zstd(&text);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz2.write_all(text.as_bytes()).unwrap();
    for bytes in [zst, gz.finish().unwrap(), bz2.finish().unwrap()] {
        let read = read_bytes("games.pgn.any", &bytes, &everything()).unwrap();
        assert_eq!(read.training.len(), plain);
    }
}

#[test]
fn filters_choose_games_and_sides() {
    let text = random_games(9, 12, 3);
    let games = |selection: Selection| -> HashSet<u32> {
        let cases = read(&text, &selection).training;
        cases.iter().map(|case| case.game).collect()
    };
    let min_rating = Selection {
        min_rating: 2550,
        ..everything()
    };
    assert_eq!(games(min_rating), HashSet::from([5, 6, 7, 8]));
    let below = Selection {
        below: 2550,
        ..everything()
    };
    assert_eq!(games(below), HashSet::from([0, 1, 2, 3, 4]));
    let outcomes = Selection {
        outcomes: Outcomes::Draw,
        ..everything()
    };
    assert_eq!(games(outcomes), HashSet::from([0, 3, 6]));
    let dates = Selection {
        from: Date("1992.06.01".to_owned()),
        to: Date("1995".to_owned()),
        ..everything()
    };
    assert_eq!(games(dates), HashSet::from([3, 4, 5]));
    let limit = Selection {
        max_games: 2,
        ..everything()
    };
    assert_eq!(games(limit), HashSet::from([0, 1]));

    let player = Selection {
        player: "black 1".to_owned(),
        ..everything()
    };
    let cases = read(&text, &player).training;
    assert!(
        cases
            .iter()
            .all(|case| case.game % 2 == 1 && case.position.turn() == Color::Black)
    );
    // White's rating rises by 10 from 2500 with each game; Black has 2700 throughout.
    let opponents = Selection {
        player: "black 1".to_owned(),
        min_opponent: 2550,
        ..everything()
    };
    assert_eq!(games(opponents), HashSet::from([5, 7]));
    let winner = Selection {
        side: Side::Winner,
        ..everything()
    };
    let cases = read(&text, &winner).training;
    assert!(cases.iter().all(|case| match case.game % 3 {
        1 => case.position.turn() == Color::White,
        2 => case.position.turn() == Color::Black,
        _ => false,
    }));
}

#[test]
fn openings_forced_moves_and_repeats_are_left_out() {
    let text = random_games(5, 40, 4);
    let skip = Selection {
        skip_moves: 10,
        ..everything()
    };
    let first = Selection {
        first_moves: 3,
        ..everything()
    };
    assert!(read(&text, &first).training.iter().all(|case| case.ply < 6));
    assert!(
        read(&text, &skip)
            .training
            .iter()
            .all(|case| case.ply >= 20)
    );
    let unforced = Selection {
        forced: false,
        ..everything()
    };
    let cases = read(&text, &unforced).training;
    assert!(
        cases
            .iter()
            .all(|case| shakmaty::Position::legal_moves(case.position.chess()).len() > 1)
    );
    let distinct = Selection {
        distinct: true,
        ..everything()
    };
    let cases = read(&text, &distinct).training;
    let keys: HashSet<_> = cases.iter().map(|case| case.position.key()).collect();
    assert_eq!(keys.len(), cases.len());
    let one = Selection {
        per_game: 1,
        ..everything()
    };
    assert_eq!(read(&text, &one).training.len(), 5);
}

#[test]
fn the_split_is_by_game_and_nothing_is_on_both_sides() {
    let selection = Selection {
        positions: 300,
        validation: 200,
        ..Selection::default()
    };
    let read = read(&random_games(40, 40, 5), &selection);
    assert_eq!((read.training.len(), read.validation.len()), (300, 200));
    let games = |cases: &[finch::data::Case]| -> HashSet<u32> {
        cases.iter().map(|case| case.game).collect()
    };
    let keys = |cases: &[finch::data::Case]| -> HashSet<u64> {
        cases.iter().map(|case| case.position.key()).collect()
    };
    assert!(games(&read.training).is_disjoint(&games(&read.validation)));
    assert!(keys(&read.training).is_disjoint(&keys(&read.validation)));
}

#[test]
fn the_seed_decides_and_a_higher_limit_only_adds() {
    let text = random_games(20, 40, 6);
    let keys = |seed, positions| -> HashSet<u64> {
        let selection = Selection {
            seed,
            positions,
            validation: 100,
            ..Selection::default()
        };
        read(&text, &selection)
            .training
            .iter()
            .map(|case| case.position.key())
            .collect()
    };
    assert_eq!(keys(1, 100), keys(1, 100));
    assert_ne!(keys(1, 100), keys(2, 100));
    assert!(keys(1, 100).is_subset(&keys(1, 200)));
}

#[test]
fn games_may_begin_anywhere() {
    let text = "[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\"]\n[SetUp \"1\"]\n\n1... Kd7 2. e4 *\n";
    let cases = read(text, &everything()).training;
    assert_eq!(cases.len(), 2);
    assert_eq!(cases[0].position.turn(), Color::Black);
}

#[test]
fn bad_games_are_counted_with_reasons_and_the_rest_is_used() {
    let good = random_games(3, 10, 7);
    let text = format!(
        "{good}[White \"A\"]\n\n1. e4 e5 2. Ke3 *\n\n[FEN \"nonsense\"]\n\n1. e4 *\n\n[Variant \"Atomic\"]\n\n1. e4 *\n"
    );
    let read = read(&text, &everything());
    assert_eq!(read.training.len(), 30);
    assert_eq!(read.tally.bad, 3, "{:?}", read.tally);
    assert!(
        read.tally.reasons[0].contains("illegal move 2 Ke3"),
        "{:?}",
        read.tally.reasons
    );
}

#[test]
fn epd_lines_have_best_moves() {
    let text = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - bm Bb5 Bc4; id \"one\";\n\
                4k3/8/8/8/8/8/4P3/4K3 w - - bm Qd5;\n# remark\n4k3/8/8/8/8/8/4P3/4K3 w - - id \"no move\";\n";
    let read = read_bytes("suite.epd", text.as_bytes(), &everything()).unwrap();
    assert_eq!(read.training.len(), 1);
    assert_eq!(read.training[0].answers.len(), 2);
    assert_eq!(read.tally.bad, 2);
}

#[test]
fn epd_positions_of_one_game_stay_on_one_side_of_the_split() {
    // Each move of a game is a line: with the game's number, or without any.
    for with_id in [true, false] {
        let mut text = String::new();
        let cases = read(&random_games(60, 30, 9), &everything()).training;
        let mut games = std::collections::HashMap::new();
        for case in &cases {
            let san = SanPlus::from_move(case.position.chess().clone(), case.answers[0]);
            let fen = case.position.fen();
            let fields: Vec<_> = fen.split(' ').take(4).collect();
            let id = match with_id {
                true => format!(" id \"game {}\";", case.game),
                false => String::new(),
            };
            text += &format!("{} bm {san};{id}\n", fields.join(" "));
            games.insert(case.position.key(), case.game);
        }
        let selection = Selection {
            validation: 500,
            validation_share: 0.5,
            ..everything()
        };
        let read = read_bytes("moves.epd", text.as_bytes(), &selection).unwrap();
        assert!(read.validation.len() > 200, "{}", read.validation.len());
        let sides = [&read.training, &read.validation].map(|cases| -> HashSet<u32> {
            let late = cases
                .iter()
                .filter(|case| case.position.board().occupied().count() < 30);
            late.map(|case| games[&case.position.key()]).collect()
        });
        assert!(sides[0].is_disjoint(&sides[1]), "{sides:?}");
    }
}

#[test]
fn empty_missing_and_truncated_files_are_errors_that_name_the_file() {
    let empty = read_bytes("empty.pgn", b"", &everything()).unwrap_err();
    assert!(empty.to_string().contains("empty.pgn"), "{empty}");
    let missing = collect(&[Source::file("/nonexistent/games.pgn")], &everything()).unwrap_err();
    assert!(
        missing.to_string().contains("/nonexistent/games.pgn"),
        "{missing}"
    );
    let mut zst = zstd(&random_games(50, 60, 8));
    zst.truncate(zst.len() / 2);
    let truncated = read_bytes("cut.pgn.zst", &zst, &everything()).unwrap_err();
    assert!(truncated.to_string().contains("cut.pgn.zst"), "{truncated}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read_bytes("games.pgn", &bytes, &everything());
        let _ = read_bytes("positions.epd", &bytes, &everything());
    }

    #[test]
    fn spoiled_games_are_read_or_refused(seed in 0_u64..50, places in proptest::collection::vec((0_usize..3000, any::<u8>()), 1..30)) {
        let mut bytes = random_games(4, 30, seed).into_bytes();
        for (place, byte) in places {
            let length = bytes.len();
            bytes[place % length] = byte;
        }
        let _ = read_bytes("games.pgn", &bytes, &everything());
    }
}
