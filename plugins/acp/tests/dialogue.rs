//! The order of messages to an agent.

use agentbay_plugin_acp::Acp;
use agentbay_plugin_sdk::testing::turn;
use agentbay_plugin_sdk::{
    Agent, Category, Event, ExitStatus, Failure, Level, NO_OUTPUT, Outcome, Permission, Stop, StreamName, Transcript,
    Turn, Value, failed, finished, notice, settle,
};
use serde_json::json;

type Dialogue = <Acp as Agent>::Transcript;

/// An agent whose turn has begun.
fn begun(turn: &Turn) -> Dialogue {
    let mut dialogue = Dialogue::new(&Turn { prompt: String::new(), ..turn.clone() });
    dialogue.begin(turn);
    dialogue
}

/// An agent that has received the prompt of a turn, in the session `s`.
fn prompted(turn: &Turn) -> Dialogue {
    let mut dialogue = begun(turn);
    say(&mut dialogue, &json!({ "id": 1, "result": {} }));
    say(&mut dialogue, &json!({ "id": 2, "result": { "sessionId": "s" } }));
    dialogue
}

fn say(dialogue: &mut Dialogue, message: &Value) -> Vec<Event> {
    dialogue.output(StreamName::Stdout, &message.to_string())
}

fn reply(message: &Value) -> Event {
    Event::Reply(format!("{message}\n"))
}

fn request(id: u64, method: &str, params: &Value) -> Event {
    reply(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// The end of a failed dialogue.
fn end(outcome: Outcome) -> Vec<Event> {
    vec![Event::EndInput, Event::Done(outcome)]
}

/// The end of a turn, after which updates may follow.
fn answered(outcome: Outcome) -> Vec<Event> {
    vec![settle(), Event::Done(outcome)]
}

fn chunk(text: &str) -> Value {
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    json!({ "method": "session/update", "params": { "update": update } })
}

#[test]
fn a_turn_is_initialize_then_a_new_session_then_the_prompt() {
    let turn = turn("Say hello");
    let mut dialogue = Dialogue::new(&Turn { prompt: String::new(), ..turn.clone() });
    let hello = json!({
        "protocolVersion": 1,
        "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
        "clientInfo": { "name": "agentbay", "title": "AgentBay", "version": env!("CARGO_PKG_VERSION") },
    });
    assert_eq!(dialogue.begin(&turn), vec![request(1, "initialize", &hello)]);

    let capabilities = json!({ "id": 1, "result": { "protocolVersion": 1, "agentCapabilities": {} } });
    let session = json!({ "cwd": "/repo", "mcpServers": [] });
    assert_eq!(say(&mut dialogue, &capabilities), vec![request(2, "session/new", &session)]);

    let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "Say hello" }] });
    let actual = say(&mut dialogue, &json!({ "id": 2, "result": { "sessionId": "s" } }));
    assert_eq!(actual, vec![Event::Session("s".into()), request(3, "session/prompt", &prompt)]);

    let actual = say(&mut dialogue, &json!({ "id": 3, "result": { "stopReason": "end_turn" } }));
    assert_eq!(actual, answered(finished(None)));
}

#[test]
fn a_loaded_session_does_not_repeat_its_messages() {
    let turn = Turn { session: Some("old".into()), ..turn("x") };
    let mut dialogue = begun(&turn);
    let actual = say(&mut dialogue, &json!({ "id": 1, "result": { "agentCapabilities": { "loadSession": true } } }));
    let load = json!({ "cwd": "/repo", "mcpServers": [], "sessionId": "old" });
    assert_eq!(actual, vec![request(2, "session/load", &load)]);

    let earlier = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "earlier" } });
    let update = json!({ "method": "session/update", "params": { "update": earlier } });
    assert_eq!(say(&mut dialogue, &update), vec![]);

    let prompt = json!({ "sessionId": "old", "prompt": [{ "type": "text", "text": "x" }] });
    let actual = say(&mut dialogue, &json!({ "id": 2, "result": null }));
    assert_eq!(actual, vec![Event::Session("old".into()), request(3, "session/prompt", &prompt)]);
    assert_eq!(say(&mut dialogue, &update), vec![Event::Text("earlier".into())]);
}

