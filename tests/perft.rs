//! Move generation, seen from outside: known node counts, and agreement with shakmaty's own
//! generator on positions from random play.

use std::collections::HashSet;

use finch::position::Position;
use finch::position::movegen::{self, PackedMove, perft};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use shakmaty::zobrist::Zobrist64;
use shakmaty::{Board, CastlingMode, Chess, EnPassantMode, FromSetup, Move, Position as _, Setup};

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

fn assert_perft(fen: &str, depth: u32, leaves: u64) {
    let position = Position::from_fen(fen).unwrap();
    assert_eq!(perft(&position, depth), leaves, "{fen} at depth {depth}");
}

#[test]
fn start_position_depth_6() {
    assert_eq!(perft(&Position::default(), 6), 119_060_324);
}

#[test]
fn kiwipete_depth_5() {
    assert_perft(KIWIPETE, 5, 193_690_690);
}

#[test]
fn positions_that_break_generators() {
    assert_perft("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 6, 11_030_083);
    assert_perft(
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        5,
        15_833_292,
    );
    assert_perft(
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
        4,
        2_103_487,
    );
}

/// The first of the well-known list of 960 perft results, in Shredder notation.
#[test]
fn chess960_positions() {
    for (fen, leaves) in [
        (
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
            8_146_062,
        ),
        (
            "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9",
            16_253_601,
        ),
        (
            "b1q1rrkb/pppppppp/3nn3/8/P7/1PPP4/4PPPP/BQNNRKRB w GE - 1 9",
            6_417_013,
        ),
        (
            "qbbnnrkr/2pp2pp/p7/1p2pp2/8/P3PP2/1PPP1KPP/QBBNNR1R w hf - 0 9",
            9_183_776,
        ),
        (
            "1nbbnrkr/p1p1ppp1/3p4/1p3P1p/3Pq2P/8/PPP1P1P1/QNBBNRKR w HFhf - 0 9",
            34_030_312,
        ),
    ] {
        assert_perft(fen, 5, leaves);
    }
}

/// Plays random games, alternating between orthodox chess and Chess960, and hands over each
/// position until `count` have been seen.
fn visit_random_positions(count: usize, mut visit: impl FnMut(&Position)) {
    let mut random = StdRng::seed_from_u64(2001);
    let mut seen = 0;
    while seen < count {
        let mut position = if random.random_bool(0.5) {
            Position::default()
        } else {
            chess960_start(random.random_range(0..960))
        };
        for _ in 0..200 {
            visit(&position);
            seen += 1;
            let moves = position.chess().legal_moves();
            if moves.is_empty() || seen == count {
                break;
            }
            position.play(moves[random.random_range(0..moves.len())]);
        }
    }
}

fn chess960_start(number: u32) -> Position {
    let board = Board::chess960(number);
    let setup = Setup {
        castling_rights: board.rooks(),
        board,
        ..Setup::initial()
    };
    Position::from_chess(Chess::from_setup(setup, CastlingMode::Chess960).unwrap())
}

#[test]
fn staged_generation_agrees_with_shakmaty_on_100_000_positions() {
    visit_random_positions(100_000, |position| {
        let ours: Vec<_> = movegen::legal_moves(position).into_iter().collect();
        let theirs: HashSet<_> = position.chess().legal_moves().into_iter().collect();
        assert_eq!(ours.len(), theirs.len(), "{}", position.fen());
        assert!(
            ours.iter().all(|m| theirs.contains(m)),
            "{}",
            position.fen()
        );
    });
}

#[test]
fn quiet_checks_are_the_quiet_moves_that_check_by_themselves() {
    let mut checks = 0;
    visit_random_positions(20_000, |position| {
        if position.in_check() {
            return;
        }
        let mut generated = Vec::new();
        movegen::quiet_checks(position, |m| generated.push(m));
        let expected: Vec<Move> = movegen::legal_moves(position)
            .into_iter()
            .filter(|m| !m.is_capture() && !m.is_promotion() && checks_itself(position, *m))
            .collect();
        assert_eq!(generated.len(), expected.len(), "{}", position.fen());
        assert!(generated.iter().all(|m| expected.contains(m)));
        checks += generated.len();
    });
    assert!(checks > 1_000, "{checks}");
}

/// Castling may check, too; but the rook does, not the piece that is said to move.
fn checks_itself(position: &Position, m: Move) -> bool {
    !m.is_castle() && position.after(m).checkers().contains(m.to())
}

#[test]
fn keys_kept_while_playing_equal_keys_computed_afresh() {
    visit_random_positions(100_000, |position| {
        let Zobrist64(key) = position.chess().zobrist_hash(EnPassantMode::Legal);
        assert_eq!(position.key(), key, "{}", position.fen());
        let afresh = Position::from_chess(position.chess().clone());
        assert_eq!(position.keys(), afresh.keys(), "{}", position.fen());
    });
}

#[test]
fn packed_moves_unpack_to_exactly_the_legal_moves() {
    visit_random_positions(2_000, |position| {
        let legal = movegen::legal_moves(position);
        let packed: HashSet<u16> = legal.iter().map(|m| PackedMove::new(*m).bits()).collect();
        for m in &legal {
            assert_eq!(
                PackedMove::new(*m).unpack(position),
                Some(*m),
                "{}",
                position.fen()
            );
        }
        for bits in 0..=u16::MAX {
            let unpacked = PackedMove::from_bits(bits).unpack(position);
            assert_eq!(
                unpacked.is_some(),
                packed.contains(&bits),
                "{bits:#x} in {}",
                position.fen()
            );
        }
    });
}

#[test]
fn passing_keeps_keys_and_forgets_en_passant() {
    visit_random_positions(10_000, |position| {
        if position.in_check() {
            return;
        }
        let passed = position.after_null_move();
        assert_eq!(passed.turn(), !position.turn());
        assert_eq!(
            passed.keys(),
            Position::from_chess(passed.chess().clone()).keys()
        );
    });
}
