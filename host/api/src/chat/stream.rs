//! The chunks of a streamed answer.

use agentbay_runs::BlockKind;
use agentbay_wire::chat::{
    Chunk, ChunkChoice, CompletionMeta, Delta, ForcedCall, StreamOptions, WireUsage, finish_reason,
};
use axum::body::Bytes;

use crate::answer::{Encoder, End, Frames};
use crate::error::ApiError;
use crate::sse;

/// Encodes an answer as chunks.
pub(super) struct Chunks {
    pub(super) meta: CompletionMeta,
    pub(super) options: StreamOptions,
    /// The call as which the text of the answer is sent.
    pub(super) call: Option<ForcedCall>,
}

impl Encoder for Chunks {
    fn start(&mut self, frames: &mut Frames) {
        let content = self.call.is_none().then_some("");
        frames.push_back(self.delta(Delta { role: Some("assistant"), content, ..Delta::default() }));
    }

    fn open(&mut self, kind: BlockKind, frames: &mut Frames) {
        if let (BlockKind::Text, Some(call)) = (kind, &self.call) {
            frames.push_back(self.delta(Delta::of_call(&self.meta, call)));
        }
    }

    fn add(&mut self, kind: BlockKind, text: &str, frames: &mut Frames) {
        let delta = match (kind, &self.call) {
            (BlockKind::Text, None) => Delta { content: Some(text), ..Delta::default() },
            (BlockKind::Text, Some(call)) => Delta::of_arguments(call, text),
            (BlockKind::Reasoning, _) => Delta { reasoning_content: Some(text), ..Delta::default() },
        };
        frames.push_back(self.delta(delta));
    }

    fn finish(&mut self, end: End, frames: &mut Frames) {
        let delta = Delta::default();
        let reason = finish_reason(&end.stop, self.call.as_ref());
        let last = ChunkChoice { index: 0, delta, logprobs: (), finish_reason: Some(reason) };
        frames.push_back(self.chunk(vec![last]));
        if self.options.include_usage {
            let usage = WireUsage::of(end.usage, end.usage_estimated);
            frames.push_back(chunk(&self.meta, Vec::new(), Some(Some(usage))));
        }
        frames.push_back(sse::DONE);
    }

    fn fail(&mut self, error: &ApiError, frames: &mut Frames) {
        frames.push_back(sse::data(&error.to_json()));
    }

    fn keep_alive(&mut self, frames: &mut Frames) {
        frames.push_back(sse::COMMENT);
    }

    fn remark(&mut self, text: &str, frames: &mut Frames) {
        frames.push_back(sse::comment(text));
    }
}

impl Chunks {
    fn delta(&self, delta: Delta<'_>) -> Bytes {
        self.chunk(vec![ChunkChoice { index: 0, delta, logprobs: (), finish_reason: None }])
    }

    fn chunk(&self, choices: Vec<ChunkChoice<'_>>) -> Bytes {
        chunk(&self.meta, choices, self.options.include_usage.then_some(None))
    }
}

fn chunk(meta: &CompletionMeta, choices: Vec<ChunkChoice<'_>>, usage: Option<Option<WireUsage>>) -> Bytes {
    let chunk = Chunk { meta, object: "chat.completion.chunk", choices, usage };
    sse::data(&serde_json::to_string(&chunk).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{HttpLimits, Part, Reply};
    use agentbay_runs::{Run, Step};
    use http_body_util::BodyExt;

    use super::*;
    use crate::answer;

    /// The status and the body of an answer to a run that was lost after these steps.
    async fn lost_after(steps: Vec<Step>) -> (u16, String) {
        let meta = CompletionMeta { id: "i".to_owned(), created: 0, model: "m".to_owned() };
        let chunks = Chunks { meta, options: StreamOptions { include_usage: false }, call: None };
        let run = Run::lost_after(steps).await;
        let (head, body) = answer::stream(run, chunks, sse::HEADERS, HttpLimits::default()).await.into_parts();
        (head.status.as_u16(), String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_run_that_is_lost_ends_its_stream_with_an_error() {
        let part = Part::Text { continues: false };
        let half = [Reply::Opened { at: 0, part }, Reply::Added { at: 0, text: "half".to_owned() }];
        let (status, body) = lost_after(half.map(Step::Reply).to_vec()).await;
        let last = body.trim_end().rsplit("\n\n").next().unwrap();
        assert_eq!(status, 200);
        assert!(
            body.contains("half") && last.starts_with("data: {\"error\":{\"message\":\"the run was lost"),
            "{body}"
        );
    }

    #[tokio::test]
    async fn a_run_that_is_lost_before_any_output_has_a_status_of_its_own() {
        let (status, body) = lost_after(Vec::new()).await;
        assert_eq!(status, 500);
        assert!(body.starts_with("{\"error\":{\"message\":\"the run was lost"), "{body}");
    }
}
