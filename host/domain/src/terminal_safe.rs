//! Untrusted text, such as file names, made safe for a terminal: control and invisible characters are escaped.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Returns whether a character controls a terminal, is invisible, or changes the order of its neighbours.
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

/// Writes deceptive characters as Rust escapes: `\n`, `\u{202e}`.
pub fn terminal_safe(text: &str) -> Cow<'_, str> {
    if !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if is_deceptive(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// The same for a path. Bytes that are not UTF-8 are written as `\xff`.
pub fn terminal_safe_path(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text += &terminal_safe(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _written = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn control_and_invisible_characters_are_escaped() {
        assert_eq!(terminal_safe("plain ä 🦀.wasm"), "plain ä 🦀.wasm");
        assert_eq!(terminal_safe("a\u{1b}[2Jb\nc\rd"), "a\\u{1b}[2Jb\\nc\\rd");
        for c in ['\u{202e}', '\u{2066}', '\u{2028}', '\u{200b}', '\u{feff}', '\u{85}', '\u{e0041}'] {
            assert_eq!(terminal_safe(&format!("x{c}y")), format!("x\\u{{{:x}}}y", u32::from(c)));
        }
        let path = Path::new(OsStr::from_bytes(b"/a/\xff\x1b.wasm"));
        assert_eq!(terminal_safe_path(path), "/a/\\xff\\u{1b}.wasm");
    }
}
