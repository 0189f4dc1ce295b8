//! What the empty board tells of squares, computed at compile time.
//!
//! A load from a small table is cheaper than a magic lookup with nothing in the way, and spares
//! the cache.

use shakmaty::{Bitboard, Square};

/// The squares on the diagonals of a square.
#[inline(always)]
pub fn diagonals(square: Square) -> Bitboard {
    static TABLE: [u64; 64] = table(Line::Diagonal);
    Bitboard(TABLE[square.to_usize()])
}

/// The squares on the file and rank of a square.
#[inline(always)]
pub fn straights(square: Square) -> Bitboard {
    static TABLE: [u64; 64] = table(Line::Straight);
    Bitboard(TABLE[square.to_usize()])
}

/// A king's steps from one square to another.
#[inline(always)]
pub fn distance(from: Square, to: Square) -> usize {
    static TABLE: [[u8; 64]; 64] = distances();
    TABLE[from.to_usize()][to.to_usize()].into()
}

/// What must be free for a piece on a long diagonal to see both centre squares of it. A square
/// from which it never does is in its own way.
#[inline(always)]
pub fn way_to_centre(square: Square) -> Bitboard {
    static TABLE: [u64; 64] = table(Line::ToCentre);
    Bitboard(TABLE[square.to_usize()])
}

#[derive(Clone, Copy)]
enum Line {
    Diagonal,
    Straight,
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
        Line::Straight => (files == 0) != (ranks == 0),
        Line::ToCentre => leads_to_centre(from, to),
    }
}

const fn leads_to_centre(from: u32, to: u32) -> bool {
    let (file, rank) = (from & 7, from >> 3);
    let (way_file, way_rank) = (to & 7, to >> 3);
    let rising = file == rank && way_file == way_rank;
    let falling = file + rank == 7 && way_file + way_rank == 7;
    match file {
        0..=2 if file == rank || file + rank == 7 => {
            (rising || falling) && file < way_file && way_file < 4
        }
        5..=7 if file == rank || file + rank == 7 => {
            (rising || falling) && 3 < way_file && way_file < file
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
    fn lines_are_those_of_an_empty_board() {
        for square in Square::ALL {
            let empty = Bitboard::EMPTY;
            assert_eq!(diagonals(square), attacks::bishop_attacks(square, empty));
            assert_eq!(straights(square), attacks::rook_attacks(square, empty));
        }
    }

    #[test]
    fn the_centre_is_seen_when_the_way_is_free() {
        for square in Square::ALL {
            let own = Bitboard::from_square(square);
            for blocker in Square::ALL {
                let blocker = Bitboard::from_square(blocker) & !own;
                let seen = attacks::bishop_attacks(square, blocker) & CENTRE;
                let free = (way_to_centre(square) & (blocker | own)).is_empty();
                assert_eq!(seen.more_than_one(), free, "{square}");
            }
        }
    }
}
