//! Files of labels of the same kind put together, one after the other: what `--part` makes on
//! several machines becomes the file that one would have made, byte for byte.

use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::packed::{self, HEADER_LIMIT};
use super::{DataError, Source, unreadable};
use crate::files::AtomicFile;

#[derive(Debug, Error)]
pub enum JoinError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("{}: {error}", .file.display())]
    Write { file: PathBuf, error: io::Error },
    #[error("{}: not made like the labels of {}: their headers differ", .file.display(), .first.display())]
    OtherHeader { file: PathBuf, first: PathBuf },
    #[error("{}: its last line is incomplete; run its part again to finish it", .0.display())]
    Incomplete(PathBuf),
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
        let is_text = !packed::is_packed(&header, file)?;
        copy(body, &mut joined, is_text, file, out)?;
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
    is_text: bool,
    file: &Path,
    out: &Path,
) -> Result<(), JoinError> {
    let mut buffer = vec![0; 1 << 16];
    let mut last = b'\n';
    loop {
        let read = body.read(&mut buffer);
        let read = read.map_err(|error| unreadable(file, &error))?;
        if read == 0 {
            break;
        }
        last = buffer[read - 1];
        let written = joined.write_all(&buffer[..read]);
        written.map_err(|error| JoinError::Write {
            file: out.to_owned(),
            error,
        })?;
    }
    match is_text && last != b'\n' {
        true => Err(JoinError::Incomplete(file.to_owned())),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn texts_are_joined_under_one_header_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| {
            fs::write(path(name), text).unwrap();
            path(name)
        };
        let one = write("1", "# mentor: a\nx\ny\n");
        let two = write("2", "# mentor: a\nz\n");
        let out = path("out");
        join(&[one.clone(), two], &out).unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), "# mentor: a\nx\ny\nz\n");

        let other = write("3", "# mentor: b\nz\n");
        let cut = write("4", "# mentor: a\nz");
        for (second, mention) in [(other, "headers differ"), (cut, "incomplete")] {
            let error = join(&[one.clone(), second], &path("no")).unwrap_err();
            assert!(error.to_string().contains(mention), "{error}");
            assert!(!path("no").exists());
        }
        assert!(join(&[path("gone")], &path("no")).is_err());
    }
}
