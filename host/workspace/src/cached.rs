//! Reads of the file system that never wait for a disk or a network: the kernel answers from its caches, or not at all. Then
//! the same is read on a thread that may wait. A request would otherwise change threads for each such read.

use std::io;
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::plain_file;

/// The one name of a folder, without links.
///
/// # Errors
/// It does not exist, is not a folder, or cannot be reached.
pub async fn canonical_folder(folder: &Path) -> io::Result<PathBuf> {
    if let Some(found) = system::canonical_folder(folder) {
        return found;
    }
    let folder = folder.to_owned();
    let found = spawn_blocking(move || {
        let found = folder.canonicalize()?;
        if found.is_dir() { Ok(found) } else { Err(io::ErrorKind::NotADirectory.into()) }
    });
    found.await?
}

/// Whether a folder exists.
pub(super) async fn is_folder(folder: &Path) -> bool {
    if let Some(found) = system::is_folder(folder) {
        return found;
    }
    let folder = folder.to_owned();
    spawn_blocking(move || folder.is_dir()).await.unwrap_or(false)
}

/// The text of a plain file.
///
/// # Errors
/// It cannot be read, is not a plain file, is not text, or is too long.
pub(super) async fn text(file: &Path) -> io::Result<String> {
    if let Some(read) = system::text(file) {
        return read;
    }
    let file = file.to_owned();
    spawn_blocking(move || plain_file::read(&file)).await?
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::{self, File};
    use std::io::{self, IoSliceMut};
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::path::{Path, PathBuf};

    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    use super::plain_file;

    pub(super) fn canonical_folder(folder: &Path) -> Option<io::Result<PathBuf>> {
        let opened = open(folder, OFlags::PATH | OFlags::DIRECTORY)?;
        Some(opened.and_then(|opened| fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd()))))
    }

    pub(super) fn is_folder(folder: &Path) -> Option<bool> {
        open(folder, OFlags::PATH | OFlags::DIRECTORY).map(|opened| opened.is_ok())
    }

    pub(super) fn text(file: &Path) -> Option<io::Result<String>> {
        let opened = open(file, OFlags::RDONLY | OFlags::NONBLOCK)?;
        match opened.map(File::from).and_then(|file| Ok((plain_file::length(&file)?, file))) {
            Ok((length, file)) => content(&file, length).map(plain_file::text),
            Err(error) => Some(Err(error)),
        }
    }

    /// Opens a file that the kernel finds in its caches. `None` if it does not.
    fn open(path: &Path, flags: OFlags) -> Option<io::Result<OwnedFd>> {
        match openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED) {
            // Older kernels and filters of system calls refuse the call or its flag.
            Err(Errno::AGAIN | Errno::NOSYS | Errno::INVAL | Errno::PERM) => None,
            opened => Some(opened.map_err(io::Error::from)),
        }
    }

    /// The content of an open file, if all of it is in memory.
    fn content(file: &File, length: usize) -> Option<Vec<u8>> {
        let mut content = vec![0; length];
        let mut read = 0;
        while read < length {
            let mut rest = [IoSliceMut::new(&mut content[read..])];
            // A file that has become shorter is read on the other way.
            let more = preadv2(file, &mut rest, read as u64, ReadWriteFlags::NOWAIT).ok().filter(|more| *more > 0)?;
            read += more;
        }
        Some(content)
    }
}

/// Other systems cannot be asked so.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::path::{Path, PathBuf};

    pub(super) fn canonical_folder(_folder: &Path) -> Option<io::Result<PathBuf>> {
        None
    }

    pub(super) fn is_folder(_folder: &Path) -> Option<bool> {
        None
    }

    pub(super) fn text(_file: &Path) -> Option<io::Result<String>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Through the caches, and on a thread that may wait.
    async fn both(path: &Path) -> [Option<String>; 2] {
        [text(path).await.ok(), plain_file::read(path).ok()]
    }

    #[tokio::test]
    async fn a_file_has_the_same_text_on_both_ways() {
        let dir = tempfile::tempdir().unwrap();
        for content in ["", "a", &"long\n".repeat(100_000)] {
            fs::write(dir.path().join("file"), content).unwrap();
            assert_eq!(both(&dir.path().join("file")).await, [Some(content.to_owned()), Some(content.to_owned())]);
        }
        fs::write(dir.path().join("bytes"), b"\xff").unwrap();
        symlink("missing", dir.path().join("dangling")).unwrap();
        for other in ["bytes", "dangling", "missing", ".", "file/below"] {
            assert_eq!(both(&dir.path().join(other)).await, [None, None], "{other}");
        }
    }

    #[tokio::test]
    async fn a_folder_has_one_name() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap().join("folder");
        fs::create_dir(&folder).unwrap();
        symlink(&folder, dir.path().join("link")).unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        for name in ["folder", "link", "folder/../link/."] {
            assert_eq!(canonical_folder(&dir.path().join(name)).await.unwrap(), folder, "{name}");
        }
        for other in ["file", "missing"] {
            assert!(canonical_folder(&dir.path().join(other)).await.is_err(), "{other}");
            assert!(!is_folder(&dir.path().join(other)).await, "{other}");
        }
        assert!(is_folder(&folder).await);
    }
}
