//! Text that others chose, such as file names, in a form that a terminal neither obeys nor hides.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Whether a character is obeyed, hidden, or changes the order in which its neighbours are shown.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text with such characters written as escapes of Rust: `\n`, `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if is_deceptive(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// The same for a path; bytes that are no text are written as `\xff`.
pub fn visible_path(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        shown += &visible(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _written = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn what_a_terminal_obeys_or_hides_is_written_as_an_escape() {
        assert_eq!(visible("plain ä 🦀.wasm"), "plain ä 🦀.wasm");
        assert_eq!(visible("a\u{1b}[2Jb\nc\rd"), "a\\u{1b}[2Jb\\nc\\rd");
        for c in ['\u{202e}', '\u{2066}', '\u{2028}', '\u{200b}', '\u{feff}', '\u{85}', '\u{e0041}'] {
            assert_eq!(visible(&format!("x{c}y")), format!("x\\u{{{:x}}}y", u32::from(c)));
        }
        let path = Path::new(OsStr::from_bytes(b"/a/\xff\x1b.wasm"));
        assert_eq!(visible_path(path), "/a/\\xff\\u{1b}.wasm");
    }
}
