//! The command lines of `ax-glm`.

use agentbay_plugin_glm::Glm;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{Agent, Category, Failure, Permission, Plan, Turn};

#[test]
fn the_prompt_is_one_argument_that_cannot_be_taken_for_an_option() {
    for prompt in ["Say hello", "--help", "-p", "/help", "", "two\nlines \"quoted\""] {
        let args = ["--directory", "/repo", &format!("--prompt={prompt}")];
        assert_eq!(Glm::prepare(&turn(prompt)), Ok(Plan::new("ax-glm", args)));
    }
}

#[test]
fn the_model_is_passed_on_and_full_access_is_the_same_command_line() {
    let turn = Turn { model: Some("a-model".into()), permission: Permission::FullAccess, ..turn("x") };
    let args = ["--directory", "/repo", "--model", "a-model", "--prompt=x"];
    assert_eq!(Glm::prepare(&turn), Ok(Plan::new("ax-glm", args)));
}

#[test]
fn a_prompt_that_no_argument_can_hold_is_refused() {
    let longest = 128 * 1024 - 1 - "--prompt=".len();
    assert!(Glm::prepare(&turn(&"x".repeat(longest))).is_ok());
    let message =
        "the prompt is 131063 bytes long, and ax-glm takes it as an argument, which holds no more than 128 KiB";
    let refused = Err(Failure::new(Category::Validation, message, ""));
    assert_eq!(Glm::prepare(&turn(&"x".repeat(longest + 1))), refused);
}

#[test]
fn what_it_cannot_do_is_refused() {
    let reader = Turn { permission: Permission::ReadOnly, ..turn("x") };
    let message = "ax-glm cannot be kept from changing files: `permission` cannot be \"read-only\"";
    assert_eq!(Glm::prepare(&reader), Err(Failure::new(Category::Configuration, message, "")));

    let resumed = Turn { session: Some("1".into()), ..turn("x") };
    let message = "ax-glm cannot resume a session by its id";
    assert_eq!(Glm::prepare(&resumed), Err(Failure::new(Category::Validation, message, "")));
}
