//! The small parts: lines out of text, messages out of text, fields out of JSON, values into plans.

use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{
    Category, Event, Failure, LineCutter, Plan, Speech, StderrTail, Turn, Value, json, without_command,
};

fn value(text: &str) -> Value {
    text.parse().unwrap_or_default()
}

#[test]
fn lines_end_at_line_feeds_only_and_the_last_one_is_kept() {
    let mut lines = LineCutter::default();
    assert_eq!(lines.push("on"), Vec::<String>::new());
    assert_eq!(lines.push("e\n\ntwo\u{2028}\r\nth"), ["one", "", "two\u{2028}\r"]);
    assert_eq!(lines.partial(), "th");
    assert_eq!(lines.rest(), Some("th".into()));
    assert_eq!(lines.rest(), None);
}

#[test]
fn a_break_stands_only_between_two_texts() {
    let mut speech = Speech::default();
    let mut events = Vec::new();
    speech.part();
    speech.say("", &mut events);
    speech.say("one", &mut events);
    speech.part();
    speech.part();
    speech.say("", &mut events);
    speech.say("two", &mut events);
    speech.part();
    let expected = vec![Event::Text("one".into()), Event::TextBreak, Event::Text("two".into())];
    assert_eq!((events, speech.spoke()), (expected, true));
}

fn told(say: impl FnOnce(&mut Speech, &mut Vec<Event>)) -> Vec<Event> {
    let mut events = Vec::new();
    say(&mut Speech::default(), &mut events);
    events
}

fn text(text: &str) -> Event {
    Event::Text(text.into())
}

#[test]
fn what_is_told_anew_is_given_once_however_it_is_cut() {
    for pieces in [vec!["one two", " three"], vec!["o", "n", "e two three"], vec!["one two three"]] {
        let events = told(|speech, events| {
            speech.say("one ", events);
            speech.say("two", events);
            speech.again();
            speech.part();
            pieces.iter().for_each(|piece| speech.say(piece, events));
        });
        assert_eq!(events, [text("one "), text("two"), text(" three")], "{pieces:?}");
    }
}

#[test]
fn what_is_told_otherwise_is_a_message_of_its_own_and_nothing_of_it_is_lost() {
    let events = told(|speech, events| {
        speech.say("one two", events);
        speech.again();
        speech.say("one ", events);
        speech.say("four", events);
        speech.again();
        speech.say("one four", events);
        speech.part();
        speech.say("five", events);
    });
    assert_eq!(events, [text("one two"), Event::TextBreak, text("one four"), Event::TextBreak, text("five")]);
}

#[test]
fn a_message_that_is_told_anew_in_part_ends_there() {
    let events = told(|speech, events| {
        speech.say("one two", events);
        speech.again();
        speech.say("one", events);
        speech.part();
        speech.say("next", events);
    });
    assert_eq!(events, [text("one two"), Event::TextBreak, text("next")]);
}

#[test]
fn there_is_nothing_to_tell_anew_before_the_first_word_of_a_message() {
    let events = told(|speech, events| {
        speech.again();
        speech.say("ok", events);
        speech.part();
        speech.again();
        speech.say("ok", events);
    });
    assert_eq!(events, [text("ok"), Event::TextBreak, text("ok")]);
}

#[test]
fn a_message_too_long_to_be_kept_is_told_anew_as_another_one() {
    let long = "x".repeat(300_000);
    let events = told(|speech, events| {
        speech.say(&long, events);
        speech.again();
        speech.say(&long, events);
    });
    assert_eq!(events, [text(&long), Event::TextBreak, text(&long)]);
}

#[test]
fn the_end_of_standard_error_does_not_depend_on_the_cut() {
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
fn a_field_of_another_type_is_as_if_it_were_missing() {
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
    let shown = ["s", "n", "l", "nul", "none"].map(|name| json::shown(&object, &["a", name]));
    assert_eq!(shown, ["x", "7", "[1]", "", ""]);
}

#[test]
fn an_object_is_taken_from_the_beginning_of_a_line() {
    assert_eq!(json::leading_object(r#" {"a":1} and more"#), Some(value(r#"{"a":1}"#)));
    for text in ["", "x {}", "[{}]", r#"{"a":1"#, "7"] {
        assert_eq!(json::leading_object(text), None, "{text}");
    }
    // Depth is bounded by the parser, so that no output can exhaust the stack.
    assert_eq!(json::leading_object(&r#"{"a":"#.repeat(100_000)), None);
}

#[test]
fn a_value_that_could_be_taken_for_an_option_makes_no_plan() {
    let plan = Plan::new("cli", ["run"]).option("--model", "m 1").and_then(|plan| plan.value("the session", "s1"));
    assert_eq!(plan, Ok(Plan::new("cli", ["run", "--model", "m 1", "s1"])));
    for value in ["", "-m", "--"] {
        let message = format!("`{value}` cannot be the value of --model: it is empty or begins with a dash");
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
fn a_name_behind_a_slash_at_the_beginning_is_kept_from_being_a_command() {
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
        assert_eq!(without_command(prompt), sent);
    }
}
