//! Which lines of plain text are the answer, and which mean that the run has failed.

use agentbay_plugin_generic::Generic;
use agentbay_plugin_sdk::testing::{GROUPINGS, Grouping, replay, turn};
use agentbay_plugin_sdk::{Category, Event, ExitStatus, NO_OUTPUT, Outcome, Turn, failed, finished};

fn with(options: &[(&str, &str)]) -> Turn {
    let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Turn { options, ..turn("x") }
}

/// The answer and the outcome, which are the same however the output is cut.
fn run(options: &[(&str, &str)], stdout: &str) -> (String, Outcome) {
    let actual = |grouping| {
        let actual = replay::<Generic>(&with(options), stdout, grouping, ExitStatus::Code(0));
        (actual.answer(), actual.outcome)
    };
    let whole = actual(Grouping::Whole);
    for grouping in GROUPINGS {
        assert_eq!(actual(grouping), whole, "{grouping:?} {stdout:?}");
    }
    whole
}

const SESSION: &str = "Aider v1\nRepo-map: 1024 tokens\n\nTwo files:\n\n- a\n- b\nTokens: 5 sent.\nTokenise!\n\nBye.\n";

#[test]
fn lines_before_the_first_begin_and_skipped_lines_are_not_part_of_the_answer() {
    let patterns = [("begin", "Repo-map: *"), ("skip", r#"["Tokens: *", "Bye."]"#)];
    let whole = [&patterns[..], &[("answer", "whole")]].concat();
    assert_eq!(run(&whole, SESSION), ("Two files:\n\n- a\n- b\nTokenise!".into(), finished(None)));
    assert_eq!(run(&patterns, SESSION), ("- a\n- b\nTokenise!".into(), finished(Some("- a\n- b\nTokenise!".into()))));
}

#[test]
fn sections_are_separate_messages() {
    let options = [("begin", "agent (*):"), ("end", r#"["Tool:", "────*"]"#), ("answer", "whole")];
    let stdout = "banner\nagent (1):\nI look.\n\nTool:\nREADME\n────────\nagent (2):\n\nTwo files.\n\n────\nnoise";
    assert_eq!(run(&options, stdout), ("I look.\n\nTwo files.".into(), finished(None)));
    assert_eq!(run(&[("end", "---"), ("answer", "whole")], "a\n---\nb\n"), ("a".into(), finished(None)));
}

#[test]
fn text_is_emitted_as_soon_as_no_pattern_can_match_its_line() {
    let turn = with(&[("answer", "whole"), ("skip", r#"["Tokens: *", "Tool:"]"#)]);
    let stdout = "Two files\nTokens: 5\nTool: yes\nTo";
    let actual = replay::<Generic>(&turn, stdout, Grouping::Each(1), ExitStatus::Code(0));
    let texts: Vec<&str> = actual
        .events
        .iter()
        .filter_map(|event| if let Event::Text(text) = event { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(texts[..4], ["Tw", "o", " ", "f"]);
    assert_eq!(texts.concat(), "Two files\nTool: yes");
}

#[test]
fn a_star_matches_any_text_and_other_characters_match_themselves() {
    let kept = |pattern: &str, line: &str| run(&[("answer", "whole"), ("skip", pattern)], &format!("{line}\nend\n")).0;
    for (pattern, line) in [
        ("a*c", "abc"),
        ("a*c", "ac"),
        ("*b*", "abc"),
        ("a*b*c*d", "a-b--c-d"),
        ("[x] (y)?", "[x] (y)?"),
        ("a b", "a b  \t"),
        (r"\* done *", "* done well"),
        (r#"["x", "a*"]"#, "abc"),
    ] {
        assert_eq!(kept(pattern, line), "end", "{pattern} {line}");
    }
    for (pattern, line) in [
        ("a*c", "abcd"),
        ("abc", "abcd"),
        ("abc", "ABC"),
        ("a*b*c", "a-c-b"),
        ("a*aa", "aa"),
        (r"\*x", "yx"),
        ("abc", " abc"),
    ] {
        assert_eq!(kept(pattern, line), format!("{line}\nend"), "{pattern} {line}");
    }
}

#[test]
fn a_line_that_means_failure_ends_the_turn_at_once_in_every_format() {
    let message = "The CLI is not logged in, or its credentials were refused";
    let failure = failed(Category::Authentication, message, "No API key found. Starting login flow...");
    let stdout = "No API key found. Starting login flow...\nVisit https://example.invalid\n\nPaste your code here: ";
    for format in ["text", "json", "stream-json"] {
        let turn = with(&[("fail_if", "No API key found.*"), ("format", format)]);
        let actual = replay::<Generic>(&turn, stdout, Grouping::Each(7), ExitStatus::Code(0));
        assert_eq!(actual.events, vec![Event::Done(failure.clone())], "{format}");
    }
    let whole = [("answer", "whole"), ("fail_if", "Error: *")];
    assert_eq!(
        run(&whole, "Two\nfiles\nError: odd\nmore"),
        ("Two\nfiles".into(), failed(Category::Unknown, "CLI failed", "Error: odd"))
    );
    assert_eq!(run(&whole, "Error: at the end").1, failed(Category::Unknown, "CLI failed", "Error: at the end"));
    // Only a whole line counts, not what the agent says about one.
    assert_eq!(run(&whole, "It printed Error: odd\n"), ("It printed Error: odd".into(), finished(None)));
}

#[test]
fn nothing_between_the_patterns_is_no_output() {
    let silent = (NO_OUTPUT.to_owned(), finished(Some(NO_OUTPUT.into())));
    for answer in ["whole", "last-block"] {
        assert_eq!(run(&[("answer", answer), ("begin", "Answer:")], "log\n"), silent);
    }
}

#[test]
fn a_line_longer_than_any_pattern_is_text() {
    let line = "x".repeat(100_000);
    let options = [("answer", "whole"), ("skip", "*y"), ("fail_if", "*z")];
    assert_eq!(run(&options, &format!("{line}y\n{line}z\nxy\n")), (format!("{line}y\n{line}z"), finished(None)));
}
