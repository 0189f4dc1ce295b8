//! Endgame knowledge.
//!
//! There are two kinds. A known win is reported as terms that drive the losing king to where it
//! can be mated. A known or likely draw is a scale factor for the endgame score of the stronger
//! side; a scale of 0 is a known draw.

use shakmaty::{Bitboard, Color, Role, Square};

use super::board::{
    BlackSide, FILE_A, FILE_H, KING_SIDE, Pieces, QUEEN_SIDE, StaticColor, WhiteSide, count,
    edge_distance, file_fill,
};
use super::kpk;
use super::list::term;
use super::pawns::PawnStructure;
use super::sink::{Sink, Taper};
use crate::eval::Score;

const DARK_CORNERS: [Square; 2] = [Square::A1, Square::H8];
const LIGHT_CORNERS: [Square; 2] = [Square::A8, Square::H1];
/// The most pieces, kings and pawns included, that a known endgame has.
const MAX_KNOWN_PIECES: u32 = 6;

/// The endgame scale when White is better and when Black is better.
#[inline(always)]
pub fn scales(pieces: &Pieces, pawns: &PawnStructure, turn: Color) -> [i32; 2] {
    [
        scale::<WhiteSide>(pieces, pawns, turn),
        scale::<BlackSide>(pieces, pawns, turn),
    ]
}

/// Minor and major pieces in pawn units: 3, 3, 5, 9.
#[inline(always)]
fn piece_material(pieces: &Pieces, color: usize) -> i32 {
    3 * count(pieces.minors_and_majors(color))
        + 2 * count(pieces.rooks(color))
        + 6 * count(pieces.queens(color))
}

#[inline(always)]
fn scale<S: StaticColor>(pieces: &Pieces, pawns: &PawnStructure, turn: Color) -> i32 {
    if pieces.occupied.0.count_ones() <= MAX_KNOWN_PIECES
        && let Some(known) = known_scale::<S>(pieces, turn)
    {
        return known;
    }
    let own_pawns = count(pieces.pawns(S::US));
    if own_pawns == 0 {
        return pawnless_scale(
            piece_material(pieces, S::US),
            piece_material(pieces, S::THEM),
        );
    }
    let wrong_bishop = wrong_bishop_scale::<S>(pieces);
    wrong_bishop.min(drawish_scale::<S>(pieces, pawns, own_pawns))
}

/// Without pawns a small material advantage does not win.
#[inline(always)]
fn pawnless_scale(own: i32, enemy: i32) -> i32 {
    if own - enemy > 3 {
        Taper::FULL_SCALE
    } else if own <= 3 {
        0
    } else if enemy <= 3 {
        12
    } else {
        32
    }
}

/// Opposite-coloured bishops, few pawns, pawns on one wing: hard to win.
#[inline(always)]
fn drawish_scale<S: StaticColor>(pieces: &Pieces, pawns: &PawnStructure, own_pawns: i32) -> i32 {
    let all_pawns = pieces.pawns(0) | pieces.pawns(1);
    let one_wing = (all_pawns & QUEEN_SIDE).is_empty() || (all_pawns & KING_SIDE).is_empty();
    if has_opposite_bishops(pieces) {
        let passed = count(pawns.passed[S::US]);
        let bare = count(pieces.minors_and_majors(0) | pieces.minors_and_majors(1)) == 2;
        return if bare {
            (32 + 14 * passed).min(96)
        } else {
            (68 + 5 * count(pieces.minors_and_majors(S::US)) + 4 * passed).min(112)
        };
    }
    let lone_rook = |color| {
        pieces.minors_and_majors(color) == pieces.rooks(color) && count(pieces.rooks(color)) == 1
    };
    let margin = own_pawns - count(pieces.pawns(S::THEM));
    if lone_rook(0) && lone_rook(1) && margin <= 1 && one_wing {
        return 72;
    }
    let few = 76 + 13 * own_pawns - if one_wing { 12 } else { 0 };
    few.min(Taper::FULL_SCALE)
}

/// One bishop each, on squares of opposite colours.
#[inline(always)]
fn has_opposite_bishops(pieces: &Pieces) -> bool {
    let (white, black) = (pieces.bishops(0), pieces.bishops(1));
    if count(white) != 1 || count(black) != 1 {
        return false;
    }
    (white & Bitboard::DARK_SQUARES).any() != (black & Bitboard::DARK_SQUARES).any()
}

