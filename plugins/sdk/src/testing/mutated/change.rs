//! Mutations of a run's events: changes that must make no difference, and corruptions.

use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// A change that must make no difference.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A separate line with this text.
    Line(&'static str),
    /// This text before the event, on its line.
    Before(&'static str),
    /// The next event on the same line, after this text.
    Joined(&'static str),
    /// The event spread over several lines.
    Pretty,
    /// Non-ASCII characters escaped.
    Escaped,
    /// An additional member in the event.
    Member(&'static str),
    /// An additional member in the event with this nesting depth.
    Deep(usize),
    /// Integers with a zero fraction.
    Floats,
    /// All events as the items of an array.
    Array,
}

/// A change that removes or breaks information.
#[derive(Clone, Debug)]
pub(super) enum Corruption {
    /// Unknown names in this field of all events, at any depth.
    Rename(&'static str),
    /// Unknown names in one event.
    RenameOne,
    /// The event is missing.
    Drop,
    /// The event follows the next one.
    Swap,
    /// The event is repeated.
    Twice,
    /// The event is truncated in its middle.
    Cut,
    /// The event is the last one.
    End,
    /// All strings of the event become objects.
    Objects,
}

const LINES: [&str; 12] = [
    "",
    "\r",
    "warning: {not json",
    "[INFO] {\"a\": [1, 2",
    "{",
    "{\"a\":",
    "{\"type\":\"assistant\",\"message\":{\"content\":\"half",
    "{\"type\":\"x\",\"list\":[{\"type\":\"text\"",
    "\u{2028}",
    "{\"type\":\"future.event\",\"data\":{\"text\":[\"no answer\"]},\"level\":{\"message\":null}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"future/event\",\"params\":{\"update\":{\"sessionUpdate\":\"future\"}}}",
    "NaN",
];

const MEMBERS: [&str; 8] = [
    "\"x_odd\":1e999",
    "\"x_odd\":NaN,\"x_other\":-Infinity",
    "\"x_odd\":340282366920938463463374607431768211456",
    "\"x_odd\":\"\\ud83d half\"",
    "\"x_odd\":1,\"x_odd\":\"again\"",
    "\"x_odd\":{\"type\":\"result\",\"role\":\"assistant\",\"content\":\"no answer\"}",
    "\"x_odd\":[[],{},null,false,-1,0.5]",
    "\"x_odd\":\"C:\\Users \\q\"",
];

pub(super) fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => select(LINES.as_slice()).prop_map(Change::Line),
        2 => select(["data: ", "\u{feff}", "12:00:01 INFO ", "[", ", "].as_slice()).prop_map(Change::Before),
        2 => select(["", " ", ",", "\r", " | "].as_slice()).prop_map(Change::Joined),
        1 => Just(Change::Pretty),
        1 => Just(Change::Escaped),
        3 => select(MEMBERS.as_slice()).prop_map(Change::Member),
        1 => select([100_usize, 130, 5000].as_slice()).prop_map(Change::Deep),
        1 => Just(Change::Floats),
        1 => Just(Change::Array),
    ]
}

pub(super) fn corruptions() -> impl Strategy<Value = Corruption> {
    const NAMES: [&str; 6] = ["type", "role", "sessionUpdate", "method", "subtype", "status"];
    prop_oneof![
        2 => select(NAMES.as_slice()).prop_map(Corruption::Rename),
        2 => Just(Corruption::RenameOne),
        1 => Just(Corruption::Drop),
        1 => Just(Corruption::Swap),
        1 => Just(Corruption::Twice),
        1 => Just(Corruption::Cut),
        1 => Just(Corruption::End),
        1 => Just(Corruption::Objects),
    ]
}

/// The output of the events with these changes.
pub(super) fn changed(events: &[Value], changes: &[(Change, Index)]) -> String {
    let mut events = events.to_vec();
    let place = |index: &Index| index.index(events.len());
    let places: Vec<(&Change, usize)> = changes.iter().map(|(change, index)| (change, place(index))).collect();
    for (change, place) in &places {
        if matches!(change, Change::Floats) {
            each_number(&mut events[*place]);
        }
    }
    let is_array = places.iter().any(|(change, _)| matches!(change, Change::Array));
    let mut printed = String::from(if is_array { "[\n" } else { "" });
    for (at, event) in events.iter().enumerate() {
        let here = || places.iter().filter(|(_, place)| *place == at).map(|(change, _)| *change);
        for change in here() {
            // An event found only at the exit is part of the outcome and not emitted.
            if let Change::Line(line) = change
                && (at + 1 < events.len() || !line.ends_with(':'))
            {
                // The text before may lack a line end.
                printed += if printed.is_empty() || printed.ends_with('\n') { "" } else { "\n" };
                printed += &format!("{line}\n");
            }
        }
        here().for_each(|change| printed += if let Change::Before(text) = change { text } else { "" });
        printed += &written(event, here());
        printed += if is_array && at + 1 < events.len() { "," } else { "" };
        let joint = here().find_map(|change| if let Change::Joined(text) = change { Some(*text) } else { None });
        printed += joint.unwrap_or("\n");
    }
    printed + if is_array { "]\n" } else { "" }
}

fn written<'a>(event: &Value, changes: impl Iterator<Item = &'a Change>) -> String {
    let mut json = event.to_string();
    for change in changes {
        match change {
            Change::Pretty => json = serde_json::to_string_pretty(event).unwrap_or_default(),
            Change::Member(member) if json.len() > 2 => json.insert_str(1, &format!("{member},")),
            Change::Deep(depth) if json.len() > 2 => {
                json.insert_str(1, &format!("\"x_deep\":{}0{},", "[{\"type\":".repeat(*depth), "}]".repeat(*depth)));
            }
            _ => {}
        }
        if matches!(change, Change::Escaped) {
            json = super::super::generated::escaped(&json);
        }
    }
    json
}

/// The output of the events with these corruptions.
pub(super) fn corrupted(events: &[Value], corruptions: &[(Corruption, Index)]) -> String {
    let mut lines: Vec<Value> = events.to_vec();
    let mut cut = None;
    for (corruption, index) in corruptions {
        if lines.is_empty() {
            break;
        }
        let at = index.index(lines.len());
        match corruption {
            Corruption::Rename(field) => lines.iter_mut().for_each(|event| rename(event, field)),
            Corruption::RenameOne => {
                for field in ["type", "role", "sessionUpdate", "method", "subtype"] {
                    rename(&mut lines[at], field);
                }
            }
            Corruption::Drop => drop(lines.remove(at)),
            Corruption::Swap if at + 1 < lines.len() => lines.swap(at, at + 1),
            Corruption::Swap => {}
            Corruption::Twice => lines.insert(at, lines[at].clone()),
            Corruption::Cut => cut = Some(at),
            Corruption::End => lines.truncate(at + 1),
            Corruption::Objects => each_string(&mut lines[at]),
        }
    }
    let mut printed = String::new();
    for (at, event) in lines.iter().enumerate() {
        let line = event.to_string();
        let half = || line.chars().take(line.chars().count() / 2).collect();
        printed += &if cut == Some(at) { half() } else { line.clone() };
        printed.push('\n');
    }
    printed
}

fn rename(value: &mut Value, field: &str) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(name)) = members.get_mut(field) {
                name.push_str("_of_tomorrow");
            }
            members.values_mut().for_each(|member| rename(member, field));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Changes each string.
pub(super) fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| each_text(member, change)),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::String(text) => change(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn each_string(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(each_string),
        Value::Array(items) => items.iter_mut().for_each(each_string),
        Value::String(text) => *value = json!({ "value": text }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn each_number(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(each_number),
        Value::Array(items) => items.iter_mut().for_each(each_number),
        Value::Number(number) => {
            if let Some(number) = number.as_f64() {
                *value = json!(number);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
