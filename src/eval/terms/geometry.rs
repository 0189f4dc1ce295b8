//! Rays and distances on the empty board, computed at compile time.
//!
//! A load from a small table is cheaper than a magic bitboard lookup and uses less of the cache.

use shakmaty::{Bitboard, Square};

/// The squares on the diagonals of a square.
#[inline(always)]
pub fn diagonals(square: Square) -> Bitboard {
    static TABLE: [u64; 64] = table(Line::Diagonal);
    Bitboard(TABLE[square.to_usize()])
}

/// The squares on the file and rank of a square.
#[inline(always)]
pub fn orthogonals(square: Square) -> Bitboard {
    static TABLE: [u64; 64] = table(Line::Orthogonal);
    Bitboard(TABLE[square.to_usize()])
}

/// The Chebyshev distance: king moves from one square to another.
#[inline(always)]
pub fn distance(from: Square, to: Square) -> usize {
    static TABLE: [[u8; 64]; 64] = distances();
    TABLE[from.to_usize()][to.to_usize()].into()
}

/// The squares that must be empty for a bishop to attack both centre squares of its long
/// diagonal. For a square from which that is impossible it is the square itself, which the
/// bishop occupies.
#[inline(always)]
pub fn path_to_centre(square: Square) -> Bitboard {
    static TABLE: [u64; 64] = table(Line::ToCentre);
    Bitboard(TABLE[square.to_usize()])
}

#[derive(Clone, Copy)]
enum Line {
    Diagonal,
    Orthogonal,
    ToCentre,
}

const fn table(line: Line) -> [u64; 64] {
    let mut table = [0; 64];
    let mut from = 0;
    while from < 64 {
        let mut to = 0;
        while to < 64 {
            if lies_on(line, from, to) {
                table[from as usize] |= 1 << to;
            }
            to += 1;
        }
        from += 1;
    }
    table
}

const fn lies_on(line: Line, from: u32, to: u32) -> bool {
    let files = (from & 7).abs_diff(to & 7);
    let ranks = (from >> 3).abs_diff(to >> 3);
    match line {
        Line::Diagonal => files == ranks && from != to,
        Line::Orthogonal => (files == 0) != (ranks == 0),
        Line::ToCentre => leads_to_centre(from, to),
    }
}

const fn leads_to_centre(from: u32, to: u32) -> bool {
    let (file, rank) = (from & 7, from >> 3);
    let (to_file, to_rank) = (to & 7, to >> 3);
    let rising = file == rank && to_file == to_rank;
    let falling = file + rank == 7 && to_file + to_rank == 7;
    match file {
        0..=2 if file == rank || file + rank == 7 => {
            (rising || falling) && file < to_file && to_file < 4
        }
        5..=7 if file == rank || file + rank == 7 => {
            (rising || falling) && 3 < to_file && to_file < file
        }
        _ => from == to,
    }
}

const fn distances() -> [[u8; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut from = 0;
    while from < 64 {
        let mut to = 0;
        while to < 64 {
            let steps = Square::new(from).distance(Square::new(to));
            table[from as usize][to as usize] = steps as u8;
            to += 1;
        }
        from += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::terms::board::CENTRE;
    use shakmaty::attacks;

    #[test]
    fn rays_equal_slider_attacks_on_an_empty_board() {
        for square in Square::ALL {
            let empty = Bitboard::EMPTY;
            assert_eq!(diagonals(square), attacks::bishop_attacks(square, empty));
            assert_eq!(orthogonals(square), attacks::rook_attacks(square, empty));
        }
    }

    #[test]
    fn the_centre_is_attacked_when_the_path_is_empty() {
        for square in Square::ALL {
            let own = Bitboard::from_square(square);
            for blocker in Square::ALL {
                let blocker = Bitboard::from_square(blocker) & !own;
                let seen = attacks::bishop_attacks(square, blocker) & CENTRE;
                let free = (path_to_centre(square) & (blocker | own)).is_empty();
                assert_eq!(seen.more_than_one(), free, "{square}");
            }
        }
    }
}
