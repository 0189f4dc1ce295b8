//! Bitboards by colour, and colour-relative directions.
//!
//! Evaluation code is generic over a [`StaticColor`]. The colour is a type, so ranks, directions and
//! array indices are compile-time constants and cost no branch.

use shakmaty::{Bitboard, Board, Color, Role, Square};

use crate::position::Position;

/// A colour known at compile time.
pub trait StaticColor {
    type Them: StaticColor;
    const COLOR: Color;
    /// Index of this side in arrays by colour.
    const US: usize;
    /// Index of the other side.
    const THEM: usize;

    /// The square relative to this side: flipped vertically for Black.
    #[inline(always)]
    fn relative(square: Square) -> usize {
        let flip = if Self::COLOR.is_white() { 0 } else { 56 };
        square.to_usize() ^ flip
    }

    /// The relative rank of a square, 0 to 7.
    #[inline(always)]
    fn rank(square: Square) -> usize {
        Self::relative(square) >> 3
    }

    /// The squares of a relative rank, 0 to 7.
    #[inline(always)]
    fn rank_squares(rank: u32) -> Bitboard {
        let row = if Self::COLOR.is_white() {
            rank
        } else {
            7 - rank
        };
        Bitboard(0xff << (8 * row))
    }

    /// All squares shifted one step forward.
    #[inline(always)]
    fn forward(squares: Bitboard) -> Bitboard {
        if Self::COLOR.is_white() {
            Bitboard(squares.0 << 8)
        } else {
            Bitboard(squares.0 >> 8)
        }
    }

    /// All squares shifted one step backward.
    #[inline(always)]
    fn backward(squares: Bitboard) -> Bitboard {
        Self::Them::forward(squares)
    }

    /// The squares and all squares in front of them on their files.
    #[inline(always)]
    fn forward_fill(squares: Bitboard) -> Bitboard {
        let mut fill = squares.0;
        if Self::COLOR.is_white() {
            fill |= fill << 8;
            fill |= fill << 16;
            fill |= fill << 32;
        } else {
            fill |= fill >> 8;
            fill |= fill >> 16;
            fill |= fill >> 32;
        }
        Bitboard(fill)
    }

    /// All squares strictly in front of the given ones, on their files.
    #[inline(always)]
    fn front_span(squares: Bitboard) -> Bitboard {
        Self::forward_fill(Self::forward(squares))
    }

    /// All squares strictly behind the given ones, on their files.
    #[inline(always)]
    fn rear_span(squares: Bitboard) -> Bitboard {
        Self::Them::front_span(squares)
    }

    /// The squares of the given relative rank and of all ranks in front of it.
    #[inline(always)]
    fn ranks_from(rank: usize) -> Bitboard {
        if Self::COLOR.is_white() {
            Bitboard(!0 << (8 * rank))
        } else {
            Bitboard(!0 >> (8 * rank))
        }
    }

    /// The square of a set nearest to this side's own first rank.
    #[inline(always)]
    fn rearmost(squares: Bitboard) -> Option<Square> {
        if Self::COLOR.is_white() {
            squares.first()
        } else {
            squares.last()
        }
    }

    /// Squares that the pawns attack, toward the a-file and toward the h-file.
    #[inline(always)]
    fn pawn_attack_halves(pawns: Bitboard) -> (Bitboard, Bitboard) {
        let ahead = Self::forward(pawns);
        (west(ahead), east(ahead))
    }

    #[inline(always)]
    fn pawn_attacks(pawns: Bitboard) -> Bitboard {
        let (left, right) = Self::pawn_attack_halves(pawns);
        left | right
    }
}

pub struct WhiteSide;
pub struct BlackSide;

impl StaticColor for WhiteSide {
    type Them = BlackSide;
    const COLOR: Color = Color::White;
    const US: usize = 0;
    const THEM: usize = 1;
}

impl StaticColor for BlackSide {
    type Them = WhiteSide;
    const COLOR: Color = Color::Black;
    const US: usize = 1;
    const THEM: usize = 0;
}

