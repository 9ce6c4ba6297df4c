//! Owns the changes of a run's events: those that must make no difference, and those that do harm.

use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// A change that must make no difference.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// This stands in a line of its own.
    Line(&'static str),
    /// This stands before the event, on its line.
    Before(&'static str),
    /// The next event stands on the same line, with this between the two.
    Joined(&'static str),
    /// The event goes over several lines.
    Pretty,
    /// All that is not ASCII is escaped.
    Escaped,
    /// The event has this member besides.
    Member(&'static str),
    /// The event has members besides that hold one another so many times.
    Deep(usize),
    /// Whole numbers have a fraction of zero.
    Floats,
    /// All events are the items of an array.
    Array,
}

/// A change that does harm.
#[derive(Clone, Debug)]
pub(super) enum Harm {
    /// The names in this field of all events, also within them, are not known.
    Rename(&'static str),
    /// The event's own names are not known.
    RenameOne,
    /// The event is not there.
    Drop,
    /// The event comes after the next one.
    Swap,
    /// The event comes twice.
    Twice,
    /// The event breaks off in its middle.
    Cut,
    /// Nothing comes behind the event.
    End,
    /// All strings of the event are objects.
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

pub(super) fn harms() -> impl Strategy<Value = Harm> {
    const NAMES: [&str; 6] = ["type", "role", "sessionUpdate", "method", "subtype", "status"];
    prop_oneof![
        2 => select(NAMES.as_slice()).prop_map(Harm::Rename),
        2 => Just(Harm::RenameOne),
        1 => Just(Harm::Drop),
        1 => Just(Harm::Swap),
        1 => Just(Harm::Twice),
        1 => Just(Harm::Cut),
        1 => Just(Harm::End),
        1 => Just(Harm::Objects),
    ]
}

/// The events with these changes, as they are printed.
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
            // What comes to light at the exit only is a verdict, and no event any more.
            if let Change::Line(line) = change
                && (at + 1 < events.len() || !line.ends_with(':'))
            {
                // What stood before may have no line end.
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

/// The events with these harms, as they are printed.
pub(super) fn harmed(events: &[Value], harms: &[(Harm, Index)]) -> String {
    let mut lines: Vec<Value> = events.to_vec();
    let mut cut = None;
    for (harm, index) in harms {
        if lines.is_empty() {
            break;
        }
        let at = index.index(lines.len());
        match harm {
            Harm::Rename(field) => lines.iter_mut().for_each(|event| rename(event, field)),
            Harm::RenameOne => {
                for field in ["type", "role", "sessionUpdate", "method", "subtype"] {
                    rename(&mut lines[at], field);
                }
            }
            Harm::Drop => drop(lines.remove(at)),
            Harm::Swap if at + 1 < lines.len() => lines.swap(at, at + 1),
            Harm::Swap => {}
            Harm::Twice => lines.insert(at, lines[at].clone()),
            Harm::Cut => cut = Some(at),
            Harm::End => lines.truncate(at + 1),
            Harm::Objects => each_string(&mut lines[at]),
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
