//! Answers in the documents, compared with real ones: the same fields with the same values, except for those that differ between
//! runs.

use serde_json::Value;

const VARYING: [&str; 6] = ["created_at", "completed_at", "generation", "program", "created", "last_id"];

/// The first difference between JSON in a document and real JSON. A document may show part of a list.
pub(super) fn difference(shown: &Value, came: &Value) -> Option<String> {
    differs(shown, came, "")
}

fn differs(shown: &Value, came: &Value, key: &str) -> Option<String> {
    let here = |what: String| Some(format!("`{key}`: {what}"));
    match (shown, came) {
        (Value::Object(shown), Value::Object(came)) => {
            let keys = |object: &serde_json::Map<String, Value>| object.keys().cloned().collect::<Vec<_>>();
            let (mut first, mut second) = (keys(shown), keys(came));
            first.sort();
            second.sort();
            if first != second {
                return here(format!("the fields {first:?} are shown, and {second:?} came"));
            }
            shown.iter().find_map(|(key, value)| differs(value, &came[key], key))
        }
        (Value::Array(shown), Value::Array(came)) => {
            let lost = |value: &&Value| !came.iter().any(|other| differs(value, other, key).is_none());
            let lost = shown.iter().find(lost)?;
            here(format!("{lost} is shown, and came in none of {came:?}"))
        }
        _ if VARYING.contains(&key) && std::mem::discriminant(shown) == std::mem::discriminant(came) => None,
        (Value::String(shown), Value::String(came)) if masked(shown) == masked(came) => None,
        _ if shown == came => None,
        _ => here(format!("{shown} is shown, and {came} came")),
    }
}

/// The first line of a text in a document that differs from the real one.
pub(super) fn line_difference(shown: &str, came: &str) -> Option<String> {
    let (shown, came): (Vec<&str>, Vec<&str>) = (shown.trim_end().lines().collect(), came.trim_end().lines().collect());
    if shown.len() != came.len() {
        return Some(format!("{} lines are shown, and {} came: {came:?}", shown.len(), came.len()));
    }
    let differs = |(shown, came): &(&&str, &&str)| masked(shown) != masked(came);
    let (shown, came) = shown.iter().zip(&came).find(differs)?;
    Some(format!("{shown:?} is shown, and {came:?} came"))
}

/// A text with `…` in place of ids, hashes and times.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    let mut run = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_digit() || ('a'..='f').contains(&c) {
            run.push(c);
            continue;
        }
        masked += if run.len() >= 10 { "…" } else { &run };
        run.clear();
        masked.push(c);
    }
    masked
}

#[test]
fn an_answer_differs_by_a_field_a_type_or_a_value_and_not_by_an_id() {
    let came = serde_json::json!({
        "id": "chatcmpl-0123456789ab", "created": 1, "n": [{"a": 1}, {"a": 2}], "s": "x", "created_at": "today", "z": null
    });
    let with = |key: &str, value: Value| {
        let mut shown = came.clone();
        shown[key] = value;
        difference(&shown, &came).is_some()
    };
    let same = [("id", "chatcmpl-ba9876543210".into()), ("created", 7.into()), ("created_at", "then".into())];
    assert!(same.into_iter().all(|(key, value)| !with(key, value)));
    assert!(!with("n", serde_json::json!([{"a": 2}])));
    let others = [
        ("more", Value::Null),
        ("id", "0123456789ab".into()),
        ("s", "y".into()),
        ("created", "1".into()),
        ("n", serde_json::json!([{"a": 3}])),
        ("z", 0.into()),
    ];
    for (key, value) in others {
        assert!(with(key, value), "{key}");
    }
    assert_eq!(line_difference("a 0123456789\nb\n", "a ba98765432\nb"), None);
    assert!(line_difference("a\n", "a\nb\n").is_some() && line_difference("a 01\n", "a 02\n").is_some());
}
