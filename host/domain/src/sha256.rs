//! The SHA-256 sum that identifies a component.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The SHA-256 of a component's bytes, written as `sha256sum` writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256Sum([u8; 32]);

/// The text is not a valid SHA-256 sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 sum: write its 64 hexadecimal digits, as `sha256sum` prints them")]
pub struct InvalidSha256Sum;

impl Sha256Sum {
    /// Computes the sum of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl TryFrom<String> for Sha256Sum {
    type Error = InvalidSha256Sum;

    fn try_from(text: String) -> Result<Self, InvalidSha256Sum> {
        let digits: Vec<u8> = text.chars().map_while(|digit| digit.to_digit(16)?.try_into().ok()).collect();
        if digits.len() != text.chars().count() || digits.len() != 64 {
            return Err(InvalidSha256Sum);
        }
        let bytes: Vec<u8> =
            digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
        bytes.try_into().map(Self).map_err(|_| InvalidSha256Sum)
    }
}

impl From<Sha256Sum> for String {
    fn from(sum: Sha256Sum) -> Self {
        sum.to_string()
    }
}

impl fmt::Display for Sha256Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_displayed_sum_parses_and_other_texts_do_not() {
        let sum = Sha256Sum::of(b"");
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!((sum.to_string().as_str(), Sha256Sum::try_from(text.to_owned())), (text, Ok(sum)));
        assert_eq!(Sha256Sum::try_from(text.to_uppercase()), Ok(sum));
        for wrong in ["", "e3", &text[1..], &format!("{text}0"), &text.replace('e', "x"), &text.replacen('e', "ä", 1)]
        {
            assert_eq!(Sha256Sum::try_from(wrong.to_owned()), Err(InvalidSha256Sum), "{wrong}");
        }
    }
}
