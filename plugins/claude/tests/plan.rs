//! The command lines of Claude Code, and what is written to its standard input.

use agentbay_plugin_claude::Claude;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Event, Failure, Permission, Plan, PlanFile, Transcript, Turn};

const FORMATS: [&str; 6] = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];

/// A plan with these arguments behind those that all have, and with their variables.
fn plan(more: &[&str]) -> Plan {
    let set = |name: &str| (name.to_owned(), Some("1".to_owned()));
    Plan {
        env: vec![
            set("CLAUDE_CODE_MAX_RETRIES"),
            set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
            set("DISABLE_AUTOUPDATER"),
            set("DISABLE_TELEMETRY"),
            set("DISABLE_ERROR_REPORTING"),
            ("CLAUDECODE".into(), None),
        ],
        ..Plan::new("claude", FORMATS.iter().chain(more).copied())
    }
}

#[test]
fn each_permission_is_a_mode_in_which_nothing_asks() {
    let cases: [(Permission, &[&str]); 3] = [
        (Permission::ReadOnly, &["dontAsk", "--disallowedTools", "Edit,Write,NotebookEdit"]),
        (Permission::WorkspaceWrite, &["acceptEdits"]),
        (Permission::FullAccess, &["bypassPermissions"]),
    ];
    for (permission, mode) in cases {
        let turn = Turn { permission, ..turn("Say hello") };
        let args = [&["--include-partial-messages", "--permission-mode"], mode].concat();
        assert_eq!(Claude::prepare(&turn), Ok(plan(&args)));
    }
}

#[test]
fn deltas_are_requested_only_if_the_client_wants_them() {
    let turn = Turn { partial: false, ..turn("x") };
    assert_eq!(Claude::prepare(&turn), Ok(plan(&["--permission-mode", "acceptEdits"])));
}

#[test]
fn model_directories_session_and_schema_are_options() {
    let turn = Turn {
        model: Some("opus".into()),
        extra_dirs: vec!["/a b".into(), "/c".into()],
        session: Some("266e6c4a".into()),
        output_schema: Some(r#"{"type":"object"}"#.into()),
        ..turn("x")
    };
    let args = [
        "--include-partial-messages",
        "--permission-mode",
        "acceptEdits",
        "--model",
        "opus",
        "--add-dir",
        "/a b",
        "--add-dir",
        "/c",
        "--resume",
        "266e6c4a",
        "--json-schema",
        r#"{"type":"object"}"#,
    ];
    assert_eq!(Claude::prepare(&turn), Ok(plan(&args)));
}

#[test]
fn system_instructions_of_any_length_are_passed_as_a_file() {
    let system = "- be brief\n".repeat(50_000);
    let turn = Turn { system: Some(system.clone()), ..turn("x") };
    let args = [
        "--include-partial-messages",
        "--permission-mode",
        "acceptEdits",
        "--append-system-prompt-file",
        "/run/agentbay/run-1/system.md",
    ];
    let files = vec![PlanFile { name: "system.md".into(), text: system }];
    assert_eq!(Claude::prepare(&turn), Ok(Plan { files, ..plan(&args) }));
}

#[test]
fn values_like_options_and_overlong_arguments_are_refused() {
    let refused = |turn: &Turn| Claude::prepare(turn).map_err(|failure| (failure.category, failure.message));
    let option = |name: &str| format!("`-x` cannot be the value of {name}: it is empty or starts with a dash");
    let session = Turn { session: Some("-x".into()), ..turn("x") };
    assert_eq!(refused(&session), Err((Category::Validation, option("--resume"))));
    let model = Turn { model: Some("-x".into()), ..turn("x") };
    assert_eq!(refused(&model), Err((Category::Validation, option("--model"))));
    let schema = Turn { output_schema: Some("x".repeat(200_000)), ..turn("x") };
    let message = "Claude Code takes no schema of more than 122880 bytes";
    assert_eq!(Claude::prepare(&schema), Err(Failure::new(Category::Validation, message, "")));
}

#[test]
fn a_prompt_is_passed_as_json_so_that_nothing_in_it_is_a_command_or_a_file() {
    for (prompt, json) in [
        ("/compact", r#""/compact""#),
        ("look at @README.md\n", r#""look at @README.md\n""#),
        ("--help \"x\"", r#""--help \"x\"""#),
        ("a\u{2028}b", r#""a\u2028b""#),
    ] {
        let blocks = format!(r#"[{{"type":"text","text":{json}}},{{"type":"text","text":""}}]"#);
        let line = format!(r#"{{"type":"user","message":{{"role":"user","content":{blocks}}}}}"#) + "\n";
        let events = <Claude as Agent>::Transcript::new(&turn("")).begin(&turn(prompt));
        assert_eq!(events, [Event::Reply(line), Event::EndInput]);
    }
}
