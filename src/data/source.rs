//! Where games, positions and labels come from: a file, or bytes built into the program.
//! Compression is recognised by a file's first bytes, not by its name.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::{DataError, unreadable};
use crate::files::{BYTE_ORDER_MARK, decompressed, open_compressed};

/// No line of a position or label file is longer. A file that is one endless line, or a
/// decompression bomb, ends here instead of filling the memory.
const LINE_LIMIT: usize = 1 << 16;

#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    built_in: Option<&'static [u8]>,
}

impl Source {
    pub fn file(path: impl Into<PathBuf>) -> Source {
        Source {
            path: path.into(),
            built_in: None,
        }
    }

    /// Bytes of the program itself; `name` is what messages call them.
    pub fn built_in(name: &str, bytes: &'static [u8]) -> Source {
        Source {
            path: PathBuf::from(name),
            built_in: Some(bytes),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Positions rather than games, by the name under any compression.
    pub fn is_epd(&self) -> bool {
        self.has_ending(".epd")
    }

    /// Games rather than labels, by the name under any compression.
    pub fn is_pgn(&self) -> bool {
        self.has_ending(".pgn")
    }

    fn has_ending(&self, ending: &str) -> bool {
        let name = self.path.to_string_lossy().to_lowercase();
        // Built-in sources add a remark to their name.
        let name = name.strip_suffix(" (built in)").unwrap_or(&name);
        let plain = [".zst", ".gz", ".bz2"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(name);
        plain.ends_with(ending)
    }

    /// The bytes, decompressed as they are read.
    pub fn open(&self) -> Result<Box<dyn Read>, DataError> {
        let opened: io::Result<Box<dyn Read>> = match self.built_in {
            Some(bytes) => decompressed(Box::new(bytes)),
            None => open_compressed(&self.path),
        };
        opened.map_err(|error| unreadable(&self.path, &error))
    }

    /// The lines of a text, with bounded memory.
    pub fn lines(&self) -> Result<Lines, DataError> {
        Ok(Lines::new(self.open()?, &self.path))
    }

    pub fn name(&self) -> Cow<'_, str> {
        self.path.file_name().map_or_else(
            || self.path.to_string_lossy(),
            |name| name.to_string_lossy(),
        )
    }
}

/// Trimmed lines with their numbers, counted from 1. Bytes that are not UTF-8 are replaced.
pub struct Lines {
    reader: BufReader<Box<dyn Read>>,
    path: PathBuf,
    number: usize,
}

impl Lines {
    pub(super) fn new(reader: Box<dyn Read>, path: &Path) -> Lines {
        Lines {
            reader: BufReader::new(reader),
            path: path.to_owned(),
            number: 0,
        }
    }
}

impl Iterator for Lines {
    type Item = Result<(usize, String), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = Vec::new();
        let mut limited = self.reader.by_ref().take(LINE_LIMIT as u64 + 1);
        self.number += 1;
        match limited.read_until(b'\n', &mut bytes) {
            Ok(0) => None,
            Ok(length) if length > LINE_LIMIT => Some(Err(DataError::LongLine {
                file: self.path.clone(),
                line: self.number,
            })),
            Ok(_) => {
                let text = String::from_utf8_lossy(&bytes);
                let text = match self.number {
                    1 => text.trim_start_matches(BYTE_ORDER_MARK),
                    _ => &text,
                };
                Some(Ok((self.number, text.trim().to_owned())))
            }
            Err(error) => Some(Err(unreadable(&self.path, &error))),
        }
    }
}
