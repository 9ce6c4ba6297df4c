//! Streams and whole answers of the same run, compared; and the events of a stream, checked as strict clients check them.

use agentbay_domain::{Category, Failure, HttpLimits, Outcome, Part, Reply, StopReason, Usage};
use agentbay_runs::{Ended, Run, Step};
use agentbay_wire::responses::{Response, decode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::stream::Events;
use super::whole::Whole;
use crate::{answer, sse};

fn response() -> Response {
    let settings = decode(br#"{"model": "m", "input": "hi"}"#).unwrap().settings;
    Response::new("01a21f075887711ca6c0965797dfc40a", 7, settings)
}

fn ended(outcome: Outcome) -> Step {
    let usage = Usage { input: 9, cached_input: 1, cache_write: 2, output: 4, reasoning: 3 };
    Step::Ended(Ended { outcome, usage, usage_estimated: false })
}

fn finished(stop: StopReason) -> Step {
    ended(Outcome::Finished { stop, answer: None })
}

fn failed() -> Step {
    ended(Outcome::Failed { failure: Failure::new(Category::Timeout, "it took too long", "d"), answer: None })
}

/// The steps of an answer with these parts, each of which arrives in these pieces.
fn steps(parts: &[(Part, Vec<&str>)], end: Step) -> Vec<Step> {
    let mut steps = Vec::new();
    for (at, (part, pieces)) in (0..).zip(parts) {
        steps.push(Step::Reply(Reply::Opened { at, part: *part }));
        let pieces = pieces.iter().filter(|piece| !piece.is_empty());
        steps.extend(pieces.map(|text| Step::Reply(Reply::Added { at, text: (*text).to_owned() })));
        steps.push(Step::Reply(Reply::Closed { at }));
    }
    steps.push(end);
    steps
}

async fn body(response: axum::response::Response) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

async fn whole(steps: Vec<Step>) -> Value {
    let encoder = Whole { response: response(), keep: None };
    let answer = answer::whole(Run::lost_after(steps).await, encoder, HttpLimits::default()).await;
    serde_json::from_str(&body(answer).await).unwrap()
}

async fn events(steps: Vec<Step>) -> Vec<Value> {
    let run = Run::lost_after(steps).await;
    let answer = answer::stream(run, Events::new(response(), None), sse::HEADERS, HttpLimits::default()).await;
    let body = body(answer).await;
    let frames = body.split_terminator("\n\n").filter(|frame| !frame.starts_with(':'));
    frames
        .map(|frame| {
            let (name, data) = frame.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
            let event: Value = serde_json::from_str(data).unwrap();
            assert_eq!(event["type"], name);
            event
        })
        .collect()
}

/// The final response, after every event before it was checked against the state that the earlier ones describe.
fn folded(events: &[Value]) -> Value {
    let mut output: Vec<Value> = Vec::new();
    for (number, event) in (0_u64..).zip(events) {
        assert_eq!(event["sequence_number"], number, "{event}");
        let index = event["output_index"].as_u64().map(|index| usize::try_from(index).unwrap());
        if let Some(index) = index.filter(|_| event["type"] != "response.output_item.added") {
            assert_eq!(index, output.len() - 1, "{event}");
            assert!(event["item_id"].is_null() || event["item_id"] == output[index]["id"], "{event}");
        }
        let open = output.last_mut();
        match event["type"].as_str().unwrap() {
            "response.created" | "response.in_progress" => {
                assert!(number < 2 && event["response"]["status"] == "in_progress");
                assert_eq!(event["response"]["output"], json!([]));
            }
            "response.output_item.added" => {
                assert!(output.last().is_none_or(|item| item["status"] == "completed"), "{event}");
                assert_eq!((event["item"]["status"].as_str(), index), (Some("in_progress"), Some(output.len())));
                output.push(event["item"].clone());
            }
            "response.content_part.added" => {
                let content = open.unwrap()["content"].as_array_mut().unwrap();
                assert_eq!((content.len(), event["content_index"].as_u64()), (0, Some(0)));
                content.push(event["part"].clone());
            }
            "response.reasoning_summary_part.added" => {
                let summary = open.unwrap()["summary"].as_array_mut().unwrap();
                assert_eq!((summary.len(), event["summary_index"].as_u64()), (0, Some(0)));
                summary.push(event["part"].clone());
            }
            "response.output_text.delta" => grow(&mut open.unwrap()["content"][0]["text"], event),
            "response.reasoning_summary_text.delta" => grow(&mut open.unwrap()["summary"][0]["text"], event),
            "response.output_text.done" => assert_eq!(event["text"], open.unwrap()["content"][0]["text"]),
            "response.reasoning_summary_text.done" => assert_eq!(event["text"], open.unwrap()["summary"][0]["text"]),
            "response.content_part.done" => assert_eq!(event["part"], open.unwrap()["content"][0]),
            "response.reasoning_summary_part.done" => assert_eq!(event["part"], open.unwrap()["summary"][0]),
            "response.output_item.done" => {
                let open = open.unwrap();
                open["status"] = "completed".into();
                assert_eq!(event["item"], *open);
            }
            kind @ ("response.completed" | "response.incomplete" | "response.failed") => {
                let status = kind.trim_start_matches("response.");
                assert_eq!((event["response"]["status"].as_str(), number + 1), (Some(status), events.len() as u64));
            }
            other => panic!("the event {other} is not expected"),
        }
    }
    let response = events.last().unwrap()["response"].clone();
    if let Some(open) = output.last_mut().filter(|item| item["status"] == "in_progress") {
        open["status"] = "incomplete".into();
    }
    assert_eq!(response["output"], Value::from(output));
    response
}

fn grow(text: &mut Value, event: &Value) {
    let grown = text.as_str().unwrap().to_owned() + event["delta"].as_str().unwrap();
    assert_ne!(event["delta"], "");
    *text = grown.into();
}

/// Without the only value that depends on the clock.
fn timeless(mut response: Value) -> Value {
    if response["completed_at"].is_u64() {
        response["completed_at"] = 0.into();
    }
    response
}

/// Every way to cut a text into pieces.
fn splits(text: &str) -> Vec<Vec<&str>> {
    let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
    (0..1_u32 << cuts.len())
        .map(|mask| {
            let mut pieces = Vec::new();
            let mut start = 0;
            for (bit, at) in cuts.iter().enumerate() {
                if mask & (1 << bit) != 0 {
                    pieces.push(&text[start..*at]);
                    start = *at;
                }
            }
            pieces.push(&text[start..]);
            pieces
        })
        .collect()
}

#[tokio::test]
async fn a_folded_stream_is_the_whole_answer_however_the_output_is_cut() {
    let parts = [Part::Text { continues: false }, Part::Text { continues: true }, Part::Reasoning];
    let stops = [StopReason::EndTurn, StopReason::MaxTokens, StopReason::MaxTurns, StopReason::Refusal];
    for (number, sequence) in (0_usize..81).enumerate() {
        let kinds = [sequence % 3, sequence / 3 % 3, sequence / 9 % 3].map(|kind| parts[kind]);
        // A part may be empty, and a text may contain what ends a line.
        let texts = ["a\u{2028}\"", if sequence < 27 { "" } else { "é\n" }, "bc"];
        let parts_with =
            |pieces: [Vec<&'static str>; 3]| kinds.into_iter().zip(pieces).collect::<Vec<(Part, Vec<&'static str>)>>();
        let stop = finished(stops[number % stops.len()].clone());
        let expected = timeless(whole(steps(&parts_with(texts.map(|text| vec![text])), stop.clone())).await);
        for pieces in splits(texts[0])
            .into_iter()
            .flat_map(|first| splits(texts[2]).into_iter().map(move |last| [first.clone(), vec![texts[1]], last]))
        {
            let cut = steps(&parts_with(pieces), stop.clone());
            assert_eq!(timeless(folded(&events(cut.clone()).await)), expected);
            assert_eq!(timeless(whole(cut).await), expected);
        }
    }
}

#[tokio::test]
async fn the_end_of_a_run_decides_status_usage_and_details() {
    let text = [(Part::Text { continues: false }, vec!["half"])];
    for (stop, status, reason) in [
        (StopReason::EndTurn, "completed", Value::Null),
        (StopReason::MaxTokens, "incomplete", json!({"reason": "max_output_tokens"})),
        (StopReason::MaxTurns, "incomplete", json!({"reason": "max_output_tokens"})),
        (StopReason::Refusal, "incomplete", json!({"reason": "content_filter"})),
    ] {
        let response = folded(&events(steps(&text, finished(stop))).await);
        assert_eq!((response["status"].as_str(), &response["incomplete_details"]), (Some(status), &reason));
        let usage = json!({
            "input_tokens": 9, "input_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 2},
            "output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 13,
        });
        assert_eq!((&response["usage"], response["completed_at"].is_u64()), (&usage, status == "completed"));
    }
}

#[tokio::test]
async fn a_failure_in_mid_stream_is_the_last_event_and_keeps_the_partial_answer() {
    for (category, code) in [
        (Category::Timeout, "invalid_prompt"),
        (Category::Quota, "invalid_prompt"),
        (Category::RateLimit, "rate_limit_exceeded"),
    ] {
        let failure = Failure::new(category, "it failed", "d");
        let end = ended(Outcome::Failed { failure, answer: None });
        let response = folded(&events(steps(&[(Part::Text { continues: false }, vec!["half"])], end)).await);
        let error = json!({"code": code, "message": "it failed", "category": category.name(), "detail": "d"});
        assert_eq!((response["status"].as_str(), &response["error"]), (Some("failed"), &error));
        assert_eq!(response["output"][0]["content"][0]["text"], "half");
        assert_eq!(response["output"][0]["status"], "incomplete");
    }
}

#[tokio::test]
async fn a_failure_before_any_output_has_a_status_of_its_own() {
    let run = Run::lost_after([failed()]).await;
    let answer = answer::stream(run, Events::new(response(), None), sse::HEADERS, HttpLimits::default()).await;
    assert_eq!(answer.status(), 504);
    assert!(body(answer).await.starts_with("{\"error\":{\"message\":\"it took too long\""));
}
