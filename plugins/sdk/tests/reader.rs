//! JSON objects are found in any output, for every split.

use agentbay_plugin_sdk::{JsonReader, OBJECT_BYTES, Piece, TEXT_BYTES, Value, json as access};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

/// A piece that owns what it holds.
#[derive(Clone, Debug, PartialEq)]
enum Found {
    Object(Value, String),
    Text(String),
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut reader = JsonReader::default();
    let mut collect = |piece: Piece<'_>| {
        found.push(match piece {
            Piece::Object(value, source) => Found::Object(value, source.to_owned()),
            Piece::Text(text) => Found::Text(text.to_owned()),
        });
    };
    pieces.into_iter().for_each(|piece| reader.push(piece, &mut collect));
    reader.finish(&mut collect);
    found
}

fn text(text: &str) -> Found {
    Found::Text(text.to_owned())
}

fn object(value: Value, source: &str) -> Found {
    Found::Object(value, source.to_owned())
}

#[test]
fn objects_on_one_line_over_several_lines_and_text_around_them_are_separated() {
    let printed =
        "Loading {cfg}\ndata: {\"a\":1}{\"b\":2} ok\n{\n  \"c\": [\n    {\"d\": 3}\n  ]\n}\n[{\"e\":4},\n{\"f\":5}]";
    let expected = vec![
        text("Loading {cfg}\n"),
        text("data: "),
        object(json!({"a": 1}), "{\"a\":1}"),
        object(json!({"b": 2}), "{\"b\":2}"),
        text(" ok\n"),
        object(json!({"c": [{"d": 3}]}), "{\n  \"c\": [\n    {\"d\": 3}\n  ]\n}"),
        text("\n"),
        text("["),
        object(json!({"e": 4}), "{\"e\":4}"),
        text(",\n"),
        object(json!({"f": 5}), "{\"f\":5}"),
        text("]"),
    ];
    assert_eq!(read([printed]), expected);
}

#[test]
fn an_incomplete_object_does_not_affect_later_ones() {
    let event = json!({"type": "result"});
    for broken in [
        "{",
        "{\"a",
        "{\"a\\",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":tr",
        "{\"a\":1,",
        "{\"a\":[",
        "{\"a\":[1,",
        "{\"a\":[[[{",
        "{\"a\":{\"b\":\"c",
        "{{{",
        "{]",
        "{\"a\":nope}",
        "{\"a\" \"b\"}",
        "{\"a\":-}",
        "{\"a\":1e}",
    ] {
        let objects = JsonReader::objects(&format!("{broken}\n{event}\n{event}\nend"));
        assert_eq!(objects, [event.clone(), event.clone()], "{broken}");
    }
}

#[test]
fn items_of_an_array_are_found_after_an_incomplete_line() {
    for glue in ["", "[", ",", ", ", "[[", ",["] {
        let printed = format!("[INFO] {{\"a\": [1, 2\n{glue}{{\"b\":1}}\n");
        let found = read([printed.as_str()]);
        assert!(found.contains(&object(json!({"b": 1}), "{\"b\":1}")), "{glue:?}: {found:?}");
    }
    let indented = "{\"a\": [1\n  , {\"b\": 2}\n]}";
    assert_eq!(read([indented]), [object(json!({"a": [1, {"b": 2}]}), indented)]);
}

