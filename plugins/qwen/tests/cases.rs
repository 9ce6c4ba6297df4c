//! Known faults of other readers of Qwen Code's output.

use agentbay_plugin_qwen::Qwen;
use agentbay_plugin_sdk::testing::{Grouping, Replay, replay, turn};
use agentbay_plugin_sdk::{Event, ExitStatus, Usage, UsageScope, finished};

#[test]
fn case_016_an_array_over_many_lines_with_another_init_is_read() {
    let stdout = r#"[
  {"type":"system","subtype":"session_start","session_id":"q-1","model":"m-q"},
  {"type":"assistant","message":{"id":"a1","role":"assistant","content":[{"type":"text","text":"Lyon"}]},"session_id":"q-1"},
  {"type":"result","subtype":"success","is_error":false,"result":"Lyon","session_id":"q-1","usage":{"input_tokens":4,"output_tokens":1}}
]
"#;
    let outcome = finished(Some("Lyon".into()));
    let usage = Usage { scope: UsageScope::Thread, input: 4, cached_input: 0, cache_write: 0, output: 1, reasoning: 0 };
    let events = vec![
        Event::Session("q-1".into()),
        Event::Text("Lyon".into()),
        Event::Usage(usage),
        Event::Done(outcome.clone()),
    ];
    let actual = replay::<Qwen>(&turn("x"), stdout, Grouping::Each(1), ExitStatus::Code(0));
    assert_eq!(actual, Replay { events, outcome });
}
