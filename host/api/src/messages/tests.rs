//! Streams and whole answers of the same replies.

use agentbay_domain::{HttpLimits, Outcome, Part, Reply, StopReason, Usage};
use agentbay_runs::{Ended, Run, Step};
use axum::response::Response;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::*;

fn meta() -> MessageMeta {
    MessageMeta { id: "msg_1".to_owned(), model: "m".to_owned() }
}

fn ended(answer: Option<&str>) -> Step {
    let outcome =
        Outcome::Finished { stop: StopReason::StopSequence("END".to_owned()), answer: answer.map(str::to_owned) };
    let usage = Usage { input: 9, cached_input: 4, cache_write: 2, output: 5, reasoning: 1 };
    Step::Ended(Ended { outcome, usage, usage_estimated: false })
}

/// The steps of an answer with these parts; each piece of a text is a reply.
fn steps(parts: &[(Part, &[&str])]) -> Vec<Step> {
    let replies = (0..).zip(parts).flat_map(|(at, (part, texts))| {
        let added = texts.iter().map(move |text| Reply::Added { at, text: (*text).to_owned() });
        [Reply::Opened { at, part: *part }].into_iter().chain(added).chain([Reply::Closed { at }])
    });
    replies.map(Step::Reply).chain([ended(None)]).collect()
}

async fn body(response: Response) -> (u16, String) {
    let (head, body) = response.into_parts();
    (head.status.as_u16(), String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap())
}

async fn streamed(steps: Vec<Step>, thinking: bool) -> (u16, String) {
    let events = Events::new(meta(), None, thinking, 3);
    body(answer::stream(Run::lost_after(steps).await, events, sse::HEADERS, HttpLimits::default()).await).await
}

async fn whole(steps: Vec<Step>, thinking: bool) -> Value {
    let encoder = WholeMessage { meta: meta(), call: None, thinking };
    let (_, json) = body(answer::whole(Run::lost_after(steps).await, encoder, HttpLimits::default()).await).await;
    serde_json::from_str(&json).unwrap()
}

/// The data of the events, each of which must have its type as its name.
fn events(stream: &str) -> Vec<Value> {
    let read = |event: &str| {
        let (name, data) = event.strip_prefix("event: ")?.split_once("\ndata: ")?;
        let data: Value = serde_json::from_str(data).ok()?;
        (data["type"] == name).then_some(data)
    };
    let events = stream.trim_end().split("\n\n").map(|event| read(event).unwrap_or_else(|| panic!("{event}")));
    events.collect()
}

/// The message that the events of a stream amount to, as the clients of Anthropic fold them.
fn folded(stream: &str) -> Value {
    let mut events = events(stream).into_iter();
    let mut message = events.next().unwrap()["message"].take();
    let mut ended = false;
    for mut event in events {
        assert!(!ended, "an event after the end: {event}");
        let blocks = message["content"].as_array_mut().unwrap();
        let last = blocks.len().wrapping_sub(1);
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(event["index"], blocks.len());
                blocks.push(event["content_block"].take());
            }
            "content_block_delta" => {
                assert_eq!(event["index"], last);
                for key in ["text", "thinking", "signature"] {
                    if let Some(more) = event["delta"][key].as_str() {
                        let grown = blocks[last][key].as_str().unwrap().to_owned() + more;
                        blocks[last][key] = grown.into();
                    }
                }
            }
            "content_block_stop" => assert_eq!(event["index"], last),
            "message_delta" => {
                for key in ["stop_reason", "stop_sequence"] {
                    message[key] = event["delta"][key].take();
                }
                message["usage"] = event["usage"].take();
            }
            "message_stop" => ended = true,
            other => panic!("{other}"),
        }
    }
    assert!(ended, "{stream}");
    message
}

const TEXT: Part = Part::Text { continues: false };
const MORE: Part = Part::Text { continues: true };

/// All answers of up to five parts.
fn answers() -> Vec<Vec<Part>> {
    let mut answers = vec![Vec::new()];
    for length in 1..=5 {
        let shorter: Vec<Vec<Part>> = answers.iter().filter(|parts| parts.len() + 1 == length).cloned().collect();
        let longer =
            shorter.iter().flat_map(|parts| [TEXT, MORE, Part::Reasoning].map(|part| [&parts[..], &[part]].concat()));
        answers.extend(longer);
    }
    answers
}

#[tokio::test]
async fn a_folded_stream_is_the_whole_answer_however_the_replies_are_cut() {
    let answers = answers();
    assert_eq!(answers.len(), 364);
    for (parts, thinking) in answers.iter().flat_map(|parts| [(parts, true), (parts, false)]) {
        let pieces = |pieces: &'static [&str]| parts.iter().map(|part| (*part, pieces)).collect::<Vec<_>>();
        let expected = whole(steps(&pieces(&["a\nb"])), thinking).await;
        for cut in [pieces(&["a\nb"]), pieces(&["a", "\n", "b"]), pieces(&["a\n", "b"])] {
            assert_eq!(whole(steps(&cut), thinking).await, expected, "{cut:?}");
            assert_eq!(folded(&streamed(steps(&cut), thinking).await.1), expected, "{cut:?}");
        }
    }
}

#[tokio::test]
async fn reasoning_is_a_block_with_a_signature_or_hidden() {
    let parts: [(Part, &[&str]); 3] = [(TEXT, &["one"]), (Part::Reasoning, &["hm"]), (MORE, &[", two"])];
    let with = whole(steps(&parts), true).await;
    let expected = json!([
        {"type": "text", "text": "one"},
        {"type": "thinking", "thinking": "hm", "signature": "YWdlbnRiYXk="},
        {"type": "text", "text": ", two"},
    ]);
    assert_eq!(with["content"], expected);
    assert_eq!(whole(steps(&parts), false).await["content"], json!([{"type": "text", "text": "one, two"}]));
}

#[tokio::test]
async fn an_answer_that_arrives_at_the_end_is_a_block() {
    for thinking in [true, false] {
        let steps = || vec![ended(Some("late"))];
        let message = whole(steps(), thinking).await;
        assert_eq!(message["content"], json!([{"type": "text", "text": "late"}]));
        assert_eq!(folded(&streamed(steps(), thinking).await.1), message);
    }
}

#[tokio::test]
async fn a_run_that_is_lost_ends_its_stream_with_an_error_event() {
    let mut steps = steps(&[(TEXT, &["half"])]);
    steps.pop();
    let (status, stream) = streamed(steps, true).await;
    let last = events(&stream).pop().unwrap();
    assert_eq!(status, 200);
    assert_eq!((&last["type"], &last["error"]["type"]), (&"error".into(), &"api_error".into()));
    assert!(last["error"]["message"].as_str().unwrap().starts_with("the run was lost"), "{last}");
}
