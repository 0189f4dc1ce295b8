//! Files that are never seen half-written. A new version is written to a temporary file in the
//! same folder, flushed to disk, and renamed over the old one. Files that grow by whole lines or
//! records are appended to; their readers leave out an incomplete end. A full disk is said in
//! words, and leaves no temporary file.
//!
//! [`compressed`]: reading files from elsewhere, compressed or not, in bounded memory.

mod compressed;
mod zstd;

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::{Builder, NamedTempFile};

pub use compressed::{
    BOOK_LIMIT, NETWORK_LIMIT, TEXT_LIMIT, decompressed, open_compressed, read_file, read_limited,
    read_text,
};

/// Some editors begin a text with it.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Ending of the temporary files, which begin with a dot and the name of the file they become. Only a
/// kill leaves one behind, and the next writer of the same file deletes it.
const TEMPORARY: &str = ".finch-tmp";

/// Replaces a file completely or not at all, and returns when the new version is on disk.
pub fn write_atomically(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(contents.as_ref())?;
    file.commit()
}

/// A file that is written piece by piece and takes its name when it is complete. Dropped before
/// that, it leaves nothing behind.
pub struct AtomicFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    pub fn create(path: &Path) -> io::Result<AtomicFile> {
        let path = &destination(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let prefix = format!(".{name}.");
        remove_abandoned(folder_of(path), &prefix)?;
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(TEMPORARY);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As any new file: the umask takes its share.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        loop {
            let file = builder.tempfile_in(folder_of(path)).map_err(explained)?;
            // Says to others that the file is not abandoned; some file systems have no locks.
            let _ = file.as_file().try_lock();
            // One of them may have been quicker.
            if file.path().exists() {
                let path = path.to_owned();
                return Ok(AtomicFile { file, path });
            }
        }
    }

    /// Gives the file its name, and returns when that is on disk.
    pub fn commit(self) -> io::Result<()> {
        self.file.as_file().sync_all().map_err(explained)?;
        self.file.persist(&self.path)?;
        sync_folder(folder_of(&self.path))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The error of the temporary file would name it.
        self.file.as_file_mut().write(bytes).map_err(explained)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Fails if nothing can be written to a folder or, where it does not exist yet, to the closest one
/// above it. Leaves nothing behind.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    static PROBES: AtomicU64 = AtomicU64::new(0);
    let mut place = folder;
    while !place.exists() && folder_of(place) != place {
        place = folder_of(place);
    }
    // Other processes and threads may look at the same moment.
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    let probe = place.join(format!(".{}-{number}{TEMPORARY}", std::process::id()));
    File::create(&probe)?;
    fs::remove_file(&probe)
}

/// Fails if a file cannot be written there. Leaves nothing behind.
pub fn check_file(path: &Path) -> io::Result<()> {
    let path = destination(path)?;
    let folder = folder_of(&path);
    fs::metadata(folder)?;
    check_folder(folder)
}

/// Where the new version of a file goes: links are followed. A device, a pipe or a folder would be
/// replaced by a file, so it is refused.
fn destination(path: &Path) -> io::Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let target = match is_link {
        true => fs::canonicalize(path).map_err(|error| {
            io::Error::new(error.kind(), format!("a link to nothing ({error})"))
        })?,
        false => path.to_owned(),
    };
    match fs::metadata(&target) {
        Ok(found) if !found.is_file() => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "not a regular file; name another",
        )),
        _ => Ok(target),
    }
}

/// Makes sure that no other process writes a file, as long as it is open. Some file systems have
/// no locks: there it does nothing.
pub fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::new(
            ErrorKind::ResourceBusy,
            "another process is writing it",
        )),
        _ => Ok(()),
    }
}

/// Opens a file to append to it, and locks it. Another process may replace the file at this moment:
/// only the lock of the file that has the name counts.
pub fn open_locked(path: &Path) -> io::Result<File> {
    loop {
        let file = File::options().append(true).open(path)?;
        lock(&file)?;
        if is_named(&file, path)? {
            return Ok(file);
        }
    }
}

/// Whether the open file is still the one of that name.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    Ok(identity(file.metadata()?) == identity(fs::metadata(path)?))
}

#[cfg(not(unix))]
fn is_named(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Makes sure that no other process works in a folder, as long as the returned file is open.
pub fn lock_folder(folder: &Path) -> io::Result<File> {
    let path = folder.join(".lock");
    // Windows locks a file only if it may be read.
    let mut options = File::options();
    let file = options.read(true).append(true).create(true).open(path)?;
    match lock(&file) {
        Err(error) => Err(io::Error::new(
            error.kind(),
            "another process works in this folder",
        )),
        Ok(()) => Ok(file),
    }
}

/// Adds to a file that grows. A removed file still takes what is written, and all of it would be
/// lost: so it must still be there under its name.
pub fn append(mut file: &File, path: &Path, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes).map_err(explained)?;
    fs::metadata(path).map(drop).map_err(|error| {
        let kind = error.kind();
        io::Error::new(
            kind,
            format!("removed while it was being written ({error})"),
        )
    })
}

