//! What is made of the recorded dialogues of four agents.

use std::io;

use agentbay_plugin_acp::Acp;
use agentbay_plugin_sdk::testing::{Capture, Grouping, Replay, corrupted, replay, turn};
use agentbay_plugin_sdk::{
    Category, Event, ExitStatus, Level, Outcome, ToolCall, ToolResult, Usage, UsageScope, failed, finished, notice,
    settle,
};
use serde_json::json;

const HELLO: [&str; 5] =
    ["The scripted model ", "says hello. This ", "is a plain ", "answer in one ", "short paragraph."];
const NO_LEAVE: &str = "Permission denied because no permission response path was available. Configure an interactive \
                        permission response path, or try an alternative that does not require this permission.";

fn recorded(case: &str) -> io::Result<Capture> {
    Capture::read(format!("{}/../../fixtures/acp/{case}", env!("CARGO_MANIFEST_DIR")))
}

/// The events of a case that ends well, as [`told_to`].
fn actual(case: &str, session: &str) -> io::Result<Vec<Event>> {
    told_to(case, session, finished(None))
}

/// The events of a case, without the two requests and the session at the beginning and without the end, which are checked.
fn told_to(case: &str, session: &str, end: Outcome) -> io::Result<Vec<Event>> {
    let Replay { mut events, outcome } = recorded(case)?.replay::<Acp>(&turn("Say hello"), Grouping::Whole);
    let request = |id: u64, method: &str, params| {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        Event::Reply(format!("{request}\n"))
    };
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Say hello" }] });
    let begin = [
        request(2, "session/new", json!({ "cwd": "/repo", "mcpServers": [] })),
        Event::Session(session.into()),
        request(3, "session/prompt", prompt),
    ];
    assert_eq!(outcome, end, "{case}");
    let end = [settle(), Event::Done(end)];
    assert_eq!(events.drain(..3).collect::<Vec<_>>(), begin, "{case}");
    assert_eq!(events.split_off(events.len() - 2), end, "{case}");
    Ok(events)
}

fn texts<const N: usize>(pieces: [&str; N]) -> Vec<Event> {
    pieces.map(|piece| Event::Text(piece.into())).into()
}

fn usage(scope: UsageScope, requests: u64) -> Event {
    Event::Usage(Usage {
        scope,
        input: 1111 * requests,
        cached_input: 222 * requests,
        cache_write: 0,
        output: 333 * requests,
        reasoning: 44 * requests,
    })
}

/// Gemini CLI reports no parts.
fn gemini_usage(requests: u64) -> Event {
    let (input, output) = (1111 * requests, 333 * requests);
    Event::Usage(Usage { scope: UsageScope::Run, input, cached_input: 0, cache_write: 0, output, reasoning: 0 })
}

fn call(id: &str, name: &str, input: &str) -> Event {
    Event::ToolCall(ToolCall { id: id.into(), name: name.into(), input: input.into() })
}

fn result(id: &str, output: &str, is_error: bool) -> Event {
    Event::ToolResult(ToolResult { id: id.into(), output: output.into(), is_error })
}

#[test]
fn copilot() -> io::Result<()> {
    let session = "0b520043-87ac-4909-87b4-ff9427ed7b28";
    let plain = [texts(HELLO), vec![usage(UsageScope::Run, 1)]].concat();
    assert_eq!(actual("copilot", session)?, plain);

    // Nobody answered the question when this was recorded.
    let id = "call_scripted000003";
    let refusal = r#"{"id":0,"jsonrpc":"2.0","result":{"outcome":{"optionId":"reject_once","outcome":"selected"}}}"#;
    let tool = vec![
        notice(Level::Info, "refused, because `permission` does not allow it: Scripted step"),
        call(id, "execute", r#"{"command":"ls","commands":["ls"]}"#),
        Event::Reply(format!("{refusal}\n")),
        result(id, NO_LEAVE, true),
        usage(UsageScope::Run, 2),
    ];
    let message = "The agent ended its turn at a call that was refused: raise `permission` of the model";
    let end = failed(Category::Configuration, message, "Scripted step");
    assert_eq!(told_to("copilot-tool", session, end)?, tool);
    Ok(())
}

#[test]
fn gemini() -> io::Result<()> {
    let session = "a502d4e4-9f23-4cc3-a223-d2b4e6a8d67e";
    assert_eq!(actual("gemini", session)?, [texts(HELLO), vec![gemini_usage(1)]].concat());

    // It reports neither arguments nor output.
    let id = "run_shell_command__run_shell_command_1795813496438_0";
    let tool = [
        vec![call(id, "execute", r#"{"locations":[],"title":"ls"}"#), result(id, "", false)],
        texts(["Done. The tool ", "returned 103 characters."]),
        vec![gemini_usage(2)],
    ];
    assert_eq!(actual("gemini-tool", session)?, tool.concat());
    Ok(())
}

#[test]
fn opencode() -> io::Result<()> {
    let session = "ses_de12760deffea2u7w15wbamE28";
    let plain = [texts(HELLO), vec![usage(UsageScope::Run, 1)]].concat();
    assert_eq!(actual("opencode", session)?, plain);

    let id = "call_scripted000004";
    let tool = [
        vec![call(id, "execute", r#"{"command":"ls","cwd":"/repo"}"#), result(id, "README.md\nsrc\n", false)],
        texts(["Done. The tool ", "returned 14 characters."]),
        // It reports only the tokens of the last request.
        vec![usage(UsageScope::Run, 1)],
    ];
    assert_eq!(actual("opencode-tool", session)?, tool.concat());
    Ok(())
}

#[test]
fn qwen() -> io::Result<()> {
    let session = "2d1e259f-8fcd-4a55-8148-622cb82eb3b2";
    let plain = [texts(HELLO), vec![usage(UsageScope::Step, 1)]].concat();
    assert_eq!(actual("qwen", session)?, plain);

    let id = "call_scripted000004";
    let output = "Command: ls\nDirectory: (root)\nOutput: README.md  src\nError: (none)\nExit Code: 0\n\
                  Signal: (none)\nProcess Group PGID: 65";
    let unknown =
        r#"{"error":{"code":-32601,"message":"method not found: craft/drainMidTurnQueue"},"id":0,"jsonrpc":"2.0"}"#;
    let tool = [
        vec![
            usage(UsageScope::Step, 1),
            call(id, "run_shell_command", r#"{"command":"ls"}"#),
            result(id, output, false),
            Event::Reply(format!("{unknown}\n")),
        ],
        texts(["Done. The tool ", "returned 117 characters."]),
        vec![usage(UsageScope::Step, 1)],
    ];
    assert_eq!(actual("qwen-tool", session)?, tool.concat());
    Ok(())
}

#[test]
fn a_dialogue_without_its_end_is_never_a_success() -> io::Result<()> {
    for case in ["copilot-tool", "gemini-tool", "opencode-tool", "qwen-tool"] {
        for stdout in corrupted(&recorded(case)?.stdout) {
            let actual = replay::<Acp>(&turn("x"), &stdout, Grouping::Whole, ExitStatus::Code(0));
            let has_end = actual.events.iter().any(|event| matches!(event, Event::Done(_)));
            assert!(has_end || stdout.is_empty() || actual.outcome.failure.is_some(), "{stdout}");
        }
    }
    Ok(())
}
