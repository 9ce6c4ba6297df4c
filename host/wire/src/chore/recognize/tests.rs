//! Chores as clients send them, after the recordings in `fixtures/requests`, whose long texts are cut.

use serde_json::{Value, json};

use super::*;
use crate::chore::ChoreKind;
use crate::{chat, gemini, messages, responses};

/// The chore of a request in the form of a surface.
fn chore(surface: &str, body: &Value, codex_metadata: Option<&str>) -> Option<(ChoreKind, Option<String>)> {
    let bytes = body.to_string();
    let bytes = bytes.as_bytes();
    let (conversation, ask) = match surface {
        "chat" => {
            let request = chat::decode(bytes).unwrap();
            (request.conversation, request.ask)
        }
        "messages" => {
            let request = messages::decode(bytes).unwrap();
            (request.conversation, request.ask)
        }
        "gemini" => {
            let request = gemini::decode(bytes).unwrap();
            (request.conversation, request.ask)
        }
        _ => {
            let request = responses::decode(bytes).unwrap();
            (request.conversation([]).unwrap(), request.ask)
        }
    };
    let seen = Seen { conversation: &conversation, ask: &ask, body: bytes, codex_metadata };
    recognize(seen).map(|chore| (chore.kind, chore.answer))
}

fn answered(kind: ChoreKind, answer: &str) -> Option<(ChoreKind, Option<String>)> {
    Some((kind, Some(answer.to_owned())))
}

fn open_webui(output: &str) -> Value {
    let talk = "### Chat History:\n<chat_history>\nUSER: How do I list files?\nASSISTANT: Use ls.\n</chat_history>";
    let text = format!("### Task:\n(a task)\n### Guidelines:\n- (rules)\n{output}\n{talk}");
    json!({"model": "m", "stream": false, "messages": [{"role": "user", "content": text}]})
}

fn title_schema(keys: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "object", "properties": properties, "required": keys})
}

