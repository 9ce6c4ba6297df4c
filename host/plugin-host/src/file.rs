//! Reads one file of the plugin folder, of any kind: it is opened without blocking, checked by its type before a byte is
//! read, and read up to its limit. `reader` owns the threads and the time limit.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};

use super::error::CompileError;
use super::error::LoadError;

/// Maximum bytes of a signature file with its comments.
const MAX_SIGNATURE: u64 = 8 * 1024;

/// The first bytes of every WebAssembly file.
const MAGIC: &[u8] = b"\0asm";

/// The next bytes of a component, and of a core module.
const LAYERS: [&[u8]; 2] = [&[0x0d, 0, 1, 0], &[1, 0, 0, 0]];

/// Changes within this time may have the same time stamp.
const TIME_GRANULARITY: Duration = Duration::from_secs(2);

/// The file system's metadata of a file. Equal stamps mean equal content, if they are [settled](Self::is_settled).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    pub(super) length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether every later change gives another stamp: the last change is older than the granularity of file system times.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let before =
            |time: i64| u64::try_from(time).is_ok_and(|time| Duration::from_secs(time) + TIME_GRANULARITY < now);
        before(self.modified.0) && before(self.changed.0)
    }
}

/// The stamp of a file that could be a component, by its first bytes.
///
/// # Errors
/// See [`LoadError`].
pub(super) fn probe(path: &Path, limit: u64) -> Result<Stamp, LoadError> {
    open(path, limit).map(|(_, stamp)| stamp)
}

/// The bytes of a component file. If it is being written, they may be a mix of versions, which different stamps show.
///
/// # Errors
/// See [`LoadError`].
pub(super) fn read(path: &Path, limit: u64) -> Result<(Vec<u8>, Stamp), LoadError> {
    let (file, stamp) = open(path, limit)?;
    let bytes = read_to_limit(file, limit)?.ok_or(LoadError::TooLarge { limit })?;
    check_header(&bytes)?;
    Ok((bytes, stamp))
}

fn open(path: &Path, limit: u64) -> Result<(File, Stamp), LoadError> {
    let (mut file, metadata) = open_plain_file(path)?;
    if metadata.len() > limit {
        return Err(LoadError::TooLarge { limit });
    }
    // Files that the system generates, as in /proc, have no length, and may block or be secret.
    if metadata.len() == 0 {
        return Err(CompileError::Invalid("it is empty".to_owned()).into());
    }
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(8).read_to_end(&mut head).map_err(LoadError::Read)?;
    check_header(&head)?;
    io::Seek::rewind(&mut file).map_err(LoadError::Read)?;
    Ok((file, Stamp::of(&metadata)))
}

/// Checks the first bytes. The error does not show them: the file may be a link to a secret.
fn check_header(bytes: &[u8]) -> Result<(), LoadError> {
    let invalid = |reason: &str| Err(CompileError::Invalid(reason.to_owned()).into());
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return invalid("it does not start like WebAssembly") };
    match LAYERS.iter().position(|layer| rest.starts_with(layer)) {
        Some(0) => Ok(()),
        Some(_) => invalid(
            "it is a core module and not a component: with Rust, take the file from the folder of the profile, not \
             from `deps`",
        ),
        None => invalid("its format version is not supported by this agentbay"),
    }
}

