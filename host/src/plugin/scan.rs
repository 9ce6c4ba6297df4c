//! Which component files lie in the plugin folder, and what is in them. It takes no view of them, and reads them off the
//! threads that serve: the folder may be far away.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::task::spawn_blocking;

use super::error::LoadError;
use crate::domain::Sha256Sum;

/// Bytes of a signature with its comments.
const LONGEST_SIGNATURE: u64 = 8 * 1024;

/// A component file, as it was read, and the text of the signature beside it.
pub(super) struct Found {
    pub(super) bytes: Bytes,
    pub(super) sha256: Sha256Sum,
    pub(super) signature: Option<String>,
}

impl Found {
    /// What may have been read.
    pub(super) fn of(bytes: Bytes, signature: Option<String>) -> Self {
        Self { sha256: Sha256Sum::of(&bytes), bytes, signature }
    }

    /// Reads both.
    ///
    /// # Errors
    /// One of them cannot be read, or is too large.
    pub(super) async fn at(path: &Path, limit: u64) -> Result<Self, LoadError> {
        let path = path.to_owned();
        blocking(move || Ok(Self::of(read(&path, limit)?.into(), signature(&path)?))).await
    }

    /// Reads the component, whatever lies beside it.
    ///
    /// # Errors
    /// It cannot be read, or is too large.
    pub(super) async fn alone_at(path: &Path, limit: u64) -> Result<Self, LoadError> {
        let path = path.to_owned();
        blocking(move || Ok(Self::of(read(&path, limit)?.into(), None))).await
    }
}

async fn blocking(read: impl FnOnce() -> Result<Found, LoadError> + Send + 'static) -> Result<Found, LoadError> {
    spawn_blocking(read).await.unwrap_or_else(|lost| Err(LoadError::Read(lost.into())))
}

/// The component files of a folder, in order. A folder that does not exist has none. Hidden files, such as those which
/// editors and copying programs write first and then rename, are passed over.
///
/// # Errors
/// The folder cannot be read.
pub(super) async fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let dir = dir.to_owned();
    spawn_blocking(move || list(&dir)).await?
}

fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| is_component(path));
    files.sort();
    Ok(files)
}

/// Reads a whole file, but never more than one byte over the limit.
fn read(path: &Path, limit: u64) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(LoadError::Read)?;
    if bytes.len() as u64 > limit { Err(LoadError::TooLarge { limit }) } else { Ok(bytes) }
}

/// The text of the signature beside a file, if there is one.
fn signature(path: &Path) -> Result<Option<String>, LoadError> {
    let beside = path.with_extension("wasm.minisig");
    if !beside.exists() {
        return Ok(None);
    }
    let bytes = read(&beside, LONGEST_SIGNATURE)?;
    String::from_utf8(bytes).map(Some).map_err(|error| LoadError::Read(io::Error::other(error)))
}

fn is_component(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && path.extension().is_some_and(|extension| extension == "wasm") && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_visible_component_files_count() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.wasm", "a.wasm", ".c.wasm", "d.wasm.tmp", "README.md"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join("e.wasm")).unwrap();
        assert_eq!(list(dir.path()).unwrap(), [dir.path().join("a.wasm"), dir.path().join("b.wasm")]);
        assert_eq!(list(&dir.path().join("missing")).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.wasm");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert!(matches!(read(&path, 4), Err(LoadError::TooLarge { limit: 4 })));
    }

    #[tokio::test]
    async fn a_signature_that_cannot_be_read_matters_only_where_it_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.wasm");
        fs::write(&path, "12345").unwrap();
        fs::write(path.with_extension("wasm.minisig"), [0xff]).unwrap();
        assert!(matches!(Found::at(&path, 5).await, Err(LoadError::Read(_))));
        let alone = Found::alone_at(&path, 5).await.unwrap();
        assert_eq!((&alone.bytes[..], alone.signature), (&b"12345"[..], None));
    }
}
