//! CLIs without a plugin, driven by `generic` with the settings of its guide: cline, mini-swe-agent, aider and Amp from
//! recorded runs; Cursor and goose with output written after their documentation, since no recorded runs exist.

use std::fs;

use agentbay_plugin_sdk::testing::PLAIN;
use serde_json::{Value, json};

use crate::support::{Answer, Machine, Proxy, Request, Streamed, chat, fixtures};

/// The settings of a CLI in the guide, for a model and a program of other names.
fn settings(cli: &str, name: &str) -> String {
    let guide = fs::read_to_string(fixtures().join("../plugins/generic/README.md")).unwrap();
    let blocks = guide.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.into_iter().find(|block| block.starts_with(&format!("[models.{cli}]"))).expect("settings");
    let program = block.lines().find(|line| line.starts_with("program = ")).expect("a program");
    let renamed = block.replace(&format!("[models.{cli}"), &format!("[models.{name}"));
    renamed.replace(program, &format!("program = \"{name}\""))
}

/// A server with a model for each of these recorded runs of a CLI.
fn recorded(cli: &str, folder: &str, names: &[&str]) -> (Machine, Proxy) {
    let machine = Machine::new();
    let mut config = "[defaults]\nrepo = \".\"\n".to_owned();
    for name in names {
        let recording = fixtures().join(folder).join(name);
        machine.recording(name, &["replay", "--speed", "100", recording.to_str().unwrap()]);
        config += &settings(cli, name);
    }
    machine.write("proxy.toml", config);
    let proxy = machine.serve();
    (machine, proxy)
}

/// A server with a model `m` for a CLI that is a shell script.
fn scripted(cli: &str, script: &str, more: &str) -> (Machine, Proxy) {
    let machine = Machine::configured(&format!("[defaults]\nrepo = \".\"\n{more}{}", settings(cli, "m")));
    machine.script("m", script);
    let proxy = machine.serve();
    (machine, proxy)
}

/// A failure as a client receives it: status, code and partial answer.
fn failure(answer: &Answer) -> (u16, String, Value) {
    let error = &answer.json()["error"];
    (answer.status, error["code"].as_str().unwrap_or_default().to_owned(), error["partial"].clone())
}

/// The answer, which is the same whole and streamed.
fn answered(proxy: &Proxy, model: &str) -> Streamed {
    let whole = proxy.complete(&chat(model, "Say hello"));
    assert_eq!(whole.status, 200, "{model}: {whole:?}");
    let message = &whole.json()["choices"][0]["message"];
    let streamed = proxy.streamed(model, "Say hello");
    assert_eq!(message["content"], streamed.content, "{model}");
    assert_eq!(message["reasoning_content"].as_str().unwrap_or_default(), streamed.reasoning, "{model}");
    assert!(streamed.done && streamed.error.is_none(), "{model}: {streamed:?}");
    streamed
}

/// Prompt, cached and completion tokens.
fn tokens(streamed: &Streamed) -> [Value; 3] {
    let usage = streamed.usage.as_ref().expect("usage");
    [&usage["prompt_tokens"], &usage["prompt_tokens_details"]["cached_tokens"], &usage["completion_tokens"]]
        .map(Value::clone)
}

#[test]
fn cline_yields_the_assistants_answer() {
    let (_machine, proxy) =
        recorded("cline", "cline", &["plain", "tool", "texttool", "markdown", "reasoning", "plain-plan"]);
    let plain = answered(&proxy, "plain");
    assert_eq!((plain.content.as_str(), tokens(&plain)), (PLAIN, [1111, 222, 333].map(Value::from)));
    assert_eq!(answered(&proxy, "plain-plan").content, PLAIN);
    let tool = answered(&proxy, "tool");
    let twice = [2222, 444, 666].map(Value::from);
    assert_eq!((tool.content.as_str(), tokens(&tool)), ("Done. The tool returned 59 characters.", twice));
    // A sentence before the call and one after it are two messages.
    let texttool = answered(&proxy, "texttool").content;
    let messages: Vec<&str> = texttool.split("\n\n").collect();
    assert!(messages.len() == 2 && messages[1].starts_with("Done."), "{texttool}");
    let reasoning = answered(&proxy, "reasoning");
    let thought = "First I consider the request. Then I decide that a short answer is enough.";
    assert_eq!((reasoning.content.as_str(), reasoning.reasoning.as_str()), (PLAIN, thought));
    let markdown = answered(&proxy, "markdown").content;
    assert!(markdown.starts_with("# Scripted report\n") && markdown.contains("👩\u{200d}💻"), "{markdown}");
}

