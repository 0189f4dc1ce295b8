//! The list: every term of the evaluation, declared once.
//!
//! A line gives a term its name in weights files, its length when it is a table, the bounds its
//! value must keep, the family that reports it and, in the doc comment, its meaning as `finch
//! weights list` and `finch eval` print it. From the list follow the flat order of all weights
//! (the gene vector), the accessors in [`term`] and the table [`TERMS`].
//!
//! Tables of squares hold 64 values written as a diagram seen from the piece's own side: the
//! first row is the eighth rank, and the own king is thought to stand on the right half (the
//! board is mirrored when it does not). The king's own table therefore needs only the files e
//! to h. Tables by rank hold eight values, the first rank first.

use std::mem::offset_of;

/// Place of one weight in the flat vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub(crate) u16);

impl Term {
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The term with this place, if the list is that long.
    pub fn from_index(index: usize) -> Option<Term> {
        (index < WEIGHT_COUNT).then_some(Term(index as u16))
    }

    /// The line of the list this weight belongs to.
    pub fn info(self) -> &'static TermInfo {
        let line = TERMS.partition_point(|info| info.offset + info.length <= self.index());
        &TERMS[line]
    }

    /// `name`, or `name[3]` for an entry of a table.
    pub fn label(self) -> String {
        let info = self.info();
        match info.length {
            1 => info.name.to_owned(),
            _ => format!("{}[{}]", info.name, self.index() - info.offset),
        }
    }
}

/// What the list says about one term.
#[derive(Debug)]
pub struct TermInfo {
    pub name: &'static str,
    pub family: Family,
    /// The doc comment, one line.
    pub meaning: &'static str,
    /// Bounds of each value, in centipawns, both ends included.
    pub low: i32,
    pub high: i32,
    /// Place of the first value in the flat vector.
    pub offset: usize,
    /// How many values: 1, or the length of a table.
    pub length: usize,
}

impl TermInfo {
    pub fn named(name: &str) -> Option<&'static TermInfo> {
        TERMS.iter().find(|info| info.name == name)
    }

    pub fn terms(&self) -> impl Iterator<Item = Term> + use<> {
        (self.offset..self.offset + self.length).map(|index| Term(index as u16))
    }
}

macro_rules! terms {
    (@length) => { 1 };
    (@length $length:literal) => { $length };
    (@accessor $name:ident) => {
        #[inline(always)]
        pub const fn $name() -> Term {
            Term(offset_of!(super::Layout, $name) as u16)
        }
    };
    (@accessor $name:ident $length:literal) => {
        #[inline(always)]
        pub const fn $name(index: usize) -> Term {
            debug_assert!(index < $length);
            Term((offset_of!(super::Layout, $name) + index) as u16)
        }
    };
    ($(
        $(#[doc = $family_doc:literal])+
        $family:ident $key:literal {
            $(
                $(#[doc = $doc:literal])+
                $name:ident $([$length:literal])? in $low:literal..=$high:literal;
            )+
        }
    )+) => {
        /// Terms that are reported by one file and skipped together when all weigh nothing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Family {
            $( $(#[doc = $family_doc])+ $family, )+
        }

        impl Family {
            pub const ALL: &[Family] = &[$(Family::$family),+];

            /// The family's table in a weights file.
            pub const fn key(self) -> &'static str {
                match self { $(Family::$family => $key),+ }
            }

            /// What the family is about, one line.
            pub const fn meaning(self) -> &'static str {
                match self { $(Family::$family => concat!($($family_doc),+)),+ }
            }
        }

        /// The order of all weights: one byte here stands for one weight, so that a field's
        /// offset is the term's place in the flat vector.
        #[repr(C)]
        struct Layout {
            $($( $name: [u8; terms!(@length $($length)?)], )+)+
        }

        /// How many weights there are.
        pub const WEIGHT_COUNT: usize = size_of::<Layout>();

        pub static TERMS: &[TermInfo] = &[
            $($( TermInfo {
                name: stringify!($name),
                family: Family::$family,
                meaning: concat!($($doc),+),
                low: $low,
                high: $high,
                offset: offset_of!(Layout, $name),
                length: terms!(@length $($length)?),
            }, )+)+
        ];

        /// One accessor per term: `term::tempo()`, `term::knight_mobility(4)`.
        pub mod term {
            use super::{Term, offset_of};
            $($( $(#[doc = $doc])+ terms!(@accessor $name $($length)?); )+)+
        }
    };
}

terms! {
    /// What is on the board.
    Material "material" {
        /// A pawn.
        pawn in 0..=400;
        /// A knight.
        knight in 0..=1200;
        /// A bishop.
        bishop in 0..=1200;
        /// A rook.
        rook in 0..=1600;
        /// A queen.
        queen in 0..=2400;
        /// Two bishops cover both colours of squares.
        bishop_pair in -100..=200;
        /// The right to move.
        tempo in -50..=100;
    }

    /// Where the pieces stand.
    Squares "squares" {
        /// A pawn, by square.
        pawn_square[64] in -300..=400;
        /// A knight, by square.
        knight_square[64] in -300..=300;
        /// A bishop, by square.
        bishop_square[64] in -300..=300;
        /// A rook, by square.
        rook_square[64] in -300..=300;
        /// A queen, by square.
        queen_square[64] in -300..=300;
        /// The king, by square of the files e to h.
        king_square[32] in -400..=400;
    }

    /// What is known of endings: how a won one is won and a drawn one held.
    Endgame "endgame" {
        /// An ending known to be won.
        known_win in 0..=2000;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_belongs_to_exactly_one_line() {
        let mut next = 0;
        for info in TERMS {
            assert_eq!(info.offset, next, "{}", info.name);
            assert!(info.low <= info.high, "{}", info.name);
            next += info.length;
        }
        assert_eq!(next, WEIGHT_COUNT);
    }

    #[test]
    fn names_are_unique() {
        for (line, info) in TERMS.iter().enumerate() {
            assert!(
                TERMS[..line].iter().all(|other| other.name != info.name),
                "{}",
                info.name
            );
        }
    }

    #[test]
    fn a_term_finds_its_line() {
        assert_eq!(term::tempo().info().name, "tempo");
        assert_eq!(term::king_square(31).info().name, "king_square");
        assert_eq!(term::knight_square(3).label(), "knight_square[3]");
    }
}
