//! What a client asks of the answer besides its content: where its text ends, its format, and the call as which it is sent.

use serde_json::{Value, json};

use crate::support::{Machine, Proxy, Streamed, chat, codex_says, fixtures};

/// A model whose output is passed on as it arrives.
const CONFIG: &str = "
[models.m]
driver = \"generic\"
repo = \".\"
program = \"cli\"
options = { answer = \"whole\" }
";

fn ask(fields: &Value) -> Value {
    let mut body = chat("m", "hi");
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

fn with_stream(mut body: Value) -> Value {
    body["stream"] = true.into();
    body
}

fn streamed(proxy: &Proxy, body: Value) -> Streamed {
    let (head, events) = proxy.stream_of(&with_stream(body));
    assert_eq!(head.status, 200, "{head:?}");
    Streamed::read(events)
}

/// A server of a CLI that prints this.
fn printing(text: &str) -> (Machine, Proxy) {
    let machine = Machine::configured(CONFIG);
    machine.recording("cli", &["say", text]);
    let proxy = machine.serve();
    (machine, proxy)
}

fn schema() -> Value {
    let schema = json!({
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false,
    });
    json!({"type": "json_schema", "json_schema": {"name": "person", "strict": true, "schema": schema}})
}

#[test]
fn an_answer_ends_before_a_stop_sequence_or_at_its_maximum_and_the_agent_works_on() {
    for (asked, content, reason) in [
        (json!({"stop": ["here", " am"]}), "I", "stop"),
        (json!({"max_tokens": 1}), "I am", "length"),
        (json!({"max_completion_tokens": 1, "max_tokens": 1000}), "I am", "length"),
    ] {
        let machine = Machine::configured(CONFIG);
        // It continues as soon as there is a file.
        let open = machine.name("open");
        machine.stand_in("cli", &["gate", &open, "I am here", " and I work on"]);
        let proxy = machine.serve();
        std::fs::write(&open, "").unwrap();
        let answer = proxy.complete(&ask(&asked)).json();
        let choice = &answer["choices"][0];
        assert_eq!(
            (&choice["message"]["content"], &choice["finish_reason"]),
            (&content.into(), &reason.into()),
            "{answer}"
        );
        assert_eq!((&answer["usage"]["completion_tokens"], &answer["usage"]["estimated"]), (&1.into(), &true.into()));
        proxy.logged(&["the CLI has ended", "exit code 0"]);
        std::fs::remove_file(&open).unwrap();
        let (head, mut events) = proxy.stream_of(&with_stream(ask(&asked)));
        assert_eq!(head.status, 200, "{head:?}");
        let first: String = std::iter::from_fn(|| events.data()).find(|data| data.contains("\"I")).unwrap();
        std::fs::write(&open, "").unwrap();
        let rest = Streamed::read(events);
        assert_eq!(
            (rest.content.as_str(), rest.finish_reason.as_deref(), rest.done),
            ("", Some(reason), true),
            "{first}"
        );
    }
}

#[test]
fn an_answer_that_must_be_json_is_unwrapped_and_streamed_as_one_piece() {
    let json = r#"{"name":"Ada"}"#;
    let (machine, proxy) = printing("I think.\n\n```json\n{\"name\":\"Ada\"}\n```\n");
    for format in [schema(), json!({"type": "json_object"})] {
        let body = ask(&json!({"response_format": format}));
        assert_eq!(proxy.complete(&body).content(), json);
        let streamed = streamed(&proxy, body);
        assert_eq!((&*streamed.content, streamed.finish_reason.as_deref()), (json, Some("stop")));
    }
    // This CLI has no option for a schema, so that the agent is instructed.
    assert!(proxy.complete(&ask(&json!({"response_format": schema()}))).status == 200);
    let prompt = machine.seen("cli")["stdin"].as_str().unwrap().to_owned();
    let schema = &schema()["json_schema"]["schema"];
    assert!(
        prompt.starts_with("hi\n\nYour final answer must be one JSON value") && prompt.ends_with(&schema.to_string()),
        "{prompt}"
    );
}

#[test]
fn an_answer_that_does_not_follow_the_schema_is_an_error_with_the_answer() {
    let (_machine, proxy) = printing(r#"{"name":7}"#);
    let body = ask(&json!({"response_format": schema()}));
    let mut stream = body.clone();
    stream["stream"] = true.into();
    for body in [body, stream] {
        let answer = proxy.complete(&body);
        assert_eq!((answer.status, answer.header("x-should-retry")), (502, Some("false")), "{answer:?}");
        let error = answer.json()["error"].take();
        let message = "the agent's answer does not follow the schema `person` of the request: 7 is not of type \"string\" \
                       (at `/name`)";
        assert_eq!((&error["message"], &error["code"]), (&message.into(), &"server".into()));
        assert_eq!(error["partial"], r#"{"name":7}"#);
        proxy.wait_until_idle();
    }
}

#[test]
fn an_answer_that_was_cut_is_sent_although_it_is_not_the_json() {
    let (_machine, proxy) = printing(r#"{"name":"Ada"}"#);
    let answer = proxy.complete(&ask(&json!({"response_format": schema(), "max_tokens": 2}))).json();
    let choice = &answer["choices"][0];
    assert_eq!((&choice["message"]["content"], &choice["finish_reason"]), (&r#"{"name":"#.into(), &"length".into()));
}

#[test]
fn a_strict_schema_reaches_the_option_of_the_cli_and_another_one_the_prompt() {
    let machine = Machine::configured("[models.m]\ndriver = \"codex\"\nrepo = \".\"\n");
    machine.recording("codex", &["say", &codex_says(r#"{"name":"Ada"}"#)]);
    let proxy = machine.serve();
    let seen = |format: Value| {
        let answer = proxy.complete(&ask(&json!({"response_format": format})));
        assert_eq!(answer.content(), r#"{"name":"Ada"}"#, "{answer:?}");
        let seen = machine.seen("codex");
        let has_option = seen["argv"].as_array().unwrap().contains(&"--output-schema".into());
        (has_option, seen["stdin"].as_str().unwrap().contains("Your final answer must be"))
    };
    assert_eq!(seen(schema()), (true, false));
    let mut open = schema();
    open["json_schema"]["schema"].as_object_mut().unwrap().remove("additionalProperties");
    assert_eq!(seen(open), (false, true));
    assert_eq!(seen(json!({"type": "json_object"})), (false, true));
}

#[test]
fn a_forced_call_is_the_answer_whole_and_streamed() {
    let (_machine, proxy) = printing("```json\n{\"name\":\"Ada\"}\n```");
    let function = json!({"name": "person", "parameters": schema()["json_schema"]["schema"]});
    let body = ask(&json!({
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "person"}},
    }));
    let answer = proxy.complete(&body).json();
    let id = answer["id"].as_str().unwrap().replace("chatcmpl-", "call_");
    let called = json!({"name": "person", "arguments": r#"{"name":"Ada"}"#});
    let message = json!({
        "role": "assistant", "content": null, "refusal": null,
        "tool_calls": [{"id": id, "type": "function", "function": called}],
    });
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": "tool_calls"});
    assert_eq!(answer["choices"], json!([choice]));

    let (_head, mut events) = proxy.stream_of(&{
        let mut stream = body;
        stream["stream"] = true.into();
        stream
    });
    let chunks: Vec<Value> = std::iter::from_fn(|| events.data().filter(|data| data != "[DONE]"))
        .map(|data| serde_json::from_str::<Value>(&data).unwrap())
        .collect();
    let id = chunks[0]["id"].as_str().unwrap().replace("chatcmpl-", "call_");
    let deltas: Vec<Value> = chunks.iter().map(|chunk| chunk["choices"][0]["delta"].clone()).collect();
    let call = |call: Value| json!({"tool_calls": [call]});
    let begins = json!({"index": 0, "id": id, "type": "function", "function": {"name": "person", "arguments": ""}});
    let grows = json!({"index": 0, "function": {"arguments": r#"{"name":"Ada"}"#}});
    assert_eq!(deltas, [json!({"role": "assistant"}), call(begins), call(grows), json!({})]);
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");

    let legacy = ask(&json!({"functions": [function], "function_call": {"name": "person"}}));
    let choice = proxy.complete(&legacy).json()["choices"][0].take();
    assert_eq!((&choice["message"]["function_call"], &choice["finish_reason"]), (&called, &"function_call".into()));
    let streamed = streamed(&proxy, legacy);
    assert_eq!((&*streamed.content, streamed.finish_reason.as_deref()), ("", Some("function_call")));
}

#[test]
fn parameters_without_effect_are_named_in_a_header() {
    let (_machine, proxy) = Machine::echo();
    let mut body = chat("echo", "hi");
    assert_eq!(proxy.complete(&body).header("x-agentbay-ignored"), None);
    body["temperature"] = 0.into();
    body["seed"] = 1.into();
    body["top_p"] = Value::Null;
    for stream in [false, true] {
        body["stream"] = stream.into();
        assert_eq!(proxy.complete(&body).header("x-agentbay-ignored"), Some("seed, temperature"));
    }
}

#[test]
fn a_request_for_an_answer_that_cannot_be_given_is_refused_and_runs_nothing() {
    let machine = Machine::configured(CONFIG);
    let proxy = machine.serve();
    let of = |schema: Value| json!({"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}});
    for (asked, says) in [
        (of(json!({"type": "strange"})), "the JSON Schema of the answer cannot be used"),
        (of(json!({"$ref": "#"})), "leads back to itself"),
        (of(json!({"$ref": "http://127.0.0.1:9/x.json"})), "the JSON Schema of the answer cannot be used"),
        (json!({"response_format": {"type": "xml"}}), "the unknown format `xml`"),
        (json!({"tool_choice": "required", "tools": []}), "cannot choose among the client's"),
        (json!({"stop": 7}), "`stop` is not a list of texts"),
        (json!({"max_tokens": "many"}), "`max_tokens` is not a positive number"),
    ] {
        let answer = proxy.complete(&ask(&asked));
        let message = answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(answer.status == 400 && message.contains(says), "{answer:?}");
    }
}

#[test]
fn recorded_requests_of_clients_get_an_answer() {
    let machine = Machine::configured(CONFIG);
    // An answer that follows the schema of each recording.
    let json = "if grep -q 'concise title'; then echo '{\"language\":\"en\",\"title\":\"x\"}'; else echo '{\"name\":\"x\"}'; fi";
    machine.script("cli", json);
    let proxy = machine.serve();
    let mut count = 0;
    for entry in std::fs::read_dir(fixtures().join("requests")).unwrap() {
        let file = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let recording: Value = serde_json::from_str(&text).unwrap();
        for recorded in recording["requests"].as_array().unwrap() {
            if recorded["method"] == "POST" && recorded["path"].as_str().unwrap().ends_with("/chat/completions") {
                let mut body = recorded["body"].clone();
                body["model"] = "m".into();
                let answer = proxy.complete(&body);
                assert!(answer.status == 200 && !answer.body.contains("\"error\""), "{}: {answer:?}", file.display());
                count += 1;
            }
        }
    }
    assert!(count > 25, "only {count} requests");
}
