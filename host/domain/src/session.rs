//! The name a CLI gives to a session of its own, by which it can be resumed.

use std::fmt;

/// A CLI's own id of a session. It goes into command lines and headers, so it is held to what such ids look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionId(String);

/// A text is no id of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a session id takes letters, digits, `.`, `_`, `:` and `-`, begins with a letter or digit, 200 at the most")]
pub struct NoSessionId;

impl SessionId {
    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for SessionId {
    type Error = NoSessionId;

    fn try_from(id: &str) -> Result<Self, NoSessionId> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
        let begins_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
        if begins_well && id.len() <= 200 && id.chars().all(fits) { Ok(Self(id.to_owned())) } else { Err(NoSessionId) }
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
    fn an_id_cannot_become_an_option_or_a_second_header() {
        for id in ["01a21eb9-01ec-7e92-bfb9-fd056ea14d53", "ses_a", "latest"] {
            assert_eq!(SessionId::try_from(id).unwrap().as_str(), id);
        }
        for id in ["", "-x", "--yolo", "a b", "a\" --x", "a\nb", "é", &"a".repeat(201)] {
            assert_eq!(SessionId::try_from(id), Err(NoSessionId));
        }
    }
}
