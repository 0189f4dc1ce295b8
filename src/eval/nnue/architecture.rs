//! The shape of a network, its features and its quantisation.
//!
//! Networks of several shapes play: an [`Architecture`] is one out of the lists in this file. The
//! kernels are compiled once for each width; king and output buckets are numbers at run time.

use std::fmt;

use shakmaty::{Color, Piece, Square};
use thiserror::Error;

/// Features of one king bucket: pieces of either side by role and square.
pub const FEATURES: usize = 768;
/// Quantisation of the hidden layer: the whole number that stands for an activation of 1.
pub const QA: i32 = 255;
/// Quantisation of the output layer: the whole number that stands for a weight of 1.
pub const QB: i32 = 64;

/// Bounds of the quantised weights.
pub const MAX_FEATURE_WEIGHT: i16 = 900;
pub const MAX_OUTPUT_WEIGHT: i16 = 127;
pub(super) const MAX_OUTPUT_BIAS: i32 = 1 << 24;
/// A legal position has no more pieces.
const MAX_PIECES: i32 = 32;
/// So many numbers of the output layer are summed in 32 bits.
pub(super) const OUTPUT_BLOCK: usize = 256;

// No sum of bounded weights overflows. An accumulator holds the bias, one weight a piece, and
// while it is updated two more before the old ones are subtracted.
const _: () = assert!((1 + MAX_PIECES + 2) * MAX_FEATURE_WEIGHT as i32 <= i16::MAX as i32);
// SCReLU multiplies the weight by the clipped value in 16 bits first.
const _: () = assert!(QA * MAX_OUTPUT_WEIGHT as i32 <= i16::MAX as i32);
// Parameters are copied from a little-endian file as they are.
const _: () = assert!(cfg!(target_endian = "little"));

/// What every width must fulfil.
const fn is_possible_width(width: usize) -> bool {
    // One block of the output layer is summed in 32 bits.
    let block = if width < OUTPUT_BLOCK {
        width
    } else {
        OUTPUT_BLOCK
    } as i64;
    let largest_sum = QA as i64 * QA as i64 * MAX_OUTPUT_WEIGHT as i64 * block;
    // Kernels process whole vectors of up to 32 numbers, and whole blocks.
    largest_sum <= i32::MAX as i64
        && width.is_multiple_of(32)
        && (width < OUTPUT_BLOCK || width.is_multiple_of(OUTPUT_BLOCK))
}

/// Declares the widths, and [`with_width`] that leads to the code compiled for one of them.
macro_rules! widths {
    ($($width:literal),+) => {
        /// Widths of the hidden layer: numbers in one side's accumulator.
        pub const WIDTHS: &[usize] = &[$($width),+];

        $(const _: () = assert!(is_possible_width($width));)+

        /// `with_width!(width, W => code)` runs the code with `W` as a constant.
        macro_rules! with_width {
            ($value:expr, $name:ident => $code:expr) => {
                match $value {
                    $($width => {
                        const $name: usize = $width;
                        $code
                    })+
                    // `Architecture::new` refuses any other.
                    width => unreachable!("no code for width {width}"),
                }
            };
        }
    };
}

// A further width is a number in this list.
widths!(64, 128, 256, 512);
pub(super) use with_width;

/// A division of the board into king buckets.
#[derive(Debug, PartialEq, Eq)]
struct KingBuckets {
    count: usize,
    /// The bucket by rank, the king's own first, and by file from a to d, as the board is
    /// mirrored.
    map: [[u8; 4]; 8],
}

static KING_BUCKETS: [KingBuckets; 3] = [
    KingBuckets {
        count: 1,
        map: [[0; 4]; 8],
    },
    // The corner, the rest of the first rank, the second rank, everything beyond.
    KingBuckets {
        count: 4,
        map: [
            [0, 0, 1, 1],
            [2; 4],
            [3; 4],
            [3; 4],
            [3; 4],
            [3; 4],
            [3; 4],
            [3; 4],
        ],
    },
    // Kings live on the first two ranks until the endgame, so the buckets are finest there: on
    // the first rank the castled corner, the bishop's file and the centre; on the second and on
    // the next two the wing and the centre; everything beyond.
    KingBuckets {
        count: 8,
        map: [
            [0, 0, 1, 2],
            [3, 3, 4, 4],
            [5, 5, 6, 6],
            [5, 5, 6, 6],
            [7; 4],
            [7; 4],
            [7; 4],
            [7; 4],
        ],
    },
];

/// Output buckets, by the number of pieces on the board.
const OUTPUT_BUCKETS: &[usize] = &[1, 8];

/// The shape of a network, out of those that this version computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Architecture {
    width: usize,
    king_buckets: &'static KingBuckets,
    output_buckets: usize,
}

/// A shape that this version does not compute.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{field} is {found}; this version of Finch supports {supported}")]
pub struct UnsupportedArchitecture {
    pub field: &'static str,
    pub found: String,
    pub supported: String,
}

impl UnsupportedArchitecture {
    pub(super) fn check<T: PartialEq + fmt::Display>(
        field: &'static str,
        found: T,
        supported: &[T],
    ) -> Result<(), UnsupportedArchitecture> {
        if supported.contains(&found) {
            return Ok(());
        }
        let supported: Vec<String> = supported.iter().map(T::to_string).collect();
        Err(UnsupportedArchitecture {
            field,
            found: found.to_string(),
            supported: supported.join(", "),
        })
    }
}

impl Default for Architecture {
    /// That of the network which is built in, and of all networks before there was a choice.
    fn default() -> Architecture {
        Architecture {
            width: 256,
            king_buckets: &KING_BUCKETS[1],
            output_buckets: 8,
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, output_buckets) = (self.width, self.output_buckets);
        let king_buckets = self.king_buckets();
        write!(
            f,
            "width = {width}, king_buckets = {king_buckets}, output_buckets = {output_buckets}"
        )
    }
}

