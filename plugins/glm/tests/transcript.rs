//! What is made of the output of `ax-glm`. The role lines themselves are tested with `ax-grok`.

use std::io;

use agentbay_plugin_glm::Glm;
use agentbay_plugin_sdk::testing::{Grouping, Replay, captures, check_mutated_streams, replay, turn};
use agentbay_plugin_sdk::{Category, Event, ExitStatus, failed, finished};

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
fn a_refused_key_is_reported_with_login_instructions() {
    let stdout = r#"{"role":"assistant","content":"Sorry, I encountered an error: API error: 401 token expired"}"#;
    let message = "The CLI is not logged in, or its credentials were refused. \
                   To log in: set ZAI_API_KEY, or run `ax-glm setup`";
    assert_eq!(run(stdout).outcome, failed(Category::Authentication, message, "API error: 401 token expired"));
}

#[test]
fn a_mutated_stream_loses_no_text_and_shows_no_event_as_an_answer() -> io::Result<()> {
    let recorded = captures(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/grok"))?;
    check_mutated_streams::<Glm>(&recorded, &turn("Say hello"), 30)
}
