//! A Zstandard stream as text: every frame of it, one after the other.
//!
//! The decoder crate reads a single frame. Files written by parallel compressors, or joined with
//! `cat`, hold several, and skippable frames between them.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The largest window a frame may ask for: what `zstd --ultra --long=27` writes.
const MAX_WINDOW: u64 = 1 << 27;

/// Reads all frames of `R`.
pub struct ZstdReader<R: Read> {
    state: State<R>,
}

enum State<R: Read> {
    BetweenFrames(BufReader<R>),
    InFrame(Box<Frame<R>>),
    Finished,
}

struct Frame<R> {
    source: BufReader<R>,
    decoder: FrameDecoder,
}

impl<R: Read> Frame<R> {
    /// Decodes until there is something to hand out; zero bytes mean the end of the frame.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            self.decoder
                .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(io::Error::other)?;
        }
        self.decoder.read(buffer)
    }
}

impl<R: Read> ZstdReader<R> {
    pub fn new(source: R) -> ZstdReader<R> {
        ZstdReader {
            state: State::BetweenFrames(BufReader::new(source)),
        }
    }
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Finished) {
                State::Finished => return Ok(0),
                State::BetweenFrames(source) => self.state = next_frame(source)?,
                State::InFrame(mut frame) => {
                    let read = frame.read(buffer)?;
                    if read > 0 || buffer.is_empty() {
                        self.state = State::InFrame(frame);
                        return Ok(read);
                    }
                    check(&frame.decoder)?;
                    self.state = State::BetweenFrames(frame.source);
                }
            }
        }
    }
}

fn next_frame<R: Read>(mut source: BufReader<R>) -> io::Result<State<R>> {
    if source.fill_buf()?.is_empty() {
        return Ok(State::Finished);
    }
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(MAX_WINDOW);
    match decoder.init(&mut source) {
        Ok(()) => Ok(State::InFrame(Box::new(Frame { source, decoder }))),
        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
            length,
            ..
        })) => {
            let skipped = io::copy(&mut source.by_ref().take(length.into()), &mut io::sink())?;
            if skipped < u64::from(length) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(State::BetweenFrames(source))
        }
        Err(error) => Err(io::Error::other(error)),
    }
}

/// A frame may end with a checksum of its content.
fn check(decoder: &FrameDecoder) -> io::Result<()> {
    match decoder.get_checksum_from_data() {
        Some(expected) if decoder.get_calculated_checksum() != Some(expected) => Err(
            io::Error::new(io::ErrorKind::InvalidData, "wrong checksum in a zstd frame"),
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn decoded(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        ZstdReader::new(bytes).read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn frames_follow_each_other_and_skippable_ones_are_skipped() {
        let frame = |text: &str| compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
        let mut bytes = frame("1. e4 e5 ");
        bytes.extend([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
        bytes.extend(frame("2. Nf3 Nc6"));
        assert_eq!(decoded(&bytes).unwrap(), b"1. e4 e5 2. Nf3 Nc6");
        for length in 1..bytes.len() {
            // Cut between frames, what is left is a whole stream.
            if let Ok(text) = decoded(&bytes[..length]) {
                assert_eq!(text, b"1. e4 e5 ", "cut at {length}");
            }
        }
    }

    #[test]
    fn a_changed_byte_never_passes_as_the_same_text() {
        let text: Vec<u8> = (0..2_000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        let bytes = compress_to_vec(&text[..], CompressionLevel::Fastest);
        for place in (0..bytes.len()).step_by(97) {
            let mut spoiled = bytes.clone();
            spoiled[place] ^= 0x10;
            if let Ok(read) = decoded(&spoiled) {
                assert!(read == text || place < 16, "byte {place}");
            }
        }
    }
}