#[test]
fn a_session_is_not_loaded_by_an_agent_without_that_capability() {
    let mut dialogue = begun(&Turn { session: Some("old".into()), ..turn("x") });
    let actual = say(&mut dialogue, &json!({ "id": 1, "result": { "agentCapabilities": {} } }));
    assert_eq!(actual, end(failed(Category::Validation, "The agent cannot resume a session", "")));
}

#[test]
fn additional_folders_are_sent_to_an_agent_with_that_capability() {
    let turn = Turn { extra_dirs: vec!["/a b".into()], ..turn("x") };
    let can = json!({ "sessionCapabilities": { "additionalDirectories": {} } });
    let actual = say(&mut begun(&turn), &json!({ "id": 1, "result": { "agentCapabilities": can } }));
    let session = json!({ "cwd": "/repo", "mcpServers": [], "additionalDirectories": ["/a b"] });
    assert_eq!(actual, vec![request(2, "session/new", &session)]);
}

#[test]
fn a_prompt_is_never_a_command_of_the_agent() {
    for (prompt, text) in [("/init", "\u{200b}/init"), (" \n/init", "\u{200b} \n/init"), ("a /init", "a /init")] {
        let mut dialogue = begun(&turn(prompt));
        say(&mut dialogue, &json!({ "id": 1, "result": {} }));
        let actual = say(&mut dialogue, &json!({ "id": 2, "result": { "sessionId": "s" } }));
        let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": text }] });
        assert_eq!(actual, vec![Event::Session("s".into()), request(3, "session/prompt", &prompt)]);
    }
}

#[test]
fn a_prompt_is_never_a_command_of_qwen_code_and_arrives_as_it_is() {
    let mut dialogue = begun(&turn("/init"));
    say(&mut dialogue, &json!({ "id": 1, "result": { "agentInfo": { "name": "qwen-code" } } }));
    let actual = say(&mut dialogue, &json!({ "id": 2, "result": { "sessionId": "s" } }));
    let blocks = json!([{ "type": "text", "text": "" }, { "type": "text", "text": "/init" }]);
    let prompt = json!({ "sessionId": "s", "prompt": blocks });
    assert_eq!(actual, vec![Event::Session("s".into()), request(3, "session/prompt", &prompt)]);
}

#[test]
fn a_lost_connection_is_a_network_failure() {
    let error = json!({ "id": 3, "error": { "code": -32603, "message": "terminated" } });
    let message = "The CLI could not reach its provider, or lost the connection";
    let actual = say(&mut prompted(&turn("x")), &error);
    assert_eq!(actual, end(failed(Category::Network, message, "terminated")));
}

#[test]
fn an_unknown_request_is_answered_with_an_error() {
    for id in [json!(0), json!("a-7")] {
        let error = json!({ "code": -32601, "message": "method not found: craft/drainMidTurnQueue" });
        let answer = reply(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        let asked = json!({ "jsonrpc": "2.0", "id": id, "method": "craft/drainMidTurnQueue", "params": {} });
        assert_eq!(say(&mut prompted(&turn("x")), &asked), vec![answer]);
    }
}

/// The answer to a permission request for a call of this kind, at these locations; `None` if there is none.
fn answer(permission: Permission, kind: &str, paths: &[&str], options: &Value) -> Value {
    let turn = Turn { permission, extra_dirs: vec!["/more/".into()], ..turn("x") };
    let locations: Vec<Value> = paths.iter().map(|path| json!({ "path": path })).collect();
    let call = json!({ "toolCallId": "c", "kind": kind, "locations": locations });
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    let asked = json!({ "id": 9, "method": "session/request_permission", "params": params });
    match say(&mut prompted(&turn), &asked).last() {
        Some(Event::Reply(answer)) => answer.parse().unwrap_or_default(),
        _ => Value::Null,
    }
}

fn outcome(outcome: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 9, "result": { "outcome": outcome } })
}

