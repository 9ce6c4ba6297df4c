//! Images, sounds and files in messages.

use std::fmt;
use std::sync::Arc;

/// An image, a sound or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Its media type, such as `image/png`; empty if it is unknown.
    pub mime: String,
    /// Its content.
    pub content: MediaContent,
    /// Its replacement where nobody can open it, such as `[image]`.
    pub shown: String,
}

/// The content of a medium.
#[derive(Clone, PartialEq, Eq)]
pub enum MediaContent {
    /// Its bytes; never empty.
    Bytes(Arc<[u8]>),
    /// Where it is: an `http` or `https` URL without white space.
    Url(String),
}

/// Omits the bytes.
impl fmt::Debug for MediaContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Url(url) => f.debug_tuple("Url").field(url).finish(),
        }
    }
}

/// The usual extensions of media types that agents can open.
const EXTENSIONS: [(&str, &str); 27] = [
    ("application/json", "json"),
    ("application/pdf", "pdf"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/xml", "xml"),
    ("application/zip", "zip"),
    ("audio/flac", "flac"),
    ("audio/mp3", "mp3"),
    ("audio/mp4", "m4a"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/wav", "wav"),
    ("audio/webm", "weba"),
    ("audio/x-wav", "wav"),
    ("image/gif", "gif"),
    ("image/jpeg", "jpg"),
    ("image/jpg", "jpg"),
    ("image/png", "png"),
    ("image/svg+xml", "svg"),
    ("image/webp", "webp"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
];

impl Media {
    /// The extension of a file of its type. It is never the client's own.
    pub fn extension(&self) -> &'static str {
        let mime = self.mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let known = EXTENSIONS.iter().find(|(known, _)| *known == mime);
        known.map_or_else(|| if mime.starts_with("text/") { "txt" } else { "bin" }, |(_, extension)| extension)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_is_that_of_the_type_and_nothing_of_the_client() {
        let extension = |mime: &str| {
            Media { mime: mime.to_owned(), content: MediaContent::Url(String::new()), shown: String::new() }.extension()
        };
        let types = ["image/PNG", "text/plain; charset=utf-8", "text/x-rust", "", "image/../../x", "png"];
        assert_eq!(types.map(extension), ["png", "txt", "txt", "bin", "bin", "bin"]);
    }
}
