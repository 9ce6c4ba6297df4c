//! What the bodies of all surfaces have: they are objects, which name a model and the kind of answer.

use crate::malformed::Malformed;
use crate::mend;
use crate::raw::{Json, Kind, Raw};

/// Reads the body, an object with the fields that `expected` lists.
pub(crate) fn json<'a>(body: &'a [u8], expected: &str) -> Result<Json<'a>, Malformed> {
    let json = mend::json(body)?;
    if json.value().kind() != Kind::Object {
        return Err(Malformed::body(format!("the body is not a JSON object: send one with {expected}")));
    }
    Ok(json)
}

/// The name of the model.
pub(crate) fn model(given: Option<Raw<'_>>) -> Result<String, Malformed> {
    let missing = || Malformed::field("model", "`model` is missing: send a name that GET /v1/models lists");
    given.and_then(Raw::text).ok_or_else(missing)
}

/// Whether the answer is to be streamed.
pub(crate) fn stream(given: Option<Raw<'_>>) -> Result<bool, Malformed> {
    match given.map(Raw::flag) {
        None => Ok(false),
        Some(Some(stream)) => Ok(stream),
        Some(None) => Err(Malformed::field("stream", "`stream` is neither true nor false: send one of them")),
    }
}
