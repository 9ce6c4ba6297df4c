//! The shape of an answer: where its text ends, and its format. Reasoning is not changed.
//!
//! Text of a format is collected and sent at the end, when it is checked. It is the outcome's `answer`, since no text
//! precedes it.

use std::sync::Arc;

use agentbay_domain::{Ask, Category, Failure, Outcome, Part, Reply, StopReason};

use super::Delivered;
use super::check::FormatCheck;
use super::text_end::TextEnd;
use crate::part_writer::PartWriter;
use crate::parts::{BlockKind, Joined, Parts};

/// The answer of one attempt, which takes its shape.
#[derive(Debug)]
pub(super) struct Shape {
    parts: Parts,
    writer: PartWriter,
    end: TextEnd,
    /// Set if the answer has a format.
    collected: Option<Collected>,
    /// The characters of its text.
    chars: usize,
}

/// The text so far of an answer with a format.
#[derive(Debug)]
struct Collected {
    check: Arc<FormatCheck>,
    text: String,
    /// Where its last message begins.
    last_message: usize,
    /// The maximum length in bytes.
    limit: u64,
}

impl Shape {
    /// A `limit` of bytes holds for text that is collected.
    pub(super) fn new(ask: &Ask, check: Option<Arc<FormatCheck>>, limit: u64) -> Self {
        let collected = check.map(|check| Collected { check, text: String::new(), last_message: 0, limit });
        Self { parts: Parts::default(), writer: PartWriter::default(), end: TextEnd::new(ask), collected, chars: 0 }
    }

    /// The replies to send for one of the backend.
    pub(super) fn push(&mut self, reply: Reply) -> Vec<Reply> {
        if self.is_complete() {
            return Vec::new();
        }
        if let (Reply::Opened { part: Part::Text { continues: false }, .. }, Some(collected)) =
            (&reply, &mut self.collected)
        {
            collected.last_message = collected.text.len();
        }
        match self.parts.joined(reply) {
            Some(Joined { kind: BlockKind::Text, text }) => {
                let text = self.end.push(&text);
                self.add_text(text)
            }
            Some(Joined { kind: BlockKind::Reasoning, text }) => self.writer.add(Part::Reasoning, text).collect(),
            None => Vec::new(),
        }
    }

    fn add_text(&mut self, text: String) -> Vec<Reply> {
        self.chars += text.chars().count();
        match &mut self.collected {
            Some(collected) => {
                collected.text.push_str(&text);
                Vec::new()
            }
            // The separators of messages are in the text.
            None => self.writer.add(Part::Text { continues: true }, text).collect(),
        }
    }

    /// Returns whether no text that follows can be part of the answer.
    fn is_complete(&self) -> bool {
        self.end.reached().is_some() || self.is_too_long()
    }

    /// Returns whether more text was collected than is allowed.
    pub(super) fn is_too_long(&self) -> bool {
        self.collected.as_ref().is_some_and(Collected::is_too_long)
    }

    /// Returns whether its check may take long.
    pub(super) fn has_format(&self) -> bool {
        self.collected.is_some()
    }

    /// The end of the answer.
    pub(super) fn finish(mut self, outcome: Outcome) -> Delivered {
        let (answer, end) = match outcome {
            Outcome::Finished { stop, answer } => (answer, Ok(stop)),
            Outcome::Failed { failure, answer } => (answer, Err(failure)),
        };
        let late = answer.filter(|_| !self.parts.have_text()).map(|answer| self.end.push(&answer)).unwrap_or_default();
        let rest = late + &self.end.finish();
        let rest = self.add_text(rest);
        let cut_chars = self.is_complete().then_some(self.chars);
        let end = self.end.reached().map_or(end, |reached| Ok(reached.clone()));
        let outcome = match (self.collected.take(), end) {
            (None, Ok(stop)) => Outcome::Finished { stop, answer: None },
            (None, Err(failure)) => Outcome::Failed { failure, answer: None },
            (Some(collected), Err(failure)) => Outcome::Failed { failure, answer: Some(collected.text) },
            (Some(collected), Ok(stop)) => collected.finished(stop),
        };
        Delivered { rest, outcome, cut_chars }
    }
}

