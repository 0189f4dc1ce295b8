//! The evaluation as a whole: symmetry, agreement of its readings, what it knows of endings.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use finch::eval::{
    Centipawns, Evaluator, SCORE_LIMIT, TaperedValue, Weights, evaluate_uncached,
    evaluations_per_second, explain, term, trace,
};
use finch::position::Position;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, Setup};

const RANDOM_POSITIONS: usize = 100_000;

/// Random games start from these, so that endings are met too.
const STARTS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "4k3/pp3b2/8/2p5/8/3B4/PP4P1/4K3 w - - 0 1",
    "8/5k2/8/4P3/8/8/3K1N2/2B5 w - - 0 1",
    "8/1k4p1/8/2r5/8/8/1K2R1PP/8 b - - 0 1",
];

/// Positions of games played at random, always the same.
static POSITIONS: LazyLock<Vec<Position>> = LazyLock::new(|| {
    const LONGEST_GAME: usize = 160;
    let mut random = StdRng::seed_from_u64(2013);
    let mut positions = Vec::with_capacity(RANDOM_POSITIONS);
    let mut starts = STARTS.iter().cycle();
    while positions.len() < RANDOM_POSITIONS {
        let mut position = starts
            .next()
            .map_or_else(Position::default, |fen| position(fen));
        for _ in 0..LONGEST_GAME {
            let moves = position.chess().legal_moves();
            if moves.is_empty() {
                break;
            }
            position = position.after(moves[random.random_range(0..moves.len())]);
            positions.push(position.clone());
        }
    }
    positions.truncate(RANDOM_POSITIONS);
    positions
});

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn from_setup(setup: Setup) -> Position {
    position(
        &Fen::try_from_setup(setup)
            .expect("a mirrored position is a position")
            .to_string(),
    )
}

/// The same position with colours exchanged.
fn colours_exchanged(chess: &Chess) -> Position {
    let mut setup = chess.to_setup(EnPassantMode::Legal);
    setup.mirror();
    from_setup(setup)
}

/// The same position with left and right exchanged.
fn wings_exchanged(chess: &Chess) -> Position {
    let mut setup = chess.to_setup(EnPassantMode::Legal);
    setup.board.flip_horizontal();
    setup.ep_square = setup.ep_square.map(|square| square.flip_horizontal());
    from_setup(setup)
}

