//! Chores: requests that clients send by themselves beside the turns of their users.

use serde_json::{Value, json};

use crate::support::{Answer, Machine, Proxy, Request, Streamed, chat};

/// A machine whose models have this setting. Its CLIs answer with their names.
fn machine(chores: &str) -> Machine {
    let model = |name: &str| {
        format!("[models.{name}]\ndriver = \"generic\"\nprogram = \"{name}\"\noptions = {{ answer = \"whole\" }}\n")
    };
    let machine = Machine::configured(&format!(
        "[defaults]\nrepo = \".\"\nchores = \"{chores}\"\n{}{}",
        model("m"),
        model("other")
    ));
    machine.stand_in("m", &["say", "m ran"]);
    machine.stand_in("other", &["say", "other ran"]);
    machine
}

/// The request of Open WebUI for a title.
fn title() -> Value {
    let text = "### Task:\n(a short title)\n### Guidelines:\n- (rules)\n### Output:\nJSON format: { \"title\": \"your title\" }\n\
                ### Chat History:\n<chat_history>\nUSER: How do I list files?\nASSISTANT: Use ls.\n</chat_history>";
    json!({"model": "m", "messages": [{"role": "user", "content": text}]})
}

/// The request of Claude Code for a summary that replaces the conversation.
fn compaction() -> Value {
    json!({"model": "m", "max_tokens": 100, "system": "You are a Claude agent.", "messages": [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."},
    ]})
}

fn runs(proxy: &Proxy) -> usize {
    let metrics = proxy.get("/metrics").body;
    let started = metrics.lines().filter(|line| line.starts_with("agentbay_runs_started_total"));
    started.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum()
}

fn chore(answer: &Answer) -> Option<&str> {
    answer.header("x-agentbay-chore")
}

#[test]
fn a_chore_is_answered_without_a_run_on_every_surface() {
    let machine = machine("answer");
    let proxy = machine.serve();
    let whole = proxy.complete(&title());
    assert_eq!((chore(&whole), whole.content().as_str()), (Some("title"), r#"{"title":"How do I list files?"}"#));
    let mut body = title();
    body["stream"] = true.into();
    let (head, events) = proxy.stream_of(&body);
    let streamed = Streamed::read(events);
    assert_eq!(
        (chore(&head), streamed.content.as_str(), streamed.done),
        (Some("title"), r#"{"title":"How do I list files?"}"#, true)
    );

    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}});
    let format = json!({"type": "json_schema", "name": "t", "schema": schema});
    let claude = json!({"model": "m", "max_tokens": 9, "output_config": {"format": format},
        "messages": [{"role": "user", "content": "<session>\nSay hello\n</session>\nWrite the title"}]});
    let codex = json!({"model": "m", "text": {"format": format}, "input": "Make a title.\n\nSay hello"});
    let complexity = json!({"properties": {"complexity_reasoning": {}, "complexity_score": {}}});
    let router =
        json!({"contents": [{"parts": [{"text": "hi"}]}], "generationConfig": {"responseJsonSchema": complexity}});
    let metadata = ("x-codex-turn-metadata", r#"{"thread_source":"thread_title"}"#);
    for (path, body, header, text, kind) in [
        ("/v1/messages", &claude, None, "/content/0/text", "title"),
        ("/v1/responses", &codex, Some(metadata), "/output/0/content/0/text", "title"),
        // Gemini CLI names a model of its vendor.
        ("/v1beta/models/gemini-x:generateContent", &router, None, "/candidates/0/content/parts/0/text", "routing"),
    ] {
        let request = header
            .iter()
            .fold(Request::post(path, body.to_string()), |request, (name, value)| request.header(name, value));
        let answer = proxy.send(&request);
        let said: Value = serde_json::from_str(answer.json().pointer(text).unwrap().as_str().unwrap()).unwrap();
        assert_eq!((answer.status, chore(&answer)), (200, Some(kind)), "{answer:?}");
        assert!(said["title"] == "Say hello" || said["complexity_score"] == 50, "{said}");
    }
    assert_eq!(runs(&proxy), 0);
    let counted = proxy.get("/metrics").body;
    assert!(counted.contains("agentbay_chores_total{chore=\"title\"} 4"), "{counted}");
}

#[test]
fn the_setting_of_the_model_decides_what_is_done_with_a_chore() {
    for (setting, answer) in [("run", "m ran"), ("model:other", "other ran")] {
        let machine = machine(setting);
        let answered = machine.serve().complete(&title());
        assert_eq!((chore(&answered), answered.content().as_str()), (Some("title"), answer), "{setting}");
    }
    let machine = machine("refuse");
    let proxy = machine.serve();
    let refused = proxy.complete(&title());
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (400, Some("chore_refused")));
    assert_eq!(refused.header("x-should-retry"), Some("false"));
    assert_eq!(runs(&proxy), 0);
}

#[test]
fn a_compaction_is_run_since_its_answer_is_the_memory_of_the_next_turn() {
    for (setting, said) in [("answer", "m ran"), ("refuse", "m ran"), ("model:other", "other ran")] {
        let machine = machine(setting);
        let answer = machine.serve().send(&Request::post("/v1/messages", compaction().to_string()));
        assert_eq!(
            (chore(&answer), &answer.json()["content"][0]["text"]),
            (Some("compaction"), &said.into()),
            "{setting}"
        );
    }
}

#[test]
fn a_turn_that_has_the_words_of_a_chore_is_run() {
    let machine = machine("answer");
    let proxy = machine.serve();
    let mut body = title();
    body["tools"] = json!([{"type": "function", "function": {"name": "f"}}]);
    for body in [body, chat("m", "Give this file a 5-word-or-less title")] {
        let answer = proxy.complete(&body);
        assert_eq!((chore(&answer), answer.content().as_str()), (None, "m ran"));
    }
}

#[test]
fn a_setting_that_names_no_model_is_a_fault() {
    let faults = machine("model:absent").faults();
    assert!(faults.iter().any(|fault| fault.contains("chores: there is no model \"absent\"")), "{faults:?}");
    let faults = machine("maybe").faults();
    assert!(faults.iter().any(|fault| fault.contains("\"maybe\" is not one of \"answer\"")), "{faults:?}");
}
