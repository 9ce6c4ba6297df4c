//! Owns the meaning of what the CLI prints, in each of the three formats.
//!
//! - `text`, `answer = "last-block"`: nothing is passed on before the end, since any block may be followed by another.
//! - `text`, `answer = "whole"`: passed on as it comes, but for the line feeds at the very end.
//! - `json`: read at the end. JSON without a known field is the answer as it stands.
//! - `stream-json`: passed on event by event; see `stream.rs`.
//!
//! What turns out to be no JSON at all is read by the rule of `last-block`.
//! In every format empty output of a run that went well gives the answer `No output from CLI.`.

use agentbay_plugin_sdk::{
    Category, Event, ExitStatus, LastBlock, NO_OUTPUT, Outcome, StderrTail, StreamName, Transcript, Turn, Value, ended,
    failed, finished, last_block,
};

use crate::content;
use crate::plan::{Answer, Format, Prompt, Settings};
use crate::stream::Stream;

/// How much of one JSON value is kept.
const JSON_BYTES: usize = 4 * 1024 * 1024;

/// How many line feeds are held back, so that no output makes the plugin run out of memory.
const HELD_LINE_FEEDS: usize = 64 * 1024;

/// One process and what it says.
#[derive(Debug)]
pub struct GenericTranscript {
    settings: Settings,
    reader: Reader,
    stderr: StderrTail,
}

#[derive(Debug)]
enum Reader {
    LastBlock(LastBlock),
    Whole { line_feeds: usize, came: bool },
    Json { text: String, too_long: bool },
    Stream(Stream),
}

impl Transcript for GenericTranscript {
    fn new(turn: &Turn) -> Self {
        // Wrong options do not come this far: `prepare` refused them.
        let settings = Settings::read(turn).unwrap_or_default();
        let reader = match (settings.format, settings.answer) {
            (Format::Text, Answer::LastBlock) => Reader::LastBlock(LastBlock::default()),
            (Format::Text, Answer::Whole) => Reader::Whole { line_feeds: 0, came: false },
            (Format::Json, _) => Reader::Json { text: String::new(), too_long: false },
            (Format::StreamJson, _) => Reader::Stream(Stream::default()),
        };
        Self { settings, reader, stderr: StderrTail::default() }
    }

    fn begin(&mut self, turn: &Turn) -> Vec<Event> {
        match self.settings.prompt {
            Prompt::Stdin => vec![Event::Reply(turn.prompt.clone()), Event::EndInput],
            Prompt::Arg => vec![Event::EndInput],
        }
    }

    fn output(&mut self, source: StreamName, text: &str) -> Vec<Event> {
        match source {
            StreamName::Stdout => {}
            StreamName::Stderr => {
                self.stderr.push(text);
                return Vec::new();
            }
        }
        match &mut self.reader {
            Reader::LastBlock(block) => {
                block.push(text);
                Vec::new()
            }
            Reader::Whole { line_feeds, came } => whole(line_feeds, came, text),
            Reader::Json { text: kept, too_long } => {
                if *too_long || kept.len() + text.len() > JSON_BYTES {
                    *too_long = true;
                } else {
                    kept.push_str(text);
                }
                Vec::new()
            }
            Reader::Stream(stream) => stream.push(text),
        }
    }

    fn exit(&mut self, how: ExitStatus) -> Outcome {
        let outcome = match &mut self.reader {
            Reader::LastBlock(block) => finished(Some(block.take().unwrap_or_else(no_output))),
            Reader::Whole { came, .. } => finished((!*came).then(no_output)),
            Reader::Json { too_long: true, .. } => {
                let message = format!("The CLI printed more than {JSON_BYTES} bytes of JSON");
                failed(Category::Unknown, message, "")
            }
            Reader::Json { text, .. } => finished(Some(json_answer(text))),
            Reader::Stream(stream) => stream.end(),
        };
        let said = match &self.reader {
            Reader::Stream(stream) if !stream.error().is_empty() => stream.error(),
            Reader::Stream(_) | Reader::LastBlock(_) | Reader::Whole { .. } | Reader::Json { .. } => self.stderr.text(),
        };
        ended(how, said, || outcome)
    }
}

/// The answer of a run that went well and printed nothing.
pub(crate) fn no_output() -> String {
    NO_OUTPUT.to_owned()
}

/// Passes text on, and holds line feeds back until something follows them. Those before the first text are dropped.
fn whole(line_feeds: &mut usize, came: &mut bool, text: &str) -> Vec<Event> {
    let text = if *came { text } else { text.trim_start_matches('\n') };
    let body = text.trim_end_matches('\n');
    let held = std::mem::replace(line_feeds, text.len() - body.len());
    if body.is_empty() {
        *line_feeds += held;
        if *line_feeds <= HELD_LINE_FEEDS {
            return Vec::new();
        }
        return vec![Event::Text("\n".repeat(std::mem::take(line_feeds)))];
    }
    *came = true;
    vec![Event::Text("\n".repeat(held) + body)]
}

fn json_answer(text: &str) -> String {
    let text = text.trim();
    if let Ok(value) = text.parse::<Value>() {
        return content::of_value(&value).unwrap_or_else(|| text.to_owned());
    }
    // Some CLIs print logs before the one line of JSON.
    let last_line = text.lines().next_back().and_then(|line| line.parse::<Value>().ok());
    last_line.as_ref().and_then(content::of_value).or_else(|| last_block(text)).unwrap_or_else(no_output)
}