#[test]
fn almost_valid_json_is_read() {
    let cases: [(&str, Value); 14] = [
        (r#"{"a":"\ud83d x \udc4d \ud83d\ude00"}"#, json!({"a": "\u{fffd} x \u{fffd} 😀"})),
        (r#"{"a":"\ud83d\ud83d\ude00"}"#, json!({"a": "\u{fffd}😀"})),
        (r#"{"a":"\u00zz \q \' C:\Users"}"#, json!({"a": "\\u00zz \\q ' C:\\Users"})),
        (r#"{"a":NaN,"b":Infinity,"c":-Infinity,"d":undefined}"#, json!({"a": null, "b": null, "c": null, "d": null})),
        (r#"{"a":1e999,"b":-1e999}"#, json!({"a": f64::MAX, "b": f64::MIN})),
        (r#"{"a":18446744073709551615,"b":-9223372036854775808}"#, json!({"a": u64::MAX, "b": i64::MIN})),
        (r#"{"a":340282366920938463463374607431768211456}"#, json!({"a": 2f64.powi(128)})),
        (r#"{"a":1.0,"b":01,"c":+1,"d":.5}"#, json!({"a": 1.0, "b": 1, "c": 1, "d": 0.5})),
        (r#"{"a":1,"a":2}"#, json!({"a": 2})),
        (r#"{"a":[1,2,],}"#, json!({"a": [1, 2]})),
        ("{\"a\":\"tab\there \u{0}\u{2028}\u{85}\"}", json!({"a": "tab\there \u{0}\u{2028}\u{85}"})),
        ("\u{feff}{\"a\":1}\r\n", json!({"a": 1})),
        ("{\r\n\"a\"\r\n:\r\n1\r\n}", json!({"a": 1})),
        ("{}", json!({})),
    ];
    for (printed, expected) in cases {
        assert_eq!(JsonReader::objects(printed), [expected], "{printed}");
    }
}

#[test]
fn an_object_of_any_depth_is_read_with_bounded_depth() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = 200_000;
        let inner = format!("{}\"deep\"{}", open.repeat(depth), close.repeat(depth));
        let printed = format!("{{\"type\":\"x\",\"in\":{inner}}}\n{{\"type\":\"y\"}}");
        let objects = JsonReader::objects(&printed);
        assert_eq!(objects.len(), 2);
        assert_eq!(access::text(&objects[0], &["type"]), Some("x"));
        let written = objects[0].to_string();
        assert!(written.contains("deep"), "what is deep is kept");
        assert!(written.parse::<Value>().is_ok(), "what was read can be read again");
    }
    // Endless nesting is not an object, and uses no stack either.
    assert_eq!(JsonReader::objects(&"{\"a\":".repeat(300_000)), Vec::<Value>::new());
}

#[test]
fn an_object_over_the_limit_is_text_and_what_follows_is_read() {
    let long = format!("{{\"a\":\"{}\"}} {{\"b\":1}}\n{{\"c\":1}}\n", "x".repeat(OBJECT_BYTES));
    let found = read([long.as_str()]);
    let objects: Vec<&Found> = found.iter().filter(|piece| matches!(piece, Found::Object(..))).collect();
    assert_eq!(objects, [&object(json!({"c": 1}), "{\"c\":1}")]);
    assert_eq!(whole(&found), long);
    assert!(
        found
            .iter()
            .all(|piece| matches!(piece, Found::Text(text) if text.len() <= TEXT_BYTES) || objects.contains(&piece))
    );
}

#[test]
fn numbers_and_ids_are_read_in_every_form() {
    let value = json!({"a": 3, "b": 3.0, "c": "3", "d": "3.0", "e": -1, "f": 1e300, "g": null, "h": 2.6, "i": "x"});
    let counts = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map(|name| access::count(&value, &[name]));
    assert_eq!(counts, [3, 3, 3, 3, 0, u64::MAX, 0, 3, 0, 0]);
    let integers = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map(|name| access::integer(&value, &[name]));
    assert_eq!(integers, [Some(3), Some(3), Some(3), Some(3), Some(-1), None, None, None, None, None]);
    let ids = ["a", "b", "c", "g", "i", "j"].map(|name| access::id(&value, &[name]));
    assert_eq!(ids, ["3", "3", "3", "", "x", ""]);
    assert_eq!(access::count(&json!({"a": u64::MAX}), &["a"]), u64::MAX);
}

#[test]
fn the_message_of_an_error_is_found_in_every_form() {
    let cases = [
        (json!("boom"), "boom"),
        (json!({"message": "boom"}), "boom"),
        (json!({"error": {"message": "boom", "code": 1}}), "boom"),
        (json!({"error": "boom"}), "boom"),
        (json!({"data": {"error": {"details": "boom"}}}), "boom"),
        (json!({"message": "", "error": "boom"}), "boom"),
        (json!([{"text": "boom"}]), "boom"),
        (json!({"code": 7}), "{\"code\":7}"),
        (json!(null), ""),
        (json!(false), ""),
    ];
    for (error, words) in cases {
        assert_eq!(access::error_message(&error), words, "{error}");
    }
}

fn whole(found: &[Found]) -> String {
    found
        .iter()
        .map(|piece| match piece {
            Found::Object(_, source) => source.as_str(),
            Found::Text(text) => text,
        })
        .collect()
}

/// What a reader could stumble over.
const SIGNS: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "\\u",
    "\\ud83d",
    "\\n",
    "null",
    "NaN",
    "-",
    "1e9",
    " ",
    "\u{feff}",
    "😀",
    "x",
    "{\"a\":1}",
    "{\"type\":\"text\"}",
    "\"b\":",
];

fn noise() -> impl Strategy<Value = String> {
    vec(select(SIGNS.as_slice()), 0..40).prop_map(|signs| signs.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        noise().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((".{0,4}", inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn an_object() -> impl Strategy<Value = Value> {
    vec((".{0,4}", value()), 0..4).prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Cuts a text at some of its characters.
fn cut<'a>(text: &'a str, places: &[prop::sample::Index]) -> Vec<&'a str> {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    ends.push(text.len());
    let mut chosen: Vec<usize> = places.iter().map(|place| ends[place.index(ends.len())]).collect();
    chosen.extend([0, text.len()]);
    chosen.sort_unstable();
    chosen.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_cut_into_pieces_makes_no_difference_and_nothing_is_lost(
        printed in noise(),
        places in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let at_once = read([printed.as_str()]);
        prop_assert_eq!(whole(&at_once), printed.clone());
        prop_assert_eq!(&read(cut(&printed, &places)), &at_once);
        let letters: Vec<String> = printed.chars().map(String::from).collect();
        prop_assert_eq!(&read(letters.iter().map(String::as_str)), &at_once);
    }

    #[test]
    fn each_object_is_found_among_lines_of_anything(
        objects in vec((an_object(), any::<bool>(), noise(), select(vec!["", " ", ", ", "\r", "data: "])), 1..6),
        places in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut printed = String::new();
        for (object, is_pretty, noise, before) in &objects {
            // A line of noise that holds no object, and may break off within one.
            printed += &noise.replace(['\n', '}'], "");
            printed.push('\n');
            // Behind noise that may be the beginning of a value, what begins a line or stands in one line counts.
            printed += if noise.contains('{') { "" } else { before };
            printed += &if *is_pretty { serde_json::to_string_pretty(object).unwrap() } else { object.to_string() };
            printed.push('\n');
        }
        let mut found = read(cut(&printed, &places)).into_iter().filter_map(|piece| {
            if let Found::Object(value, _) = piece { Some(value) } else { None }
        });
        for (object, ..) in objects {
            prop_assert!(found.any(|value| value == object), "{} is not found in {:?}", object, printed);
        }
    }

    #[test]
    fn objects_on_one_line_are_all_found(
        objects in vec((an_object(), select(vec!["", " ", ",", "; ", "text "])), 1..6),
        places in vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let printed: String = objects.iter().map(|(object, behind)| format!("{object}{behind}")).collect();
        let found: Vec<Value> = read(cut(&printed, &places)).into_iter().filter_map(|piece| {
            if let Found::Object(value, _) = piece { Some(value) } else { None }
        }).collect();
        prop_assert_eq!(found, objects.into_iter().map(|(object, _)| object).collect::<Vec<_>>());
    }
}
