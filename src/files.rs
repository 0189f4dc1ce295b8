//! Files that are never seen half-written: what is new is written beside the old one, made to
//! last, and then takes its name. Long work is kept in a [`Draft`] until it is whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file whole or not at all.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    write_bytes(path, text.as_bytes())
}

/// The same for what is no text.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = beside(path, ".tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// A text that is written part by part in a file beside the one it is to become. Whoever is killed
/// on the way finds all whole parts again.
pub struct Draft {
    path: PathBuf,
    file: File,
    text: String,
    parts: usize,
}

/// Ends a part; what comes after the last of them was broken off.
const END_OF_PART: &str = "# end of part\n";

impl Draft {
    /// Begins a draft for this file, or goes on with the one that is there. The head tells what the
    /// work is, in a line: a draft of other work is refused as [`io::ErrorKind::AlreadyExists`].
    pub fn open(out: &Path, head: &str) -> io::Result<Draft> {
        let path = beside(out, ".draft");
        let head = format!("# {head}\n");
        let found = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => head.clone(),
            found => found?,
        };
        let Some(rest) = found.strip_prefix(&head) else {
            let told = format!("{} holds other work: finish or delete it", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, told));
        };
        let whole = rest
            .rfind(END_OF_PART)
            .map_or(0, |mark| mark + END_OF_PART.len());
        write_whole(&path, &format!("{head}{}", &rest[..whole]))?;
        Ok(Draft {
            file: OpenOptions::new().append(true).open(&path)?,
            path,
            text: rest[..whole].replace(END_OF_PART, ""),
            parts: rest[..whole].matches(END_OF_PART).count(),
        })
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// All of them.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds a part of whole lines.
    pub fn add(&mut self, part: &str) -> io::Result<()> {
        self.file
            .write_all(format!("{part}{END_OF_PART}").as_bytes())?;
        self.file.sync_data()?;
        self.text += part;
        self.parts += 1;
        Ok(())
    }

    /// The work is done and its file written.
    pub fn discard(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_whole(&path, "old").unwrap();
        write_whole(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_draft_keeps_whole_parts_and_refuses_other_work() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let mut draft = Draft::open(&out, "counting").unwrap();
        draft.add("one\n").unwrap();
        draft.add("two\nthree\n").unwrap();
        let mut broken = OpenOptions::new().append(true).open(&draft.path).unwrap();
        broken.write_all(b"four\nfi").unwrap();

        let mut again = Draft::open(&out, "counting").unwrap();
        assert_eq!((again.parts(), again.text()), (2, "one\ntwo\nthree\n"));
        again.add("four\n").unwrap();
        let again = Draft::open(&out, "counting").unwrap();
        assert_eq!(
            (again.parts(), again.text()),
            (3, "one\ntwo\nthree\nfour\n")
        );

        let refused = Draft::open(&out, "spelling").err().unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        again.discard().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
