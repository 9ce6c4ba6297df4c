//! Signatures of components, in minisign's form: <https://jedisct1.github.io/minisign/>.

use agentbay_domain::Signer;
use minisign_verify::{PublicKey, Signature};

/// A signature does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadSignature(String);

/// Whether it is this signer's signature of these bytes. `signature` is the text of a `.minisig` file.
///
/// # Errors
/// It is no signature, not this signer's, or not of these bytes.
pub(super) fn verify(signer: &Signer, bytes: &[u8], signature: &str) -> Result<(), BadSignature> {
    let wrong = |error: minisign_verify::Error| BadSignature(error.to_string());
    let key = PublicKey::from_base64(signer.as_str()).map_err(wrong)?;
    let signature = Signature::decode(signature).map_err(wrong)?;
    // The older form, without a hash of its own, is not taken.
    key.verify(bytes, &signature, false).map_err(wrong)
}
