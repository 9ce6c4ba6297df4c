//! Lists the component files of the plugin folder by name, without opening them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The component files of a folder, in order. A folder that does not exist has none. Hidden files are skipped: editors and
/// copy programs write them first and then rename them.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
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

fn is_component(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && path.extension().is_some_and(|extension| extension == "wasm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_visible_names_of_component_files_are_listed_of_any_file_type() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.wasm", "a.wasm", ".c.wasm", "._a.wasm", "d.wasm.tmp", "README.md"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join("e.wasm")).unwrap();
        let expected = ["a.wasm", "b.wasm", "e.wasm"].map(|name| dir.path().join(name));
        assert_eq!(list(dir.path()).unwrap(), expected);
        assert_eq!(list(&dir.path().join("missing")).unwrap(), Vec::<PathBuf>::new());
    }
}
