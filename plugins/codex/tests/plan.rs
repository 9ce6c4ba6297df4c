//! The command lines of Codex.

use agentbay_plugin_codex::Codex;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Failure, Permission, Plan, PlanFile, Turn};

#[test]
fn the_prompt_is_read_from_standard_input_and_is_not_an_argument() {
    let args = ["exec", "--json", "--cd", "/repo", "--skip-git-repo-check", "--sandbox", "workspace-write", "-"];
    assert_eq!(Codex::prepare(&turn("Say hello")), Ok(Plan::new("codex", args)));
    assert_eq!(Codex::prepare(&turn("")), Ok(Plan::new("codex", args)));
}

#[test]
fn each_permission_is_a_sandbox() {
    let cases = [
        (Permission::ReadOnly, "read-only"),
        (Permission::WorkspaceWrite, "workspace-write"),
        (Permission::FullAccess, "danger-full-access"),
    ];
    for (permission, sandbox) in cases {
        let args = ["exec", "--json", "--cd", "/repo", "--skip-git-repo-check", "--sandbox", sandbox, "-"];
        let turn = Turn { permission, ..turn("x") };
        assert_eq!(Codex::prepare(&turn), Ok(Plan::new("codex", args)));
    }
}

#[test]
fn a_resumed_session_keeps_the_options_of_exec_before_the_subcommand() {
    let turn = Turn {
        model: Some("gpt-5.1".into()),
        extra_dirs: vec!["/a b".into(), "/c".into()],
        session: Some("01a21eb9-01ec".into()),
        ..turn("x")
    };
    let args = [
        "exec",
        "--json",
        "--cd",
        "/repo",
        "--skip-git-repo-check",
        "--sandbox",
        "workspace-write",
        "--model",
        "gpt-5.1",
        "--add-dir",
        "/a b",
        "--add-dir",
        "/c",
        "resume",
        "01a21eb9-01ec",
        "-",
    ];
    assert_eq!(Codex::prepare(&turn), Ok(Plan::new("codex", args)));
}

#[test]
fn a_schema_is_handed_over_as_a_file() {
    let turn = Turn { output_schema: Some(r#"{"type":"object"}"#.into()), ..turn("x") };
    let args = [
        "exec",
        "--json",
        "--cd",
        "/repo",
        "--skip-git-repo-check",
        "--sandbox",
        "workspace-write",
        "--output-schema",
        "/run/agentbay/run-1/schema.json",
        "-",
    ];
    let files = vec![PlanFile { name: "schema.json".into(), text: r#"{"type":"object"}"#.into() }];
    assert_eq!(Codex::prepare(&turn), Ok(Plan { files, ..Plan::new("codex", args) }));
}

#[test]
fn a_session_that_looks_like_an_option_is_refused() {
    let turn = Turn { session: Some("--last".into()), ..turn("x") };
    let message = "`--last` cannot be the value of the session: it is empty or starts with a dash";
    assert_eq!(Codex::prepare(&turn), Err(Failure::new(Category::Validation, message, "")));
}
