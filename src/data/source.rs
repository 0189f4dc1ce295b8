//! Where games come from: a file, or bytes built into the program. Compression is recognised by
//! its first bytes, not by the file's name.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::zstd::ZstdReader;
use super::{DataError, unreadable};

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
        let name = self.path.to_string_lossy().to_lowercase();
        let plain = [".zst", ".gz", ".bz2"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(&name);
        plain.ends_with(".epd")
    }

    /// The text, decompressed as it is read.
    pub fn open(&self) -> Result<Box<dyn Read>, DataError> {
        let opened: io::Result<Box<dyn Read>> = match self.built_in {
            Some(bytes) => decompressed(Box::new(bytes)),
            None => File::open(&self.path).and_then(|file| decompressed(Box::new(file))),
        };
        opened.map_err(|error| unreadable(&self.path, &error))
    }

    pub fn name(&self) -> Cow<'_, str> {
        self.path.file_name().map_or_else(
            || self.path.to_string_lossy(),
            |name| name.to_string_lossy(),
        )
    }
}

fn decompressed(mut raw: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut magic = Vec::with_capacity(4);
    raw.by_ref().take(4).read_to_end(&mut magic)?;
    let whole = io::Cursor::new(magic.clone()).chain(raw);
    Ok(match magic[..] {
        [0x28, 0xb5, 0x2f, 0xfd] => Box::new(ZstdReader::new(whole)),
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        [b'B', b'Z', b'h', _] => Box::new(bzip2::read::MultiBzDecoder::new(whole)),
        _ => Box::new(whole),
    })
}
