//! The id that a CLI gives to its session, which resumes it.

use std::fmt;

/// A CLI's own id of a session. It becomes part of command lines and headers, so only harmless characters are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionId(String);

/// The text is not a valid session id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid session id: use letters, digits, `.`, `_`, `:` and `-`, starting with a letter or digit, at most 200 \
     characters"
)]
pub struct InvalidSessionId;

impl SessionId {
    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for SessionId {
    type Error = InvalidSessionId;

    fn try_from(id: &str) -> Result<Self, InvalidSessionId> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
        let starts_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
        if starts_well && id.len() <= 200 && id.chars().all(fits) {
            Ok(Self(id.to_owned()))
        } else {
            Err(InvalidSessionId)
        }
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_inject_an_option_or_a_header() {
        for id in ["01a21eb9-01ec-7e92-bfb9-fd056ea14d53", "ses_a", "latest"] {
            assert_eq!(SessionId::try_from(id).unwrap().as_str(), id);
        }
        for id in ["", "-x", "--yolo", "a b", "a\" --x", "a\nb", "é", &"a".repeat(201)] {
            assert_eq!(SessionId::try_from(id), Err(InvalidSessionId));
        }
    }
}
