//! Whose signatures count. The form is minisign's: <https://jedisct1.github.io/minisign/>.

use std::fmt;

/// Somebody whose signature counts, by the public key.
#[derive(Clone, PartialEq, Eq)]
pub struct Signer(String);

/// A text is no public key of minisign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no public key of minisign: write the second line of its .pub file, which begins with RW")]
pub struct NoSigner;

/// 42 bytes in base64: two that name the algorithm, `Ed`, eight of the key's number, 32 of the key.
const LENGTH: usize = 56;

impl TryFrom<String> for Signer {
    type Error = NoSigner;

    fn try_from(text: String) -> Result<Self, NoSigner> {
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let algorithm = matches!(text.as_bytes(), [b'R', b'W', b'Q'..=b'T', ..]);
        let is_key = text.len() == LENGTH && algorithm && text.bytes().all(is_base64);
        if is_key { Ok(Self(text)) } else { Err(NoSigner) }
    }
}

impl Signer {
    /// The key as it is written.
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
    fn a_key_is_known_by_its_form() {
        let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        assert_eq!(Signer::try_from(key.to_owned()).map(|signer| signer.to_string()), Ok(key.to_owned()));
        for wrong in ["", "RW", &key[1..], &format!("{key}="), &key.replace("RWQ", "RWA"), &key.replace('f', "-")] {
            assert_eq!(Signer::try_from(wrong.to_owned()), Err(NoSigner), "{wrong}");
        }
    }
}
