//! One file of the plugin folder, whatever lies there: it is opened without waiting, judged by what it is before a byte is
//! read, and read up to its limit. It owns no thread: `reader` says where and how long.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};

use super::error::CompileError;
use super::error::LoadError;

/// Bytes of a signature with its comments.
const LONGEST_SIGNATURE: u64 = 8 * 1024;

/// How all that is WebAssembly begins.
const MAGIC: &[u8] = b"\0asm";

/// What follows in a component, and in a core module.
const LAYERS: [&[u8]; 2] = [&[0x0d, 0, 1, 0], &[1, 0, 0, 0]];

/// A change this close to a look may have the time of the one before it.
const GRAIN: Duration = Duration::from_secs(2);

/// What the file system says of a file. Files with the same one have the same bytes, if it [`is_settled`](Self::is_settled).
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

    /// Whether any later change gives another stamp: the last one is long enough ago for the grain of a file system's time.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let before = |time: i64| u64::try_from(time).is_ok_and(|time| Duration::from_secs(time) + GRAIN < now);
        before(self.modified.0) && before(self.changed.0)
    }
}

/// The stamp of a file that could be a component, as far as its first bytes tell.
///
/// # Errors
/// See [`LoadError`].
pub(super) fn glance(path: &Path, limit: u64) -> Result<Stamp, LoadError> {
    open(path, limit).map(|(_, stamp)| stamp)
}

/// The bytes of a component file. They may be those of different moments if it is being written: whoever wants to know
/// compares the stamps.
///
/// # Errors
/// See [`LoadError`].
pub(super) fn read(path: &Path, limit: u64) -> Result<(Vec<u8>, Stamp), LoadError> {
    let (file, stamp) = open(path, limit)?;
    let bytes = rest(file, limit)?.ok_or(LoadError::TooLarge { limit })?;
    judge(&bytes)?;
    Ok((bytes, stamp))
}

fn open(path: &Path, limit: u64) -> Result<(File, Stamp), LoadError> {
    let (mut file, metadata) = open_plain(path)?;
    if metadata.len() > limit {
        return Err(LoadError::TooLarge { limit });
    }
    // What the system makes up when it is read, as in /proc, has no length, and may wait or be somebody's secret.
    if metadata.len() == 0 {
        return Err(CompileError::Invalid("it is empty".to_owned()).into());
    }
    let mut head = Vec::new();
    Read::by_ref(&mut file).take(8).read_to_end(&mut head).map_err(LoadError::Read)?;
    judge(&head)?;
    io::Seek::rewind(&mut file).map_err(LoadError::Read)?;
    Ok((file, Stamp::of(&metadata)))
}

/// Says what a file is not, without saying what is in it: it may be a link to somebody's.
fn judge(bytes: &[u8]) -> Result<(), LoadError> {
    let invalid = |reason: &str| Err(CompileError::Invalid(reason.to_owned()).into());
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return invalid("it does not begin as WebAssembly does") };
    match LAYERS.iter().position(|layer| rest.starts_with(layer)) {
        Some(0) => Ok(()),
        Some(_) => invalid(
            "it is a core module, which has to be made a component: with Rust, take the file from the folder of the \
             profile, not from `deps`",
        ),
        None => invalid("it is of a version that this agentbay does not know"),
    }
}

/// The text of the signature beside a file, if there is one.
///
/// # Errors
/// It is none that could be read.
pub(super) fn signature(path: &Path) -> Result<Option<String>, LoadError> {
    let beside = path.with_extension("wasm.minisig");
    let unreadable = |error: LoadError| LoadError::SignatureFile(error.to_string());
    let file = match open_plain(&beside) {
        Err(LoadError::Read(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(unreadable)?.0,
    };
    let too_long = || LoadError::SignatureFile(format!("is larger than {LONGEST_SIGNATURE} bytes"));
    let bytes = rest(file, LONGEST_SIGNATURE).map_err(unreadable)?.ok_or_else(too_long)?;
    String::from_utf8(bytes).map(Some).map_err(|_| LoadError::SignatureFile("is no text".to_owned()))
}

/// What is in a file, unless it is more than the limit.
fn rest(file: File, limit: u64) -> Result<Option<Vec<u8>>, LoadError> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(LoadError::Read)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Opens a plain file, or one that a link leads to. Nothing else is opened that can be told by then: a device may act on
/// it. Since it may become something else in between, nothing is waited for, and what is open is judged again.
fn open_plain(path: &Path) -> Result<(File, Metadata), LoadError> {
    plain(&fs::metadata(path).map_err(LoadError::Read)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| LoadError::Read(error.into()))?;
    let file = File::from(file);
    let metadata = file.metadata().map_err(LoadError::Read)?;
    plain(&metadata)?;
    Ok((file, metadata))
}

fn plain(metadata: &Metadata) -> Result<(), LoadError> {
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
    fn what_is_no_plain_file_is_refused_for_what_it_is_and_so_is_a_link_to_it() {
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
                let expected = format!("is {what}, and only a plain file can be taken");
                assert_eq!(reason(read(&path, 100)), expected);
                assert_eq!(reason(glance(&path, 100)), expected);
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
        assert!(matches!(glance(&path, 32 << 20), Err(LoadError::TooLarge { .. })));
    }

    #[test]
    fn what_cannot_be_a_component_is_refused_by_its_first_bytes_and_none_of_them_is_shown() {
        let folder = Folder::new();
        let invalid = "is no WebAssembly component: ";
        for (bytes, because) in [
            (&b""[..], "it is empty"),
            (b"root:x:0:0", "it does not begin as WebAssembly does"),
            (b"\0as", "it does not begin as WebAssembly does"),
            (b"\0asm\x01\0\0\0", "it is a core module, which has to be made a component"),
            (b"\0asm\x0e\0\x01\0", "it is of a version that this agentbay does not know"),
        ] {
            let reason = reason(glance(&folder.with("a.wasm", bytes), 100));
            assert!(reason.starts_with(&format!("{invalid}{because}")), "{reason}");
            assert!(!reason.contains("root"), "{reason}");
        }
        assert!(reason(read(Path::new("/proc/self/environ"), 100)).ends_with("it is empty"));
    }

    #[test]
    fn a_signature_is_judged_as_the_file_is_and_told_from_it() {
        let folder = Folder::new();
        let path = folder.with("a.wasm", COMPONENT);
        assert!(matches!(signature(&path), Ok(None)));
        let beside = folder.pipe("a.wasm.minisig");
        let refused = "has a signature beside it, NAME.wasm.minisig, that ";
        assert_eq!(reason(signature(&path)), format!("{refused}is a named pipe, and only a plain file can be taken"));
        fs::remove_file(&beside).unwrap();
        fs::write(&beside, [0xff]).unwrap();
        assert_eq!(reason(signature(&path)), format!("{refused}is no text"));
        fs::write(&beside, "x".repeat(8193)).unwrap();
        assert_eq!(reason(signature(&path)), format!("{refused}is larger than 8192 bytes"));
        fs::write(&beside, "signed").unwrap();
        assert_eq!(signature(&path).unwrap().as_deref(), Some("signed"));
    }

    #[test]
    fn a_stamp_is_settled_when_its_changes_are_past() {
        let folder = Folder::new();
        let stamp = glance(&folder.with("a.wasm", COMPONENT), 100).unwrap();
        let now = SystemTime::now();
        assert!(!stamp.is_settled(now) && !stamp.is_settled(UNIX_EPOCH));
        assert!(stamp.is_settled(now + Duration::from_secs(10)));
    }
}
