//! Each term of the evaluation, by hand: a position where it counts, how often (White's minus
//! Black's), and a position where it does not.

use finch::eval::{Family, TERMS, Term, WEIGHT_COUNT, trace};
use finch::position::Position;

const KINGS: &str = "4k3/8/8/8/8/8/8/4K3";
const THREE_PAWNS: &str = "4k3/8/8/8/8/8/PPP5/4K3";
const TWO_PAWNS: &str = "4k3/8/8/8/8/8/PP6/4K3";
const SPLIT_PAWNS: &str = "4k3/8/8/8/8/8/P1P5/4K3";
const PAWN_A5: &str = "4k3/8/8/P7/8/8/8/4K3";

/// Term, position where it counts, how often, position where it does not.
type Case = (&'static str, &'static str, i32, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    // material
    ("pawn", THREE_PAWNS, 3, KINGS),
    ("knight", "4k3/8/8/8/8/8/8/1N2K1N1", 2, KINGS),
    ("bishop", "4k3/8/8/8/8/8/8/2B1K3", 1, KINGS),
    ("rook", "r3k3/8/8/8/8/8/8/R3K2R", 1, KINGS),
    ("queen", "3qk3/8/8/8/8/8/8/4K3", -1, KINGS),
    ("bishop_pair", "4k3/8/8/8/8/8/8/2B1KB2", 1, "4k3/8/8/8/8/8/8/2B1K3"),
    ("knight_pair", "4k3/8/8/8/8/8/8/1N2K1N1", 1, "4k3/8/8/8/8/8/8/1N2K3"),
    ("rook_pair", "4k3/8/8/8/8/8/8/R3K2R", 1, "4k3/8/8/8/8/8/8/R3K3"),
    ("knight_with_pawns[3]", "4k3/8/8/8/8/8/PPP5/1N2K3", 1, "4k3/8/8/8/8/8/PP6/1N2K3"),
    ("bishop_with_pawns[3]", "4k3/8/8/8/8/8/PPP5/2B1K3", 1, "4k3/8/8/8/8/8/PP6/2B1K3"),
    ("rook_with_pawns[3]", "4k3/8/8/8/8/8/PPP5/R3K3", 1, "4k3/8/8/8/8/8/PP6/R3K3"),
    ("queen_against_pieces[2]", "1nb1k3/8/8/8/8/8/8/3QK3", 1, "2b1k3/8/8/8/8/8/8/3QK3"),
    // squares: the fifth row of the diagram, file e
    ("pawn_square[36]", "4k3/8/8/8/4P3/8/8/4K3", 1, "4k3/8/8/4P3/8/8/8/4K3"),
    ("knight_square[36]", "4k3/8/8/8/4N3/8/8/4K3", 1, "4k3/8/8/4N3/8/8/8/4K3"),
    ("bishop_square[36]", "4k3/8/8/8/3B4/8/8/3K4", 1, "4k3/8/8/8/3B4/8/8/4K3"),
    ("rook_square[36]", "6k1/8/8/8/4R3/8/8/4K3", 1, "6k1/8/8/4R3/8/8/8/4K3"),
    ("queen_square[36]", "6k1/8/8/8/4Q3/8/8/4K3", 1, "6k1/8/8/4Q3/8/8/8/4K3"),
    ("king_square[28]", "6k1/8/8/8/8/8/8/4K3", 1, "6k1/8/8/8/8/8/8/5K2"),
    // pawns
    ("pawn_isolated", SPLIT_PAWNS, 2, TWO_PAWNS),
    ("pawn_isolated_unopposed", "4k3/p7/8/8/8/8/P1P5/4K3", 1, "4k3/p7/8/8/8/8/P7/4K3"),
    ("pawn_doubled", "4k3/8/8/8/P7/8/P7/4K3", 1, TWO_PAWNS),
    ("pawn_doubled_close", "4k3/8/8/8/8/P7/P7/4K3", 1, "4k3/8/8/8/P7/8/P7/4K3"),
    ("pawn_doubled_isolated", "4k3/8/8/8/P7/8/P7/4K3", 1, "4k3/8/8/8/P7/1P6/P7/4K3"),
    ("pawn_backward", "4k3/8/8/5p2/3P4/4P3/8/4K3", 1, "4k3/8/8/5p2/8/3PP3/8/4K3"),
    ("pawn_backward_unopposed", "4k3/8/8/5p2/3P4/4P3/8/4K3", 1, "4k3/4p3/8/5p2/3P4/4P3/8/4K3"),
    ("pawn_phalanx[1]", TWO_PAWNS, 2, SPLIT_PAWNS),
    ("pawn_supported[2]", "4k3/8/8/8/8/1P6/P7/4K3", 1, TWO_PAWNS),
    ("pawn_connected_unopposed[1]", TWO_PAWNS, 2, "4k3/pp6/8/8/8/8/PP6/4K3"),
    ("pawn_blocked[2]", "4k3/8/8/8/4p3/4P3/8/4K3", 1, "4k3/8/8/4p3/8/4P3/8/4K3"),
    ("pawn_islands", SPLIT_PAWNS, 2, KINGS),
    ("pawn_candidate[3]", "4k3/8/5p2/8/4P3/3P4/8/4K3", 1, "4k3/8/5p2/8/4P3/8/8/4K3"),
    ("pawn_lever[4]", "4k3/8/3p4/4P3/8/8/8/4K3", 1, "4k3/8/4p3/4P3/8/8/8/4K3"),
    ("pawn_weak_lever", "4k3/8/8/3p1p2/4P3/8/8/4K3", 1, "4k3/8/8/3p1p2/4P3/3P4/8/4K3"),
    ("pawns_none", "4k3/p7/8/8/8/8/8/4K3", 1, "4k3/p7/8/8/8/8/P7/4K3"),
    // pieces
    ("knight_mobility[8]", "4k3/8/8/8/4N3/8/8/4K3", 1, "4k3/4p3/8/8/4N3/8/8/4K3"),
    ("bishop_mobility[13]", "4k3/8/8/8/4B3/8/8/4K3", 1, "4k3/8/8/3p4/4B3/8/8/4K3"),
    ("rook_mobility[14]", "4k3/8/8/8/R7/8/8/4K3", 1, "4k3/8/8/8/RP6/8/8/4K3"),
    ("queen_mobility[27]", "4k3/8/8/8/3Q4/8/8/4K3", 1, "4k3/8/8/8/3Q4/3P4/8/4K3"),
    ("knight_outpost", "4k3/8/8/4N3/3P4/8/8/4K3", 1, "4k3/5p2/8/4N3/3P4/8/8/4K3"),
    ("knight_outpost_reach", "4k3/8/8/8/3P4/5N2/8/4K3", 1, "4k3/8/8/8/3P4/N7/8/4K3"),
    ("knight_hole", "4k3/8/8/4N3/8/8/8/4K3", 1, "4k3/8/8/4N3/3P4/8/8/4K3"),
    ("bishop_outpost", "4k3/8/8/4B3/3P4/8/8/4K3", 1, "4k3/5p2/8/4B3/3P4/8/8/4K3"),
    ("bishop_outpost_reach", "4k3/8/8/8/3P4/6B1/8/4K3", 1, "4k3/8/8/8/3P4/5B2/8/4K3"),
    ("bishop_long_diagonal", "4k3/8/8/8/8/8/1B6/4K3", 1, "4k3/8/8/8/8/2P5/1B6/4K3"),
    ("bishop_bad", "4k3/8/8/8/3P4/8/8/2B1K3", 1, "4k3/8/8/8/4P3/8/8/2B1K3"),
    ("bishop_bad_blocked", "4k3/8/8/3p4/3P4/8/8/2B1K3", 1, "4k3/8/8/8/3P4/8/8/2B1K3"),
    ("bishop_xray_pawns", "4k3/8/8/8/5p2/8/8/2B1K3", 1, "4k3/8/8/5p2/8/8/8/2B1K3"),
    ("bishop_trapped", "4k3/8/8/8/8/6P1/7B/6K1", 1, "4k3/8/8/8/8/6P1/7B/5K2"),
    ("minor_behind_pawn", "4k3/8/8/8/8/4P3/4N3/4K3", 1, "4k3/8/8/8/4P3/8/4N3/4K3"),
    ("knight_king_distance[3]", "4k3/8/8/8/4N3/8/8/4K3", 1, "4k3/8/8/8/8/4N3/8/4K3"),
    ("bishop_king_distance[3]", "4k3/8/8/8/4B3/8/8/4K3", 1, "4k3/8/8/8/8/4B3/8/4K3"),
    ("rook_open_file", "4k3/8/8/8/8/8/8/R3K3", 1, "4k3/8/8/8/8/8/P7/R3K3"),
    ("rook_half_open_file", "4k3/p7/8/8/8/8/8/R3K3", 1, "4k3/8/8/8/8/8/8/R3K3"),
    ("rook_closed_behind", "4k3/p7/8/8/8/8/P7/R3K3", 1, "4k3/p7/8/R7/8/8/P7/4K3"),
    ("rook_closed_ahead", "4k3/p7/8/R7/8/8/P7/4K3", 1, "4k3/p7/8/8/8/8/P7/R3K3"),
    ("rook_own_file", "4k3/8/8/8/8/8/P7/R3K3", 1, "4k3/8/8/8/8/8/8/R3K3"),
    ("rook_on_seventh", "4k3/R7/8/8/8/8/8/4K3", 1, "4k3/8/R7/8/8/8/8/4K3"),
    ("rook_on_seventh_active", "4k3/R7/8/8/8/8/8/4K3", 1, "8/R7/4k3/8/8/8/8/4K3"),
    ("rook_connected", "4k3/8/8/8/8/8/8/R2RK3", 2, "4k3/8/8/8/8/8/8/RN1RK3"),
    ("rook_behind_passer", "4k3/8/8/P7/8/8/8/R3K3", 1, "R7/4k3/8/P7/8/8/8/4K3"),
    ("rook_behind_enemy_passer", "R7/4k3/8/8/p7/8/8/4K3", 1, "8/4k3/8/8/p7/8/8/R3K3"),
    ("rook_on_queen_file", "3qk3/8/8/8/8/8/8/3RK3", 1, "3qk3/8/8/8/8/8/8/2R1K3"),
    ("rook_trapped", "4k3/8/8/8/8/8/6PP/6KR", 1, "4k3/8/8/8/8/8/6PP/5RK1"),
    ("rook_boxed", "4k3/8/8/8/8/8/6PP/R3K1NR w Q - 0 1", 1, "4k3/8/8/8/8/8/6P1/R3K1NR w Q - 0 1"),
    ("queen_exposed", "3rk3/8/8/8/3P4/8/8/3QK3", 1, "3rk3/8/8/8/8/8/8/3QK3"),
    ("queen_infiltrated", "4k3/8/8/3Q4/8/8/8/4K3", 1, "4k3/4p3/8/3Q4/8/8/8/4K3"),
    ("queen_early", "4k3/8/8/8/8/3Q4/8/1NB1K3", 2, "4k3/8/8/8/8/8/8/1NBQK3"),
    // king; the danger's units: rook and queen attack (9), four attacks next to the king (8),
    // four weak squares (16), two safe checks each of rook and queen (50), fifteen attacks in
    // his camp (15) less half of five guarded squares (2), three open files (9), less 8
    ("king_danger[48]", "6k1/8/8/8/7Q/8/8/K6R", -1, KINGS),
    ("king_shelter[9]", "4k3/8/8/8/8/8/6P1/6K1", 1, "4k3/8/8/8/8/6P1/8/6K1"),
    ("king_storm[11]", "4k3/8/8/8/6p1/8/8/6K1", 1, "4k3/8/8/6p1/8/8/8/6K1"),
    ("king_storm_blocked[10]", "4k3/8/8/8/8/6p1/6P1/6K1", 1, "4k3/8/8/8/6p1/8/6P1/6K1"),
    ("king_open_file", "4k3/4p3/8/8/8/8/8/6K1", 1, "4k3/4p3/8/8/8/8/6P1/6K1"),
    ("king_half_open_file", "4k3/4p1p1/8/8/8/8/8/6K1", 1, "4k3/4p1p1/8/8/8/8/6P1/6K1"),
    ("king_half_open_neighbour", "4k3/3p1p2/8/8/8/8/8/6K1", 2, "4k3/3p1p2/8/8/8/8/5P1P/6K1"),
    ("king_attacked_by_knight", "4k3/8/8/8/5n2/8/8/6K1", 1, "n3k3/8/8/8/8/8/8/6K1"),
    ("king_attacked_by_bishop", "4k3/1b6/8/8/8/8/8/6K1", 1, "3bk3/8/8/8/8/8/8/6K1"),
    ("king_attacked_by_rook", "4kr2/8/8/8/8/8/8/6K1", 1, "r3k3/8/8/8/8/8/8/7K"),
    ("king_attacked_by_queen", "4k3/1q6/8/8/8/8/8/6K1", 1, "4k3/8/8/q7/8/8/8/6K1"),
    ("king_ring_attacks", "4k3/8/8/8/5n2/8/8/6K1", 1, "n3k3/8/8/8/8/8/8/6K1"),
    ("king_weak_squares", "4k3/8/8/8/5n2/8/8/6K1", 2, "n3k3/8/8/8/8/8/8/6K1"),
    ("king_safe_knight_check", "4k3/8/8/8/5n2/8/8/6K1", 2, "n3k3/8/8/8/8/8/8/6K1"),
    ("king_safe_bishop_check", "1b2k3/8/8/8/8/8/8/6K1", 1, "2b1k3/8/8/8/8/8/8/6K1"),
    ("king_safe_rook_check", "r3k3/8/8/8/8/8/8/6K1", 1, KINGS),
    ("king_safe_queen_check", "4k3/8/8/q7/8/8/8/6K1", 6, KINGS),
    ("king_unsafe_checks", "1b2k3/8/8/8/8/8/8/6K1", 1, "2b1k3/8/8/8/8/8/8/6K1"),
    ("king_pinned_pieces", "3kr3/8/8/8/8/8/4N3/4K3", 1, "3k4/8/8/8/8/8/4N3/4K3"),
    ("king_flank_attacks", "k7/7n/8/8/8/8/8/6K1", 1, "k7/8/8/8/8/8/8/6K1"),
    ("king_flank_defence", "k7/8/8/8/8/8/8/6K1", 2, "6k1/8/8/8/8/8/8/6K1"),
    ("king_flank_pawnless", "k7/p7/8/8/8/8/8/6K1", 1, "k7/p7/8/8/8/8/7P/6K1"),
    ("king_knight_defender", "4k3/8/8/8/8/5N2/8/6K1", 1, "4k3/8/8/8/8/8/8/N5K1"),
    ("king_pawn_distance[1]", "4k3/8/8/8/8/8/6P1/6K1", 1, "4k3/8/8/8/6P1/8/8/6K1"),
    ("king_mobility[5]", "k7/8/8/8/8/8/8/6K1", 1, "k7/8/8/8/8/8/8/K7"),
    ("castling_king_side", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", 1, "4k3/8/8/8/8/8/8/4K2R"),
    ("castling_queen_side", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", 1, "4k3/8/8/8/8/8/8/R3K3"),
    // threats
    ("threat_by_pawn[0]", "4k3/8/8/3n4/4P3/8/8/4K3", 1, "4k3/8/3n4/8/4P3/8/8/4K3"),
    ("threat_by_push[0]", "4k3/8/8/3n4/8/4P3/8/4K3", 1, "4k3/8/8/3n4/8/P7/8/4K3"),
    ("threat_by_minor[1]", "4k3/8/8/3n4/8/8/6B1/4K3", 1, "4k3/8/4p3/3n4/8/8/6B1/4K3"),
    ("threat_by_rook[2]", "4k3/8/8/R2b4/8/8/8/4K3", 1, "4k3/8/4p3/R2b4/8/8/8/4K3"),
    ("threat_by_king", "4k3/8/8/8/8/8/4p3/4K3", 1, "4k3/8/8/8/8/4p3/8/4K3"),
    ("threat_by_queen", "4k3/8/8/Q2b4/8/8/8/4K3", 1, "4k3/8/4p3/Q2b4/8/8/8/4K3"),
    ("threat_minor_on_major", "4k3/8/4p3/3r4/8/8/6B1/4K3", 1, "4k3/8/8/3r4/8/8/6B1/4K3"),
    ("threat_hanging", "4k3/8/8/3n4/8/8/6B1/4K3", 1, "4k3/8/4p3/3n4/8/8/6B1/4K3"),
    ("threat_guarded_by_queen", "3qk3/8/8/3n4/8/8/6B1/4K3", 1, "4k3/8/8/3n4/8/8/6B1/4K3"),
    ("threat_restricted", "8/8/4k3/8/3PK3/8/8/8", 1, KINGS),
    ("threat_knight_on_queen", "3q3k/8/8/8/3N4/8/8/4K3", 2, "3q3k/8/8/8/8/8/8/N3K3"),
    ("threat_slider_on_queen", "3q3k/8/8/8/8/8/8/R3K3", 1, "3q3k/8/8/8/8/8/7K/R7"),
    ("loose_minor", "4k3/8/8/8/8/8/8/N3K3", 1, "4k3/8/8/8/8/8/3N4/4K3"),
    ("loose_pawn", "4k3/8/8/8/8/8/P7/4K3", 1, "4k3/8/8/8/8/8/3P4/4K3"),
    // passed
    ("passed_rank[4]", PAWN_A5, 1, "4k3/1p6/8/P7/8/8/8/4K3"),
    ("passed_file[0]", PAWN_A5, 1, "4k3/8/8/1P6/8/8/8/4K3"),
    ("passed_own_king[2]", "8/8/8/4P3/4K3/8/8/k7", 2, "8/8/8/4P3/K7/8/8/3k4"),
    ("passed_enemy_king[5]", "8/8/8/4P3/4K3/8/8/k7", 2, "8/8/8/4P3/4K3/8/k7/8"),
    ("passed_blockaded[4]", "4k3/8/4n3/4P3/8/8/8/4K3", 1, "4k3/3n4/8/4P3/8/8/8/4K3"),
    ("passed_safe_step[4]", "k7/8/8/4P3/8/8/8/4K3", 1, "8/4k3/8/4P3/8/8/8/4K3"),
    ("passed_guarded_step[4]", "k7/8/8/3KP3/8/8/8/8", 1, "k7/8/8/4P3/8/8/8/4K3"),
    ("passed_safe_path[4]", "k7/8/8/4P3/8/8/8/4K3", 1, "5k2/8/8/4P3/8/8/8/4K3"),
    ("passed_free_path[4]", "5k2/8/8/4P3/8/8/8/4K3", 1, "4n2k/8/8/4P3/8/8/8/4K3"),
    ("passed_connected[4]", "k7/8/8/3PP3/8/8/8/4K3", 2, "k7/8/8/4P3/8/8/8/4K3"),
    ("passed_rook_support[4]", "k7/8/8/4P3/8/8/8/4R1K1", 1, "k7/8/8/4P3/8/8/8/3R2K1"),
    ("passed_unstoppable", "k7/8/8/7P/8/8/8/K7", 1, "6k1/8/8/7P/8/8/8/K7"),
    ("passed_outside", "6k1/6pp/8/P7/8/8/6P1/6K1", 1, "6k1/6pp/8/5P2/8/8/6P1/6K1"),
    // space
    ("space_safe[4]", "4k3/8/8/8/8/8/8/RN2K1NR", 12, "4k3/8/8/8/8/8/8/RN2K1N1"),
    ("space_behind_pawns[4]", "4k3/8/8/8/4P3/8/8/RN2K1NR", 2, "4k3/8/8/8/P7/8/8/RN2K1NR"),
    ("space_centre_attacks", "4k3/8/8/8/8/2N5/8/4K3", 2, "4k3/8/8/8/8/8/8/N3K3"),
    ("space_centre_pawns", "4k3/8/8/8/4P3/8/8/4K3", 1, "4k3/8/8/8/8/4P3/8/4K3"),
    // initiative
    ("complexity_pawns", THREE_PAWNS, 3, KINGS),
    ("complexity_passed", PAWN_A5, 1, KINGS),
    ("complexity_outflanking", "8/8/8/8/8/8/8/K6k", 7, "7k/8/8/8/8/8/8/K7"),
    ("complexity_both_wings", "4k3/8/8/8/8/8/P6P/4K3", 1, THREE_PAWNS),
    ("complexity_infiltration", "k7/8/8/4K3/8/8/8/8", 1, KINGS),
    ("complexity_pawn_ending", THREE_PAWNS, 1, "4k3/8/8/8/8/8/PPP5/R3K3"),
    ("complexity_still", THREE_PAWNS, 1, "4k3/8/8/8/8/8/P6P/4K3"),
    // endgame
    ("known_win", "4k3/8/8/8/8/8/8/R3K3", 1, "4k3/8/8/8/8/8/8/N3K3"),
    ("win_edge_distance[0]", "4k3/8/8/8/8/8/8/R3K3", 1, "8/8/8/4k3/8/8/8/R3K3"),
    ("win_corner_distance[0]", "7k/8/8/8/8/8/8/1NB1K3", 1, "k7/8/8/8/8/8/8/1NB1K3"),
    ("win_king_distance[7]", "4k3/8/8/8/8/8/8/R3K3", 1, "8/8/4k3/8/8/8/8/R3K3"),
    ("win_pawn_rank[4]", "4k3/8/4K3/4P3/8/8/8/8", 1, "8/4k3/8/4P3/4K3/8/8/8"),
    // patterns: knight and pawn, rook and king, e7 and e2, b3; three ranks ahead, four behind
    ("attack_to_move[12]", "4k3/8/3p4/8/4N3/8/8/4K3", 1, "4k3/2p5/3p4/8/4N3/8/8/4K3"),
    ("attack_waiting[18]", "4k3/8/8/4n3/8/3P4/2P5/4K3", -1, "4k3/8/8/4n3/8/3P4/8/4K3"),
    ("guard[6]", "4k3/8/3P4/8/4N3/8/8/4K3", 1, KINGS),
    ("look_through[11]", "4k3/4p3/8/8/8/8/8/K3R3", 1, "4k3/4p3/8/8/8/8/8/K2R4"),
    ("zone_attack[18]", "4k3/8/8/3N4/8/8/8/4K3", 1, KINGS),
    ("zone_guard[24]", "4k3/8/8/8/3N4/8/8/4K3", 1, KINGS),
    ("pawn_neighbours[0]", TWO_PAWNS, 1, SPLIT_PAWNS),
    ("pawn_encounter[447]", "4k3/8/8/3p4/4P3/8/8/4K3", 1, "4k3/8/8/2p5/4P3/8/8/4K3"),
    ("control_square[41]", "4k3/8/8/8/8/8/P7/4K3", 1, KINGS),
    ("control_square_twice[41]", SPLIT_PAWNS, 1, "4k3/8/8/8/8/8/P7/4K3"),
    ("pawn_from_own_king[80]", "6k1/8/8/8/4P3/8/8/4K3", 1, KINGS),
    ("pawn_from_enemy_king[26]", "6k1/8/8/8/4P3/8/8/4K3", 1, KINGS),
    ("knight_from_own_king[80]", "6k1/8/8/8/4N3/8/8/4K3", 1, KINGS),
    ("knight_from_enemy_king[26]", "6k1/8/8/8/4N3/8/8/4K3", 1, KINGS),
    ("bishop_from_own_king[80]", "6k1/8/8/8/4B3/8/8/4K3", 1, KINGS),
    ("bishop_from_enemy_king[26]", "6k1/8/8/8/4B3/8/8/4K3", 1, KINGS),
    ("rook_from_own_king[80]", "6k1/8/8/8/4R3/8/8/4K3", 1, KINGS),
    ("rook_from_enemy_king[26]", "6k1/8/8/8/4R3/8/8/4K3", 1, KINGS),
    ("queen_from_own_king[80]", "6k1/8/8/8/4Q3/8/8/4K3", 1, KINGS),
    ("queen_from_enemy_king[26]", "6k1/8/8/8/4Q3/8/8/4K3", 1, KINGS),
    // papers
    ("legal_moves", "4k3/8/8/8/8/8/P7/4K3", 2, KINGS),
    ("pawn_central", "4k3/8/8/8/4P3/8/8/4K3", 1, "4k3/8/8/8/8/4P3/8/4K3"),
    ("knight_supported", "4k3/8/8/8/3N4/2P5/8/4K3", 1, "4k3/8/8/8/3N4/P7/8/4K3"),
    ("knight_base", "4k3/8/8/4N3/8/8/8/4K3", 1, "4k3/5p2/8/4N3/8/8/8/4K3"),
    ("knight_ring[3]", "4k3/8/8/8/4N3/8/8/4K3", 1, "4k3/8/8/8/8/2N5/8/4K3"),
    ("knight_moves", "4k3/8/8/8/8/8/8/N3K3", 2, KINGS),
    ("bishop_moves", "4k3/8/8/8/8/8/8/2B1K3", 7, KINGS),
    ("rook_moves", "4k3/8/8/8/8/8/8/R3K3", 10, KINGS),
    ("queen_moves", "4k3/8/8/8/3Q4/8/8/4K3", 27, KINGS),
    ("king_moves", "k7/8/8/8/8/8/8/6K1", 2, "6k1/8/8/8/8/8/8/6K1"),
    ("king_attacking_material", "4kr2/8/8/8/8/8/8/6K1", 5, "r3k3/8/8/8/8/8/8/7K"),
    ("king_defending_material", "4kr2/8/8/8/8/8/8/6K1", -5, KINGS),
    ("king_castled", "r3k2r/8/8/8/8/8/8/5RK1 w kq - 0 1", 1, "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
    ("king_pawns", "4k3/8/8/8/8/8/5PPP/6K1", 3, "4k3/8/8/8/8/5PPP/8/6K1"),
    // "this value is one for the black bishop on b6", its pawn unable to move
    ("bishop_ahead", "4k3/8/1b6/2p5/2P5/8/8/4K3", -1, "4k3/2p5/1b6/8/2P5/8/8/4K3"),
    ("bishop_pawns_mobility", "4k3/8/1b6/2p5/8/8/8/4K3", -1, "4k3/8/1b6/2p5/2P5/8/8/4K3"),
    ("pawn_advance_wing", "4k3/p7/8/8/P7/8/8/4K3", 2, "4k3/4p3/8/8/4P3/8/8/4K3"),
    ("pawn_advance_centre", "4k3/4p3/8/8/4P3/8/8/4K3", 2, "4k3/p7/8/8/P7/8/8/4K3"),
    ("passed_advance", PAWN_A5, 3, KINGS),
    ("passed_enemy_king_steps", PAWN_A5, 4, KINGS),
    ("weak_squares", "4k3/8/8/8/8/8/4P3/4K3", -4, KINGS),
    ("knight_outpost_ring", "4k3/8/8/4N3/3P4/8/8/4K3", 3, "4k3/5p2/8/4N3/3P4/8/8/4K3"),
    ("rook_on_king_file", "4k3/4p3/8/8/8/8/8/3KR3", 1, "4k3/4p3/8/8/8/8/8/2RK4"),
    ("rook_by_king_file", "4k3/8/8/8/8/8/8/3RK3", 1, "4k3/8/8/8/8/8/8/R3K3"),
    ("rook_by_king_wing_file", "7k/8/8/8/8/8/8/4K1R1", 1, "7k/8/8/8/8/8/8/R3K3"),
    ("rook_attacks_weak_pawn", "4k3/p7/8/8/8/8/8/R3K3", 1, "4k3/pp6/8/8/8/8/8/R3K3"),
    ("rook_file_centrality", "4k3/8/8/8/8/8/8/3RK3", 3, "4k3/8/8/8/8/8/8/R3K3"),
    ("king_pawn_advanced", "4k3/8/8/8/8/6P1/8/6K1", 1, "4k3/8/8/8/8/8/6P1/6K1"),
    ("king_no_enemy_pawn", "4k3/8/8/8/8/8/4P3/6K1", 1, "4k3/6p1/8/8/8/8/4P3/6K1"),
    ("king_no_enemy_pawn_neighbour", "4k3/8/8/8/8/8/3P1P2/6K1", 2, "4k3/5p1p/8/8/8/8/3P1P2/6K1"),
];

/// Terms that every position has.
const ALWAYS: [&str; 2] = ["tempo", "complexity_base"];

fn term_labelled(label: &str) -> Term {
    (0..WEIGHT_COUNT)
        .filter_map(Term::from_index)
        .find(|term| term.label() == label)
        .unwrap_or_else(|| panic!("{label} is no term"))
}

fn count(label: &str, board: &str) -> i32 {
    let fen = if board.contains(' ') {
        board.to_owned()
    } else {
        format!("{board} w - - 0 1")
    };
    let position = Position::from_fen(&fen).unwrap_or_else(|error| panic!("{fen}: {error}"));
    trace(&position).count(term_labelled(label))
}

#[test]
fn each_term_counts_where_it_should_and_only_there() {
    let mut wrong = Vec::new();
    for &(label, fires, expected, quiet) in CASES {
        let (counted, silent) = (count(label, fires), count(label, quiet));
        if counted != expected {
            wrong.push(format!(
                "{label} in {fires}: {counted}, expected {expected}"
            ));
        }
        if silent != 0 {
            wrong.push(format!("{label} in {quiet}: {silent}, expected 0"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn no_term_is_left_out() {
    for info in TERMS {
        let shown = |label: &str| label.split('[').next() == Some(info.name);
        let covered = CASES.iter().any(|case| shown(case.0)) || ALWAYS.contains(&info.name);
        assert!(covered, "{} has no case", info.name);
    }
}

#[test]
fn the_move_belongs_to_one_side() {
    assert_eq!(count("tempo", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"), 1);
    assert_eq!(count("tempo", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"), -1);
    assert_eq!(count("complexity_base", KINGS), 1);
}

/// The third line that `eval/mod.rs` asks for: a value in the default weights. Families that are
/// all zero there are not written.
#[test]
fn a_term_has_a_value_in_the_default_file() {
    let text = include_str!("../weights/default.toml");
    let skipped = |family| matches!(family, Family::Papers | Family::Patterns);
    for info in TERMS.iter().filter(|info| !skipped(info.family)) {
        let line = format!("\n{} = ", info.name);
        assert_eq!(text.matches(&line).count(), 1, "{}", info.name);
    }
}

/// The other two lines: a term is named in the list and in the one file that reports it.
#[test]
fn a_term_is_named_in_the_list_and_in_one_other_file() {
    let folder = std::fs::read_dir("src/eval/terms").expect("the sources");
    let sources: Vec<_> = folder
        .map(|entry| entry.expect("a file").path())
        .filter(|path| !path.ends_with("list.rs"))
        .map(|path| std::fs::read_to_string(path).expect("text"))
        .map(|text| {
            text.split("#[cfg(test)]")
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .map(|text| without_comments(&text))
        .collect();
    for info in TERMS {
        let uses = |text: &&String| {
            let accessor = format!("term::{}", info.name);
            let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            text.match_indices(&accessor)
                .any(|(at, found)| ends(&text[at + found.len()..]))
        };
        assert_eq!(sources.iter().filter(uses).count(), 1, "{}", info.name);
    }
}

fn without_comments(text: &str) -> String {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect()
}
