//! Recorded runs of the real CLIs, replayed at their own pace, yield the assistant's answer: streamed or whole, alone
//! or all at once. The expected answers are those of the SDK's tests of the plugins.

use std::thread;

use agentbay_plugin_sdk::testing::{MARKDOWN, PLAIN};
use serde_json::{Value, json};

use crate::support::{Machine, Proxy, Streamed, chat, fixtures};

/// The recordings took up to 20 s.
const SPEED: &str = "40";

/// The answer after `ls`, in Qwen Code.
const TOOL: &str = "Done. The tool returned 120 characters.";

const REASONING: &str = "First I consider the request. Then I decide that a short answer is enough.";

/// The expected answer to one recording.
struct Case {
    name: &'static str,
    content: &'static str,
    reasoning: &'static str,
    usage: Value,
}

fn case(name: &'static str, content: &'static str, usage: Value) -> Case {
    Case { name, content, reasoning: "", usage }
}

/// The usage of a prompt and its cached part, and of a completion and its reasoning part.
fn usage(prompt: u64, cached: u64, completion: u64, reasoning: u64) -> Value {
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

impl Case {
    fn whole(&self, proxy: &Proxy) {
        let answer = proxy.complete(&chat(self.name, "Say hello"));
        assert_eq!(answer.status, 200, "{}: {answer:?}", self.name);
        let mut answer = answer.json();
        let mut message = json!({"role": "assistant", "content": self.content, "refusal": null});
        if !self.reasoning.is_empty() {
            message["reasoning_content"] = self.reasoning.into();
        }
        let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"});
        assert_eq!(answer["choices"].take(), json!([choice]), "{}", self.name);
        assert_eq!(answer["usage"], self.usage, "{}", self.name);
    }

    fn streamed(&self, proxy: &Proxy) {
        let expected = Streamed {
            content: self.content.to_owned(),
            reasoning: self.reasoning.to_owned(),
            finish_reason: Some("stop".to_owned()),
            usage: Some(self.usage.clone()),
            error: None,
            done: true,
        };
        assert_eq!(proxy.streamed(self.name, "Say hello"), expected, "{}", self.name);
    }
}

/// Replays all recordings of a CLI at once, each for a whole and for a streamed answer.
fn assert_answers(cli: &str, cases: &[Case]) {
    let recorded = fixtures().join(cli);
    let machine = Machine::new();
    let mut config = "[defaults]\nrepo = \".\"\n".to_owned();
    for Case { name, .. } in cases {
        let recording = recorded.join(name);
        machine.stand_in(name, &["replay", "--speed", SPEED, recording.to_str().unwrap()]);
        config += &format!("[models.{name}]\ndriver = \"{cli}\"\nprogram = \"{name}\"\n");
    }
    machine.write("proxy.toml", config);
    let proxy = machine.serve();
    thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| case.whole(&proxy));
            scope.spawn(|| case.streamed(&proxy));
        }
    });
}

#[test]
fn codex_yields_the_assistants_answer() {
    let once = || usage(1111, 222, 333, 44);
    let reasoning = Case { reasoning: REASONING, ..case("reasoning", PLAIN, once()) };
    let tool = case("tool", "Done. The tool returned 116 characters.", usage(2222, 444, 666, 88));
    assert_answers("codex", &[case("plain", PLAIN, once()), case("markdown", MARKDOWN, once()), reasoning, tool]);
}

#[test]
fn gemini_yields_the_assistants_answer() {
    // It first asks a small model which one to use. Of its reasoning it reports only the number of tokens.
    let twice = || usage(2222, 444, 754, 88);
    let reasoning = case("reasoning", PLAIN, twice());
    let tool = case("tool", "Done. The tool returned 103 characters.", usage(3333, 666, 1131, 132));
    assert_answers("gemini", &[case("plain", PLAIN, twice()), case("markdown", MARKDOWN, twice()), reasoning, tool]);
}

#[test]
fn qwen_yields_the_assistants_answer() {
    let twice = || usage(2222, 444, 666, 0);
    let reasoning = Case { reasoning: REASONING, ..case("reasoning", PLAIN, twice()) };
    let cases = [
        case("plain", PLAIN, twice()),
        case("plain-whole", PLAIN, twice()),
        case("markdown", MARKDOWN, twice()),
        reasoning,
        case("tool", TOOL, twice()),
        case("tool-whole", TOOL, twice()),
    ];
    assert_answers("qwen", &cases);
}
