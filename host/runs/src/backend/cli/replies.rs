//! The one place where events of a plugin become replies. Events that the host carries out itself, such as text for the CLI's
//! standard input, are consumed before.

use agentbay_domain::{Event, Part, Reply};

/// Turns the events of one attempt into replies.
#[derive(Debug, Default)]
pub(super) struct Replies {
    /// The number of the next part.
    next: u32,
    open: Option<Open>,
    /// The message that a text continues has text already.
    in_message: bool,
}

/// The part that is open.
#[derive(Debug)]
struct Open {
    at: u32,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Reasoning,
}

impl Replies {
    /// The replies of an event. The agent's own tool calls have none.
    pub(super) fn of(&mut self, event: Event) -> impl Iterator<Item = Reply> + use<> {
        let replies = match event {
            Event::Text(text) => self.add(Kind::Text, text),
            Event::Reasoning(text) => self.add(Kind::Reasoning, text),
            Event::TextBreak => {
                self.in_message = false;
                [self.close(), None, None]
            }
            Event::ToolCall(_)
            | Event::ToolResult(_)
            | Event::Session(_)
            | Event::Usage(_)
            | Event::Notice(_)
            | Event::Reply(_)
            | Event::EndInput
            | Event::Done(_)
            | Event::Extra(_) => [None, None, None],
        };
        replies.into_iter().flatten()
    }

    fn add(&mut self, kind: Kind, text: String) -> [Option<Reply>; 3] {
        if text.is_empty() {
            return [None, None, None];
        }
        if let Some(open) = self.open.as_ref().filter(|open| open.kind == kind) {
            return [None, None, Some(Reply::Added { at: open.at, text })];
        }
        let at = self.next;
        let closed = self.close();
        self.open = Some(Open { at, kind });
        self.next += 1;
        [closed, Some(Reply::Opened { at, part: self.part(kind) }), Some(Reply::Added { at, text })]
    }

    fn part(&mut self, kind: Kind) -> Part {
        match kind {
            Kind::Text => Part::Text { continues: std::mem::replace(&mut self.in_message, true) },
            Kind::Reasoning => Part::Reasoning,
        }
    }

    fn close(&mut self) -> Option<Reply> {
        self.open.take().map(|open| Reply::Closed { at: open.at })
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
