//! The command lines of Qwen Code.

use agentbay_plugin_qwen::Qwen;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Failure, Permission, Plan, Turn};

#[test]
fn each_permission_is_an_approval_mode_in_which_nothing_asks() {
    let cases = [
        (Permission::ReadOnly, "default"),
        (Permission::WorkspaceWrite, "auto-edit"),
        (Permission::FullAccess, "yolo"),
    ];
    for (permission, mode) in cases {
        let args = ["--output-format", "stream-json", "--include-partial-messages", "--approval-mode", mode];
        let turn = Turn { permission, ..turn("Say hello") };
        assert_eq!(Qwen::prepare(&turn), Ok(Plan::new("qwen", args)));
    }
}

#[test]
fn deltas_are_asked_for_only_if_the_client_wants_them() {
    let args = ["--output-format", "stream-json", "--approval-mode", "auto-edit"];
    let turn = Turn { partial: false, ..turn("x") };
    assert_eq!(Qwen::prepare(&turn), Ok(Plan::new("qwen", args)));
}

#[test]
fn model_directories_and_session_are_options() {
    let turn = Turn {
        model: Some("qwen3-coder".into()),
        extra_dirs: vec!["/a b".into(), "/c".into()],
        session: Some("0a453de4".into()),
        ..turn("x")
    };
    let args = [
        "--output-format",
        "stream-json",
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
    ];
    assert_eq!(Qwen::prepare(&turn), Ok(Plan::new("qwen", args)));
}

#[test]
fn a_model_that_looks_like_an_option_is_refused() {
    let turn = Turn { model: Some("--yolo".into()), ..turn("x") };
    let message = "`--yolo` cannot be the value of --model: it is empty or begins with a dash";
    assert_eq!(Qwen::prepare(&turn), Err(Failure::new(Category::Validation, message, "")));
}
