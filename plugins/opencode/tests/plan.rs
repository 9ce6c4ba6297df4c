//! The command lines of opencode.

use agentbay_plugin_opencode::Opencode;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Failure, Permission, Plan, Turn};

const IN_FOLDERS: &str = r#"{"doom_loop":"deny","external_directory":{"*":"deny"},"read":{"*":"allow","*.env":"deny","*.env.*":"deny","*.env.example":"allow"}}"#;

fn plan(args: &[&str], rules: Option<&str>) -> Plan {
    let first = ["run", "--format", "json", "--thinking", "--print-logs", "--log-level", "ERROR", "--dir", "/repo"];
    let set = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
    let mut env = vec![set("OPENCODE_DISABLE_AUTOUPDATE", "1"), set("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")];
    env.extend(rules.map(|rules| set("OPENCODE_PERMISSION", rules)));
    Plan { env, ..Plan::new("opencode", first.into_iter().chain(args.iter().copied())) }
}

#[test]
fn the_prompt_is_read_from_standard_input_and_is_not_an_argument() {
    for prompt in ["Say hello", "", "--help", "/init"] {
        assert_eq!(Opencode::prepare(&turn(prompt)), Ok(plan(&["--auto"], Some(IN_FOLDERS))));
    }
}

#[test]
fn read_only_allows_read_only_tools_and_approves_nothing() {
    let rules = concat!(
        r#"{"*":"deny","bash":"deny","doom_loop":"deny","edit":"deny","external_directory":{"*":"deny"},"#,
        r#""glob":"allow","grep":"allow","list":"allow","lsp":"allow","#,
        r#""read":{"*":"allow","*.env":"deny","*.env.*":"deny","*.env.example":"allow"},"#,
        r#""skill":"allow","task":"allow","todoread":"allow","todowrite":"allow","webfetch":"allow","websearch":"allow"}"#,
    );
    let turn = Turn { permission: Permission::ReadOnly, ..turn("x") };
    assert_eq!(Opencode::prepare(&turn), Ok(plan(&[], Some(rules))));
}

#[test]
fn full_access_denies_only_what_the_configuration_denies() {
    let turn = Turn { permission: Permission::FullAccess, ..turn("x") };
    assert_eq!(Opencode::prepare(&turn), Ok(plan(&["--auto"], None)));
}

#[test]
fn session_model_and_additional_folders_are_passed_on() {
    let turn = Turn {
        model: Some("anthropic/claude-sonnet-5".into()),
        extra_dirs: vec!["/a b".into(), "/c/".into()],
        session: Some("ses_de13b1043ffeXPbEKwFuQMiML6".into()),
        ..turn("x")
    };
    let args = ["--auto", "--model", "anthropic/claude-sonnet-5", "--session", "ses_de13b1043ffeXPbEKwFuQMiML6"];
    let rules = IN_FOLDERS.replace(r#"{"*":"deny"}"#, r#"{"*":"deny","/a b/*":"allow","/c/*":"allow"}"#);
    assert_eq!(Opencode::prepare(&turn), Ok(plan(&args, Some(&rules))));
}

#[test]
fn a_session_that_looks_like_an_option_is_refused() {
    let turn = Turn { session: Some("--continue".into()), ..turn("x") };
    let message = "`--continue` cannot be the value of --session: it is empty or starts with a dash";
    assert_eq!(Opencode::prepare(&turn), Err(Failure::new(Category::Validation, message, "")));
}