#[test]
fn permission_requests_are_answered_by_the_permission_of_the_turn() {
    let options = json!([
        { "optionId": "always", "kind": "allow_always" },
        { "optionId": "yes", "kind": "allow_once" },
        { "optionId": "no", "kind": "reject_once" },
    ]);
    let (reader, writer, all) = (Permission::ReadOnly, Permission::WorkspaceWrite, Permission::FullAccess);
    let cases: [(Permission, &str, &[&str], &str); 16] = [
        (reader, "read", &["/etc/hosts"], "yes"),
        (reader, "search", &[], "yes"),
        (reader, "edit", &["/repo/a"], "no"),
        (reader, "execute", &[], "no"),
        (reader, "other", &[], "no"),
        (writer, "read", &["/etc/hosts"], "yes"),
        (writer, "edit", &["/repo/a"], "yes"),
        (writer, "delete", &["/repo", "/more/b"], "yes"),
        (writer, "edit", &[], "no"),
        (writer, "edit", &["/repository/a"], "no"),
        (writer, "edit", &["/repo/../etc/a"], "no"),
        (writer, "move", &["/repo/a", "/etc/a"], "no"),
        (writer, "edit", &["a"], "no"),
        (writer, "execute", &["/repo"], "no"),
        (all, "execute", &[], "yes"),
        (all, "edit", &["/etc/a"], "yes"),
    ];
    for (permission, kind, paths, option) in cases {
        let chosen = outcome(&json!({ "outcome": "selected", "optionId": option }));
        assert_eq!(answer(permission, kind, paths, &options), chosen, "{permission:?} {kind} {paths:?}");
    }
}

#[test]
fn a_permission_request_without_an_option_for_a_single_call_is_cancelled() {
    let options = json!([{ "optionId": "always", "kind": "allow_always" }, { "kind": "allow_once" }]);
    let none = outcome(&json!({ "outcome": "cancelled" }));
    assert_eq!(answer(Permission::FullAccess, "execute", &[], &options), none);
    assert_eq!(answer(Permission::ReadOnly, "execute", &[], &json!(null)), none);
}

#[test]
fn each_stop_reason_is_an_outcome_and_a_limit_without_text_a_failure() {
    let cases = [
        ("end_turn", Stop::EndTurn, true),
        ("max_tokens", Stop::MaxTokens, false),
        ("max_turn_requests", Stop::MaxTurns, false),
        ("refusal", Stop::Refusal, true),
    ];
    for (reason, stop, is_good_without_words) in cases {
        let result = json!({ "id": 3, "result": { "stopReason": reason } });
        let mut speaking = prompted(&turn("x"));
        say(&mut speaking, &chunk("words"));
        assert_eq!(say(&mut speaking, &result), answered(Outcome { stop, ..finished(None) }));
        let actual = say(&mut prompted(&turn("x")), &result);
        let Some(Event::Done(outcome)) = actual.last() else { panic!("{actual:?}") };
        assert_eq!((outcome.stop, outcome.failure.is_none()), (stop, is_good_without_words));
    }
    let actual = say(&mut prompted(&turn("x")), &json!({ "id": 3, "result": { "stopReason": "cancelled" } }));
    assert_eq!(actual, answered(failed(Category::Unknown, "The agent says that the turn was cancelled", "")));
}

#[test]
fn t2_10_pieces_that_come_behind_the_answer_belong_to_the_turn() {
    let mut late = prompted(&turn("x"));
    assert_eq!(say(&mut late, &chunk("The answer is ")), vec![Event::Text("The answer is ".into())]);
    let end_of_turn = json!({ "id": 3, "result": { "stopReason": "end_turn" } });
    assert_eq!(say(&mut late, &end_of_turn), answered(finished(None)));
    let actual = say(&mut late, &chunk("forty-two."));
    assert_eq!(actual, vec![Event::Text("forty-two.".into()), Event::Done(finished(None))]);

    // A later update may change the outcome.
    let mut refused = prompted(&turn("x"));
    let call = json!({ "toolCallId": "c", "kind": "execute", "title": "rm" });
    let params = json!({ "toolCall": call, "options": [] });
    say(&mut refused, &json!({ "id": 9, "method": "session/request_permission", "params": params }));
    say(&mut refused, &end_of_turn);
    let actual = say(&mut refused, &chunk("I may not."));
    assert_eq!(actual, vec![Event::Text("I may not.".into()), Event::Done(finished(None))]);
}

