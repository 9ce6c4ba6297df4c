//! The one place where events of a plugin become replies. Events that the host carries out itself, such as text for the CLI's
//! standard input, are consumed before.

use std::collections::BTreeMap;

use agentbay_domain::{Event, Part, Reply, Show, ShownAs};

use crate::part_writer::PartWriter;

/// The maximum length of the input of a call that is shown, in characters: enough for a path or a command.
const INPUT: usize = 200;

/// Turns the events of one attempt into replies.
#[derive(Debug)]
pub(super) struct Replies {
    show: Show,
    parts: PartWriter,
    /// The message that a text continues has text already.
    in_message: bool,
    /// What the last text was.
    last: Source,
    /// Tool calls or reasoning were shown as text.
    extra_text: bool,
    /// The names of the calls whose results have not arrived, by their ids.
    calls: BTreeMap<String, String>,
}

/// The source of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Answer,
    Reasoning,
    Tools,
}

impl Replies {
    pub(super) fn new(show: Show) -> Self {
        Self {
            show,
            parts: PartWriter::default(),
            in_message: false,
            last: Source::Answer,
            extra_text: false,
            calls: BTreeMap::new(),
        }
    }

    /// The replies of an event.
    pub(super) fn of(&mut self, event: Event) -> Vec<Reply> {
        match event {
            Event::Text(text) => self.add(Source::Answer, ShownAs::Text, text),
            Event::Reasoning(text) => self.add(Source::Reasoning, self.show.reasoning, text),
            Event::TextBreak => {
                self.in_message = false;
                self.parts.close().into_iter().collect()
            }
            Event::ToolCall(call) if self.show.tools != ShownAs::Nothing => {
                let line = format!("[{}]\n", one_line(&format!("{} {}", call.name, call.input)));
                self.calls.insert(call.id, call.name);
                self.add(Source::Tools, self.show.tools, line)
            }
            Event::ToolResult(result) if self.show.tools != ShownAs::Nothing => {
                let name = self.calls.remove(&result.id).unwrap_or_else(|| "a tool".to_owned());
                if !result.is_error {
                    return Vec::new();
                }
                let line = format!("[{}]\n", one_line(&format!("{name} failed: {}", result.output)));
                self.add(Source::Tools, self.show.tools, line)
            }
            Event::ToolCall(_)
            | Event::ToolResult(_)
            | Event::Session(_)
            | Event::Usage(_)
            | Event::Notice(_)
            | Event::Reply(_)
            | Event::EndInput
            | Event::Done(_)
            | Event::Extra(_) => Vec::new(),
        }
    }

    /// Returns whether text that is not the answer was sent as text.
    pub(super) fn have_extra_text(&self) -> bool {
        self.extra_text
    }

    fn add(&mut self, source: Source, shown: ShownAs, mut text: String) -> Vec<Reply> {
        if text.is_empty() || shown == ShownAs::Nothing {
            return Vec::new();
        }
        let changed = std::mem::replace(&mut self.last, source) != source;
        let mut replies = Vec::new();
        let part = if shown == ShownAs::Text {
            // A message of its own.
            if changed && self.extra_text | (source != Source::Answer) {
                self.in_message = false;
                replies.extend(self.parts.close());
            }
            self.extra_text |= source != Source::Answer;
            Part::Text { continues: std::mem::replace(&mut self.in_message, true) }
        } else {
            if changed && source != Source::Answer && self.parts.is_open(Part::Reasoning) {
                text.insert(0, '\n');
            }
            Part::Reasoning
        };
        replies.extend(self.parts.add(part, text));
        replies
    }
}

/// The beginning of a text, on one line.
fn one_line(text: &str) -> String {
    let mut line: String = text.chars().take(INPUT).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(INPUT).is_some() {
        line.push('…');
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use agentbay_domain::{ToolCall, ToolResult};

    use crate::parts::{Answer, BlockKind};

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
        let mut replies = Replies::new(Show::default());
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

    /// The reasoning and the text of what an agent does, as its model shows it.
    fn shown(tools: ShownAs, reasoning: ShownAs) -> (String, String) {
        let call = |id: &str, name: &str, input: &str| {
            Event::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), input: input.to_owned() })
        };
        let result = |id: &str, output: &str, is_error| {
            Event::ToolResult(ToolResult { id: id.to_owned(), output: output.to_owned(), is_error })
        };
        let thought = |text: &str| Event::Reasoning(text.to_owned());
        let events = [
            thought("h"),
            thought("m"),
            text("I rea"),
            text("d."),
            call("1", "read", "{\"path\":\n\"a\"}"),
            call("2", "run", "x"),
            result("1", "content", false),
            result("2", "not\nfound", true),
            thought("so"),
            text("Done"),
            text("."),
        ];
        let mut replies = Replies::new(Show { tools, reasoning });
        let mut answer = Answer::default();
        events.into_iter().flat_map(|event| replies.of(event)).for_each(|reply| answer.add(reply));
        (answer.text_of(BlockKind::Reasoning), answer.text_of(BlockKind::Text))
    }

    #[test]
    fn tools_and_reasoning_are_shown_as_the_model_has_it() {
        use ShownAs::{Nothing, Reasoning, Text};
        let calls = "[read {\"path\": \"a\"}]\n[run x]\n[run failed: not found]\n";
        for (tools, reasoning, thoughts, answer) in [
            (Nothing, Reasoning, "hmso".to_owned(), "I read.Done.".to_owned()),
            (Nothing, Nothing, String::new(), "I read.Done.".to_owned()),
            (Reasoning, Reasoning, format!("hm{calls}\nso"), "I read.Done.".to_owned()),
            (Reasoning, Nothing, calls.to_owned(), "I read.Done.".to_owned()),
            (Text, Reasoning, "hmso".to_owned(), format!("I read.\n\n{calls}\n\nDone.")),
            (Text, Text, String::new(), format!("hm\n\nI read.\n\n{calls}\n\nso\n\nDone.")),
            (Nothing, Text, String::new(), "hm\n\nI read.\n\nso\n\nDone.".to_owned()),
        ] {
            assert_eq!(shown(tools, reasoning), (thoughts, answer), "{tools:?} {reasoning:?}");
        }
    }

    #[test]
    fn a_long_input_of_a_call_is_cut() {
        let mut replies = Replies::new(Show { tools: ShownAs::Text, ..Show::default() });
        let call = ToolCall { id: String::new(), name: "f".to_owned(), input: "é".repeat(1_000) };
        let [_, Reply::Added { text, .. }] = &replies.of(Event::ToolCall(call))[..] else { panic!("no text") };
        assert_eq!(text, &format!("[f {}…]\n", "é".repeat(INPUT - 2)));
    }
}