#[test]
fn cline_failures_have_their_category() {
    let (_machine, proxy) = recorded("cline", "cline", &["auth401", "rate429", "error500", "cut", "resume-id"]);
    let failed = |model| failure(&proxy.complete(&chat(model, "Say hello")));
    assert_eq!(failed("auth401"), (401, "authentication".into(), Value::Null));
    assert_eq!(failed("rate429"), (429, "rate_limit".into(), Value::Null));
    assert_eq!(failed("error500"), (502, "server".into(), Value::Null));
    let (status, _, partial) = failed("cut");
    assert!(status >= 500 && partial == "The scripted model ", "{status} {partial}");
    // With `--json`, cline 3.0.65 does not accept a session together with a prompt.
    let resumed = proxy.complete(&chat("resume-id", "Say more"));
    assert!(resumed.status == 500 && resumed.body.contains("JSON output mode requires a prompt"), "{resumed:?}");
}

#[test]
fn cline_receives_model_permission_and_a_prompt_that_resembles_an_option() {
    let machine = Machine::new();
    let recording = fixtures().join("cline/plain");
    machine.recording("m", &["replay", "--speed", "100", recording.to_str().unwrap()]);
    let named = settings("cline", "m").replace("program = ", "model = \"gpt\"\nprogram = ");
    machine.write("proxy.toml", format!("[defaults]\nrepo = \".\"\npermission = \"read-only\"\n{named}"));
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", "--help me"), PLAIN);
    assert_eq!(machine.seen("m")["argv"], json!(["--json", "--model", "gpt", "--plan", "--", "--help me"]));

    let session = Request::complete(&chat("m", "more")).header("x-agent-session", "s-1");
    let refused = proxy.send(&session);
    assert_eq!(failure(&refused), (400, "validation".into(), Value::Null));
    assert!(refused.body.contains("add `resume_args`, such as"), "{refused:?}");
}

#[test]
fn mini_swe_agent_yields_its_messages_and_its_submission() {
    let (_machine, proxy) = recorded("mini", "mini-swe-agent", &["submitted", "plain", "tool", "auth401"]);
    let submit = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo 'The folder has a README and \nsrc.'";
    let expected = format!(
        "I look at the folder first.\n\n```\nls\n```\n\nThat is all: I submit.\n\n```\n{submit}\n```\n\n\
         The folder has a README and src."
    );
    assert_eq!(answered(&proxy, "submitted").content, expected);

    let ask = |model| proxy.complete(&chat(model, "Say hello"));
    let (plain, tool) = (ask("plain"), ask("tool"));
    assert_eq!(failure(&plain), (500, "unknown".into(), Value::Null));
    assert_eq!(failure(&tool), (500, "unknown".into(), "```\nls\n```".into()));
    assert!(plain.body.contains("RepeatedFormatError") && tool.body.contains("RepeatedFormatError"), "{plain:?}");
    assert_eq!(failure(&ask("auth401")), (401, "authentication".into(), Value::Null));
}

#[test]
fn aider_yields_its_answer_and_its_errors_are_failures_although_it_exits_with_0() {
    let (machine, proxy) = recorded("aider", "aider", &["plain", "slow", "markdown", "auth401"]);
    assert_eq!(answered(&proxy, "plain").content, PLAIN);
    assert_eq!(answered(&proxy, "slow").content, PLAIN);
    let markdown = answered(&proxy, "markdown").content;
    assert!(markdown.starts_with("# Scripted report\n\nA first paragraph"), "{markdown}");
    assert!(
        markdown.ends_with(PLAIN) && !markdown.contains("Tokens:") && !markdown.contains("https://aider"),
        "{markdown}"
    );
    let refused = proxy.complete(&chat("auth401", "Say hello"));
    assert_eq!(failure(&refused), (401, "authentication".into(), Value::Null));

    let argv = machine.seen("plain")["argv"].as_array().unwrap().clone();
    assert_eq!(argv[argv.len() - 2..], [json!("--model"), json!("openai/gpt-5")]);
}

#[test]
fn a_prompt_of_any_size_reaches_a_cli_through_a_file() {
    let script = "echo 'Repo-map: none'\nwhile [ \"$1\" != --message-file ]; do shift; done\ncat \"$2\"\necho\n";
    let (_machine, proxy) = scripted("aider", script, "");
    let prompt = "all of it, ".repeat(20_000) + "to the end";
    assert_eq!(proxy.ask("m", &prompt), prompt);
}

#[test]
fn a_run_of_amp_without_a_login_fails_at_once_instead_of_waiting() {
    let printed = fixtures().join("amp/nocreds/stdout");
    let (_machine, proxy) = scripted("amp", &format!("cat {}\nexec sleep 1000", printed.display()), "");
    let refused = proxy.complete(&chat("m", "Say hello"));
    assert_eq!(failure(&refused), (401, "authentication".into(), Value::Null));
    assert!(refused.body.contains("No API key found. Starting login flow..."), "{refused:?}");
}