#[test]
fn t2_28_the_id_of_a_request_goes_back_as_it_came() {
    for id in [json!("7c0e-uuid"), json!(0), json!("3"), json!(3.5), json!(u64::MAX), json!([1])] {
        let request = json!({ "id": id, "method": "odd/question" });
        let error = json!({ "code": -32601, "message": "method not found: odd/question" });
        let actual = say(&mut prompted(&turn("x")), &request);
        assert_eq!(actual, vec![reply(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))]);
    }
}

#[test]
fn the_id_of_a_request_is_accepted_as_integer_float_or_string() {
    for id in [json!(3), json!(3.0), json!("3"), json!("3.0")] {
        let actual = say(&mut prompted(&turn("x")), &json!({ "id": id, "result": { "stopReason": "end_turn" } }));
        assert_eq!(actual, answered(finished(None)), "{id}");
    }
}

#[test]
fn an_error_ends_the_turn_and_its_text_determines_the_category() {
    let error = json!({ "code": -32603, "message": "Internal error", "data": { "details": "429 Too many requests" } });
    let actual = say(&mut prompted(&turn("x")), &json!({ "id": 3, "error": error }));
    let Some(Event::Done(Outcome { failure: Some(failure), .. })) = actual.last() else { panic!("{actual:?}") };
    assert_eq!((failure.category, failure.detail.as_str()), (Category::RateLimit, "429 Too many requests"));
}

#[test]
fn a_turn_that_ends_at_a_refused_call_is_a_failure_unless_the_agent_continues() {
    let call = json!({ "toolCallId": "c", "kind": "execute", "title": "rm -r ." });
    let asked =
        json!({ "id": 9, "method": "session/request_permission", "params": { "toolCall": call, "options": [] } });
    let end_of_turn = json!({ "id": 3, "result": { "stopReason": "end_turn" } });
    let message = "The agent ended its turn at a call that was refused: raise `permission` of the model";

    let mut silent = prompted(&turn("x"));
    say(&mut silent, &asked);
    assert_eq!(say(&mut silent, &end_of_turn), answered(failed(Category::Configuration, message, "rm -r .")));

    let answer = json!({ "sessionUpdate": "agent_message_chunk", "content": { "text": "I may not." } });
    let read = json!({ "sessionUpdate": "tool_call", "toolCallId": "d", "kind": "read", "status": "completed" });
    for update in [answer, read] {
        let mut going_on = prompted(&turn("x"));
        say(&mut going_on, &asked);
        say(&mut going_on, &json!({ "method": "session/update", "params": { "update": update } }));
        assert_eq!(say(&mut going_on, &end_of_turn), answered(finished(None)));
    }
}

#[test]
fn messages_of_copilot_itself_are_not_part_of_the_answer() {
    let prompted = |name: &str| {
        let mut dialogue = begun(&turn("x"));
        say(&mut dialogue, &json!({ "id": 1, "result": { "agentInfo": { "name": name } } }));
        say(&mut dialogue, &json!({ "id": 2, "result": { "sessionId": "s" } }));
        dialogue
    };
    let text = "Error: 500 server error";
    let failure = failed(Category::Server, "The provider failed to answer the request", "500 server error");
    let usage = json!({ "inputTokens": 1, "outputTokens": 1, "totalTokens": 2 });

    // Without tokens the text is not the model's.
    let mut copilot = prompted("Copilot");
    assert_eq!(say(&mut copilot, &chunk(text)), vec![]);
    assert_eq!(say(&mut copilot, &json!({ "id": 3, "result": { "stopReason": "end_turn" } })), answered(failure));

    let mut copilot = prompted("Copilot");
    say(&mut copilot, &chunk(text));
    let actual = say(&mut copilot, &json!({ "id": 3, "result": { "stopReason": "end_turn", "usage": usage } }));
    assert_eq!(actual.get(1..), Some(&[vec![Event::Text(text.into())], answered(finished(None))].concat()[..]));

    let mut copilot = prompted("Copilot");
    say(&mut copilot, &chunk(text));
    let events = [text, " is what it prints"].map(|text| Event::Text(text.into()));
    assert_eq!(say(&mut copilot, &chunk(" is what it prints")), events);

    assert_eq!(say(&mut prompted("other"), &chunk(text)), vec![Event::Text(text.into())]);
}

