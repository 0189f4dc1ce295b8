//! Files from elsewhere: compressed ones are recognised by their first bytes, not by their names,
//! and what is read into memory as a whole has a largest size.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::zstd::ZstdReader;

/// The largest presets and weights files.
pub const TEXT_LIMIT: u64 = 16 << 20;
/// The largest network files; the widest architecture takes 6.3 MiB.
pub const NETWORK_LIMIT: u64 = 64 << 20;
/// The largest books and lists of openings, decompressed: 16 million moves of a Polyglot book.
pub const BOOK_LIMIT: u64 = 256 << 20;

/// The bytes of a file, decompressed as they are read.
pub fn open_compressed(path: &Path) -> io::Result<Box<dyn Read>> {
    decompressed(Box::new(File::open(path)?))
}

/// The bytes of a source, decompressed as they are read.
pub fn decompressed(mut raw: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
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

/// All bytes of a source that ends within `limit`. A device without end, or a decompression bomb,
/// is an error instead of all the memory.
pub fn read_limited(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let mebibytes = limit >> 20;
        let problem = format!("larger than {mebibytes} MiB: is this another kind of file?");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// The bytes of a file that is no larger than `limit`.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_limited(File::open(path)?, limit)
}

/// The text of a file that is no larger than [`TEXT_LIMIT`].
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_file(path, TEXT_LIMIT)?;
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text");
    String::from_utf8(bytes).map_err(not_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_may_be_as_large_as_its_limit_and_no_larger() {
        assert_eq!(read_limited(&b"four"[..], 4).unwrap(), b"four");
        let refused = read_limited(io::repeat(0), 1 << 20).unwrap_err();
        assert!(
            refused.to_string().contains("larger than 1 MiB"),
            "{refused}"
        );
    }

    #[test]
    fn short_sources_are_taken_as_they_are() {
        for text in ["", "B", "\u{1f}", "1. e4"] {
            let source = decompressed(Box::new(text.as_bytes())).unwrap();
            assert_eq!(read_limited(source, 10).unwrap(), text.as_bytes());
        }
    }
}
