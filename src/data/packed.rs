//! Labels by the ten million: a position and its score in 32 bytes.
//!
//! A file is a text header, padded to a multiple of 32 bytes and telling where the labels come
//! from, then one record after the other. What a network does not see, castling rights and en
//! passant, is left out. Records of one game share its number, so that a split can keep them
//! together.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use bytemuck::{Pod, Zeroable};
use memmap2::Mmap;
use shakmaty::{Bitboard, Color, Piece, Role, Square};

use super::{DataError, unreadable};
use crate::position::Position;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PackedLabel {
    occupied: u64,
    /// Four bits for each piece, in the order of the squares: colour, then role.
    pieces: [u8; 16],
    pub game: u32,
    /// Centipawns seen by the side to move.
    pub score: i16,
    black_moves: u8,
    unused: u8,
}

const BYTES: usize = size_of::<PackedLabel>();
const BLACK: u8 = 8;
/// How a file begins.
const MAGIC: &str = "finch labels 1\n";

impl PackedLabel {
    /// A score beyond 16 bits is brought within.
    pub fn new(position: &Position, score: i32, game: u32) -> PackedLabel {
        let board = position.board();
        let mut pieces = [0; 16];
        for (place, square) in board.occupied().into_iter().enumerate() {
            if let Some(piece) = board.piece_at(square) {
                let colour = if piece.color.is_black() { BLACK } else { 0 };
                pieces[place / 2] |= (colour | piece.role as u8) << (4 * (place % 2));
            }
        }
        PackedLabel {
            occupied: board.occupied().0,
            pieces,
            game,
            score: score.clamp(i16::MIN.into(), i16::MAX.into()) as i16,
            black_moves: position.turn().is_black().into(),
            unused: 0,
        }
    }

    pub fn turn(&self) -> Color {
        Color::from_white(self.black_moves == 0)
    }

    /// Every piece with its square. A damaged record may have fewer.
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> + '_ {
        let squares = Bitboard(self.occupied).into_iter().take(32);
        squares.enumerate().filter_map(|(place, square)| {
            let code = self.pieces[place / 2] >> (4 * (place % 2)) & 15;
            let role = Role::try_from(code & 7).ok()?;
            let color = Color::from_white(code & BLACK == 0);
            Some((square, Piece { color, role }))
        })
    }
}

/// The beginning of a file: what it is and where its labels come from.
fn header(origin: &str) -> Vec<u8> {
    let mut header = format!("{MAGIC}{origin}\n").into_bytes();
    let whole = (header.len() + 1).next_multiple_of(BYTES);
    header.resize(whole - 1, b' ');
    header.push(b'\0');
    header
}

/// A file of labels, as large as it may be.
pub struct PackedFile {
    map: Mmap,
    start: usize,
}

impl PackedFile {
    pub fn open(path: &Path) -> Result<PackedFile, DataError> {
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        // SAFETY: as with every mapped file, nobody may shorten it meanwhile; Finch itself only
        // ever replaces or extends files.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| unreadable(path, &error))?;
        let ours = map.starts_with(MAGIC.as_bytes());
        let end = map.iter().position(|byte| *byte == 0);
        match end.filter(|end| ours && (end + 1) % BYTES == 0) {
            Some(end) => Ok(PackedFile {
                map,
                start: end + 1,
            }),
            None => Err(DataError::Unreadable {
                file: path.to_owned(),
                reason: "no file of packed labels".to_owned(),
            }),
        }
    }

    /// Where the labels come from.
    pub fn origin(&self) -> String {
        let text = String::from_utf8_lossy(&self.map[MAGIC.len()..self.start - 1]);
        text.trim().to_owned()
    }

    pub fn labels(&self) -> &[PackedLabel] {
        let bytes = &self.map[self.start..];
        let whole = bytes.len() / BYTES * BYTES;
        bytemuck::cast_slice(&bytes[..whole])
    }
}

/// Writes labels of whole rounds of games, and goes on after a kill where the last whole round
/// ended.
pub struct PackedWriter {
    file: File,
    count: usize,
    next_game: u64,
    round: u64,
}

impl PackedWriter {
    /// Begins a file, or goes on with the one that is there; one of another origin is refused as
    /// [`io::ErrorKind::AlreadyExists`].
    pub fn open(path: &Path, origin: &str, round: u64) -> io::Result<PackedWriter> {
        let header = header(origin);
        if !path.exists() {
            let mut file = File::create(path)?;
            file.write_all(&header)?;
            return Ok(PackedWriter {
                file,
                count: 0,
                next_game: 0,
                round,
            });
        }
        let found = PackedFile::open(path).ok();
        let Some(found) = found.filter(|found| found.origin() == origin) else {
            let told = format!("{} holds other work", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, told));
        };
        // The last round may have been broken off: it is played again.
        let labels = found.labels();
        let last = labels
            .last()
            .map_or(0, |label| u64::from(label.game) / round);
        let count = labels.partition_point(|label| u64::from(label.game) < last * round);
        drop(found);
        let file = OpenOptions::new().append(true).open(path)?;
        file.set_len((header.len() + count * BYTES) as u64)?;
        Ok(PackedWriter {
            file,
            count,
            next_game: last * round,
            round,
        })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// The first game of the round that is to come.
    pub fn next_game(&self) -> u64 {
        self.next_game
    }

    /// Adds the labels of a round.
    pub fn add(&mut self, labels: &[PackedLabel]) -> io::Result<()> {
        self.file.write_all(bytemuck::cast_slice(labels))?;
        self.count += labels.len();
        self.next_game += self.round;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_found_again() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1";
        let position = Position::from_fen(fen).unwrap();
        let label = PackedLabel::new(&position, -123, 7);
        let mut pieces: Vec<_> = label.pieces().collect();
        let mut expected: Vec<_> = position.board().iter().collect();
        pieces.sort_by_key(|(square, _)| *square);
        expected.sort_by_key(|(square, _)| *square);
        assert_eq!(pieces, expected);
        assert_eq!((label.turn(), label.score), (Color::Black, -123));
    }

    #[test]
    fn a_file_is_a_header_and_records() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.bin");
        let label = PackedLabel::new(&Position::default(), 31, 1);
        for origin in [
            "",
            "a mentor",
            "a mentor with a very long name indeed, he has",
        ] {
            let mut bytes = header(origin);
            bytes.extend_from_slice(bytemuck::bytes_of(&label));
            bytes.extend_from_slice(b"broken off");
            std::fs::write(&path, &bytes).unwrap();
            let file = PackedFile::open(&path).unwrap();
            assert_eq!(
                (file.origin().as_str(), file.labels()),
                (origin, &[label][..])
            );
        }
        std::fs::write(&path, "something else").unwrap();
        assert!(PackedFile::open(&path).is_err());
    }
}
