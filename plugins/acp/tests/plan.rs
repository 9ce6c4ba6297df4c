//! The command lines of agents that speak the Agent Client Protocol.

use agentbay_plugin_acp::Acp;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Plan, Turn};

fn options(options: &[(&str, &str)]) -> Turn {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Turn { options, ..turn("x") }
}

/// The message with which a turn is refused as set up wrongly.
fn refusal(turn: &Turn) -> Option<String> {
    let failure = Acp::prepare(turn).err().filter(|failure| failure.category == Category::Configuration);
    failure.map(|failure| failure.message)
}

#[test]
fn the_arguments_are_those_of_proxy_toml_and_the_program_is_the_hosts() {
    let turn = options(&[("args", r#"["acp","--model","a b"]"#)]);
    assert_eq!(Acp::prepare(&turn), Ok(Plan::new("", ["acp", "--model", "a b"])));
    assert_eq!(Acp::prepare(&options(&[])), Ok(Plan::new("", [])));
}

#[test]
fn session_folders_and_permission_are_part_of_the_dialogue_only() {
    let turn = Turn { session: Some("s".into()), extra_dirs: vec!["/a".into()], ..turn("--help") };
    assert_eq!(Acp::prepare(&turn), Ok(Plan::new("", [])));
}

#[test]
fn invalid_options_are_refused() {
    let message = "option `args` is `acp`: allowed is a list of strings";
    assert_eq!(refusal(&options(&[("args", "acp")])).as_deref(), Some(message));
    let message = "option `args` is `[1]`: allowed is a list of strings";
    assert_eq!(refusal(&options(&[("args", "[1]")])).as_deref(), Some(message));
    assert_eq!(refusal(&options(&[("prompt", "arg")])).as_deref(), Some("unknown option `prompt`: allowed is `args`"));
    let message = "the agent protocol cannot select the model `m`: name it in `options.args`";
    assert_eq!(refusal(&Turn { model: Some("m".into()), ..turn("x") }).as_deref(), Some(message));
}
