//! What clients see of an agent besides its answer.

use serde_json::{Value, json};

use crate::support::{Machine, chat};

/// What Codex prints: reasoning, a command that fails, and an answer.
fn output() -> String {
    let item = |event: &str, item: Value| json!({"type": event, "item": item}).to_string();
    let command = |status: &str, code: Option<u8>| {
        json!({"id": "1", "type": "command_execution", "command": "cat a", "aggregated_output": "no such file",
            "exit_code": code, "status": status})
    };
    [
        item("item.completed", json!({"id": "0", "type": "reasoning", "text": "I read."})),
        item("item.started", command("in_progress", None)),
        item("item.completed", command("failed", Some(1))),
        item("item.completed", json!({"id": "2", "type": "agent_message", "text": "Done."})),
        json!({"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}).to_string(),
    ]
    .join("\n")
}

#[test]
fn tools_and_reasoning_are_shown_as_the_settings_have_it_and_never_as_calls() {
    let calls = "[command_execution {\"command\":\"cat a\"}]\n[command_execution failed: no such file]\n";
    for (show, content, reasoning) in [
        ("{}", "Done.".to_owned(), "I read.".to_owned()),
        ("{ tools = \"reasoning\" }", "Done.".to_owned(), format!("I read.\n{calls}")),
        ("{ tools = \"text\", reasoning = \"nothing\" }", format!("{calls}\n\nDone."), String::new()),
        ("{ tools = \"nothing\", reasoning = \"text\" }", "I read.\n\nDone.".to_owned(), String::new()),
    ] {
        let machine = Machine::configured(&format!("[models.m]\ndriver = \"codex\"\nrepo = \".\"\nshow = {show}\n"));
        machine.stand_in("codex", &["say", &output()]);
        let proxy = machine.serve();
        let message = proxy.complete(&chat("m", "hi")).json()["choices"][0]["message"].take();
        let text = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
        assert_eq!((text("content"), text("reasoning_content")), (content.clone(), reasoning.clone()), "{show}");
        assert_eq!(message.get("tool_calls"), None);
        let streamed = proxy.streamed("m", "hi");
        assert_eq!((streamed.content, streamed.reasoning), (content, reasoning), "{show}");
    }
}

#[test]
fn an_answer_that_is_reported_only_at_the_end_follows_the_tools_that_are_shown() {
    let machine = Machine::configured("[models.m]\ndriver = \"claude\"\nrepo = \".\"\nshow = { tools = \"text\" }\n");
    let tool = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {"path": "a"}});
    let message = json!({"id": "m", "role": "assistant", "content": [tool]});
    let lines = [
        json!({"type": "assistant", "message": message}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done."}),
    ];
    machine.stand_in("claude", &["say", &lines.map(|line| line.to_string()).join("\n")]);
    assert_eq!(machine.serve().ask("m", "hi"), "[Read {\"path\":\"a\"}]\n\n\nDone.");
}