impl Architecture {
    pub fn new(
        width: usize,
        king_buckets: usize,
        output_buckets: usize,
    ) -> Result<Architecture, UnsupportedArchitecture> {
        let counts = KING_BUCKETS.each_ref().map(|buckets| buckets.count);
        UnsupportedArchitecture::check("width", width, WIDTHS)?;
        UnsupportedArchitecture::check("king_buckets", king_buckets, &counts)?;
        UnsupportedArchitecture::check("output_buckets", output_buckets, OUTPUT_BUCKETS)?;
        let at = counts.iter().position(|count| *count == king_buckets);
        Ok(Architecture {
            width,
            king_buckets: &KING_BUCKETS[at.unwrap_or(0)],
            output_buckets,
        })
    }

    /// Every shape there is.
    pub fn all() -> impl Iterator<Item = Architecture> {
        let outputs = |width, king_buckets| {
            let shape = move |output_buckets: &usize| Architecture {
                width,
                king_buckets,
                output_buckets: *output_buckets,
            };
            OUTPUT_BUCKETS.iter().map(shape)
        };
        let kings = move |width: &usize| {
            let width = *width;
            KING_BUCKETS
                .iter()
                .flat_map(move |buckets| outputs(width, buckets))
        };
        WIDTHS.iter().flat_map(kings)
    }

    /// Width of the hidden layer: numbers in one side's accumulator.
    #[inline(always)]
    pub fn width(self) -> usize {
        self.width
    }

    #[inline(always)]
    pub fn king_buckets(self) -> usize {
        self.king_buckets.count
    }

    #[inline(always)]
    pub fn output_buckets(self) -> usize {
        self.output_buckets
    }

    /// Features of all king buckets together.
    #[inline(always)]
    pub fn features(self) -> usize {
        FEATURES * self.king_buckets()
    }

    /// How many perspectives there are for one colour.
    pub(super) fn perspectives(self) -> usize {
        2 * self.king_buckets()
    }

    /// The output bucket of a board with so many pieces.
    #[inline(always)]
    pub fn output_bucket(self, pieces: u32) -> usize {
        (pieces.clamp(1, 32) as usize - 1) * self.output_buckets / 32
    }
}

/// How one side sees the board: from its own end, mirrored if its king stands on the files e to
/// h, with the weights of its king's bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perspective {
    color: Color,
    king_bucket: usize,
    mirrored: bool,
}

impl Perspective {
    #[inline(always)]
    pub fn new(color: Color, king: Square, architecture: Architecture) -> Perspective {
        let file = king.file() as usize;
        let rank = king.rank() as usize ^ if color.is_white() { 0 } else { 7 };
        let king_bucket = architecture.king_buckets.map[rank & 7][file.min(7 - file) & 3];
        Perspective {
            color,
            king_bucket: king_bucket.into(),
            mirrored: file >= 4,
        }
    }

    /// The number of this perspective among those of its colour.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        2 * self.king_bucket + usize::from(self.mirrored)
    }

    /// The feature that a piece on a square is.
    #[inline(always)]
    pub fn feature(self, piece: Piece, square: Square) -> usize {
        let flip = if self.color.is_white() { 0 } else { 56 } ^ if self.mirrored { 7 } else { 0 };
        let theirs = if piece.color == self.color { 0 } else { 384 };
        let feature = theirs + 64 * (piece.role as usize - 1) + (square.to_usize() ^ flip);
        FEATURES * self.king_bucket + feature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perspectives_mirror_each_other() {
        for architecture in Architecture::all() {
            let white = Perspective::new(Color::White, Square::G1, architecture);
            let black = Perspective::new(Color::Black, Square::G8, architecture);
            let knight = |color| Piece {
                color,
                role: shakmaty::Role::Knight,
            };
            assert_eq!(
                white.feature(knight(Color::White), Square::F3),
                black.feature(knight(Color::Black), Square::F6)
            );
            let other_wing = Perspective::new(Color::White, Square::B1, architecture);
            assert_ne!(white.index(), other_wing.index());
        }
    }

    #[test]
    fn every_bucket_is_used() {
        for architecture in Architecture::all() {
            let bucket = |king| Perspective::new(Color::White, king, architecture).king_bucket;
            let mut found: Vec<_> = Square::ALL.into_iter().map(bucket).collect();
            found.sort_unstable();
            found.dedup();
            assert!(found.into_iter().eq(0..architecture.king_buckets()));
            let mut found: Vec<_> = (1..=32)
                .map(|men| architecture.output_bucket(men))
                .collect();
            found.dedup();
            assert!(found.into_iter().eq(0..architecture.output_buckets()));
        }
        let today = Architecture::default();
        assert_eq!(Architecture::new(256, 4, 8), Ok(today));
        assert_eq!([4, 5, 32].map(|men| today.output_bucket(men)), [0, 1, 7]);
    }

    #[test]
    fn another_shape_is_refused_by_name() {
        let refused = |shape: [usize; 3]| {
            let [width, king_buckets, output_buckets] = shape;
            let error = Architecture::new(width, king_buckets, output_buckets);
            error.unwrap_err().to_string()
        };
        assert_eq!(
            refused([384, 4, 8]),
            "width is 384; this version of Finch supports 64, 128, 256, 512"
        );
        assert!(refused([64, 16, 8]).starts_with("king_buckets is 16; "));
        assert!(refused([64, 8, 2]).starts_with("output_buckets is 2; "));
        assert!(refused([usize::MAX, 8, 8]).contains("64, 128"));
    }
}
