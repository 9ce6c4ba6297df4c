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

/// The maximum length of the answer in tokens.
pub(crate) fn max_output(given: Option<Raw<'_>>, name: &'static str) -> Result<Option<u64>, Malformed> {
    let Some(given) = given else { return Ok(None) };
    match given.number() {
        Some(number) if number >= 1.0 => Ok(Some(number as u64)),
        _ => Err(Malformed::field(name, format!("`{name}` is not a positive number: send one, or leave it out"))),
    }
}

/// The texts before which the answer ends: a list, or a text alone. Empty ones end nothing.
pub(crate) fn texts(given: Option<Raw<'_>>, name: &'static str) -> Result<Vec<String>, Malformed> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let items = given.items().unwrap_or_else(|| vec![given]);
    let texts = items.into_iter().filter(|item| item.kind() != Kind::Null).map(Raw::text);
    let texts: Option<Vec<String>> = texts.collect();
    let refuse = || Malformed::field(name, format!("`{name}` is not a list of texts: send one, or leave it out"));
    texts.map(|texts| texts.into_iter().filter(|text| !text.is_empty()).collect()).ok_or_else(refuse)
}