pub const FILE_A: Bitboard = Bitboard(0x0101_0101_0101_0101);
pub const FILE_H: Bitboard = Bitboard(0x8080_8080_8080_8080);
/// Files c to f.
pub const CENTRE_FILES: Bitboard = Bitboard(0x3c3c_3c3c_3c3c_3c3c);
/// d4, e4, d5, e5.
pub const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);
/// Files a to d.
pub const QUEEN_SIDE: Bitboard = Bitboard(0x0f0f_0f0f_0f0f_0f0f);
/// Files e to h.
pub const KING_SIDE: Bitboard = Bitboard(0xf0f0_f0f0_f0f0_f0f0);

#[inline(always)]
pub fn west(squares: Bitboard) -> Bitboard {
    Bitboard((squares & !FILE_A).0 >> 1)
}

#[inline(always)]
pub fn east(squares: Bitboard) -> Bitboard {
    Bitboard((squares & !FILE_H).0 << 1)
}

/// The squares next to the given ones on the same rank.
#[inline(always)]
pub fn beside(squares: Bitboard) -> Bitboard {
    west(squares) | east(squares)
}

/// All squares of the files that the set touches.
#[inline(always)]
pub fn file_fill(squares: Bitboard) -> Bitboard {
    let mut fill = squares.0;
    fill |= fill >> 32;
    fill |= fill >> 16;
    fill |= fill >> 8;
    Bitboard((fill & 0xff) * FILE_A.0)
}

/// Distance of a file from the nearer edge: 0 for a and h, 3 for d and e.
#[inline(always)]
pub fn edge_distance(square: Square) -> usize {
    let file = square.to_usize() & 7;
    file.min(7 - file)
}

/// Population count, in the type of feature counts.
#[inline(always)]
pub fn count(squares: Bitboard) -> i32 {
    squares.0.count_ones() as i32
}

/// Piece bitboards in arrays by colour.
#[derive(Clone, Copy)]
pub struct Pieces {
    /// By colour, then by role.
    by_role: [[Bitboard; 6]; 2],
    /// All pieces of a colour.
    pub all: [Bitboard; 2],
    pub occupied: Bitboard,
    pub king: [Square; 2],
}

impl Pieces {
    #[inline]
    pub fn of(position: &Position) -> Pieces {
        let board = position.board();
        let all = [board.by_color(Color::White), board.by_color(Color::Black)];
        Pieces {
            by_role: all.map(|own| roles(board).map(|pieces| pieces & own)),
            all,
            occupied: board.occupied(),
            king: [position.king(Color::White), position.king(Color::Black)],
        }
    }

    #[inline(always)]
    pub fn of_role(&self, color: usize, role: Role) -> Bitboard {
        self.by_role[color][role as usize - 1]
    }

    #[inline(always)]
    pub fn pawns(&self, color: usize) -> Bitboard {
        self.of_role(color, Role::Pawn)
    }

    #[inline(always)]
    pub fn knights(&self, color: usize) -> Bitboard {
        self.of_role(color, Role::Knight)
    }

    #[inline(always)]
    pub fn bishops(&self, color: usize) -> Bitboard {
        self.of_role(color, Role::Bishop)
    }

    #[inline(always)]
    pub fn rooks(&self, color: usize) -> Bitboard {
        self.of_role(color, Role::Rook)
    }

    #[inline(always)]
    pub fn queens(&self, color: usize) -> Bitboard {
        self.of_role(color, Role::Queen)
    }

    /// Knights, bishops, rooks and queens.
    #[inline(always)]
    pub fn minors_and_majors(&self, color: usize) -> Bitboard {
        self.all[color] & !self.pawns(color) & !Bitboard::from_square(self.king[color])
    }
}

#[inline(always)]
fn roles(board: &Board) -> [Bitboard; 6] {
    [
        board.pawns(),
        board.knights(),
        board.bishops(),
        board.rooks(),
        board.queens(),
        board.kings(),
    ]
}
