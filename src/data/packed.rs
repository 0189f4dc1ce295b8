//! Packed labels: 32 bytes each, for networks that learn from a hundred million of them.
//!
//! A file is a text header, padded to a multiple of 32 bytes and ended by a zero byte, then one
//! record after the other. Version 1 (`finch labels 1`) has no scale in its header and leaves
//! castling rights, en passant and results out of its records, which read as unknown.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};
use memmap2::Mmap;
use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, FromSetup, KnownOutcome, Piece,
    Position as _, PositionError, Role, Setup, Square,
};

use super::label::{DEFAULT_SCALE, GameId, Label, LabelHeader, points};
use super::labels::{LabelReader, SCALE_SAMPLE};
use super::scale::fit_scale;
use super::{DataError, Source, unreadable};
use crate::files::{self, rename_durably};
use crate::position::Position;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PackedLabel {
    occupied: u64,
    /// Four bits for each piece, in the order of the squares: colour, then role.
    pieces: [u8; 16],
    /// The game's number, or 32 bits of its hash.
    pub game: u32,
    /// Centipawns seen by the side to move.
    pub score: i16,
    /// Bit 0: Black moves. Bits 1 to 4: castling rights, as the squares a1, h1, a8, h8. Bits 5
    /// and 6: the result, 0 where it is unknown.
    flags: u8,
    /// The square behind a pawn that may be captured en passant; 0 is none.
    en_passant: u8,
}

const BYTES: usize = size_of::<PackedLabel>();
const BLACK: u8 = 8;
const CORNERS: [Square; 4] = [Square::A1, Square::H1, Square::A8, Square::H8];
const RESULTS: [KnownOutcome; 3] = [
    KnownOutcome::Decisive {
        winner: Color::Black,
    },
    KnownOutcome::Draw,
    KnownOutcome::Decisive {
        winner: Color::White,
    },
];

/// How files begin.
const MAGIC: &str = "finch labels 2\n";
const MAGIC_1: &str = "finch labels 1\n";
/// How files of any version begin.
const FAMILY: &str = "finch labels ";
pub(super) const MAGIC_LENGTH: usize = MAGIC.len();
/// No header is longer.
pub(super) const HEADER_LIMIT: usize = 1 << 16;

/// Whether a file that begins like this holds packed labels. Those of a version that is not known
/// are refused.
pub(super) fn is_packed(first: &[u8], path: &Path) -> Result<bool, DataError> {
    if is_known(first) {
        return Ok(true);
    }
    match first.starts_with(FAMILY.as_bytes()) {
        true => Err(DataError::Unreadable {
            file: path.to_owned(),
            reason: "packed labels of another version; this version of Finch reads 1 and 2".into(),
        }),
        false => Ok(false),
    }
}

fn is_known(first: &[u8]) -> bool {
    first.starts_with(MAGIC.as_bytes()) || first.starts_with(MAGIC_1.as_bytes())
}

impl PackedLabel {
    /// A score beyond 16 bits is clamped. Castling rights of Chess960 are left out.
    pub fn new(label: &Label) -> PackedLabel {
        let chess = label.position.chess();
        let board = label.position.board();
        let mut pieces = [0; 16];
        for (place, square) in board.occupied().into_iter().take(32).enumerate() {
            if let Some(piece) = board.piece_at(square) {
                let colour = if piece.color.is_black() { BLACK } else { 0 };
                pieces[place / 2] |= (colour | piece.role as u8) << (4 * (place % 2));
            }
        }
        let mut flags = u8::from(label.position.turn().is_black());
        if chess.castles().mode() == CastlingMode::Standard {
            let rights = chess.castles().castling_rights();
            for (bit, corner) in (1..).zip(CORNERS) {
                flags |= u8::from(rights.contains(corner)) << bit;
            }
        }
        let result = RESULTS
            .iter()
            .position(|known| label.result == Some(*known));
        flags |= result.map_or(0, |number| number as u8 + 1) << 5;
        let game = label.source.0;
        PackedLabel {
            occupied: board.occupied().0,
            pieces,
            game: (game ^ (game >> 32)) as u32,
            score: label.score.clamp(i16::MIN.into(), i16::MAX.into()) as i16,
            flags,
            en_passant: chess
                .ep_square(EnPassantMode::Legal)
                .map_or(0, |square| square as u8),
        }
    }