fn paper_files() -> Vec<PathBuf> {
    let folder = std::fs::read_dir("weights/papers").expect("the papers' weights");
    let mut files: Vec<_> = folder.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

fn all_weights() -> Vec<Weights> {
    let papers = paper_files();
    assert_eq!(papers.len(), 6);
    let load = |path: &PathBuf| Weights::load(path).unwrap_or_else(|error| panic!("{error}"));
    std::iter::once(Weights::default().without_network())
        .chain(papers.iter().map(load))
        .collect()
}

/// The same, and the default with its network.
fn all_judges() -> Vec<Weights> {
    let mut judges = all_weights();
    assert!(Weights::default().network.is_some());
    judges.push(Weights::default());
    judges
}

#[test]
fn colours_exchanged_give_the_same_score_to_the_side_to_move() {
    let weights = all_judges();
    for (index, position) in POSITIONS.iter().enumerate() {
        let mirrored = colours_exchanged(position.chess());
        // The default on every position, the papers in turn.
        for weights in [&weights[0], &weights[1 + index % (weights.len() - 1)]] {
            let score = evaluate_uncached(position, weights);
            let other = evaluate_uncached(&mirrored, weights);
            assert_eq!(score, other, "{} with {}", position.fen(), weights.name);
        }
    }
}

#[test]
fn wings_exchanged_give_the_same_score_without_castling_rights() {
    let mut weights = all_judges();
    for weights in &mut weights {
        // The wings differ in where a castled king stands.
        weights.set(term::king_castled(), TaperedValue::default());
    }
    let mut seen = 0;
    for (index, position) in POSITIONS.iter().enumerate() {
        if position.castles().is_empty() {
            seen += 1;
            let mirrored = wings_exchanged(position.chess());
            for weights in [&weights[0], &weights[1 + index % (weights.len() - 1)]] {
                let score = evaluate_uncached(position, weights);
                let other = evaluate_uncached(&mirrored, weights);
                assert_eq!(score, other, "{} with {}", position.fen(), weights.name);
            }
        }
    }
    assert!(seen > RANDOM_POSITIONS / 2);
}

#[test]
fn a_trace_times_the_weights_is_the_score() {
    let weights = all_weights();
    for position in POSITIONS.iter() {
        let trace = trace(position);
        for weights in &weights {
            let score = evaluate_uncached(position, weights);
            let name = &weights.name;
            assert_eq!(
                trace.score(weights),
                score,
                "{} with {name}",
                position.fen()
            );
            assert!(score.abs() <= SCORE_LIMIT);
        }
    }
}

#[test]
fn caches_do_not_change_the_score() {
    for weights in [Weights::default(), Weights::default().without_network()] {
        caches_do_not_change_scores_of(Arc::new(weights));
    }
}

fn caches_do_not_change_scores_of(weights: Arc<Weights>) {
    let mut evaluator = Evaluator::new(Arc::clone(&weights));
    for position in POSITIONS.iter() {
        let plain = evaluate_uncached(position, &weights);
        assert_eq!(evaluator.evaluate(position), plain, "{}", position.fen());
        assert_eq!(evaluator.evaluate(position), plain, "{}", position.fen());
    }
    evaluator.clear();
    assert_eq!(
        evaluator.evaluate(&POSITIONS[7]),
        evaluate_uncached(&POSITIONS[7], &weights)
    );
}

#[test]
fn an_explanation_adds_up_to_the_score() {
    for weights in all_judges() {
        for position in POSITIONS.iter().step_by(500) {
            let explanation = explain(position, &weights);
            let score = evaluate_uncached(position, &weights);
            assert_eq!(
                explanation.score,
                score,
                "{} with {}",
                position.fen(),
                weights.name
            );
        }
    }
}

#[test]
fn an_explanation_is_readable_and_serialisable() {
    let explanation = explain(&position(STARTS[1]), &Weights::default());
    let text = explanation.to_string();
    for expected in [
        "8 │ r · · · k · · r │",
        "MATERIAL",
        "knight_mobility",
        "Phase",
        "Network default.net: loss",
        "Score",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    let json = serde_json::to_value(&explanation).expect("numbers and words");
    assert_eq!(json["score"], explanation.score);
    assert_eq!(json["families"][0]["family"], "material");
    let pieces = json["network"]["pieces"].as_array().expect("a list");
    assert_eq!(pieces.len(), 30);
    let worth = |square: &str| {
        let piece = pieces.iter().find(|piece| piece["square"] == square);
        piece
            .and_then(|piece| piece["worth"].as_i64())
            .expect(square)
    };
    assert!(worth("f3") > worth("a1") && worth("a1") > worth("a2"));
}

#[test]
fn eval_is_in_the_pawns_of_the_search() {
    for weights in all_judges() {
        for position in POSITIONS.iter().step_by(900) {
            let explanation = explain(position, &weights);
            let text = explanation.to_string();
            let line = text.lines().rfind(|line| line.starts_with("Score"));
            let pawns: f64 = line
                .unwrap()
                .split_whitespace()
                .nth(1)
                .unwrap()
                .parse()
                .unwrap();
            let Centipawns(mover) = weights.win_model().centipawns(explanation.score);
            let white = position.turn().fold_wb(mover, -mover);
            assert_eq!((100.0 * pawns).round() as i32, white, "{text}");
        }
    }
}

/// The mobility of the older papers is the number of legal moves, exactly.
#[test]
fn legal_moves_are_counted_as_the_rules_have_them() {
    let mut weights = Weights::zero("moves");
    let one = TaperedValue::both(1.0);
    weights.set(term::legal_moves(), one);
    for position in POSITIONS.iter().step_by(7) {
        let line = explain(position, &weights);
        let counted = line.families.first().map_or((0, 0), |family| {
            (family.terms[0].white_count, family.terms[0].black_count)
        });
        let mine = if position.turn().is_white() {
            counted.0
        } else {
            counted.1
        };
        let legal = position.chess().legal_moves().len() as i32;
        assert_eq!(mine, legal, "{}", position.fen());
    }
}

fn default_score(fen: &str) -> i32 {
    evaluate_uncached(&position(fen), Weights::embedded())
}

#[test]
fn known_draws_score_nothing() {
    for fen in [
        "8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", // pawn, the defender has the opposition
        "7k/8/6K1/7P/8/8/8/8 w - - 0 1",   // rook pawn, king in the corner
        "7k/8/5K2/5B1P/8/8/8/8 w - - 0 1", // rook pawn, bishop of the wrong colour
        "4k3/8/8/8/8/8/8/1N2K1N1 w - - 0 1", // two knights
        "4k3/8/8/8/8/8/8/2B1K3 w - - 0 1", // a bishop alone
        "8/8/8/3k4/8/8/4n3/2B1K3 w - - 0 1", // minor against minor
    ] {
        assert_eq!(default_score(fen), 0, "{fen}");
    }
}

#[test]
fn known_wins_score_high() {
    for fen in [
        "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1",
        "8/8/8/4k3/8/8/8/R3K3 w - - 0 1",
        "8/8/8/4k3/8/8/8/1NB1K3 w - - 0 1",
        "8/8/8/4k3/8/8/8/2B1KB2 w - - 0 1",
        "7k/8/5K2/6BP/8/8/8/8 w - - 0 1",
    ] {
        assert!(default_score(fen) > 300, "{fen}: {}", default_score(fen));
    }
}

#[test]
fn bishop_and_knight_drive_the_king_to_the_bishops_corner() {
    // The bishop is dark: h8 and a1 are the corners to die in.
    let right = default_score("7k/5K2/8/6N1/8/4B3/8/8 w - - 0 1");
    let wrong = default_score("k7/2K5/8/1N6/8/4B3/8/8 w - - 0 1");
    let centre = default_score("8/8/4K3/4N3/3k4/8/8/2B5 b - - 0 1");
    assert!(right > wrong, "{right} {wrong}");
    assert!(wrong > -centre, "{wrong} {centre}");
}

#[test]
fn rook_against_a_far_pawn_is_nearly_drawn() {
    let drawn = default_score("8/8/8/7K/8/1k6/1p6/7R w - - 0 1");
    let won = default_score("8/8/8/8/8/2K5/1p6/k5R1 b - - 0 1");
    assert!(drawn < -won, "{drawn} {won}");
    assert!(drawn.abs() < 150, "{drawn}");
}

#[test]
fn opposite_bishops_are_drawish_to_the_terms() {
    let terms = Weights::default().without_network();
    let score = |fen: &str| evaluate_uncached(&position(fen), &terms);
    let same = score("4k3/5b2/8/8/8/3B4/PP4P1/4K3 w - - 0 1");
    let opposite = score("4k3/4b3/8/8/8/3B4/PP4P1/4K3 w - - 0 1");
    assert!(opposite < same * 3 / 4, "{opposite} {same}");
}

/// Not a measurement: that the loop counts at all and is not absurdly slow.
#[test]
fn evaluations_are_counted() {
    let speed = evaluations_per_second(&POSITIONS[..100], Weights::embedded(), 0.05);
    assert!(speed > 1_000.0, "{speed}");
}

#[test]
fn one_position_castled_in_chess960_evaluates() {
    let fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    let position = position(fen);
    assert_eq!(position.castles().mode(), CastlingMode::Chess960);
    let score = default_score(fen);
    let mirrored = colours_exchanged(position.chess());
    assert_eq!(score, evaluate_uncached(&mirrored, Weights::embedded()));
}