/// Wrong bishop: only rook pawns of one file, with no piece or a bishop that does not control
/// the promotion square, against a king that reaches the corner.
#[inline(always)]
fn wrong_bishop_scale<S: StaticColor>(pieces: &Pieces) -> i32 {
    let own = pieces.pawns(S::US);
    let minors_and_majors = pieces.minors_and_majors(S::US);
    let on_edge = (own & !FILE_A).is_empty() || (own & !FILE_H).is_empty();
    if !on_edge || minors_and_majors != pieces.bishops(S::US) {
        return Taper::FULL_SCALE;
    }
    let corner = file_fill(own) & S::rank_squares(7);
    let dark_corner = (corner & Bitboard::DARK_SQUARES).any();
    let corner_colour = if dark_corner {
        Bitboard::DARK_SQUARES
    } else {
        !Bitboard::DARK_SQUARES
    };
    let Some(corner) = corner.first() else {
        return Taper::FULL_SCALE;
    };
    let defender = pieces.king[S::THEM];
    let holds = defender.distance(corner) <= 1
        || (pieces.king[S::US].distance(corner) > defender.distance(corner) + 1
            && own
                .into_iter()
                .all(|pawn| defender.distance(corner) < 7 - S::rank(pawn) as u32));
    if holds && (minors_and_majors & corner_colour).is_empty() {
        0
    } else {
        Taper::FULL_SCALE
    }
}

/// Endgames with few pieces whose result is known, when `S` is the stronger side.
#[inline(never)]
fn known_scale<S: StaticColor>(pieces: &Pieces, turn: Color) -> Option<i32> {
    let (own, enemy) = (
        pieces.minors_and_majors(S::US),
        pieces.minors_and_majors(S::THEM),
    );
    let (own_pawns, enemy_pawns) = (pieces.pawns(S::US), pieces.pawns(S::THEM));
    let bare = enemy.is_empty() && enemy_pawns.is_empty();
    if bare && own.is_empty() && count(own_pawns) == 1 {
        let pawn = own_pawns.first()?;
        let won = is_pawn_win::<S>(pawn, pieces, turn);
        return Some(if won { Taper::FULL_SCALE } else { 0 });
    }
    if bare && own_pawns.is_empty() {
        return Some(if can_mate(pieces, S::US) {
            Taper::FULL_SCALE
        } else {
            0
        });
    }
    if own_pawns.is_empty() && enemy.is_empty() && count(own) == 1 && count(enemy_pawns) == 1 {
        let pawn = enemy_pawns.first()?;
        if own == pieces.rooks(S::US) {
            return Some(rook_against_pawn::<S>(pawn, pieces, turn));
        }
        if own == pieces.queens(S::US) {
            return Some(queen_against_pawn::<S>(pawn, pieces));
        }
    }
    None
}

/// Whether the pieces without pawns can force mate against a bare king.
#[inline]
fn can_mate(pieces: &Pieces, color: usize) -> bool {
    let bishops = pieces.bishops(color);
    let both_colours =
        (bishops & Bitboard::DARK_SQUARES).any() && (bishops & !Bitboard::DARK_SQUARES).any();
    let knights = count(pieces.knights(color));
    (pieces.rooks(color) | pieces.queens(color)).any()
        || both_colours
        || (bishops.any() && knights > 0)
        || knights > 2
}

/// Rook against pawn (KRKP): drawish when the pawn is far advanced, its king next to it and the
/// other king far away.
fn rook_against_pawn<S: StaticColor>(pawn: Square, pieces: &Pieces, turn: Color) -> i32 {
    let (strong, weak) = (pieces.king[S::US], pieces.king[S::THEM]);
    let rank = S::Them::rank(pawn);
    let own_move = u32::from(turn == S::COLOR);
    let ahead = S::Them::front_span(Bitboard::from_square(pawn)).contains(strong);
    let undefended = weak.distance(pawn) >= 3 + (1 - own_move);
    let near = strong.distance(pawn) <= weak.distance(pawn) + own_move;
    if ahead || undefended || (near && rank < 6) {
        Taper::FULL_SCALE
    } else if rank >= 5 && weak.distance(pawn) == 1 && strong.distance(pawn) > 2 + own_move {
        12
    } else {
        72
    }
}

/// Queen against pawn (KQKP): drawish with a rook or bishop pawn on the seventh rank, its king
/// next to it and the other king far away.
fn queen_against_pawn<S: StaticColor>(pawn: Square, pieces: &Pieces) -> i32 {
    let (strong, weak) = (pieces.king[S::US], pieces.king[S::THEM]);
    let drawing_file = matches!(pawn.to_u32() & 7, 0 | 2 | 5 | 7);
    let about_to_promote = S::Them::rank(pawn) == 6 && weak.distance(pawn) <= 1;
    if drawing_file && about_to_promote && strong.distance(pawn) > 4 {
        16
    } else {
        Taper::FULL_SCALE
    }
}

fn is_pawn_win<S: StaticColor>(pawn: Square, pieces: &Pieces, turn: Color) -> bool {
    kpk::is_won(
        S::COLOR,
        pieces.king[S::US],
        pieces.king[S::THEM],
        pawn,
        turn,
    )
}

/// Reports the endgames that `S` is known to win.
#[inline(always)]
pub fn report<S: StaticColor>(pieces: &Pieces, turn: Color, sink: &mut impl Sink) {
    let bare = pieces.all[S::THEM] == Bitboard::from_square(pieces.king[S::THEM]);
    if bare {
        report_against_bare_king::<S>(pieces, turn, sink);
    }
}

