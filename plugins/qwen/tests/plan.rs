//! The command lines of Qwen Code.

use agentbay_plugin_qwen::Qwen;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Failure, Permission, Plan, PlanFile, Turn};

/// A plan with what all have: settings that leave retries to the host.
fn plan<'a>(args: impl IntoIterator<Item = &'a str>) -> Plan {
    Plan {
        env: vec![("QWEN_CODE_SYSTEM_DEFAULTS_PATH".into(), Some("/run/agentbay/run-1/qwen-defaults.json".into()))],
        files: vec![PlanFile {
            name: "qwen-defaults.json".into(),
            text: r#"{"model":{"generationConfig":{"maxRetries":0}}}"#.into(),
        }],
        ..Plan::new("qwen", args)
    }
}

const FORMATS: [&str; 4] = ["--output-format", "stream-json", "--input-format", "stream-json"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    FORMATS.iter().chain(more).copied().collect()
}

#[test]
fn each_permission_is_an_approval_mode_in_which_nothing_asks() {
    let cases = [
        (Permission::ReadOnly, "default"),
        (Permission::WorkspaceWrite, "auto-edit"),
        (Permission::FullAccess, "yolo"),
    ];
    for (permission, mode) in cases {
        let args = with(&["--include-partial-messages", "--approval-mode", mode]);
        let turn = Turn { permission, ..turn("Say hello") };
        assert_eq!(Qwen::prepare(&turn), Ok(plan(args)));
    }
}

#[test]
fn deltas_are_requested_only_if_the_client_wants_them() {
    let args = with(&["--approval-mode", "auto-edit"]);
    let turn = Turn { partial: false, ..turn("x") };
    assert_eq!(Qwen::prepare(&turn), Ok(plan(args)));
}

#[test]
fn model_directories_and_session_are_options() {
    let turn = Turn {
        model: Some("qwen3-coder".into()),
        extra_dirs: vec!["/a b".into(), "/c".into()],
        session: Some("0a453de4".into()),
        ..turn("x")
    };
    let args = with(&[
        "--include-partial-messages",
        "--approval-mode",
        "auto-edit",
        "--model",
        "qwen3-coder",
        "--include-directories",
        "/a b",
        "--include-directories",
        "/c",
        "--resume",
        "0a453de4",
    ]);
    assert_eq!(Qwen::prepare(&turn), Ok(plan(args)));
}

#[test]
fn a_prompt_that_would_be_changed_starts_a_dialogue_which_resumes_the_session() {
    for prompt in ["/help me", "Look into @README.md"] {
        let turn = Turn {
            model: Some("qwen3-coder".into()),
            extra_dirs: vec!["/a b".into()],
            session: Some("0a453de4".into()),
            ..turn(prompt)
        };
        let args = ["--acp", "--approval-mode", "auto-edit", "--model", "qwen3-coder", "--include-directories", "/a b"];
        assert_eq!(Qwen::prepare(&turn), Ok(plan(args)));
    }
}

#[test]
fn a_schema_replaces_json_input() {
    let turn = Turn { output_schema: Some(r#"{"type":"object"}"#.into()), ..turn("x") };
    let args = [
        "--output-format",
        "stream-json",
        "--json-schema",
        r#"{"type":"object"}"#,
        "--include-partial-messages",
        "--approval-mode",
        "auto-edit",
    ];
    assert_eq!(Qwen::prepare(&turn), Ok(plan(args)));
}

#[test]
fn a_schema_too_long_for_an_argument_is_refused() {
    let turn = Turn { output_schema: Some("x".repeat(200_000)), ..turn("x") };
    let message = "Qwen Code takes no schema of more than 122880 bytes";
    assert_eq!(Qwen::prepare(&turn), Err(Failure::new(Category::Validation, message, "")));
}

#[test]
fn a_model_that_looks_like_an_option_is_refused() {
    let turn = Turn { model: Some("--yolo".into()), ..turn("x") };
    let message = "`--yolo` cannot be the value of --model: it is empty or starts with a dash";
    assert_eq!(Qwen::prepare(&turn), Err(Failure::new(Category::Validation, message, "")));
}
