//! Public keys of trusted signers, in minisign's format: <https://jedisct1.github.io/minisign/>.

use std::fmt;

/// A trusted signer, identified by the public key.
#[derive(Clone, PartialEq, Eq)]
pub struct Signer(String);

/// The text is not a valid minisign public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a minisign public key: write the second line of its .pub file, which starts with RW")]
pub struct InvalidSigner;

/// 42 bytes in base64: the algorithm `Ed` (2), the id of the key (8) and the key (32).
const LENGTH: usize = 56;

impl TryFrom<String> for Signer {
    type Error = InvalidSigner;

    fn try_from(text: String) -> Result<Self, InvalidSigner> {
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let algorithm = matches!(text.as_bytes(), [b'R', b'W', b'Q'..=b'T', ..]);
        let is_key = text.len() == LENGTH && algorithm && text.bytes().all(is_base64);
        if is_key { Ok(Self(text)) } else { Err(InvalidSigner) }
    }
}

impl Signer {
    /// The key in base64.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_in_the_form_of_a_key_is_accepted() {
        let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        assert_eq!(Signer::try_from(key.to_owned()).map(|signer| signer.to_string()), Ok(key.to_owned()));
        for wrong in ["", "RW", &key[1..], &format!("{key}="), &key.replace("RWQ", "RWA"), &key.replace('f', "-")] {
            assert_eq!(Signer::try_from(wrong.to_owned()), Err(InvalidSigner), "{wrong}");
        }
    }
}
