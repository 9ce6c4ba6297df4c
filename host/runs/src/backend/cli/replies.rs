//! The one place where events of a plugin become replies. Events that the host carries out itself, such as text for the CLI's
//! standard input, are consumed before.

use agentbay_domain::{Event, Part, Reply};

use crate::part_writer::PartWriter;

/// Turns the events of one attempt into replies.
#[derive(Debug, Default)]
pub(super) struct Replies {
    parts: PartWriter,
    /// The message that a text continues has text already.
    in_message: bool,
}

impl Replies {
    /// The replies of an event. The agent's own tool calls have none.
    pub(super) fn of(&mut self, event: Event) -> impl Iterator<Item = Reply> + use<> {
        let (closed, added) = match event {
            Event::Text(text) if text.is_empty() => (None, None),
            Event::Text(text) => {
                let continues = std::mem::replace(&mut self.in_message, true);
                (None, Some(self.parts.add(Part::Text { continues }, text)))
            }
            Event::Reasoning(text) => (None, Some(self.parts.add(Part::Reasoning, text))),
            Event::TextBreak => {
                self.in_message = false;
                (self.parts.close(), None)
            }
            Event::ToolCall(_)
            | Event::ToolResult(_)
            | Event::Session(_)
            | Event::Usage(_)
            | Event::Notice(_)
            | Event::Reply(_)
            | Event::EndInput
            | Event::Done(_)
            | Event::Extra(_) => (None, None),
        };
        closed.into_iter().chain(added.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use agentbay_domain::ToolCall;

    use super::*;

    fn text(text: &str) -> Event {
        Event::Text(text.to_owned())
    }

    fn added(at: u32, text: &str) -> Reply {
        Reply::Added { at, text: text.to_owned() }
    }

    fn opened(at: u32, continues: bool) -> Reply {
        Reply::Opened { at, part: Part::Text { continues } }
    }

    fn replies(events: impl IntoIterator<Item = Event>) -> Vec<Reply> {
        let mut replies = Replies::default();
        events.into_iter().flat_map(|event| replies.of(event)).collect()
    }

    #[test]
    fn each_message_has_a_part_of_its_own_and_grows_it() {
        let replies = replies([text("a"), text("b"), Event::TextBreak, Event::TextBreak, text("c")]);
        let expected =
            [opened(0, false), added(0, "a"), added(0, "b"), Reply::Closed { at: 0 }, opened(1, false), added(1, "c")];
        assert_eq!(replies, expected);
    }

    #[test]
    fn text_after_reasoning_continues_its_message_in_a_new_part() {
        let replies = replies([text("a"), Event::Reasoning("hm".to_owned()), text("b")]);
        let expected = [
            opened(0, false),
            added(0, "a"),
            Reply::Closed { at: 0 },
            Reply::Opened { at: 1, part: Part::Reasoning },
            added(1, "hm"),
            Reply::Closed { at: 1 },
            opened(2, true),
            added(2, "b"),
        ];
        assert_eq!(replies, expected);
    }

    #[test]
    fn empty_text_and_the_agent_s_own_tools_are_no_part_of_the_answer() {
        let call = ToolCall { id: "1".to_owned(), name: "read".to_owned(), input: "{}".to_owned() };
        let events = [Event::TextBreak, text(""), Event::Reasoning(String::new()), Event::ToolCall(call)];
        assert_eq!(replies(events), []);
    }
}
