//! The options of a model in proxy.toml and the command lines they make.

use agentbay_plugin_generic::Generic;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Event, Failure, Plan, Transcript, Turn};

fn with(prompt: &str, options: &[(&str, &str)]) -> Turn {
    let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Turn { options, ..turn(prompt) }
}

fn begin(turn: &Turn) -> Vec<Event> {
    <Generic as Agent>::Transcript::new(turn).begin(turn)
}

#[test]
fn the_program_is_left_to_the_host_and_the_prompt_goes_to_standard_input() {
    assert_eq!(Generic::describe().programs, Vec::<String>::new());
    let turn = with("Hello", &[]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", [])));
    assert_eq!(begin(&turn), vec![Event::Reply("Hello".into()), Event::EndInput]);
}

#[test]
fn arguments_are_handed_over_as_they_are() {
    let turn = with("Hello", &[("args", r#"["run", "--quiet", "a b", ""]"#), ("prompt", "stdin")]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", ["run", "--quiet", "a b", ""])));
}

#[test]
fn a_prompt_as_argument_is_the_last_one_and_standard_input_is_closed() {
    let turn = with("Hello", &[("args", r#"["-p"]"#), ("prompt", "arg")]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", ["-p", "Hello"])));
    assert_eq!(begin(&turn), vec![Event::EndInput]);
}

#[test]
fn a_prompt_as_argument_never_becomes_an_option() {
    let turn = with("--help", &[("prompt", "arg")]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", [" --help"])));

    let turn = with("--help", &[("prompt", "arg"), ("args", r#"["--"]"#)]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", ["--", "--help"])));
}

#[test]
fn a_wrong_option_is_named_with_what_is_allowed() {
    let cases = [
        ("fromat", "json", "unknown option `fromat`: allowed are `args`, `prompt`, `format`, `answer`"),
        ("prompt", "file", "option `prompt` is `file`: allowed are `stdin`, `arg`"),
        ("format", "JSON", "option `format` is `JSON`: allowed are `text`, `json`, `stream-json`"),
        ("answer", "first", "option `answer` is `first`: allowed are `last-block`, `whole`"),
        ("args", "--quiet", "option `args` is `--quiet`: allowed is a list of strings"),
        ("args", r#"["a", 1]"#, r#"option `args` is `["a", 1]`: allowed is a list of strings"#),
        ("args", r#"{"0": "a"}"#, r#"option `args` is `{"0": "a"}`: allowed is a list of strings"#),
    ];
    for (name, value, message) in cases {
        let failure = Failure::new(Category::Configuration, message, "");
        assert_eq!(Generic::prepare(&with("x", &[(name, value)])), Err(failure));
    }
}
