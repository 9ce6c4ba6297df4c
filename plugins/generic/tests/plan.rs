//! The options of a model in proxy.toml and the command lines they make.

use agentbay_plugin_generic::Generic;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Event, Failure, Permission, Plan, PlanFile, Transcript, Turn};

fn with(prompt: &str, options: &[(&str, &str)]) -> Turn {
    let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Turn { options, ..turn(prompt) }
}

fn begin(turn: &Turn) -> Vec<Event> {
    <Generic as Agent>::Transcript::new(turn).begin(turn)
}

fn args(turn: &Turn) -> Result<Vec<String>, Failure> {
    Generic::prepare(turn).map(|plan| plan.args)
}

#[test]
fn the_host_chooses_the_program_and_the_prompt_goes_to_standard_input() {
    assert_eq!(Generic::describe().programs, Vec::<String>::new());
    let turn = with("Hello", &[]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", [])));
    assert_eq!(begin(&turn), vec![Event::Reply("Hello".into()), Event::EndInput]);
}

#[test]
fn arguments_are_passed_unchanged() {
    let turn = with("Hello", &[("args", r#"["run", "--quiet", "a b", "", "{model}"]"#), ("prompt", "stdin")]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", ["run", "--quiet", "a b", "", "{model}"])));
}

#[test]
fn a_prompt_as_argument_is_the_last_one_and_standard_input_is_closed() {
    let turn = with("Hello", &[("args", r#"["-p"]"#), ("prompt", "arg")]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", ["-p", "Hello"])));
    assert_eq!(begin(&turn), vec![Event::EndInput]);
}

#[test]
fn a_prompt_as_argument_replaces_its_placeholder() {
    let turn = with("{workdir} it is", &[("args", r#"["--task={prompt}", "--cwd", "{workdir}"]"#), ("prompt", "arg")]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", ["--task={workdir} it is", "--cwd", "/repo"])));
}

#[test]
fn a_prompt_as_argument_never_becomes_an_option() {
    let turn = with("--help", &[("prompt", "arg")]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", [" --help"])));

    let turn = with("--help", &[("prompt", "arg"), ("args", r#"["--"]"#)]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", ["--", "--help"])));

    let turn = with("--help", &[("prompt", "arg"), ("args", r#"["-p", "{prompt}", "-q"]"#)]);
    assert_eq!(Generic::prepare(&turn), Ok(Plan::new("", ["-p", " --help", "-q"])));
}

#[test]
fn a_prompt_longer_than_an_argument_is_refused() {
    let most = "x".repeat(128 * 1024 - 1);
    assert!(args(&with(&most, &[("prompt", "arg")])).is_ok());
    let message =
        "The prompt is 131072 bytes long, and this CLI takes it as an argument, which holds no more than 128 KiB";
    let detail = "where the CLI can read it, set the option `prompt` to \"stdin\" or \"file\"";
    let failure = Failure::new(Category::Validation, message, detail);
    assert_eq!(args(&with(&(most + "x"), &[("prompt", "arg")])), Err(failure));
}

#[test]
fn a_prompt_in_a_file_is_written_to_the_folder_of_the_run() {
    let turn = with("Hello", &[("prompt", "file"), ("args", r#"["--message-file", "{prompt_file}"]"#)]);
    let mut plan = Plan::new("", ["--message-file", "/run/agentbay/run-1/prompt.txt"]);
    plan.files.push(PlanFile { name: "prompt.txt".into(), text: "Hello".into() });
    assert_eq!(Generic::prepare(&turn), Ok(plan));
    assert_eq!(begin(&turn), vec![Event::EndInput]);
}

/// Options for all that a turn can ask for.
const ABLE: [(&str, &str); 8] = [
    ("args", r#"["--json", "--"]"#),
    ("prompt", "arg"),
    ("model_args", r#"["--model", "{model}"]"#),
    ("resume_args", r#"["--id={session}"]"#),
    ("read_only_args", r#"["--plan"]"#),
    ("write_args", r#"["--yes"]"#),
    ("extra_dir_args", r#"["--add-dir", "{dir}"]"#),
    ("schema_args", r#"["--schema", "{schema_file}"]"#),
];

#[test]
fn arguments_for_the_turn_are_between_the_arguments_and_the_dashes_before_the_prompt() {
    let asked = Turn {
        model: Some("gpt".into()),
        session: Some("-s1".into()),
        permission: Permission::ReadOnly,
        extra_dirs: vec!["/a".into(), "/b".into()],
        output_schema: Some("{}".into()),
        ..with("Hello", &ABLE)
    };
    let expected = [
        "--json",
        "--model",
        "gpt",
        "--plan",
        "--add-dir",
        "/a",
        "--add-dir",
        "/b",
        "--schema",
        "/run/agentbay/run-1/schema.json",
        "--id=-s1",
        "--",
        "Hello",
    ];
    let mut plan = Plan::new("", expected);
    plan.files.push(PlanFile { name: "schema.json".into(), text: "{}".into() });
    assert_eq!(Generic::prepare(&asked), Ok(plan));
    assert_eq!(args(&with("Hello", &ABLE)), Ok(["--json", "--yes", "--", "Hello"].map(str::to_owned).to_vec()));
}

#[test]
fn a_feature_without_arguments_is_refused_with_an_example() {
    let plain = || with("Hello", &[]);
    let cases = [
        (
            Turn { model: Some("gpt".into()), ..plain() },
            Category::Configuration,
            "`model_args`, such as [\"--model\", \"{model}\"],",
        ),
        (
            Turn { permission: Permission::ReadOnly, ..plain() },
            Category::Configuration,
            "`read_only_args`, such as [\"--plan\"],",
        ),
        (
            Turn { session: Some("s".into()), ..plain() },
            Category::Validation,
            "`resume_args`, such as [\"--resume\", \"{session}\"],",
        ),
        (Turn { extra_dirs: vec!["/a".into()], ..plain() }, Category::Configuration, "`extra_dir_args`, such as"),
        (Turn { output_schema: Some("{}".into()), ..plain() }, Category::Validation, "`schema_args`, such as"),
    ];
    for (turn, category, example) in cases {
        let failure = Generic::prepare(&turn).err();
        let actual = failure.as_ref().map(|failure| (failure.category, failure.message.contains(example)));
        assert_eq!(actual, Some((category, true)), "{failure:?}");
    }
}

#[test]
fn a_value_never_becomes_an_option() {
    let options = [("resume_args", r#"["--resume", "{session}"]"#), ("model_args", r#"["-m", "{model}"]"#)];
    let message = "`--help` cannot be the value of {session}: it is empty or starts with a dash";
    let failure = Failure::new(Category::Validation, message, "");
    assert_eq!(args(&Turn { session: Some("--help".into()), ..with("x", &options) }), Err(failure));
    assert!(args(&Turn { model: Some(String::new()), ..with("x", &options) }).is_err());
}

#[test]
fn an_invalid_option_is_named_with_the_allowed_values() {
    let list = "allowed is a list of strings such as [\"--quiet\"]";
    let rule = "allowed is a path such as `event.text`, a table such as \
        { path = \"event.text\", when = { \"event.type\" = \"text\" } }, or a list of these";
    let pattern =
        "allowed is a pattern of a whole line such as `Tokens: *`, or a list of these; `*` stands for any text";
    let cases = [
        ("prompt", "argument", "option `prompt` is `argument`: allowed are `stdin`, `arg`, `file`".to_owned()),
        ("format", "JSON", "option `format` is `JSON`: allowed are `text`, `json`, `stream-json`".to_owned()),
        ("answer", "first", "option `answer` is `first`: allowed are `last-block`, `whole`".to_owned()),
        ("args", "--quiet", format!("option `args` is `--quiet`: {list}")),
        ("args", r#"["a", 1]"#, format!(r#"option `args` is `["a", 1]`: {list}"#)),
        ("args", r#"{"0": "a"}"#, format!(r#"option `args` is `{{"0": "a"}}`: {list}"#)),
        (
            "model_args",
            r#"["--model"]"#,
            r#"option `model_args` is `["--model"]`: it needs `{model}`, as in ["--model", "{model}"]"#.to_owned(),
        ),
        (
            "prompt",
            "file",
            "option `prompt` is `file`: `args` must say where the file's path goes, such as \
             [\"--message-file\", \"{prompt_file}\"]"
                .to_owned(),
        ),
        ("args", r#"["{prompt}"]"#, "option `args` has `{prompt}`: add `prompt = \"arg\"`".to_owned()),
        ("args", r#"["{prompt_file}"]"#, "option `args` has `{prompt_file}`: add `prompt = \"file\"`".to_owned()),
        ("skip", "*", format!("option `skip` is `*`: {pattern}")),
        ("begin", "[]", format!("option `begin` is `[]`: {pattern}")),
        ("text_path", "a.b", "option `text_path` reads JSON: add `format = \"stream-json\"` or `\"json\"`".to_owned()),
        ("error_path", "a..b", format!("option `error_path` is `a..b`: {rule}")),
        ("error_path", r#"{"path":"a","if":{}}"#, format!(r#"option `error_path` is `{{"path":"a","if":{{}}}}`: {rule}"#)),
        ("usage_path", r#"{"path":"a","when":{"b":null}}"#, {
            format!(r#"option `usage_path` is `{{"path":"a","when":{{"b":null}}}}`: {rule}"#)
        }),
        (
            "break_when",
            "text",
            "option `break_when` is `text`: allowed is a table such as { \"event.type\" = \"iteration_start\" }, or a list \
             of these of which one has to hold"
                .to_owned(),
        ),
    ];
    for (name, value, message) in cases {
        let failure = Failure::new(Category::Configuration, message, "");
        assert_eq!(Generic::prepare(&with("x", &[(name, value)])), Err(failure));
    }
}

#[test]
fn an_unknown_option_is_named_with_the_known_ones() {
    let failure = Generic::prepare(&with("x", &[("fromat", "json")])).err();
    let message = failure.map(|failure| failure.message).unwrap_or_default();
    let begins =
        "unknown option `fromat`: allowed are `args`, `prompt`, `format`, `answer`, `model_args`, `resume_args`, ";
    assert!(message.starts_with(begins) && message.ends_with(", `begin`, `end`, `fail_if`"), "{message}");
}

#[test]
fn an_option_without_effect_is_an_error() {
    let json = ("format", "stream-json");
    for name in ["answer", "skip", "begin", "end"] {
        let failure = Generic::prepare(&with("x", &[json, (name, "whole")])).err();
        let message = format!("option `{name}` reads plain text: leave `format` out, or it");
        assert_eq!(failure, Some(Failure::new(Category::Configuration, message, "")));
    }
    let failure = Generic::prepare(&with("x", &[json, ("session_path", "id")])).err();
    assert!(failure.is_some_and(|failure| failure.message.contains("`resume_args`, such as")));
}