#[inline(never)]
fn report_against_bare_king<S: StaticColor>(pieces: &Pieces, turn: Color, sink: &mut impl Sink) {
    let minors_and_majors = pieces.minors_and_majors(S::US);
    let own_pawns = pieces.pawns(S::US);
    if minors_and_majors.is_empty() {
        if let (1, Some(pawn)) = (count(own_pawns), own_pawns.first()) {
            let won = is_pawn_win::<S>(pawn, pieces, turn);
            sink.add(S::COLOR, term::win_pawn_rank(S::rank(pawn)), i32::from(won));
        }
        return;
    }
    if !can_mate(pieces, S::US) {
        return;
    }
    let weak = pieces.king[S::THEM];
    sink.add(S::COLOR, term::known_win(), 1);
    let apart = pieces.king[S::US].distance(weak) as usize;
    sink.add(S::COLOR, term::win_king_distance(apart), 1);

    let bishop_and_knight = count(minors_and_majors) == 2
        && pieces.of_role(S::US, Role::Bishop).any()
        && pieces.of_role(S::US, Role::Knight).any();
    if bishop_and_knight && own_pawns.is_empty() {
        let distance = right_corner_distance(weak, pieces.bishops(S::US)).min(7);
        sink.add(S::COLOR, term::win_corner_distance(distance), 1);
    }
    let from_edge = edge_distance(weak).min(rank_edge_distance(weak));
    sink.add(S::COLOR, term::win_edge_distance(from_edge), 1);
}

/// The mop-up evaluation: the score for the side to move of a pawnless ending that is won against
/// a bare king. It knows only what leads to mate: the losing king at the edge, for bishop and
/// knight in a corner of the bishop's colour, and the kings close together. A network or many small
/// terms would drown that out.
pub fn mop_up(pieces: &Pieces, turn: Color) -> Option<Score> {
    if pieces.pawns(0).any() || pieces.pawns(1).any() {
        return None;
    }
    let white = mop_up_score::<WhiteSide>(pieces);
    let score = white.or_else(|| mop_up_score::<BlackSide>(pieces).map(|score| -score));
    score.map(|score| if turn.is_white() { score } else { -score })
}

fn mop_up_score<S: StaticColor>(pieces: &Pieces) -> Option<Score> {
    let (strong, weak) = (pieces.king[S::US], pieces.king[S::THEM]);
    if pieces.all[S::THEM] != Bitboard::from_square(weak) || !can_mate(pieces, S::US) {
        return None;
    }
    let (bishops, knights) = (pieces.bishops(S::US), pieces.knights(S::US));
    let bishop_and_knight = count(pieces.minors_and_majors(S::US)) == 2;
    if bishop_and_knight && let (true, Some(knight)) = (bishops.any(), knights.first()) {
        return Some(bishop_and_knight_score(strong, weak, bishops, knight));
    }
    let from_centre = 6 - edge_distance(weak) - rank_edge_distance(weak);
    let apart = strong.distance(weak) as Score;
    Some(2_000 + 100 * piece_material(pieces, S::US) + 40 * from_centre as Score - 20 * apart)
}

/// Bishop and knight against king. Each step of the losing king toward the right corner outweighs
/// all else, along the edge as well: there it must give way step by step, although the pieces that
/// drive it stand awkwardly meanwhile. The centre is worse than any corner.
fn bishop_and_knight_score(
    strong: Square,
    weak: Square,
    bishops: Bitboard,
    knight: Square,
) -> Score {
    const INSIDE: [Score; 4] = [0, 40, 240, 700];
    let from_edge = edge_distance(weak).min(rank_edge_distance(weak));
    let from_corner = right_corner_distance(weak, bishops) as Score;
    let apart = 20 * strong.distance(weak) + 5 * knight.distance(weak);
    1_800 + 300 * (7 - from_corner) - INSIDE[from_edge] - apart as Score
}

/// The king's Manhattan distance from the nearest corner of the bishop's colour.
fn right_corner_distance(king: Square, bishops: Bitboard) -> usize {
    let dark = (bishops & Bitboard::DARK_SQUARES).any();
    let [first, second] = if dark { DARK_CORNERS } else { LIGHT_CORNERS };
    manhattan_distance(king, first).min(manhattan_distance(king, second))
}

/// Unlike the Chebyshev distance it always changes when the king moves along an edge toward one
/// corner and away from the other.
fn manhattan_distance(from: Square, to: Square) -> usize {
    let files = (from.to_usize() & 7).abs_diff(to.to_usize() & 7);
    let ranks = (from.to_usize() >> 3).abs_diff(to.to_usize() >> 3);
    files + ranks
}

fn rank_edge_distance(square: Square) -> usize {
    let rank = square.to_usize() >> 3;
    rank.min(7 - rank)
}