#[test]
fn the_chores_of_open_webui_are_known_by_the_key_that_they_expect() {
    for (output, kind, answer) in [
        (r#"JSON format: { "title": "your title" }"#, ChoreKind::Title, r#"{"title":"How do I list files?"}"#),
        (r#"JSON format: { "tags": ["a", "b"] }"#, ChoreKind::Tags, r#"{"tags":["General"]}"#),
        (r#"JSON format: { "follow_ups": ["a?"] }"#, ChoreKind::FollowUps, r#"{"follow_ups":[]}"#),
        ("Strictly return in JSON format\n{\n  \"queries\": [\"a\"]\n}", ChoreKind::SearchQueries, r#"{"queries":[]}"#),
        (
            "Strictly return in JSON format:\n{\n    \"prompt\": \"text\"\n}",
            ChoreKind::ImagePrompt,
            r#"{"prompt":"How do I list files?"}"#,
        ),
    ] {
        let body = open_webui(&format!("### Output:\n{output}"));
        assert_eq!(chore("chat", &body, None), answered(kind, answer), "{output}");
    }
    let body = open_webui("### **Output Rules**:\n- JSON format: `{ \"text\": \"<your_completion>\" }`.");
    assert_eq!(chore("chat", &body, None), answered(ChoreKind::Autocompletion, r#"{"text":""}"#));
    assert_eq!(chore("chat", &open_webui("### Output:\n{ \"other\": 1 }"), None), None);
}

#[test]
fn titles_are_known_in_the_form_of_each_client() {
    let talk = "User: How do I list files?\nAI: Use ls.";
    let librechat = |asked: &str, schema: Option<Value>| {
        let format =
            schema.map(|schema| json!({"type": "json_schema", "json_schema": {"name": "extract", "schema": schema}}));
        json!({"model": "m", "messages": [{"role": "user", "content": format!("{asked}\n\n{talk}")}], "response_format": format})
    };
    let words = "Provide a concise, 5-word-or-less title for the conversation.\n\nConversation:";
    let plain = json!({"model": "m", "messages": [{"role": "user", "content": format!("{words}\n{talk}")}]});
    let opencode = json!({"model": "m", "messages": [
        {"role": "system", "content": "You are a title generator. You output ONLY a thread title."},
        {"role": "user", "content": "Generate a title for this conversation:\n"},
        {"role": "user", "content": "\"List the files\""},
    ]});
    let claude = json!({"model": "m", "max_tokens": 100,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "<session>\nSay hello please\n</session>\n\nWrite the title"}]}],
        "output_config": {"format": {"type": "json_schema", "schema": title_schema(&["title"])}},
    });
    let codex = json!({"model": "m", "input": [{"role": "user", "content": "Generate a concise title.\n\nSay hello please"}],
        "text": {"format": {"type": "json_schema", "name": "codex_output_schema", "schema": title_schema(&["title"])}},
    });
    let metadata = Some(r#"{"session_id":"1","thread_source":"thread_title"}"#);
    for (surface, body, metadata, answer) in [
        ("chat", &plain, None, "How do I list files?"),
        ("chat", &librechat("Analyze", Some(title_schema(&["title"]))), None, r#"{"title":"How do I list files?"}"#),
        (
            "chat",
            &librechat("Analyze", Some(title_schema(&["language", "title"]))),
            None,
            r#"{"language":"unknown","title":"How do I list files?"}"#,
        ),
        ("chat", &opencode, None, "List the files"),
        ("messages", &claude, None, r#"{"title":"Say hello please"}"#),
        ("responses", &codex, metadata, r#"{"title":"Say hello please"}"#),
    ] {
        assert_eq!(chore(surface, body, metadata), answered(ChoreKind::Title, answer), "{body}");
    }
    assert_eq!(chore("responses", &codex, Some(r#"{"thread_source":"user"}"#)), None);
}

#[test]
fn the_router_and_the_session_summary_of_gemini_cli_are_known() {
    let router = json!({"contents": [{"role": "user", "parts": [{"text": "List the files"}]}],
        "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": {"type": "OBJECT", "properties": {
            "complexity_reasoning": {"type": "STRING"}, "complexity_score": {"type": "INTEGER"},
        }}},
    });
    let (kind, answer) = chore("gemini", &router, None).unwrap();
    let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
    assert_eq!((kind, answer["complexity_score"].as_u64()), (ChoreKind::Routing, Some(50)));
    let text = "Summarize the user's primary intent or goal in this conversation in ONE sentence (max 80 characters).\n\n\
                Conversation:\nUser: Fix the build\nAssistant: Done";
    let summary = json!({"contents": [{"role": "user", "parts": [{"text": text}]}]});
    assert_eq!(chore("gemini", &summary, None), answered(ChoreKind::SessionSummary, "Fix the build"));
}

#[test]
fn a_compaction_is_known_and_has_no_answer_without_a_model() {
    let claude = json!({"model": "m", "max_tokens": 100, "tools": [{"name": "Read"}], "system": "You are a Claude agent.", "messages": [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."},
    ]});
    let gemini = json!({"systemInstruction": {"parts": [{"text": "Distil the history into a <state_snapshot>."}]}, "contents": [
        {"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "hello"}]},
        {"role": "user", "parts": [{"text": "Generate a new <state_snapshot>."}]},
    ]});
    let codex = json!({"model": "m", "input": [{"role": "assistant", "content": "hello"}, {"role": "user", "content": "Summarise"}]});
    let metadata = Some(r#"{"request_kind":"compaction"}"#);
    for (surface, body, metadata) in
        [("messages", &claude, None), ("gemini", &gemini, None), ("responses", &codex, metadata)]
    {
        assert_eq!(chore(surface, body, metadata), Some((ChoreKind::Compaction, None)), "{body}");
    }
}

#[test]
fn the_words_of_a_chore_alone_are_a_turn() {
    let webui = open_webui("### Output:\n{ \"title\": \"x\" }")["messages"][0]["content"].clone();
    let tools = json!([{"type": "function", "function": {"name": "f"}}]);
    let user = |text: &Value| json!({"role": "user", "content": text});
    let compaction = json!("CRITICAL: Respond with TEXT ONLY");
    for body in [
        json!({"model": "m", "tools": tools, "messages": [user(&webui)]}),
        json!({"model": "m", "messages": [{"role": "system", "content": "x"}, user(&webui)]}),
        json!({"model": "m", "messages": [user(&json!("hi")), {"role": "assistant", "content": "x"}, user(&webui)]}),
        json!({"model": "m", "messages": [user(&json!("Explain this template: ### Task: { \"title\" } <chat_history>"))]}),
        json!({"model": "m", "messages": [user(&json!("Give this file a 5-word-or-less title"))]}),
        json!({"model": "m", "messages": [user(&json!("Generate a title for this conversation:")), user(&json!("x"))]}),
        json!({"model": "m", "messages": [user(&compaction)]}),
        json!({"model": "m", "messages": [user(&json!("x")), {"role": "assistant", "content": "y"}, user(&compaction)]}),
        json!({"model": "m", "messages": [user(&json!("title")), {"role": "user", "content": []}], "response_format": {
            "type": "json_schema", "json_schema": {"name": "extract", "schema": title_schema(&["title"])}}}),
        json!({"model": "m", "messages": [user(&json!("<session>x</session>"))]}),
    ] {
        assert_eq!(chore("chat", &body, None), None, "{body}");
    }
}
