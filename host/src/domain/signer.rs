//! Whose signatures count. The form is minisign's: <https://jedisct1.github.io/minisign/>.

use std::fmt;

use minisign_verify::{PublicKey, Signature};

/// Somebody whose signature counts, by the public key.
#[derive(Clone, PartialEq, Eq)]
pub struct Signer(String);

/// A text is no public key of minisign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no public key of minisign: write the second line of its .pub file, which begins with RW")]
pub struct NoSigner;

/// A signature does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadSignature(String);

impl TryFrom<String> for Signer {
    type Error = NoSigner;

    fn try_from(text: String) -> Result<Self, NoSigner> {
        PublicKey::from_base64(&text).map_err(|_| NoSigner)?;
        Ok(Self(text))
    }
}

impl Signer {
    /// Whether it is this signer's signature of these bytes. `signature` is the text of a `.minisig` file.
    ///
    /// # Errors
    /// It is no signature, not this signer's, or not of these bytes.
    pub fn verify(&self, bytes: &[u8], signature: &str) -> Result<(), BadSignature> {
        let wrong = |error: minisign_verify::Error| BadSignature(error.to_string());
        let key = PublicKey::from_base64(&self.0).map_err(wrong)?;
        let signature = Signature::decode(signature).map_err(wrong)?;
        // The older form, without a hash of its own, is not taken.
        key.verify(bytes, &signature, false).map_err(wrong)
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
