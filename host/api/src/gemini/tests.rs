//! A folded stream equals the whole answer, and no split of the replies changes either.

use agentbay_domain::{HttpLimits, Outcome, Part, Reply, StopReason, Usage};
use agentbay_runs::{Ended, Run, Step};
use axum::body::Body;
use axum::http::Uri;
use http_body_util::BodyExt;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::stream::{Framing, Pieces};
use super::whole::Whole;
use super::*;

/// The texts of a part, as they arrive.
type Texts = Vec<String>;

fn meta_of_tests() -> AnswerMeta {
    AnswerMeta { model_version: "m".to_owned(), response_id: "i".to_owned() }
}

/// A run of these parts.
async fn run(parts: &[(Part, Texts)]) -> Run {
    let mut steps = Vec::new();
    for (at, (part, texts)) in (0..).zip(parts) {
        steps.push(Step::Reply(Reply::Opened { at, part: *part }));
        steps.extend(texts.iter().map(|text| Step::Reply(Reply::Added { at, text: text.clone() })));
        steps.push(Step::Reply(Reply::Closed { at }));
    }
    let usage = Usage { input: 9, cached_input: 2, cache_write: 0, output: 7, reasoning: 3 };
    let outcome = Outcome::Finished { stop: StopReason::EndTurn, answer: None };
    steps.push(Step::Ended(Ended { outcome, usage, usage_estimated: false }));
    Run::lost_after(steps).await
}

async fn text(body: Body) -> String {
    String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

async fn whole(parts: &[(Part, Texts)], thoughts: bool) -> Value {
    let answer =
        answer::whole(run(parts).await, Whole { meta: meta_of_tests(), thoughts }, HttpLimits::default()).await;
    serde_json::from_str(&text(answer.into_body()).await).unwrap()
}

/// The pieces of a stream, in one of the framings.
async fn pieces(parts: &[(Part, Texts)], thoughts: bool, query: &str) -> Vec<Value> {
    let framing = Framing::of(&query.parse::<Uri>().unwrap());
    let pieces = Pieces { meta: meta_of_tests(), thoughts, framing };
    let body = answer::stream(run(parts).await, pieces, framing.headers(), HttpLimits::default()).await.into_body();
    let body = text(body).await;
    match framing {
        Framing::Array { .. } => serde_json::from_str(&body).unwrap(),
        Framing::Events => {
            let data = body.split_terminator("\n\n").map(|event| event.strip_prefix("data: ").unwrap());
            data.map(|data| serde_json::from_str(data).unwrap()).collect()
        }
    }
}

/// The whole answer that a client makes of the pieces.
fn folded(mut pieces: Vec<Value>) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    for part in pieces.iter().map(|piece| &piece["candidates"][0]["content"]["parts"][0]) {
        if part["text"] == "" && !parts.is_empty() {
            continue;
        }
        match parts.last_mut() {
            Some(last) if last["thought"] == part["thought"] => {
                last["text"] = [&last["text"], &part["text"]].map(|text| text.as_str().unwrap()).concat().into();
            }
            _ => parts.push(part.clone()),
        }
    }
    let mut answer = pieces.pop().unwrap();
    answer["candidates"][0]["content"]["parts"] = parts.into();
    answer
}

/// The same parts with other pieces of text.
fn resplit(parts: &[(Part, Texts)], size: usize) -> Vec<(Part, Texts)> {
    let split = |texts: &Texts| {
        let characters: Vec<char> = texts.concat().chars().collect();
        characters.chunks(size).map(|chunk| chunk.iter().collect()).collect()
    };
    parts.iter().map(|(part, texts)| (*part, split(texts))).collect()
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![any::<bool>().prop_map(|continues| Part::Text { continues }), Just(Part::Reasoning)]
}

#[test]
fn a_folded_stream_is_the_whole_answer_for_any_split_of_the_replies() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let parts = vec((part(), vec("[a-c\n\"\u{e9}\u{2028}]{1,6}", 1..4)), 0..6);
    proptest!(|(parts in parts, thoughts: bool, size in 1..5_usize)| {
        let other = resplit(&parts, size);
        let answers = runtime.block_on(async {
            [
                whole(&other, thoughts).await,
                folded(pieces(&parts, thoughts, "/?alt=sse").await),
                folded(pieces(&other, thoughts, "/?alt=sse").await),
                folded(pieces(&parts, thoughts, "/").await),
                folded(pieces(&other, thoughts, "/?alt=json").await),
            ]
        });
        let expected = runtime.block_on(whole(&parts, thoughts));
        for answer in answers {
            prop_assert_eq!(&answer, &expected);
        }
    });
}

#[test]
fn an_answer_without_text_has_an_empty_one() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let answer = runtime.block_on(whole(&[], false));
    assert_eq!(answer["candidates"][0]["content"]["parts"], json!([{"text": ""}]));
}