/// Says what to do about a disk without room; other errors stay as they are.
fn explained(error: io::Error) -> io::Error {
    let kind = error.kind();
    let problem = match kind {
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::QuotaExceeded => "the disk quota is used up",
        ErrorKind::FileTooLarge => "larger than files may be here",
        _ => return error,
    };
    io::Error::new(kind, format!("{problem}; make room, then run finch again"))
}

/// Where unfinished work for a file is kept, so that a later call resumes it.
pub fn draft_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".draft");
    name.into()
}

/// Opens a draft to read what is there and go on behind it, and locks it.
pub fn open_draft(path: &Path) -> io::Result<File> {
    // Windows does not shorten files that are open to append only.
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path)?;
    lock(&file).map(|()| file)
}

/// Renames a file that is on disk, and returns when the new name is too.
pub fn rename_durably(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

/// Deletes the temporary files that killed processes left in a folder.
pub fn remove_temporary(folder: &Path) -> io::Result<()> {
    remove_abandoned(folder, ".")
}

/// Deletes temporary files of that beginning that no process writes any more.
fn remove_abandoned(folder: &Path, prefix: &str) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with(prefix) || !name.ends_with(TEMPORARY) {
            continue;
        }
        // Locks over a network need a file that may be written to.
        let file = File::options().read(true).write(true).open(entry.path());
        let is_abandoned = file.is_ok_and(|file| file.try_lock().is_ok());
        if is_abandoned {
            // Another process may do the same at this moment.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    let parent = path.parent();
    let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// A rename is on disk only once its folder is.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, "old").unwrap();
        write_atomically(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        // A folder under the file's name: the rename fails, and the temporary file goes.
        fs::create_dir_all(folder.path().join("taken/full")).unwrap();
        assert!(write_atomically(&folder.path().join("taken"), "new").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_pipes_are_never_replaced() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("real"), "old").unwrap();
        symlink("real", path("link")).unwrap();
        write_atomically(&path("link"), "new").unwrap();
        assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(path("real")).unwrap(), "new");
        symlink("nowhere", path("dangling")).unwrap();
        let error = write_atomically(&path("dangling"), "new").unwrap_err();
        assert!(error.to_string().contains("link to nothing"), "{error}");
        let made = std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status();
        assert!(made.unwrap().success());
        for refused in [
            check_file(&path("pipe")),
            write_atomically(&path("pipe"), "new"),
        ] {
            let error = refused.unwrap_err();
            assert!(error.to_string().contains("not a regular file"), "{error}");
        }
        assert!(!fs::metadata(path("pipe")).unwrap().is_file());
    }

    #[test]
    fn one_process_writes_a_file_and_works_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock_folder(folder.path()).unwrap();
        assert!(lock_folder(folder.path()).is_err());
        drop(first);
        lock_folder(folder.path()).unwrap();
    }

    #[test]
    fn places_that_cannot_be_written_to_are_found_and_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        check_folder(&path.join("new/and/deep")).unwrap();
        check_file(&path.join("new")).unwrap();
        assert!(check_file(&path.join("missing/new")).is_err());
        assert!(check_file(path).is_err());
        assert_eq!(fs::read_dir(path).unwrap().count(), 0);
        fs::write(path.join("file"), "").unwrap();
        assert!(check_folder(&path.join("file/below")).is_err());
    }

    #[test]
    fn a_file_that_was_removed_takes_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("grows");
        let file = File::create(&path).unwrap();
        append(&file, &path, b"one").unwrap();
        fs::remove_file(&path).unwrap();
        let error = append(&file, &path, b"two").unwrap_err();
        assert!(error.to_string().starts_with("removed"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said_in_words() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let error = append(&full, Path::new("/dev/full"), b"more").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(error.to_string().contains("make room"), "{error}");
        let other = explained(ErrorKind::NotFound.into());
        assert_eq!(other.kind(), ErrorKind::NotFound);
        assert!(!other.to_string().contains("make room"));
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_usual_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let [atomic, plain] = ["atomic", "plain"].map(|name| folder.path().join(name));
        write_atomically(&atomic, "").unwrap();
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&atomic), mode(&plain));
    }

    #[test]
    fn temporary_files_of_a_killed_process_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(folder.path()).unwrap().count();
        for name in [".kept.a1b2c3.finch-tmp", ".other.a1b2c3.finch-tmp"] {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        let kept = folder.path().join("kept");
        write_atomically(&kept, "whole").unwrap();
        assert_eq!(count(), 2, "that of the other file stays");
        let under_way = AtomicFile::create(&kept).unwrap();
        remove_temporary(folder.path()).unwrap();
        assert_eq!(count(), 2, "what is being written stays");
        under_way.commit().unwrap();
        assert_eq!(count(), 1);
    }
}
