//! Signatures of components, in the format of minisign: <https://jedisct1.github.io/minisign/>.

use agentbay_domain::Signer;
use minisign_verify::{PublicKey, Signature};

/// A signature is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadSignature(String);

/// Verifies that a signature of these bytes is by this signer. `signature` is the text of a `.minisig` file.
///
/// # Errors
/// It is not a signature, not by this signer, or not of these bytes.
pub(super) fn verify(signer: &Signer, bytes: &[u8], signature: &str) -> Result<(), BadSignature> {
    let wrong = |error: minisign_verify::Error| BadSignature(error.to_string());
    let key = PublicKey::from_base64(signer.as_str()).map_err(wrong)?;
    let signature = Signature::decode(signature).map_err(wrong)?;
    // The legacy format without prehashing is not accepted.
    key.verify(bytes, &signature, false).map_err(wrong)
}