impl Collected {
    fn is_too_long(&self) -> bool {
        self.text.len() as u64 > self.limit
    }

    /// An answer that was ended early is sent as it is, since the reason of its end says that it is incomplete.
    fn finished(self, stop: StopReason) -> Outcome {
        if self.is_too_long() {
            let limit = self.limit;
            let message = format!(
                "the answer is longer than {limit} bytes: raise `limits.answer_buffer` in proxy.toml, or leave the format of the answer out of the request"
            );
            return Failure::new(Category::Unknown, message, "").into();
        }
        let last_message = self.text.get(self.last_message..).unwrap_or_default();
        match self.check.json_of(&self.text, last_message) {
            Ok(json) => Outcome::Finished { stop, answer: Some(json.to_owned()) },
            Err(error) if stop == StopReason::EndTurn => {
                let failure = Failure::new(Category::Server, error.to_string(), "");
                Outcome::Failed { failure, answer: Some(self.text) }
            }
            Err(_) => Outcome::Finished { stop, answer: Some(self.text) },
        }
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{AnswerFormat, AnswerSchema};
    use proptest::prelude::*;

    use super::*;
    use crate::parts::Answer;

    const LIMIT: u64 = 1000;

    /// The parts of an answer; each text that is not reasoning is a message.
    fn replies(parts: &[(bool, &str)]) -> Vec<Reply> {
        let mut replies = Vec::new();
        for (at, &(reasoning, text)) in (0..).zip(parts) {
            let part = if reasoning { Part::Reasoning } else { Part::Text { continues: false } };
            let text = text.to_owned();
            replies.extend([Reply::Opened { at, part }, Reply::Added { at, text }, Reply::Closed { at }]);
        }
        replies
    }

    fn finished(answer: Option<&str>) -> Outcome {
        Outcome::Finished { stop: StopReason::EndTurn, answer: answer.map(str::to_owned) }
    }

    /// The blocks that a client receives, and the outcome.
    fn shaped(ask: &Ask, replies: Vec<Reply>, outcome: Outcome) -> (Vec<(BlockKind, String)>, Outcome) {
        let check = FormatCheck::of(&ask.format).unwrap().map(Arc::new);
        let mut shape = Shape::new(ask, check, LIMIT);
        let mut answer = Answer::default();
        for reply in replies {
            shape.push(reply).into_iter().for_each(|reply| answer.add(reply));
        }
        let Delivered { rest, outcome, .. } = shape.finish(outcome);
        rest.into_iter().for_each(|reply| answer.add(reply));
        (answer.into_blocks().into_iter().map(|block| (block.kind, block.text)).collect(), outcome)
    }

    fn text(text: &str) -> (BlockKind, String) {
        (BlockKind::Text, text.to_owned())
    }

    fn reasoning(text: &str) -> (BlockKind, String) {
        (BlockKind::Reasoning, text.to_owned())
    }

    fn ending(stop: &str, max_output: Option<u64>) -> Ask {
        Ask { stop: vec![stop.to_owned()], max_output, ..Ask::default() }
    }

    #[test]
    fn a_stop_sequence_ends_the_text_also_between_two_messages_and_nothing_follows() {
        let parts = replies(&[(false, "one"), (true, "hm"), (false, "two"), (true, "so"), (false, "three")]);
        let (blocks, outcome) = shaped(&ending("o\n\nth", None), parts, finished(None));
        assert_eq!(blocks, [text("one"), reasoning("hm"), text("\n\ntw"), reasoning("so")]);
        let stop = StopReason::StopSequence("o\n\nth".to_owned());
        assert_eq!(outcome, Outcome::Finished { stop, answer: None });
    }

    #[test]
    fn the_maximum_ends_the_text_and_a_text_that_fits_is_whole() {
        let parts = || replies(&[(true, "a long thought"), (false, "1234"), (false, "5678")]);
        let (blocks, outcome) = shaped(&ending("x", Some(2)), parts(), finished(None));
        assert_eq!(blocks, [reasoning("a long thought"), text("1234\n\n56")]);
        assert_eq!(outcome, Outcome::Finished { stop: StopReason::MaxTokens, answer: None });
        let (blocks, outcome) = shaped(&ending("678x", Some(100)), parts(), finished(None));
        assert_eq!((&blocks[1], outcome), (&text("1234\n\n5678"), finished(None)));
    }

    #[test]
    fn an_answer_that_is_reported_only_at_the_end_is_shaped_too() {
        let (blocks, outcome) = shaped(&ending("END", None), Vec::new(), finished(Some("one END two")));
        assert_eq!(blocks, [text("one ")]);
        let stop = StopReason::StopSequence("END".to_owned());
        assert_eq!(outcome, Outcome::Finished { stop, answer: None });
    }

    #[test]
    fn text_that_was_held_back_is_sent_before_a_failure() {
        let failed = Outcome::from(Failure::new(Category::Network, "m", ""));
        let (blocks, outcome) = shaped(&ending("END", None), replies(&[(false, "one EN")]), failed.clone());
        assert_eq!((blocks, outcome), (vec![text("one EN")], failed));
    }

    fn json() -> Ask {
        let json = r#"{"type":"object","required":["n"]}"#.to_owned();
        Ask { format: AnswerFormat::Schema(AnswerSchema { name: "s".to_owned(), json }), ..Ask::default() }
    }

    #[test]
    fn an_answer_with_a_format_is_its_json_and_reasoning_precedes_it() {
        let parts = [(false, "I count: {\"n\":0}"), (true, "hm"), (false, "```json\n{\"n\":1}\n```")];
        let (blocks, outcome) = shaped(&json(), replies(&parts), finished(None));
        assert_eq!((blocks, outcome), (vec![reasoning("hm")], finished(Some("{\"n\":1}"))));
    }

    #[test]
    fn an_answer_without_its_format_is_a_failure_with_the_text() {
        let (blocks, outcome) = shaped(&json(), replies(&[(false, "{\"m\":1}")]), finished(None));
        let message = "the agent's answer does not follow the schema `s` of the request: \"n\" is a required property";
        let failure = Failure::new(Category::Server, message, "");
        assert_eq!((blocks, outcome), (vec![], Outcome::Failed { failure, answer: Some("{\"m\":1}".to_owned()) }));
    }

    #[test]
    fn an_answer_with_a_format_that_was_ended_early_is_sent_as_it_is() {
        let ask = Ask { max_output: Some(1), ..json() };
        let (_, outcome) = shaped(&ask, replies(&[(false, "{\"n\":1}")]), finished(None));
        assert_eq!(outcome, Outcome::Finished { stop: StopReason::MaxTokens, answer: Some("{\"n\"".to_owned()) });
    }

    #[test]
    fn an_answer_with_a_format_is_collected_up_to_a_limit() {
        let check = FormatCheck::of(&AnswerFormat::Json).unwrap().map(Arc::new);
        let mut shape = Shape::new(&Ask::default(), check, 3);
        let complete: Vec<bool> = replies(&[(false, "123"), (false, "4")])
            .into_iter()
            .map(|reply| {
                shape.push(reply);
                shape.is_complete()
            })
            .collect();
        assert_eq!(complete, [false, false, false, false, true, true]);
        let Outcome::Failed { failure, .. } = shape.finish(finished(None)).outcome else { panic!("not failed") };
        assert!(failure.message.contains("longer than 3 bytes: raise `limits.answer_buffer`"), "{}", failure.message);
    }

    proptest! {
        #[test]
        fn the_blocks_do_not_depend_on_how_the_replies_are_cut(
            parts in prop::collection::vec((any::<bool>(), "[ab]{1,4}"), 0..6),
            stop in "[ab]{1,2}",
            max in prop::option::of(0u64..4),
        ) {
            let whole = replies(&parts.iter().map(|(reasoning, text)| (*reasoning, text.as_str())).collect::<Vec<_>>());
            let cut = whole.iter().cloned().flat_map(|reply| match reply {
                Reply::Added { at, text } => text.chars().map(|c| Reply::Added { at, text: c.to_string() }).collect(),
                other => vec![other],
            });
            let ask = ending(&stop, max);
            let cut = shaped(&ask, cut.collect(), finished(None));
            prop_assert_eq!(cut, shaped(&ask, whole, finished(None)));
        }
    }
}