    pub fn turn(&self) -> Color {
        Color::from_white(self.flags & 1 == 0)
    }

    pub fn result(&self) -> Option<KnownOutcome> {
        let number = usize::from(self.flags >> 5 & 3);
        RESULTS.get(number.checked_sub(1)?).copied()
    }

    /// The game's result for the side to move: 1, ½ or 0.
    pub fn points(&self) -> Option<f64> {
        Some(points(self.result()?, self.turn()))
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

    /// The label; an error for a damaged record.
    pub fn unpack(&self) -> Result<Label, String> {
        let mut setup = Setup::empty();
        let mut board = Board::empty();
        for (square, piece) in self.pieces() {
            board.set_piece_at(square, piece);
        }
        setup.board = board;
        setup.turn = self.turn();
        let rights = (1..)
            .zip(CORNERS)
            .filter(|(bit, _)| self.flags >> bit & 1 == 1);
        setup.castling_rights = rights.map(|(_, corner)| corner).collect();
        setup.ep_square = Some(self.en_passant)
            .filter(|square| *square > 0)
            .and_then(|square| Square::try_from(square).ok());
        let chess = Chess::from_setup(setup, CastlingMode::Standard)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check)
            .map_err(|error| error.to_string())?;
        Ok(Label {
            position: Position::from_chess(chess),
            score: self.score.into(),
            result: self.result(),
            source: GameId(self.game.into()),
        })
    }
}

/// The beginning of a file.
fn header_bytes(header: &LabelHeader) -> Vec<u8> {
    let mut bytes = format!("{MAGIC}{}\n", header.lines().join("\n")).into_bytes();
    let whole = (bytes.len() + 1).next_multiple_of(BYTES);
    bytes.resize(whole - 1, b' ');
    bytes.push(b'\0');
    bytes
}

/// Reads the beginning of a file; also tells how many bytes it has. `None` if this is no file of
/// packed labels.
fn read_header(bytes: &[u8]) -> Option<(LabelHeader, usize)> {
    let bytes = &bytes[..bytes.len().min(HEADER_LIMIT)];
    let end = bytes.iter().position(|byte| *byte == 0)?;
    if !is_known(bytes) || (end + 1) % BYTES != 0 {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes[MAGIC_LENGTH..end]);
    let mut header = LabelHeader::default();
    if bytes.starts_with(MAGIC_1.as_bytes()) {
        // One line: the mentor's name, limit and options, then how the games were made.
        text.trim().clone_into(&mut header.mentor);
    } else {
        text.lines().for_each(|line| header.read_line(line));
    }
    Some((header, end + 1))
}

/// How many bytes the beginning of a file has.
pub(super) fn header_length(bytes: &[u8], path: &Path) -> Result<usize, DataError> {
    let (_, length) = read_header(bytes).ok_or_else(|| damaged(path))?;
    Ok(length)
}

/// Reads records one after the other from a stream, which may be compressed.
pub(super) struct RecordReader {
    reader: Box<dyn Read>,
    count: usize,
}

impl RecordReader {
    /// `reader` stands at the beginning of the file.
    pub fn open(
        mut reader: Box<dyn Read>,
        path: &Path,
    ) -> Result<(LabelHeader, RecordReader), DataError> {
        let mut bytes = Vec::new();
        let mut block = [0; BYTES];
        while bytes.len() < HEADER_LIMIT && !bytes.ends_with(b"\0") {
            reader
                .read_exact(&mut block)
                .map_err(|error| unreadable(path, &error))?;
            bytes.extend_from_slice(&block);
        }
        let (header, _) = read_header(&bytes).ok_or_else(|| damaged(path))?;
        Ok((header, RecordReader { reader, count: 0 }))
    }

    /// The next label with its number, counted from 1; an incomplete one ends the file.
    pub fn next_record(&mut self) -> Option<io::Result<(usize, PackedLabel)>> {
        let mut block = [0; BYTES];
        self.count += 1;
        match self.reader.read_exact(&mut block) {
            Ok(()) => Some(Ok((self.count, bytemuck::pod_read_unaligned(&block)))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => None,
            Err(error) => Some(Err(error)),
        }
    }
}

fn damaged(path: &Path) -> DataError {
    DataError::Unreadable {
        file: path.to_owned(),
        reason: "the header of the packed labels is damaged".to_owned(),
    }
}

/// All labels of a file, packed, by number. A file of packed labels is mapped into memory;
/// another format is read and packed.
pub struct PackedLabels {
    header: LabelHeader,
    records: Records,
}

enum Records {
    Mapped { map: Mmap, start: usize },
    Owned(Vec<PackedLabel>),
}

impl PackedLabels {
    pub fn open(path: &Path) -> Result<PackedLabels, DataError> {
        match PackedLabels::map(path)? {
            Some(mapped) => Ok(mapped),
            None => PackedLabels::pack(path),
        }
    }

