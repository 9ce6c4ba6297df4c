//! Which component files lie in the plugin folder, and what is in them. It takes no view of them.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::LoadError;

/// Bytes of a signature with its comments.
const LONGEST_SIGNATURE: u64 = 8 * 1024;

/// The component files of a folder, in order. A folder that does not exist has none. Hidden files, such as those which
/// editors and copying programs write first and then rename, are passed over.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
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
///
/// # Errors
/// It cannot be read, or is too large.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(LoadError::Read)?;
    if bytes.len() as u64 > limit { Err(LoadError::TooLarge { limit }) } else { Ok(bytes) }
}

/// The text of the signature beside a file, if there is one.
///
/// # Errors
/// It cannot be read as text.
pub(super) fn signature(path: &Path) -> Result<Option<String>, LoadError> {
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
        assert_eq!(files(dir.path()).unwrap(), [dir.path().join("a.wasm"), dir.path().join("b.wasm")]);
        assert_eq!(files(&dir.path().join("missing")).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.wasm");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert!(matches!(read(&path, 4), Err(LoadError::TooLarge { limit: 4 })));
    }
}
