//! The recorded requests of clients of this surface.

use agentbay_domain::{AnswerFormat, Ask};
use serde_json::{Value, json};

use super::*;
use crate::recordings::{compare, requests, shown};

#[test]
fn recorded_requests_are_decoded_as_reviewed() {
    compare(&["gemini-cli-", "google-genai-"], |path, body| {
        let (_, method) = Method::split(path.split('?').next().unwrap())?;
        Some(match method {
            Method::CountTokens => match count_tokens(body) {
                Ok(tokens) => json!({"tokens": tokens}),
                Err(refused) => json!({"refused": refused.to_string()}),
            },
            Method::Generate | Method::Stream => decoded(body),
        })
    });
}

fn decoded(body: &[u8]) -> Value {
    let GenerateRequest { conversation, ask: Ask { format, stop, max_output }, thoughts, ignored } = match decode(body)
    {
        Ok(request) => request,
        Err(refused) => return json!({"refused": refused.to_string()}),
    };
    let format = match format {
        AnswerFormat::Text => Value::Null,
        AnswerFormat::Json => "json".into(),
        AnswerFormat::Schema(schema) => serde_json::from_str(&schema.json).unwrap(),
    };
    json!({
        "messages": shown(&conversation),
        "format": format,
        "stop": stop,
        "max_output": max_output,
        "thoughts": thoughts,
        "ignored": ignored,
    })
}

/// The keys of a recorded request in another spelling. What clients name themselves stays as it is.
fn respelled(value: &Value, spell: &impl Fn(&str) -> String) -> Value {
    const OWN: [&str; 6] =
        ["args", "response", "properties", "parametersJsonSchema", "parameters_json_schema", "required"];
    match value {
        Value::Array(items) => items.iter().map(|item| respelled(item, spell)).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                let value = if OWN.contains(&key.as_str()) { value.clone() } else { respelled(value, spell) };
                (spell(key), value)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

fn snake(key: &str) -> String {
    let letter = |c: char| if c.is_ascii_uppercase() { format!("_{}", c.to_ascii_lowercase()) } else { c.to_string() };
    key.chars().map(letter).collect()
}

fn camel(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_ascii_uppercase() + &word[1..])
}

#[test]
fn a_request_is_decoded_alike_in_every_spelling_of_its_keys() {
    let seen = |method: Method, request: &Value| {
        let body = request.to_string();
        if method == Method::CountTokens {
            return json!(count_tokens(body.as_bytes()).unwrap());
        }
        let mut seen = decoded(body.as_bytes());
        // These are named as the client spells them.
        seen.as_object_mut().unwrap().remove("ignored");
        seen
    };
    let mut count = 0;
    for (path, request) in requests(&["gemini-cli-", "google-genai-"]) {
        let Some((_, method)) = Method::split(path.split('?').next().unwrap()) else { continue };
        let expected = seen(method, &request);
        for other in [respelled(&request, &snake), respelled(&request, &camel)] {
            assert_eq!(seen(method, &other), expected, "{path}: {other}");
        }
        count += 1;
    }
    assert!(count > 15, "{count}");
}