    /// Maps the file; nothing if it has another format.
    fn map(path: &Path) -> Result<Option<PackedLabels>, DataError> {
        let failed = |error| unreadable(path, &error);
        let file = File::open(path).map_err(failed)?;
        let mut first = Vec::new();
        let mut magic = (&file).take(MAGIC_LENGTH as u64);
        magic.read_to_end(&mut first).map_err(failed)?;
        if !is_packed(&first, path)? {
            return Ok(None);
        }
        // SAFETY: a mapped file must not shrink. Finch never changes a finished file of labels:
        // it is written under another name and renamed, so what is mapped stays as it is
        // (`a_mapped_file_survives_that_it_is_written_again`).
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        let (header, start) = read_header(&map).ok_or_else(|| damaged(path))?;
        Ok(Some(PackedLabels {
            header,
            records: Records::Mapped { map, start },
        }))
    }

    fn pack(path: &Path) -> Result<PackedLabels, DataError> {
        let mut reader = LabelReader::open(&Source::file(path))?;
        let mut labels = Vec::new();
        let mut bad = None;
        for label in reader.by_ref() {
            match label {
                Ok(label) => labels.push(PackedLabel::new(&label)),
                Err(error @ DataError::BadLabel { .. }) => bad = bad.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        match bad {
            Some(bad) if labels.is_empty() => Err(bad),
            _ => Ok(PackedLabels {
                header: reader.header().clone(),
                records: Records::Owned(labels),
            }),
        }
    }

    pub fn header(&self) -> &LabelHeader {
        &self.header
    }

    /// The scale of the scores: from the header, or fitted to the results of the games, or
    /// [`DEFAULT_SCALE`].
    pub fn scale(&self) -> f64 {
        let sample = self.labels().iter().take(SCALE_SAMPLE);
        self.header.scale.unwrap_or_else(|| {
            let results: Vec<_> = sample
                .filter_map(|label| Some((label.score.into(), label.points()?)))
                .collect();
            fit_scale(&results).unwrap_or(DEFAULT_SCALE)
        })
    }

    pub fn labels(&self) -> &[PackedLabel] {
        match &self.records {
            Records::Mapped { map, start } => {
                let bytes = &map[*start..];
                let whole = bytes.len() / BYTES * BYTES;
                bytemuck::cast_slice(&bytes[..whole])
            }
            Records::Owned(labels) => labels,
        }
    }
}

/// The labels of several files by number, with all scores on one scale.
pub struct LabelSet {
    files: Vec<PackedLabels>,
    /// What one centipawn of each file is on the common scale.
    units: Vec<f64>,
    scale: f64,
}

impl LabelSet {
    /// Opens all files. Their scores are converted to the scale of the first; a given scale
    /// holds for all of them instead of what they say.
    pub fn open(paths: &[PathBuf], scale: Option<f64>) -> Result<LabelSet, DataError> {
        let files = paths.iter().map(|path| PackedLabels::open(path));
        let files = files.collect::<Result<Vec<_>, _>>()?;
        let own = files
            .iter()
            .map(|file| scale.unwrap_or_else(|| file.scale()));
        let own: Vec<f64> = own.collect();
        let common = own.first().copied().unwrap_or(DEFAULT_SCALE);
        Ok(LabelSet {
            files,
            units: own.iter().map(|own| common / own).collect(),
            scale: common,
        })
    }

    pub fn len(&self) -> usize {
        self.files.iter().map(|file| file.labels().len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Centipawns that multiply the odds of winning by e.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// A label by its number, counted over all files.
    pub fn get(&self, mut number: usize) -> Option<PackedLabel> {
        for (file, unit) in self.files.iter().zip(&self.units) {
            if let Some(label) = file.labels().get(number) {
                // The cast saturates.
                let score = (f64::from(label.score) * unit).round() as i16;
                return Some(PackedLabel { score, ..*label });
            }
            number -= file.labels().len();
        }
        None
    }

    /// A line for each file: its mentor, how its positions were made, how many there are.
    pub fn descriptions(&self) -> Vec<String> {
        let describe = |file: &PackedLabels| {
            let LabelHeader { mentor, origin, .. } = file.header();
            let separator = if origin.is_empty() { "" } else { "; " };
            format!("{mentor}{separator}{origin} ({})", file.labels().len())
        };
        self.files.iter().map(describe).collect()
    }
}

/// Writes labels of whole rounds of games to a draft beside the file they are for. After a kill
/// the draft is resumed behind its last whole round; a finished draft takes the file's name.
pub struct PackedDraft {
    out: PathBuf,
    path: PathBuf,
    file: File,
    header: LabelHeader,
    count: usize,
    next_game: u64,
    round: u64,
}

impl PackedDraft {
    /// Begins a draft of the labels of `games`, or resumes the one that is there. A draft with
    /// another header or of other games, or one that another process writes, is refused as
    /// [`ErrorKind::AlreadyExists`].
    pub fn open(
        out: &Path,
        header: &LabelHeader,
        games: &Range<u64>,
        round: u64,
    ) -> io::Result<PackedDraft> {
        let path = files::draft_path(out);
        let refused = |why: &str| {
            let text = format!("{} {why}", path.display());
            io::Error::new(ErrorKind::AlreadyExists, text)
        };
        let mut file = files::open_draft(&path).map_err(|error| match error.kind() {
            ErrorKind::ResourceBusy => refused("is being written by another process"),
            _ => error,
        })?;
        let head = header_bytes(header);
        let (count, next_game) = if file.metadata()?.len() < head.len() as u64 {
            file.set_len(0)?;
            files::append(&file, &path, &head)?;
            (0, games.start)
        } else {
            let found = PackedLabels::open(&path).ok();
            let found = found.filter(|found| {
                let mut labels = found.labels().iter();
                found.header() == header
                    && labels.all(|label| games.contains(&u64::from(label.game)))
            });
            let found = found.ok_or_else(|| refused("holds other labels: finish or delete it"))?;
            whole_rounds(found.labels(), games.start, round)
        };
        // Only the owner of the lock reads a draft, so shortening it harms nobody.
        file.set_len((head.len() + count * BYTES) as u64)?;
        file.seek(SeekFrom::End(0))?;
        Ok(PackedDraft {
            out: out.to_owned(),
            path,
            file,
            header: header.clone(),
            count,
            next_game,
            round,
        })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// The first game of the next round.
    pub fn next_game(&self) -> u64 {
        self.next_game
    }

    /// Adds the labels of a round.
    pub fn add(&mut self, labels: &[PackedLabel]) -> io::Result<()> {
        files::append(&self.file, &self.path, bytemuck::cast_slice(labels))?;
        self.count += labels.len();
        self.next_game += self.round;
        Ok(())
    }

    /// Keeps no more than `limit` labels and gives the draft the name of the file.
    pub fn finish(self, limit: usize) -> io::Result<()> {
        let head = header_bytes(&self.header).len();
        self.file
            .set_len((head + self.count.min(limit) * BYTES) as u64)?;
        self.file.sync_all()?;
        rename_durably(&self.path, &self.out)
    }

    /// The labels so far.
    pub fn labels(&self) -> Result<PackedLabels, DataError> {
        PackedLabels::open(&self.path)
    }

    /// Deletes the draft: its labels are elsewhere by now.
    pub fn discard(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// How many labels belong to whole rounds, and which game comes next. The last round may be
/// incomplete: it is played again.
fn whole_rounds(labels: &[PackedLabel], first: u64, round: u64) -> (usize, u64) {
    let rounds = labels
        .last()
        .map_or(0, |label| (u64::from(label.game) - first) / round);
    let next = first + rounds * round;
    let count = labels.partition_point(|label| u64::from(label.game) < next);
    (count, next)
}

/// Writes packed labels to any stream.
pub(super) fn write_header(writer: &mut impl Write, header: &LabelHeader) -> io::Result<()> {
    writer.write_all(&header_bytes(header))
}

pub(super) fn write_label(writer: &mut impl Write, label: &Label) -> io::Result<()> {
    writer.write_all(bytemuck::bytes_of(&PackedLabel::new(label)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(mentor: &str) -> LabelHeader {
        LabelHeader {
            mentor: mentor.to_owned(),
            scale: Some(120.0),
            origin: String::new(),
        }
    }

    fn label(fen: &str, score: i32, game: u64) -> Label {
        Label {
            position: Position::from_fen(fen).unwrap(),
            score,
            result: Some(KnownOutcome::Decisive {
                winner: Color::White,
            }),
            source: GameId(game),
        }
    }

    const GAMES: Range<u64> = 0..1_000;
    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn a_label_is_unpacked_as_it_was_packed() {
        for fen in [
            START,
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 1",
        ] {
            let label = label(fen, -123, 7);
            let again = PackedLabel::new(&label).unpack().unwrap();
            assert_eq!(again.position.fen(), fen);
            assert_eq!(again.position.key(), label.position.key());
            assert_eq!((again.score, again.source), (-123, GameId(7)));
            assert_eq!(again.result, label.result);
        }
        assert!(PackedLabel::zeroed().unpack().is_err());
    }

    #[test]
    fn a_file_is_a_header_and_records() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.bin");
        let record = PackedLabel::new(&label(START, 31, 1));
        for mentor in [
            "",
            "a mentor",
            "a mentor with a very long name indeed it is",
        ] {
            let mut bytes = header_bytes(&header(mentor));
            bytes.extend_from_slice(bytemuck::bytes_of(&record));
            bytes.extend_from_slice(b"incomplete");
            fs::write(&path, &bytes).unwrap();
            let file = PackedLabels::open(&path).unwrap();
            assert_eq!(
                (file.header(), file.labels()),
                (&header(mentor), &[record][..])
            );
        }
        fs::write(&path, "something else").unwrap();
        assert!(PackedLabels::open(&path).is_err());
        fs::write(&path, MAGIC).unwrap();
        assert!(PackedLabels::open(&path).is_err());
    }

    #[test]
    fn version_1_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.bin");
        let mut record = PackedLabel::new(&label(START, 31, 1));
        record.flags &= 1;
        let mut bytes = b"finch labels 1\na mentor; own games\n".to_vec();
        bytes.resize(63, b' ');
        bytes.push(0);
        bytes.extend_from_slice(bytemuck::bytes_of(&record));
        fs::write(&path, &bytes).unwrap();
        let file = PackedLabels::open(&path).unwrap();
        assert_eq!(file.header().mentor, "a mentor; own games");
        assert_eq!((file.header().scale, file.labels()), (None, &[record][..]));
        let label = record.unpack().unwrap();
        assert_eq!((label.score, label.result), (31, None));
    }

    #[test]
    fn a_mapped_file_survives_that_it_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("labels.bin");
        let write = |games: u64, limit: usize| {
            let mut draft = PackedDraft::open(&out, &header("a"), &GAMES, 1).unwrap();
            while draft.next_game() < games {
                let record = PackedLabel::new(&label(START, 31, draft.next_game()));
                draft.add(&[record; 500]).unwrap();
            }
            draft.finish(limit).unwrap();
        };
        write(20, usize::MAX);
        let mapped = PackedLabels::open(&out).unwrap();
        write(1, 3);
        assert_eq!(
            mapped.labels().iter().map(|label| label.game).max(),
            Some(19)
        );
        assert_eq!(PackedLabels::open(&out).unwrap().labels().len(), 3);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_draft_is_resumed_behind_its_last_whole_round() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("labels.bin");
        let games = |range: std::ops::Range<u64>| -> Vec<PackedLabel> {
            range
                .map(|game| PackedLabel::new(&label(START, 1, game)))
                .collect()
        };
        let mut draft = PackedDraft::open(&out, &header("a"), &GAMES, 10).unwrap();
        draft.add(&games(0..10)).unwrap();
        draft.add(&games(10..14)).unwrap();
        assert!(
            PackedDraft::open(&out, &header("a"), &GAMES, 10).is_err(),
            "it is locked"
        );
        drop(draft);
        assert!(PackedDraft::open(&out, &header("b"), &GAMES, 10).is_err());
        let draft = PackedDraft::open(&out, &header("a"), &GAMES, 10).unwrap();
        assert_eq!((draft.count(), draft.next_game()), (10, 10));
    }
}
