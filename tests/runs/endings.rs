//! The end of a turn: output after the reported end, runs without output, and the tokens of a turn.

use serde_json::json;

use crate::support::{Machine, Request, chat, drivers, quoted};

/// A script that prints a line of JSON.
fn prints(line: &serde_json::Value) -> String {
    format!("printf '%s\\n' {}\n", quoted(&line.to_string()))
}

fn assistant(id: &str, text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    prints(&json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": content}}))
}

fn result(text: &str) -> String {
    prints(&json!({"type": "result", "subtype": "success", "is_error": false, "result": text}))
}

fn system(subtype: &str, rest: serde_json::Value) -> String {
    let mut line = rest;
    line["type"] = "system".into();
    line["subtype"] = subtype.into();
    prints(&line)
}

#[test]
fn t2_09_a_run_lasts_until_its_background_tasks_are_done() {
    // Without a grace time, output after the end of a turn is cut off at once.
    let machine = Machine::configured("[models.m]\ndriver = \"claude\"\nrepo = \".\"\n[limits]\nexit_grace = \"0s\"\n");
    let script = [
        "cat > /dev/null\n",
        &system("init", json!({"session_id": "s"})),
        &system("task_started", json!({"task_id": "b1"})),
        &system("background_tasks_changed", json!({"tasks": ["b1"]})),
        &assistant("m1", "The review runs…"),
        &result("The review runs…"),
        "echo faults > \"$PWD/review.txt\"\n",
        &system("task_notification", json!({"task_id": "b1", "status": "completed"})),
        &system("background_tasks_changed", json!({"tasks": []})),
        &system("init", json!({"session_id": "s"})),
        &assistant("m2", "The review found two faults."),
        "test -s review.txt && : > review.done\n",
        &result("The review found two faults."),
    ];
    machine.script("claude", &script.concat());
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", "hi"), "The review runs…\n\nThe review found two faults.");
    assert!(machine.path("work/review.done").exists(), "the background task did its work");
    assert_eq!(proxy.streamed("m", "hi").content, "The review runs…\n\nThe review found two faults.");
}

/// An ACP agent that reads the prompt and then runs these commands.
fn agent(then: &str) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}});
    let session = json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}});
    format!("read -r hello\n{}read -r session\n{}read -r prompt\n{then}", prints(&hello), prints(&session))
}

fn chunk(text: &str) -> String {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    prints(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}}))
}

fn end_of_turn() -> String {
    prints(&json!({"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}))
}

fn acp(limits: &str) -> Machine {
    Machine::configured(&format!(
        "[models.m]\ndriver = \"acp\"\nprogram = \"agent\"\nrepo = \".\"\n[limits]\n{limits}\n"
    ))
}

#[test]
fn t2_10_text_after_the_response_to_the_prompt_is_part_of_the_answer() {
    let first = chunk("The answer is ");
    let second = chunk("forty-two.");
    let end = end_of_turn();
    for output in [[&first, &end, "sleep 0.05\n", &second], [&end, "sleep 0.05\n", &first, &second]] {
        // Far more than needed, for a busy machine; the agent's exit ends the wait.
        let machine = acp("late_output_timeout = \"60s\"\nexit_grace = \"60s\"");
        machine.script("agent", &agent(&output.concat()));
        let proxy = machine.serve();
        assert_eq!(proxy.ask("m", "hi"), "The answer is forty-two.");
        assert_eq!(proxy.streamed("m", "hi").content, "The answer is forty-two.");
    }
}

#[test]
fn an_agent_that_stays_is_not_waited_for_longer_than_limits_settle() {
    let machine = acp("late_output_timeout = \"1ms\"\nexit_grace = \"60s\"");
    machine.script("agent", &agent(&format!("{}{}cat > /dev/null\n", chunk("done"), end_of_turn())));
    assert_eq!(machine.serve().ask("m", "hi"), "done");
    // The output of an agent that is never silent is read for no longer than `limits.exit_grace`.
    let machine = acp("late_output_timeout = \"60s\"\nexit_grace = \"1ms\"");
    machine.script("agent", &agent(&format!("{}{}while :; do echo; done\n", chunk("done"), end_of_turn())));
    assert_eq!(machine.serve().ask("m", "hi"), "done");
}

#[test]
fn t2_28_an_agent_that_numbers_its_requests_with_strings_is_answered() {
    let options = json!([{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]);
    let call = json!({"toolCallId": "c", "kind": "read", "title": "Read a file"});
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    let question =
        json!({"jsonrpc": "2.0", "id": "7c0e-uuid", "method": "session/request_permission", "params": params});
    let expected = r#"*'"id":"7c0e-uuid"'*'"optionId":"yes"'*'"outcome":"selected"'*"#;
    let (right, wrong) = (chunk("answered"), chunk("not answered"));
    let check = format!("read -r answer\ncase $answer in\n{expected}) {right};;\n*) {wrong};;\nesac\n");
    let machine = acp("late_output_timeout = \"1ms\"");
    machine.script("agent", &agent(&format!("{}{check}{}", prints(&question), end_of_turn())));
    assert_eq!(machine.serve().ask("m", "hi"), "answered");
}

#[test]
fn for_every_driver_white_space_alone_is_no_output() {
    // `echo` runs the tested program itself.
    let drivers: Vec<String> = drivers().into_iter().filter(|driver| driver != "echo").collect();
    let model =
        |driver: &String| format!("[models.{driver}]\ndriver = \"{driver}\"\nprogram = \"cli\"\nrepo = \".\"\n");
    let machine = Machine::configured(&drivers.iter().map(model).collect::<String>());
    machine.script("cli", "printf ' \\n\\t\\r\\n\\n'\nprintf ' \\n' >&2");
    let proxy = machine.serve();
    for driver in &drivers {
        assert_eq!(proxy.ask(driver, "hi"), "No output from CLI.", "{driver}");
    }
    // No output from a resumed session is a failure: the session does not exist.
    let resumed = Request::complete(&chat("codex", "more"));
    let answer = proxy.send(&resumed.header("x-agent-session", "gone"));
    assert_eq!((answer.status, answer.json()["error"]["message"].as_str()), (500, Some("No output from CLI.")));
}

#[test]
fn the_tokens_of_a_session_are_not_counted_as_those_of_the_run_that_resumes_it() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    let answer = prints(&json!({"type": "item.completed", "item": {"type": "agent_message", "text": "four"}}));
    let usage = json!({"input_tokens": 31_100, "output_tokens": 900});
    let end = prints(&json!({"type": "turn.completed", "usage": usage}));
    machine.script("codex", &format!("cat > /dev/null\n{answer}{end}"));
    let proxy = machine.serve();
    let tokens = |answer: &crate::support::Answer| {
        let usage = &answer.json()["usage"];
        [usage["prompt_tokens"].clone(), usage["completion_tokens"].clone(), usage["estimated"].clone()]
    };
    assert_eq!(tokens(&proxy.complete(&chat("m", "hi"))), [json!(31_100), json!(900), json!(null)]);
    let resumed = Request::complete(&chat("m", "more"));
    let resumed = proxy.send(&resumed.header("x-agent-session", "th-1"));
    assert_eq!(tokens(&resumed), [json!(1), json!(1), json!(true)]);
}
