//! The papers' features, on the papers' own example.
//!
//! vazquez-2013 explains its features on the diagram of Fig. 1, which is lost in the text; but
//! the text tells so much about it that a position can be set up of which everything said there
//! is true.

use finch::eval::{TERMS, TaperedValue, TermInfo, Weights, explain, term, trace};
use finch::position::Position;

/// ```text
/// r . . q . r k .
/// p b . . . p . p
/// . b . . . . p .
/// . . p . p . . .
/// . . P . . . . .
/// . . . . . . . .
/// P P Q N B . P P
/// R . . . . R K .
/// ```
const LIKE_FIGURE_1: &str = "r2q1rk1/pb3p1p/1b4p1/2p1p3/2P5/8/PPQNB1PP/R4RK1 w - - 0 1";

/// How often White and Black have a term.
fn counts(name: &str) -> (i32, i32) {
    let info = TermInfo::named(name).unwrap_or_else(|| panic!("{name} is no term"));
    let mut weights = Weights::zero("one term");
    for term in info.terms() {
        weights.set(term, TaperedValue::both(1.0));
    }
    let explanation = explain(&figure(), &weights);
    let mut lines = explanation.families.iter().flat_map(|family| &family.terms);
    let line = lines.find(|line| line.term == name);
    line.map_or((0, 0), |line| (line.white_count, line.black_count))
}

fn figure() -> Position {
    Position::from_fen(LIKE_FIGURE_1).expect("a position")
}

#[test]
fn white_has_what_the_text_of_figure_1_says() {
    let said = [
        ("pawn", 5),
        ("knight", 1),
        ("bishop", 1),
        ("rook", 2),
        ("queen", 1),
        ("pawn_doubled", 0),
        ("pawn_isolated", 0),
        ("pawn_backward", 0),
        ("passed_rank", 0),
        ("pawn_central", 1),
        ("knight_supported", 0),
        ("knight_base", 0),
        ("rook_open_file", 0),
        ("rook_half_open_file", 1),
        ("rook_closed_behind", 1),
        ("rook_closed_ahead", 0),
        ("rook_on_seventh", 0),
        ("knight_moves", 4),
        ("bishop_moves", 5),
        ("queen_moves", 10),
        ("king_moves", 2),
        ("king_castled", 1),
        ("king_pawns", 2),
    ];
    for (name, expected) in said {
        assert_eq!(counts(name).0, expected, "{name}");
    }
    assert_eq!(trace(&figure()).count(term::knight_ring(1)), 1);
}

#[test]
fn black_has_what_the_text_of_figure_1_says() {
    assert_eq!(counts("bishop_pair"), (0, 1));
    assert_eq!(counts("bishop_pawns_mobility").1, 0);
    assert_eq!(counts("bishop_ahead").1, 1);
}

#[test]
fn every_feature_of_the_two_large_papers_has_a_weight() {
    // 33 rows of Table 1 (four rows make one table here, one value serves six ranks), and 35
    // of Fig. 3, of which the queen's mobility evolved to nothing.
    for (file, lines) in [("vazquez-2013", 30), ("david-tabibi-2011", 34)] {
        let path = format!("weights/papers/{file}.toml");
        let weights = Weights::load(path.as_ref()).unwrap_or_else(|error| panic!("{error}"));
        let weighs = |info: &&TermInfo| {
            weights
                .values(info)
                .iter()
                .any(|v| *v != TaperedValue::default())
        };
        assert_eq!(TERMS.iter().filter(weighs).count(), lines, "{file}");
    }
}
