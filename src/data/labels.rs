//! Files of labels, read and written in any format, and split into training and validation.

use std::collections::HashSet;
use std::io::{self, BufWriter, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use shakmaty::Outcome;

use super::epd;
use super::label::{
    DEFAULT_SCALE, GameGrouper, GameId, Label, LabelFormat, LabelHeader, LabelNeeds,
};
use super::packed::{self, RecordReader};
use super::sample::{Keeper, Tally};
use super::scale::fit_scale;
use super::selection::Selection;
use super::source::Lines;
use super::{Case, DataError, Source, collect, is_quiet, text, unreadable};
use crate::files::AtomicFile;
use crate::random::mix;

/// Reads the labels of a source one after the other; the format is found out from the content.
/// A line that is no label is [`DataError::BadLabel`] and may be skipped; any other error ends
/// the file.
pub struct LabelReader {
    path: PathBuf,
    header: LabelHeader,
    body: Body,
    needs: LabelNeeds,
}

enum Body {
    Lines {
        lines: Lines,
        /// The first line after the header.
        first: Option<(usize, String)>,
        games: Box<GameGrouper>,
    },
    Records(RecordReader),
}

impl LabelReader {
    /// Labels with scores.
    pub fn open(source: &Source) -> Result<LabelReader, DataError> {
        LabelReader::open_for(source, LabelNeeds::SCORE)
    }

    /// Labels with what is needed of them.
    pub fn open_for(source: &Source, needs: LabelNeeds) -> Result<LabelReader, DataError> {
        let path = source.path();
        let mut reader = source.open()?;
        let mut first = Vec::new();
        reader
            .by_ref()
            .take(packed::MAGIC_LENGTH as u64)
            .read_to_end(&mut first)
            .map_err(|error| unreadable(path, &error))?;
        let is_packed = packed::is_packed(&first, path)?;
        let whole = Box::new(Cursor::new(first).chain(reader));
        let (header, body) = if is_packed {
            let (header, records) = RecordReader::open(whole, path)?;
            (header, Body::Records(records))
        } else {
            read_comments(Lines::new(whole, path))?
        };
        Ok(LabelReader {
            path: path.to_owned(),
            header,
            body,
            needs,
        })
    }

    pub fn header(&self) -> &LabelHeader {
        &self.header
    }

    fn bad(&self, number: usize, reason: String) -> DataError {
        DataError::BadLabel {
            file: self.path.clone(),
            number,
            reason,
        }
    }
}

/// The comments before the first label are the header.
fn read_comments(mut lines: Lines) -> Result<(LabelHeader, Body), DataError> {
    let mut header = LabelHeader::default();
    let mut first = None;
    for line in lines.by_ref() {
        let (number, text) = line?;
        match text.strip_prefix('#') {
            Some(comment) => header.read_line(comment),
            None if text.is_empty() => {}
            None => {
                first = Some((number, text));
                break;
            }
        }
    }
    let body = Body::Lines {
        lines,
        first,
        games: Box::default(),
    };
    Ok((header, body))
}

impl Iterator for LabelReader {
    type Item = Result<Label, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, label) = match &mut self.body {
            Body::Records(records) => match records.next_record()? {
                Ok((number, record)) => (number, record.unpack()),
                Err(error) => return Some(Err(unreadable(&self.path, &error))),
            },
            Body::Lines {
                lines,
                first,
                games,
            } => loop {
                let (number, line) = match first.take() {
                    Some(first) => first,
                    None => match lines.next()? {
                        Ok(line) => line,
                        Err(error) => return Some(Err(error)),
                    },
                };
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                let label = if text::is_text(&line) {
                    text::read_label(&line, games)
                } else {
                    epd::read_label(&line, games, self.needs)
                };
                break (number, label);
            },
        };
        let label = label.and_then(|label| match label.result {
            None if self.needs.result => {
                Err("no result (finch selfplay keeps results with --blunders 0)".to_owned())
            }
            _ => Ok(label),
        });
        Some(label.map_err(|reason| self.bad(number, reason)))
    }
}

/// Writes labels to a file of any format. The file appears when it is complete.
pub struct LabelWriter {
    file: BufWriter<AtomicFile>,
    format: LabelFormat,
    count: usize,
}

impl LabelWriter {
    pub fn create(
        out: &Path,
        format: LabelFormat,
        header: &LabelHeader,
    ) -> io::Result<LabelWriter> {
        let mut file = BufWriter::new(AtomicFile::create(out)?);
        match format {
            LabelFormat::Epd => file.write_all(epd_header(header).as_bytes())?,
            LabelFormat::Packed => packed::write_header(&mut file, header)?,
            LabelFormat::Text => {}
        }
        Ok(LabelWriter {
            file,
            format,
            count: 0,
        })
    }

