//! The command lines of Gemini CLI.

use agentbay_plugin_gemini::Gemini;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Failure, Permission, Plan, Turn};

#[test]
fn each_permission_is_an_approval_mode_in_which_nothing_asks() {
    let cases = [
        (Permission::ReadOnly, "default"),
        (Permission::WorkspaceWrite, "auto_edit"),
        (Permission::FullAccess, "yolo"),
    ];
    for (permission, mode) in cases {
        let args = ["--output-format", "stream-json", "--approval-mode", mode, "--skip-trust"];
        let turn = Turn { permission, ..turn("Say hello") };
        assert_eq!(Gemini::prepare(&turn), Ok(Plan::new("gemini", args)));
    }
}

#[test]
fn model_directories_and_session_are_options() {
    let turn = Turn {
        model: Some("gemini-3.8-flash".into()),
        extra_dirs: vec!["/a b".into(), "/c".into()],
        session: Some("a2b91c42".into()),
        ..turn("x")
    };
    let args = [
        "--output-format",
        "stream-json",
        "--approval-mode",
        "auto_edit",
        "--skip-trust",
        "--model",
        "gemini-3.8-flash",
        "--include-directories",
        "/a b",
        "--include-directories",
        "/c",
        "--resume",
        "a2b91c42",
    ];
    assert_eq!(Gemini::prepare(&turn), Ok(Plan::new("gemini", args)));
}

#[test]
fn a_session_that_looks_like_an_option_is_refused() {
    let turn = Turn { session: Some("-y".into()), ..turn("x") };
    let message = "`-y` cannot be the value of --resume: it is empty or starts with a dash";
    assert_eq!(Gemini::prepare(&turn), Err(Failure::new(Category::Validation, message, "")));
}
