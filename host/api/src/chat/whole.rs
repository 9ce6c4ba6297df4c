//! The body of an answer that is not streamed.

use agentbay_runs::BlockKind;
use agentbay_wire::chat::{AnswerMessage, Choice, Completion, CompletionMeta, ForcedCall, WireUsage, finish_reason};

use crate::answer::{Finished, WholeEncoder};
use crate::surface::Surface;

/// Encodes an answer as one body.
pub(super) struct Whole {
    pub(super) meta: CompletionMeta,
    /// The call as which the text of the answer is sent.
    pub(super) call: Option<ForcedCall>,
}

impl WholeEncoder for Whole {
    const SURFACE: Surface = Surface::OpenAi;
    type Body = Completion;

    fn encode(self, finished: Finished) -> Completion {
        let Finished { blocks, end } = finished;
        let (mut content, mut reasoning_content) = (String::new(), String::new());
        for block in blocks {
            let text = match block.kind {
                BlockKind::Text => &mut content,
                BlockKind::Reasoning => &mut reasoning_content,
            };
            // A long first piece is not copied.
            if text.is_empty() { *text = block.text } else { text.push_str(&block.text) }
        }
        let Self { meta, call } = self;
        let finish_reason = finish_reason(&end.stop, call.as_ref());
        let message = AnswerMessage::new(&meta, call, content, reasoning_content);
        let choice = Choice { index: 0, message, logprobs: (), finish_reason };
        let usage = WireUsage::of(end.usage, end.usage_estimated);
        Completion { meta, object: "chat.completion", choices: [choice], usage }
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{HttpLimits, Part, Reply};
    use agentbay_runs::{Run, Step};
    use http_body_util::BodyExt;

    use super::*;
    use crate::answer;

    #[tokio::test]
    async fn a_run_that_is_lost_is_an_error_with_the_partial_answer() {
        let meta = CompletionMeta { id: "i".to_owned(), created: 0, model: "m".to_owned() };
        let part = Part::Text { continues: false };
        let half = [Reply::Opened { at: 0, part }, Reply::Added { at: 0, text: "half".to_owned() }];
        let run = Run::lost_after(half.map(Step::Reply)).await;
        let (head, body) = answer::whole(run, Whole { meta, call: None }, HttpLimits::default()).await.into_parts();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        assert_eq!(head.status, 500);
        assert!(body.contains("the run was lost") && body.contains("\"partial\":\"half\""), "{body}");
    }
}
