//! Owns the reading of a stream of JSON values, one a line. A stream without a single known event is plain text.

use agentbay_plugin_sdk::{Event, LastBlock, LineCutter, Outcome, Usage, UsageScope, classify, finished, json};

use crate::content::{self, Part};
use crate::transcript::no_output;

/// What has come of a stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    lines: LineCutter,
    /// The event of the line that has no end yet was read already.
    taken: bool,
    /// The text, until the first known event shows that it is a stream.
    plain: LastBlock,
    understood: bool,
    /// Text was passed on.
    spoke: bool,
    /// The whole answer, if the CLI repeats it at the end.
    answer: Option<String>,
    /// What the CLI said on its error channel last.
    error: String,
}

impl Stream {
    /// Takes more output, cut anywhere.
    pub(crate) fn push(&mut self, text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        for line in self.lines.push(text) {
            if !std::mem::take(&mut self.taken) && !self.read(&line, &mut events) && !self.understood {
                self.plain.push_lines(&line);
            }
        }
        // The last line may lack its line feed, and what is first seen at the exit comes too late to be passed on. So an
        // event is read as soon as its brackets close, whatever follows on that line.
        if !self.taken && text.contains('}') {
            let partial = self.lines.partial().to_owned();
            self.taken = self.read(&partial, &mut events);
        }
        events
    }

    /// What the CLI said on its error channel last; empty if nothing.
    pub(crate) fn error(&self) -> &str {
        &self.error
    }

    /// The outcome of a process that exited with 0.
    pub(crate) fn end(&mut self) -> Outcome {
        if let Some(rest) = self.lines.rest()
            && !self.taken
        {
            self.plain.push_lines(&rest);
        }
        if self.spoke {
            return finished(None);
        }
        if let Some(answer) = self.answer.take() {
            return finished(Some(answer));
        }
        if !self.error.is_empty() {
            return classify::failure(&self.error).into();
        }
        let plain = if self.understood { None } else { self.plain.take() };
        finished(Some(plain.unwrap_or_else(no_output)))
    }

    /// Reads the event at the beginning of a line; false if there is none that is known.
    fn read(&mut self, line: &str, events: &mut Vec<Event>) -> bool {
        let Some(part) = json::leading_object(line).as_ref().and_then(content::of_event) else {
            return false;
        };
        self.understood = true;
        match part {
            Part::Text(text) => self.speak(text, false, events),
            Part::Message(text) => self.speak(text, true, events),
            Part::Usage { input, output } => {
                let scope = UsageScope::Run;
                events.push(Event::Usage(Usage {
                    scope,
                    input,
                    cached_input: 0,
                    cache_write: 0,
                    output,
                    reasoning: 0,
                }));
            }
            Part::Answer(answer) => self.answer = Some(answer),
            Part::Error(said) => self.error = said,
            Part::Nothing => {}
        }
        true
    }

    fn speak(&mut self, text: String, is_message: bool, events: &mut Vec<Event>) {
        if text.is_empty() {
            return;
        }
        if is_message && self.spoke {
            events.push(Event::TextBreak);
        }
        self.spoke = true;
        events.push(Event::Text(text));
    }
}