/// As in Cursor's documentation of its output format.
const CURSOR: &str = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/repo","session_id":"c6b6-1","model":"Auto","permissionMode":"default"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Say hello"}]},"session_id":"c6b6-1"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Let me look."}]},"session_id":"c6b6-1"}
{"type":"tool_call","subtype":"started","call_id":"t1","tool_call":{"readToolCall":{"args":{"path":"README.md"}}},"session_id":"c6b6-1"}
{"type":"tool_call","subtype":"completed","call_id":"t1","tool_call":{"readToolCall":{"result":{"success":{"content":"x"}}}},"session_id":"c6b6-1"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Two files."}]},"session_id":"c6b6-1"}"#;

#[test]
fn documented_output_of_cursor_is_read_resumed_and_failed() {
    let machine = Machine::new();
    let end = |result: &str| format!("{CURSOR}\n{{\"type\":\"result\",\"session_id\":\"c6b6-1\",{result}}}\n");
    let good = end(r#""subtype":"success","is_error":false,"result":"Let me look.Two files.","request_id":"r1""#);
    let bad = end(r#""subtype":"error","is_error":true,"result":"You have hit your usage limit""#);
    machine.recording("good", &["say", &good]);
    machine.recording("bad", &["say", &bad]);
    machine.recording(
        "out",
        &["say", "--err", "Error: Authentication required. Please run 'agent login' first", "--exit", "1", ""],
    );
    let models: String = ["good", "bad", "out"].map(|name| settings("cursor", name)).concat();
    machine.write("proxy.toml", format!("[defaults]\nrepo = \".\"\n{models}"));
    let proxy = machine.serve();

    assert_eq!(answered(&proxy, "good").content, "Let me look.\n\nTwo files.");
    let again = Request::complete(&chat("good", "And now?"));
    let first = proxy.send(&again);
    assert_eq!(first.header("x-agent-session"), Some("c6b6-1"));
    let resumed = proxy.send(&again.header("x-agent-session", "c6b6-1"));
    assert_eq!(resumed.status, 200, "{resumed:?}");
    let argv = json!(["--print", "--output-format", "stream-json", "--force", "--resume=c6b6-1", "--", "And now?"]);
    assert_eq!(machine.seen("good")["argv"], argv);

    let spent = proxy.complete(&chat("bad", "Say hello"));
    assert_eq!(failure(&spent), (429, "quota".into(), "Let me look.\n\nTwo files.".into()));
    assert_eq!(failure(&proxy.complete(&chat("out", "Say hello"))), (401, "authentication".into(), Value::Null));
}

#[test]
fn documented_output_of_goose_is_read_and_failed() {
    let machine = Machine::new();
    let message = |id: u32, text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        json!({"type": "message", "message": {"id": id, "role": "assistant", "content": content}}).to_string()
    };
    let tool =
        json!({"type": "message", "message": {"role": "user", "content": [{"type": "toolResponse", "id": "t"}]}});
    let complete = json!({"type": "complete", "total_tokens": 5});
    let output = [message(1, "Two "), message(1, "files."), tool.to_string(), complete.to_string()].join("\n");
    machine.stand_in("good", &["say", &output]);
    machine.stand_in("bad", &["say", &json!({"type": "error", "error": "Rate limit exceeded"}).to_string()]);
    machine.stand_in("silent", &["say", &[tool.to_string(), complete.to_string()].join("\n")]);
    let models: String = ["good", "bad", "silent"].map(|name| settings("goose", name)).concat();
    machine.write("proxy.toml", format!("[defaults]\nrepo = \".\"\n{models}"));
    let proxy = machine.serve();
    assert_eq!(answered(&proxy, "good").content, "Two files.");
    assert_eq!(failure(&proxy.complete(&chat("bad", "x"))).1, "rate_limit");
    let silent = proxy.complete(&chat("silent", "x"));
    assert_eq!(silent.status, 500);
    assert!(silent.body.contains("no answer was found in what it printed: `message`, `complete`."), "{silent:?}");
}

#[test]
fn a_missing_or_wrong_option_is_refused_with_an_example() {
    let machine = Machine::configured(
        "[defaults]\nrepo = \".\"\n[models.safe]\ndriver = \"generic\"\nprogram = \"cat\"\npermission = \"read-only\"\n\
         [models.named]\ndriver = \"generic\"\nprogram = \"cat\"\nmodel = \"gpt\"\n\
         [models.wrong]\ndriver = \"generic\"\nprogram = \"cat\"\noptions = { skip = [] }\n",
    );
    let faults = machine.faults();
    let proxy = machine.serve();
    for (model, part) in [
        ("safe", "add `read_only_args`, such as"),
        ("named", "add `model_args`, such as"),
        ("wrong", "allowed is a pattern of a whole line such as `Tokens: *`"),
    ] {
        let refused = proxy.complete(&chat(model, "Say hello"));
        assert_eq!(failure(&refused), (500, "configuration".into(), Value::Null), "{model}");
        assert!(refused.body.contains(part), "{model}: {refused:?}");
        let is_reported = |line: &String| line.starts_with(&format!("models.{model}")) && line.contains(part);
        assert!(faults.iter().any(is_reported), "{model}: {faults:?}");
    }
}
