//! The analysis of an interrupted `finch annotate`. Every evaluation is appended to a file beside
//! the one to be written, as a UCI `info` line. The same call resumes behind the last whole line.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::Evaluation;
use crate::eval::Centipawns;
use crate::files;
use crate::play::uci_engine::EngineLine;
use crate::position::Position;
use crate::search::score::ReportedScore;

/// How a draft begins, before its id.
const KIND: &str = "finch annotate ";

pub struct AnalysisDraft {
    path: PathBuf,
    file: File,
    /// Evaluations of the interrupted call, in the order of the positions.
    recorded: VecDeque<String>,
}

impl AnalysisDraft {
    /// Begins a draft for the file `out`, or resumes the one that is there. `id` identifies the
    /// games, the engine and the files to write. Another file of that name is refused as
    /// [`ErrorKind::AlreadyExists`], unless `replace` allows to begin again in its place.
    pub fn open(out: &Path, id: u64, replace: bool) -> io::Result<AnalysisDraft> {
        let path = files::draft_path(out);
        let mut file = files::open_draft(&path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let head = format!("{KIND}{id:016x}\n");
        let recorded = match bytes.strip_prefix(head.as_bytes()) {
            Some(lines) => {
                // A kill may leave an incomplete line at the end.
                let end = lines.iter().rposition(|byte| *byte == b'\n');
                let lines = &lines[..end.map_or(0, |end| end + 1)];
                file.set_len((head.len() + lines.len()) as u64)?;
                let text = String::from_utf8_lossy(lines);
                text.lines().map(str::to_owned).collect()
            }
            None if !replace && holds_something(&bytes, &head) => {
                return Err(io::Error::new(
                    ErrorKind::AlreadyExists,
                    "holds the analysis of other games or by another engine, or for other files; \
                     delete it, or use --force",
                ));
            }
            None => {
                file.set_len(0)?;
                file.rewind()?;
                files::append(&file, &path, head.as_bytes())?;
                VecDeque::new()
            }
        };
        file.seek(SeekFrom::End(0))?;
        Ok(AnalysisDraft {
            path,
            file,
            recorded,
        })
    }

    /// Whether it holds evaluations of an interrupted call.
    pub fn is_resumed(&self) -> bool {
        !self.recorded.is_empty()
    }

    /// The recorded evaluation of the next position, if there is one. What cannot be read ends the
    /// record: the rest is analysed again.
    pub(super) fn next(&mut self, position: &Position) -> Option<Evaluation> {
        let line = self.recorded.pop_front()?;
        let Some(line) = EngineLine::parse(&line, position) else {
            self.recorded.clear();
            return None;
        };
        Some(Evaluation {
            score: line.score,
            pv: line.pv,
        })
    }

    pub(super) fn add(&self, position: &Position, evaluation: &Evaluation) -> io::Result<()> {
        let mut line = match evaluation.score {
            ReportedScore::Centipawns(Centipawns(score)) => format!("info score cp {score} pv"),
            ReportedScore::Mate(moves) => format!("info score mate {moves} pv"),
        };
        let mut position = position.clone();
        for m in &evaluation.pv {
            line += &format!(" {}", position.uci(*m));
            position.play(*m);
        }
        line.push('\n');
        files::append(&self.file, &self.path, line.as_bytes())
    }

    /// Deletes the draft once the annotated games are written.
    pub fn discard(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

/// Whether work would be lost with a file that is not this draft: not where a call began it and
/// recorded nothing.
fn holds_something(bytes: &[u8], head: &str) -> bool {
    let is_beginning = head.as_bytes().starts_with(bytes);
    let is_head_alone = bytes.starts_with(KIND.as_bytes()) && bytes.len() == head.len();
    !is_beginning && !is_head_alone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_read_back_up_to_an_incomplete_line() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.pgn");
        let position = Position::default();
        let pv = crate::position::movegen::legal_moves(&position);
        let evaluation = |score| Evaluation {
            score,
            pv: vec![pv[0]],
        };
        let scores = [
            ReportedScore::Centipawns(Centipawns(-31)),
            ReportedScore::Mate(4),
        ];
        let draft = AnalysisDraft::open(&out, 1, false).unwrap();
        for score in scores {
            draft.add(&position, &evaluation(score)).unwrap();
        }
        let busy = AnalysisDraft::open(&out, 1, true).err().unwrap();
        assert!(busy.to_string().contains("another process"), "{busy}");
        let path = draft.path.clone();
        drop(draft);
        let mut text = fs::read_to_string(&path).unwrap();
        text += "info score cp 1";
        fs::write(&path, &text).unwrap();
        let mut draft = AnalysisDraft::open(&out, 1, false).unwrap();
        for score in scores {
            let found = draft.next(&position).unwrap();
            assert_eq!((found.score, found.pv), (score, vec![pv[0]]));
        }
        assert!(draft.next(&position).is_none());
        drop(draft);
        let other = AnalysisDraft::open(&out, 2, false).err().unwrap();
        assert!(other.to_string().contains("--force"), "{other}");
        let mut draft = AnalysisDraft::open(&out, 2, true).unwrap();
        assert!(draft.next(&position).is_none() && !draft.is_resumed());
        drop(draft);
        // A call that failed before its first evaluation does not block another one.
        let draft = AnalysisDraft::open(&out, 3, false).unwrap();
        draft.discard().unwrap();
        fs::write(&path, "somebody's notes without a line end").unwrap();
        assert!(AnalysisDraft::open(&out, 3, false).is_err());
        fs::remove_file(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
