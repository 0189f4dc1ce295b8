//! Files of labels of the same kind put together, one after the other: what `--part` makes on
//! several machines becomes the file that one would have made, byte for byte.

use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::packed::{self, HEADER_LIMIT, PackedLabel};
use super::{DataError, LabelFormat, LabelReader, Source, unreadable};
use crate::files::AtomicFile;

#[derive(Debug, Error)]
pub enum JoinError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("{}: {error}", .file.display())]
    Write { file: PathBuf, error: io::Error },
    #[error("{}: not made like the labels of {}: their headers differ", .file.display(), .first.display())]
    OtherHeader { file: PathBuf, first: PathBuf },
    #[error("{}: its last label is incomplete; run its part again to finish it", .0.display())]
    Incomplete(PathBuf),
    #[error("{}: joined labels keep their format, and this name stands for another", .0.display())]
    OtherFormat(PathBuf),
}

/// Writes the labels of all files to `out`, under the header that they share.
pub fn join(files: &[PathBuf], out: &Path) -> Result<(), JoinError> {
    let failed = |error| JoinError::Write {
        file: out.to_owned(),
        error,
    };
    let mut joined = BufWriter::new(AtomicFile::create(out).map_err(failed)?);
    let mut first: Option<(Vec<u8>, &PathBuf)> = None;
    for file in files {
        let (header, body) = open(file)?;
        if first.is_none() {
            joined.write_all(&header).map_err(failed)?;
        }
        let (known, first) = first.get_or_insert_with(|| (header.clone(), file));
        if *known != header {
            return Err(JoinError::OtherHeader {
                file: file.clone(),
                first: first.clone(),
            });
        }
        let is_packed = packed::is_packed(&header, file)?;
        let named = LabelFormat::of_ending(out);
        if named.is_some_and(|named| is_packed != (named == LabelFormat::Packed)) {
            return Err(JoinError::OtherFormat(out.to_owned()));
        }
        // A file of something else has no first label.
        LabelReader::open(&Source::file(file))?.next().transpose()?;
        copy(body, &mut joined, is_packed, file, out)?;
    }
    let file = joined
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    file.commit().map_err(failed)
}

/// The bytes of a file's header, and the rest.
fn open(file: &Path) -> Result<(Vec<u8>, impl Read + use<>), JoinError> {
    let mut reader = Source::file(file).open()?;
    let mut start = Vec::new();
    let mut beginning = reader.by_ref().take(HEADER_LIMIT as u64);
    let read = beginning.read_to_end(&mut start);
    read.map_err(|error| unreadable(file, &error))?;
    let length = match packed::is_packed(&start, file)? {
        true => packed::header_length(&start, file)?,
        false => comments_length(&start),
    };
    let body = start.split_off(length);
    Ok((start, io::Cursor::new(body).chain(reader)))
}

/// How long the lines are that begin with `#`.
fn comments_length(text: &[u8]) -> usize {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let comments = lines.take_while(|line| line.starts_with(b"#"));
    comments.map(<[u8]>::len).sum()
}

fn copy(
    mut body: impl Read,
    joined: &mut impl Write,
    is_packed: bool,
    file: &Path,
    out: &Path,
) -> Result<(), JoinError> {
    let mut buffer = vec![0; 1 << 16];
    let (mut last, mut length) = (b'\n', 0);
    loop {
        let read = body.read(&mut buffer);
        let read = read.map_err(|error| unreadable(file, &error))?;
        if read == 0 {
            break;
        }
        last = buffer[read - 1];
        length += read;
        let written = joined.write_all(&buffer[..read]);
        written.map_err(|error| JoinError::Write {
            file: out.to_owned(),
            error,
        })?;
    }
    let is_whole = match is_packed {
        true => length.is_multiple_of(size_of::<PackedLabel>()),
        false => last == b'\n',
    };
    match is_whole {
        true => Ok(()),
        false => Err(JoinError::Incomplete(file.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::data::{GameId, Label, LabelHeader, LabelWriter};
    use crate::position::Position;

    #[test]
    fn texts_are_joined_under_one_header_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| {
            fs::write(path(name), text).unwrap();
            path(name)
        };
        let label = |score: i32| format!("4k3/8/8/8/8/8/4P3/4K3 w - - ce {score};");
        let (x, y, z) = (label(10), label(20), label(30));
        let one = write("1", &format!("# mentor: a\n{x}\n{y}\n"));
        let two = write("2", &format!("# mentor: a\n{z}\n"));
        let out = path("out");
        join(&[one.clone(), two], &out).unwrap();
        let joined = fs::read_to_string(&out).unwrap();
        assert_eq!(joined, format!("# mentor: a\n{x}\n{y}\n{z}\n"));

        let other = write("3", &format!("# mentor: b\n{z}\n"));
        let cut = write("4", &format!("# mentor: a\n{z}"));
        let prose = write("5", "# mentor: a\nthe cat sat on the mat\n");
        for (second, mention) in [
            (other, "headers differ"),
            (cut, "incomplete"),
            (prose, "5:"),
        ] {
            let error = join(&[one.clone(), second], &path("no")).unwrap_err();
            assert!(error.to_string().contains(mention), "{error}");
            assert!(!path("no").exists());
        }
        assert!(join(&[path("gone")], &path("no")).is_err());
        let error = join(&[one], &path("out.bin")).unwrap_err();
        assert!(error.to_string().contains("keep their format"), "{error}");
    }

    #[test]
    fn a_packed_part_with_an_incomplete_record_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let label = Label::new(Position::default(), 20, GameId(1));
        for name in ["whole.bin", "cut.bin"] {
            let header = LabelHeader::default();
            let mut writer =
                LabelWriter::create(&path(name), LabelFormat::Packed, &header).unwrap();
            writer.write(&label).unwrap();
            writer.write(&label).unwrap();
            writer.finish().unwrap();
        }
        let whole = fs::read(path("whole.bin")).unwrap();
        fs::write(path("cut.bin"), &whole[..whole.len() - 10]).unwrap();
        let error = join(&[path("cut.bin"), path("whole.bin")], &path("no.bin")).unwrap_err();
        assert!(error.to_string().contains("incomplete"), "{error}");
        join(&[path("whole.bin"), path("whole.bin")], &path("both.bin")).unwrap();
        let both = LabelReader::open(&Source::file(path("both.bin"))).unwrap();
        assert_eq!(both.map(Result::unwrap).count(), 4);
    }
}
