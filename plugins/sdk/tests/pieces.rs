//! The small parts: lines out of text, messages out of text, fields out of JSON, values into plans.

use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{
    AnswerText, Category, Event, Failure, LineSplitter, Plan, StderrTail, Turn, Value, escape_command, json,
};

fn value(text: &str) -> Value {
    text.parse().unwrap_or_default()
}

#[test]
fn lines_end_at_line_feeds_only_and_the_last_one_is_kept() {
    let mut lines = LineSplitter::default();
    assert_eq!(lines.push("on"), Vec::<String>::new());
    assert_eq!(lines.push("e\n\ntwo\u{2028}\r\nth"), ["one", "", "two\u{2028}\r"]);
    assert_eq!(lines.partial(), "th");
    assert_eq!(lines.rest(), Some("th".into()));
    assert_eq!(lines.rest(), None);
}

#[test]
fn a_break_is_emitted_only_between_two_texts() {
    let mut answer_text = AnswerText::default();
    let mut events = Vec::new();
    answer_text.end_message();
    answer_text.push("", &mut events);
    answer_text.push("one", &mut events);
    answer_text.end_message();
    answer_text.end_message();
    answer_text.push("", &mut events);
    answer_text.push("two", &mut events);
    answer_text.end_message();
    let expected = vec![Event::Text("one".into()), Event::TextBreak, Event::Text("two".into())];
    assert_eq!((events, answer_text.has_text()), (expected, true));
}

fn actual(say: impl FnOnce(&mut AnswerText, &mut Vec<Event>)) -> Vec<Event> {
    let mut events = Vec::new();
    say(&mut AnswerText::default(), &mut events);
    events
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

#[test]
fn repeated_text_is_emitted_once_for_every_split() {
    for pieces in [vec!["one two", " three"], vec!["o", "n", "e two three"], vec!["one two three"]] {
        let events = actual(|answer_text, events| {
            answer_text.push("one ", events);
            answer_text.push("two", events);
            answer_text.restart_message();
            answer_text.end_message();
            pieces.iter().for_each(|piece| answer_text.push(piece, events));
        });
        assert_eq!(events, [text("one "), text("two"), text(" three")], "{pieces:?}");
    }
}

#[test]
fn different_text_is_a_separate_message_and_complete() {
    let events = actual(|answer_text, events| {
        answer_text.push("one two", events);
        answer_text.restart_message();
        answer_text.push("one ", events);
        answer_text.push("four", events);
        answer_text.restart_message();
        answer_text.push("one four", events);
        answer_text.end_message();
        answer_text.push("five", events);
    });
    assert_eq!(events, [text("one two"), Event::TextBreak, text("one four"), Event::TextBreak, text("five")]);
}

#[test]
fn a_message_that_is_repeated_in_part_ends_there() {
    let events = actual(|answer_text, events| {
        answer_text.push("one two", events);
        answer_text.restart_message();
        answer_text.push("one", events);
        answer_text.end_message();
        answer_text.push("next", events);
    });
    assert_eq!(events, [text("one two"), Event::TextBreak, text("next")]);
}

#[test]
fn nothing_is_repeated_before_the_first_text_of_a_message() {
    let events = actual(|answer_text, events| {
        answer_text.restart_message();
        answer_text.push("ok", events);
        answer_text.end_message();
        answer_text.restart_message();
        answer_text.push("ok", events);
    });
    assert_eq!(events, [text("ok"), Event::TextBreak, text("ok")]);
}

#[test]
fn the_repetition_of_a_message_too_long_to_keep_is_a_new_message() {
    let long = "x".repeat(300_000);
    let events = actual(|answer_text, events| {
        answer_text.push(&long, events);
        answer_text.restart_message();
        answer_text.push(&long, events);
    });
    assert_eq!(events, [text(&long), Event::TextBreak, text(&long)]);
}

#[test]
fn the_tail_of_standard_error_does_not_depend_on_the_split() {
    let lines: Vec<String> = (0..4000).map(|number| format!("é {number}")).collect();
    let mut whole = StderrTail::default();
    whole.push_lines(&lines.join("\n"));
    let mut pieces = StderrTail::default();
    lines.iter().for_each(|line| pieces.push_lines(line));
    assert_eq!(whole.text(), pieces.text());
    assert!(whole.text().ends_with("é 3998\né 3999") && whole.text().len() <= 8 * 1024);
    assert_eq!(StderrTail::default().text(), "");
}

#[test]
fn a_field_of_another_type_counts_as_missing() {
    let object = value(r#"{"a":{"s":"x","n":7,"neg":-1,"t":true,"l":[1],"nul":null}}"#);
    assert_eq!(json::text(&object, &["a", "s"]), Some("x"));
    assert_eq!(json::text(&object, &["a", "n"]), None);
    assert_eq!(json::text(&object, &["a", "s", "x"]), None);
    assert_eq!(json::count(&object, &["a", "n"]), 7);
    assert_eq!(json::count(&object, &["a", "neg"]), 0);
    assert_eq!(json::count(&object, &["a", "s"]), 0);
    assert!(json::is_true(&object, &["a", "t"]) && !json::is_true(&object, &["a", "n"]));
    assert_eq!(json::items(&object, &["a", "l"]), [value("1")]);
    assert_eq!(json::items(&object, &["a", "s"]), [] as [Value; 0]);
    let shown = ["s", "n", "l", "nul", "none"].map(|name| json::to_text(&object, &["a", name]));
    assert_eq!(shown, ["x", "7", "[1]", "", ""]);
}

#[test]
fn a_leading_object_is_read_from_a_line() {
    assert_eq!(json::leading_object(r#" {"a":1} and more"#), Some(value(r#"{"a":1}"#)));
    for text in ["", "x {}", "[{}]", r#"{"a":1"#, "7"] {
        assert_eq!(json::leading_object(text), None, "{text}");
    }
    // Depth is bounded by the parser, so that no output can exhaust the stack.
    assert_eq!(json::leading_object(&r#"{"a":"#.repeat(100_000)), None);
}

#[test]
fn a_value_like_an_option_is_refused() {
    let plan = Plan::new("cli", ["run"]).option("--model", "m 1").and_then(|plan| plan.value("the session", "s1"));
    assert_eq!(plan, Ok(Plan::new("cli", ["run", "--model", "m 1", "s1"])));
    for value in ["", "-m", "--"] {
        let message = format!("`{value}` cannot be the value of --model: it is empty or starts with a dash");
        let failure = Failure::new(Category::Validation, message, "");
        assert_eq!(Plan::new("cli", []).option("--model", value), Err(failure));
    }
}

#[test]
fn an_option_of_the_turn_is_found_by_its_name() {
    let turn = Turn { options: vec![("a".into(), "1".into())], ..turn("x") };
    assert_eq!((turn.option("a"), turn.option("b")), (Some("1"), None));
}

#[test]
fn a_prompt_with_a_leading_slash_never_becomes_a_command() {
    for (prompt, sent) in [
        ("/help me", " /help me"),
        ("/a:b\n/c/d", " /a:b\n/c/d"),
        ("/", " /"),
        ("/etc/hosts is a file", "/etc/hosts is a file"),
        ("// a comment", "// a comment"),
        ("/* a comment */", "/* a comment */"),
        ("see /help", "see /help"),
        ("", ""),
    ] {
        assert_eq!(escape_command(prompt), sent);
    }
}
