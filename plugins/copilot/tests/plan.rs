//! The command lines of Copilot.

use agentbay_plugin_copilot::Copilot;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Failure, Permission, Plan, Turn};

fn plan(args: &[&str]) -> Plan {
    let first = ["--output-format", "json", "--no-auto-update", "--no-ask-user", "--no-remote"];
    Plan::new("copilot", first.into_iter().chain(args.iter().copied()))
}

#[test]
fn the_prompt_is_read_from_standard_input_and_is_not_an_argument() {
    for prompt in ["Say hello", "", "--help", "/help"] {
        assert_eq!(Copilot::prepare(&turn(prompt)), Ok(plan(&["--allow-all-tools"])));
    }
}

#[test]
fn each_permission_says_what_is_refused_or_allowed_without_asking() {
    let cases: [(Permission, &[&str]); 3] = [
        (Permission::ReadOnly, &["--deny-tool=write", "--deny-tool=shell"]),
        (Permission::WorkspaceWrite, &["--allow-all-tools"]),
        (Permission::FullAccess, &["--allow-all"]),
    ];
    for (permission, flags) in cases {
        let turn = Turn { permission, ..turn("x") };
        assert_eq!(Copilot::prepare(&turn), Ok(plan(flags)));
    }
}

#[test]
fn session_model_and_additional_folders_are_passed_on() {
    let turn = Turn {
        model: Some("gpt-5.1".into()),
        extra_dirs: vec!["/a b".into(), "/c".into()],
        session: Some("7814cd06-d144-41aa-8a89-1c1817749eee".into()),
        ..turn("x")
    };
    let args = [
        "--allow-all-tools",
        "--model",
        "gpt-5.1",
        "--add-dir",
        "/a b",
        "--add-dir",
        "/c",
        "--resume=7814cd06-d144-41aa-8a89-1c1817749eee",
    ];
    assert_eq!(Copilot::prepare(&turn), Ok(plan(&args)));
}

#[test]
fn a_session_without_an_id_is_refused() {
    // `--resume=` would let a person choose.
    let turn = Turn { session: Some(String::new()), ..turn("x") };
    let message = "`` cannot be the value of --resume: it is empty or starts with a dash";
    assert_eq!(Copilot::prepare(&turn), Err(Failure::new(Category::Validation, message, "")));
}

#[test]
fn a_new_session_has_the_id_of_its_run() {
    let id = "0199f0b2-6d1c-7cc3-a02f-9e3d5c1f2b7a";
    let run = |name: &str| Turn { run_dir: format!("/run/agentbay/{name}"), ..turn("x") };
    for name in [id, "0199f0b26d1c7cc3a02f9e3d5c1f2b7a"] {
        assert_eq!(Copilot::prepare(&run(name)), Ok(plan(&["--allow-all-tools", "--session-id", id])));
    }

    let session = "7814cd06-d144-41aa-8a89-1c1817749eee";
    let resumed = Turn { session: Some(session.into()), ..run(id) };
    assert_eq!(Copilot::prepare(&resumed), Ok(plan(&["--allow-all-tools", &format!("--resume={session}")])));
}
