//! Plain files. A pipe or a device is refused: it may block or be endless.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::git::MAX_OUTPUT;

/// The text of a file. Waits for it.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(without_waiting).open(path)?;
    let length = length(&file)?;
    let mut content = Vec::with_capacity(length);
    file.take(MAX_OUTPUT as u64).read_to_end(&mut content)?;
    text(content)
}

/// The length of an open file.
pub(super) fn length(file: &File) -> io::Result<usize> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let length = usize::try_from(found.len()).unwrap_or(usize::MAX);
    if length > MAX_OUTPUT {
        return Err(io::Error::other(format!("it has {length} bytes, more than {MAX_OUTPUT}")));
    }
    Ok(length)
}

/// Content as text.
pub(super) fn text(content: Vec<u8>) -> io::Result<String> {
    String::from_utf8(content).map_err(|_not_text| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}