#[test]
fn an_authentication_failure_has_the_login_instructions() {
    let mut dialogue = begun(&turn("x"));
    let ways = json!([{ "id": "1", "name": "Login", "description": "Run `some-agent login`" }, { "name": "API key" }]);
    say(&mut dialogue, &json!({ "id": 1, "result": { "authMethods": ways } }));
    let error = json!({ "code": -32000, "message": "Authentication required" });
    let message = "The agent is not logged in. To log in: Run `some-agent login`, or: API key";
    let outcome = failed(Category::Authentication, message, "Authentication required");
    assert_eq!(say(&mut dialogue, &json!({ "id": 2, "error": error })), end(outcome));
}

#[test]
fn a_session_that_cannot_be_loaded_is_not_found() {
    let mut dialogue = begun(&Turn { session: Some("gone".into()), ..turn("x") });
    say(&mut dialogue, &json!({ "id": 1, "result": { "agentCapabilities": { "loadSession": true } } }));
    let actual = say(&mut dialogue, &json!({ "id": 2, "error": { "code": -32603, "message": "odd" } }));
    assert_eq!(actual, end(failed(Category::NotFound, "The agent cannot load the session", "odd")));
}

#[test]
fn a_program_that_does_not_speak_the_protocol_is_a_failure() {
    let mut dialogue = begun(&turn("x"));
    let actual = dialogue.output(StreamName::Stdout, "usage: agent\n\n[1]\n{\"id\":1}");
    let remarks =
        ["usage: agent", "[1]", "{\"id\":1}"].map(|line| notice(Level::Debug, format!("not a message: {line}")));
    assert_eq!(actual, remarks);
    let message = "The agent printed no known event, only `an object without a kind`";
    let printed = "usage: agent\n[1]\n{\"id\":1}";
    assert_eq!(dialogue.exit(ExitStatus::Code(0)), failed(Category::Unknown, message, printed));

    // No output is a success, unless a session was to be resumed.
    assert_eq!(begun(&turn("x")).exit(ExitStatus::Code(0)), finished(Some(NO_OUTPUT.into())));
    let resumed = Turn { session: Some("s".into()), ..turn("x") };
    assert_eq!(begun(&resumed).exit(ExitStatus::Code(0)), failed(Category::Unknown, NO_OUTPUT, ""));

    let mut dialogue = prompted(&turn("x"));
    let message = "The agent ended before it had finished its turn";
    assert_eq!(dialogue.exit(ExitStatus::Code(0)), failed(Category::Unknown, message, ""));
    dialogue.output(StreamName::Stderr, "Error: connect ECONNREFUSED");
    let message = "The CLI could not reach its provider, or lost the connection";
    let failure = Failure::new(Category::Network, message, "Error: connect ECONNREFUSED");
    assert_eq!(dialogue.exit(ExitStatus::Code(1)), failure.into());
}

#[test]
fn messages_after_the_end_and_results_of_other_requests_are_ignored() {
    let mut dialogue = prompted(&turn("x"));
    assert_eq!(say(&mut dialogue, &json!({ "id": 7, "result": {} })), vec![]);
    assert_eq!(say(&mut dialogue, &json!({ "id": 2, "error": { "message": "late" } })), vec![]);
    say(&mut dialogue, &json!({ "id": 3, "result": {} }));
    assert_eq!(say(&mut dialogue, &json!({ "id": 3, "result": {} })), vec![]);
    assert_eq!(say(&mut dialogue, &json!({ "id": 8, "method": "x" })), vec![]);
}