    pub fn write(&mut self, label: &Label) -> io::Result<()> {
        self.count += 1;
        match self.format {
            LabelFormat::Epd => writeln!(self.file, "{}", epd::write_label(label)),
            LabelFormat::Packed => packed::write_label(&mut self.file, label),
            LabelFormat::Text => writeln!(self.file, "{}", text::write_label(label)),
        }
    }

    /// Completes the file; returns how many labels it has.
    pub fn finish(self) -> io::Result<usize> {
        self.file.into_inner()?.commit()?;
        Ok(self.count)
    }
}

/// Copies a file of labels to another format; lines that are no labels are left out. Returns how
/// many labels there are.
pub fn convert(source: &Source, out: &Path, format: LabelFormat) -> Result<usize, DataError> {
    let failed = |error: io::Error| unreadable(out, &error);
    let mut reader = LabelReader::open(source)?;
    let mut writer = LabelWriter::create(out, format, reader.header()).map_err(failed)?;
    for label in reader.by_ref() {
        match label {
            Ok(label) => writer.write(&label).map_err(failed)?,
            Err(DataError::BadLabel { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    writer.finish().map_err(failed)
}

/// The comments an EPD file of labels begins with.
pub(super) fn epd_header(header: &LabelHeader) -> String {
    let lines = header.lines().into_iter();
    lines.map(|line| format!("# {line}\n")).collect()
}

/// Labels that tell the scale of a file that does not name it.
pub(super) const SCALE_SAMPLE: usize = 100_000;

/// The scale of a source: as its header says, or fitted to the results of its games, or
/// [`DEFAULT_SCALE`].
pub fn scale_of(source: &Source) -> Result<f64, DataError> {
    let mut reader = LabelReader::open(source)?;
    if let Some(scale) = reader.header().scale {
        return Ok(scale);
    }
    let mut results = Vec::new();
    for label in reader.by_ref().take(SCALE_SAMPLE) {
        match label {
            Ok(label) => results.extend(label.points().map(|points| (label.score.into(), points))),
            Err(DataError::BadLabel { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(fit_scale(&results).unwrap_or(DEFAULT_SCALE))
}

/// Labels to learn from, and others from other games to validate with.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    pub training: Vec<Label>,
    pub validation: Vec<Label>,
    /// Centipawns that multiply the odds of winning by e, for all of them: the first source's.
    pub scale: f64,
    pub tally: Tally,
}

/// Reads all sources and keeps what the selection's seed and limits ask for. Which side of the
/// split a game falls on, and which positions stay, depends on seed and position alone. Scores
/// of further sources are converted to the scale of the first.
///
/// Where no scores are needed, files of games (PGN) will do: their quiet positions become labels
/// with the results of their games.
pub fn collect_labels(
    sources: &[Source],
    selection: &Selection,
    needs: LabelNeeds,
) -> Result<Labels, DataError> {
    let (games, files) = sources
        .iter()
        .cloned()
        .partition::<Vec<_>, _>(Source::is_pgn);
    let mut labels = match games[..] {
        [] => Labels::default(),
        [ref first, ..] if needs.score => {
            return Err(DataError::Unreadable {
                file: first.path().to_owned(),
                reason: "games have no scores: finch label gives them some".to_owned(),
            });
        }
        _ => labels_of_games(&games, selection)?,
    };
    if !files.is_empty() {
        let more = labels_of_files(&files, selection, needs)?;
        labels.training.extend(more.training);
        labels.validation.extend(more.validation);
        labels.scale = more.scale;
        labels.tally.add(more.tally);
    }
    if labels.training.is_empty() {
        return Err(DataError::NoPositions(labels.tally.summary()));
    }
    Ok(labels)
}

/// The quiet positions of games whose results are known.
fn labels_of_games(sources: &[Source], selection: &Selection) -> Result<Labels, DataError> {
    let collection = collect(sources, selection)?;
    let label = |case: Case| {
        let Outcome::Known(result) = case.outcome else {
            return None;
        };
        let is_quiet = is_quiet(&case.position, 0);
        is_quiet.then(|| Label {
            result: Some(result),
            ..Label::new(case.position, 0, GameId(case.game.into()))
        })
    };
    Ok(Labels {
        training: collection.training.into_iter().filter_map(label).collect(),
        validation: collection
            .validation
            .into_iter()
            .filter_map(label)
            .collect(),
        scale: DEFAULT_SCALE,
        tally: collection.tally,
    })
}

fn labels_of_files(
    sources: &[Source],
    selection: &Selection,
    needs: LabelNeeds,
) -> Result<Labels, DataError> {
    let mut split = Split::new(selection);
    let mut common = None;
    for source in sources {
        let scale = match needs.score {
            true => scale_of(source)?,
            false => DEFAULT_SCALE,
        };
        let unit = *common.get_or_insert(scale) / scale;
        for label in LabelReader::open_for(source, needs)? {
            match label {
                Ok(mut label) => {
                    label.score = (f64::from(label.score) * unit).round() as i32;
                    split.add(label);
                }
                Err(error @ DataError::BadLabel { .. }) => {
                    split.tally.skip_bad(|| error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(split.finish(common.unwrap_or(DEFAULT_SCALE)))
}

struct Split<'a> {
    selection: &'a Selection,
    training: Keeper<Label>,
    validation: Keeper<Label>,
    seen: HashSet<u64>,
    games: HashSet<u64>,
    tally: Tally,
}

impl<'a> Split<'a> {
    fn new(selection: &'a Selection) -> Split<'a> {
        Split {
            training: Keeper::with_limit(selection.positions),
            validation: Keeper::with_limit(selection.validation),
            selection,
            seen: HashSet::new(),
            games: HashSet::new(),
            tally: Tally::default(),
        }
    }

    fn add(&mut self, label: Label) {
        let key = label.position.key();
        if !self.seen.insert(key) {
            *self.tally.unwanted.entry("repeated").or_default() += 1;
            return;
        }
        let Selection {
            seed,
            validation_share,
            ..
        } = *self.selection;
        let game = label.source.0;
        self.games.insert(game);
        let drawn = mix(seed, game) as f64 / u64::MAX as f64;
        let keeper = match drawn < validation_share {
            true => &mut self.validation,
            false => &mut self.training,
        };
        let priority = mix(seed, key);
        if keeper.admits(priority) {
            keeper.keep(priority, label);
        }
    }

    fn finish(mut self, scale: f64) -> Labels {
        self.tally.games = self.games.len();
        Labels {
            training: self.training.into_items(),
            validation: self.validation.into_items(),
            scale,
            tally: self.tally,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const FENS: [&str; 3] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq -",
        "4k3/8/8/8/8/8/4P3/4K3 w - -",
    ];

    fn read(path: &Path) -> (LabelHeader, Vec<String>) {
        let reader = LabelReader::open(&Source::file(path)).unwrap();
        let header = reader.header().clone();
        let lines = reader.map(|label| epd::write_label(&label.unwrap()));
        (header, lines.collect())
    }

    #[test]
    fn every_format_is_recognised_and_says_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let epd = folder.path().join("a.epd");
        let lines: Vec<_> = ["1-0", "0-1", "1/2-1/2"]
            .iter()
            .zip(FENS)
            .enumerate()
            .map(|(game, (result, fen))| {
                format!("{fen} id \"{game}\"; c9 \"{result}\"; ce {};", 50 * game)
            })
            .collect();
        let text = format!("# mentor: a\n# scale: 90\n\n{}\n", lines.join("\n"));
        fs::write(&epd, text).unwrap();
        assert_eq!(read(&epd).1, lines);
        for name in ["b.bin", "b.txt", "b.epd"] {
            let out = folder.path().join(name);
            let format = LabelFormat::of_name(&out);
            let reader = LabelReader::open(&Source::file(&epd)).unwrap();
            let mut writer = LabelWriter::create(&out, format, reader.header()).unwrap();
            reader.for_each(|label| writer.write(&label.unwrap()).unwrap());
            assert_eq!(writer.finish().unwrap(), 3);
            let (header, again) = read(&out);
            if format == LabelFormat::Text {
                // This format has neither a header nor games.
                let without = |line: &String| epd::without(line, &["id"]);
                let [again, lines] = [&again, &lines].map(|lines| lines.iter().map(without));
                assert!(again.eq(lines));
            } else {
                assert_eq!((header.scale, again), (Some(90.0), lines.clone()));
            }
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn scores_of_another_scale_are_converted() {
        let folder = tempfile::tempdir().unwrap();
        let source = |name: &str, scale: u32, fen: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("# scale: {scale}\n{fen} ce 90;\n")).unwrap();
            Source::file(path)
        };
        let sources = [source("a", 100, FENS[0]), source("b", 300, FENS[1])];
        let selection = Selection {
            positions: 0,
            validation_share: 0.0,
            ..Selection::default()
        };
        let labels = collect_labels(&sources, &selection, LabelNeeds::SCORE).unwrap();
        let mut scores: Vec<_> = labels.training.iter().map(|label| label.score).collect();
        scores.sort_unstable();
        assert_eq!((labels.scale, scores), (100.0, vec![30, 90]));
    }

    #[test]
    fn an_endless_line_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros.epd.zst");
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let zeros = ruzstd::encoding::compress_to_vec(&vec![b'0'; 5_000_000][..], level);
        fs::write(&path, zeros).unwrap();
        let error = LabelReader::open(&Source::file(&path)).err().unwrap();
        assert!(error.to_string().contains("line 1 is longer"), "{error}");
    }
}
