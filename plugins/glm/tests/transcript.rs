//! What is made of the output of `ax-glm`. The role lines themselves are tested with `ax-grok`.

use agentbay_plugin_glm::Glm;
use agentbay_plugin_sdk::testing::{Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{Agent, Category, Event, ExitStatus, Transcript, failed, finished};

fn run(stdout: &str) -> Replay {
    replay::<Glm>(&turn("Hello"), stdout, Grouping::Whole, ExitStatus::Code(0))
}

#[test]
fn the_assistants_message_is_the_answer_and_the_users_is_an_echo() {
    let stdout = "{\"role\":\"user\",\"content\":\"Hello\"}\n\
                  {\"role\":\"assistant\",\"content\":\"Hi there! How can I help?\"}";
    let events = vec![Event::Text("Hi there! How can I help?".into())];
    assert_eq!(run(stdout), Replay { events, outcome: finished(None) });
}

#[test]
fn a_refused_key_is_told_with_the_way_to_log_in() {
    let stdout = r#"{"role":"assistant","content":"Sorry, I encountered an error: API error: 401 token expired"}"#;
    let message = "The CLI is not logged in, or its credentials were refused. \
                   To log in: set ZAI_API_KEY, or run `ax-glm setup`";
    assert_eq!(run(stdout).outcome, failed(Category::Authentication, message, "API error: 401 token expired"));
}

#[test]
fn standard_input_is_closed_without_a_word() {
    let begun = <Glm as Agent>::Transcript::new(&turn("x")).begin(&turn("Say hello"));
    assert_eq!(begun, vec![Event::Reply(String::new()), Event::EndInput]);
}