/// The text of the signature beside a file, if there is one.
///
/// # Errors
/// The signature file cannot be read.
pub(super) fn signature(path: &Path) -> Result<Option<String>, LoadError> {
    let beside = path.with_extension("wasm.minisig");
    let unreadable = |error: LoadError| LoadError::SignatureFile(error.to_string());
    let file = match open_plain_file(&beside) {
        Err(LoadError::Read(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(unreadable)?.0,
    };
    let too_long = || LoadError::SignatureFile(format!("is larger than {MAX_SIGNATURE} bytes"));
    let bytes = read_to_limit(file, MAX_SIGNATURE).map_err(unreadable)?.ok_or_else(too_long)?;
    String::from_utf8(bytes).map(Some).map_err(|_| LoadError::SignatureFile("is not text".to_owned()))
}

/// The content of a file, or `None` if it is larger than the limit.
fn read_to_limit(file: File, limit: u64) -> Result<Option<Vec<u8>>, LoadError> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(LoadError::Read)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Opens a plain file, or the target of a link. Other kinds are not opened: a device may act on it. Since the path may change
/// in between, the open does not block, and the open file is checked again.
fn open_plain_file(path: &Path) -> Result<(File, Metadata), LoadError> {
    check_plain(&fs::metadata(path).map_err(LoadError::Read)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| LoadError::Read(error.into()))?;
    let file = File::from(file);
    let metadata = file.metadata().map_err(LoadError::Read)?;
    check_plain(&metadata)?;
    Ok((file, metadata))
}

fn check_plain(metadata: &Metadata) -> Result<(), LoadError> {
    let kind = metadata.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () => "something else",
    };
    Err(LoadError::NotAFile(what))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    use rustix::fs::{CWD, FileType, mknodat};

    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn with(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
            fs::write(self.path(name), bytes).unwrap();
            self.path(name)
        }

        fn pipe(&self, name: &str) -> PathBuf {
            mknodat(CWD, self.path(name), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
            self.path(name)
        }
    }

    fn reason<T>(refused: Result<T, LoadError>) -> String {
        refused.err().expect("it is refused").to_string()
    }

    #[test]
    fn anything_but_a_plain_file_is_refused_by_its_kind_also_behind_a_link() {
        let folder = Folder::new();
        fs::create_dir(folder.path("folder")).unwrap();
        folder.pipe("pipe");
        let _listener = UnixListener::bind(folder.path("socket")).unwrap();
        symlink("/dev/zero", folder.path("device")).unwrap();
        for (name, what) in
            [("folder", "a folder"), ("pipe", "a named pipe"), ("socket", "a socket"), ("device", "a device")]
        {
            let link = folder.path(&format!("link to {name}"));
            symlink(folder.path(name), &link).unwrap();
            for path in [folder.path(name), link] {
                let expected = format!("is {what}: only plain files are accepted");
                assert_eq!(reason(read(&path, 100)), expected);
                assert_eq!(reason(probe(&path, 100)), expected);
            }
        }
        symlink(folder.path("loop"), folder.path("loop")).unwrap();
        assert!(reason(read(&folder.path("loop"), 100)).starts_with("cannot be read: "));
        assert!(reason(read(&folder.path("missing"), 100)).starts_with("cannot be read: "));
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let folder = Folder::new();
        let path = folder.with("a.wasm", COMPONENT);
        assert_eq!(read(&path, 8).unwrap().0, COMPONENT);
        assert!(matches!(read(&path, 7), Err(LoadError::TooLarge { limit: 7 })));
        File::create(&path).unwrap().set_len(2 << 30).unwrap();
        assert!(matches!(probe(&path, 32 << 20), Err(LoadError::TooLarge { .. })));
    }

    #[test]
    fn a_file_that_is_not_a_component_is_refused_without_showing_its_bytes() {
        let folder = Folder::new();
        let invalid = "is not a valid WebAssembly component: ";
        for (bytes, because) in [
            (&b""[..], "it is empty"),
            (b"root:x:0:0", "it does not start like WebAssembly"),
            (b"\0as", "it does not start like WebAssembly"),
            (b"\0asm\x01\0\0\0", "it is a core module and not a component"),
            (b"\0asm\x0e\0\x01\0", "its format version is not supported by this agentbay"),
        ] {
            let reason = reason(probe(&folder.with("a.wasm", bytes), 100));
            assert!(reason.starts_with(&format!("{invalid}{because}")), "{reason}");
            assert!(!reason.contains("root"), "{reason}");
        }
        assert!(reason(read(Path::new("/proc/self/environ"), 100)).ends_with("it is empty"));
    }

    #[test]
    fn a_signature_file_is_checked_like_the_component_and_named_in_its_error() {
        let folder = Folder::new();
        let path = folder.with("a.wasm", COMPONENT);
        assert!(matches!(signature(&path), Ok(None)));
        let beside = folder.pipe("a.wasm.minisig");
        let refused = "has a signature file, NAME.wasm.minisig, that ";
        assert_eq!(reason(signature(&path)), format!("{refused}is a named pipe: only plain files are accepted"));
        fs::remove_file(&beside).unwrap();
        fs::write(&beside, [0xff]).unwrap();
        assert_eq!(reason(signature(&path)), format!("{refused}is not text"));
        fs::write(&beside, "x".repeat(8193)).unwrap();
        assert_eq!(reason(signature(&path)), format!("{refused}is larger than 8192 bytes"));
        fs::write(&beside, "signed").unwrap();
        assert_eq!(signature(&path).unwrap().as_deref(), Some("signed"));
    }

    #[test]
    fn a_stamp_is_settled_when_its_changes_are_old_enough() {
        let folder = Folder::new();
        let stamp = probe(&folder.with("a.wasm", COMPONENT), 100).unwrap();
        let now = SystemTime::now();
        assert!(!stamp.is_settled(now) && !stamp.is_settled(UNIX_EPOCH));
        assert!(stamp.is_settled(now + Duration::from_secs(10)));
    }
}
