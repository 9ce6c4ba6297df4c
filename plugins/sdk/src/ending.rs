//! Owns the verdict on a process that ended without having said that its turn is over.

use crate::{Category, Event, ExitStatus, Failure, KillReason, Outcome, Stop, classify, finished};

/// What a run answers whose output was empty.
pub const NO_OUTPUT: &str = "No output from CLI.";

/// The verdict by the way a process ended: `clean` is asked if it exited with 0. Otherwise the turn failed, and `said` is
/// what the CLI said about it on its error channel, which tells the kind of failure; the host puts standard error in place of
/// an empty one.
pub fn ended(how: ExitStatus, said: &str, clean: impl FnOnce() -> Outcome) -> Outcome {
    match how {
        ExitStatus::Code(0) => clean(),
        ExitStatus::Code(_) | ExitStatus::Signal(_) => classify::failure(said).into(),
        ExitStatus::Killed(reason) => killed(reason, said).into(),
    }
}

/// The verdict on a process that exited with 0 and has nothing to show for it. What it said on its error channel may tell
/// why; else the failure has this message.
pub fn ended_without_answer(message: &str, said: &str) -> Outcome {
    let mut failure = classify::failure(said);
    if failure.category == Category::Unknown {
        failure.message = message.into();
    }
    failure.into()
}

/// The verdict on a process that exited with 0 and printed nothing: it answered so, unless standard error says why, or the
/// turn resumes a session. A session of which nothing is heard is not there.
pub fn silent(said: &str, is_resumed: bool) -> Outcome {
    if said.is_empty() && !is_resumed {
        return finished(Some(NO_OUTPUT.to_owned()));
    }
    ended_without_answer(NO_OUTPUT, said)
}

/// A turn that was cut off before anything was said has no answer, which is a failure.
pub(crate) fn cut_off(stop: Stop) -> Option<Failure> {
    let message = match stop {
        Stop::MaxTurns => "The agent used up its turns before it had said anything: raise the CLI's limit of turns",
        Stop::MaxTokens => "The agent used up its tokens before it had said anything: raise the CLI's limit of tokens",
        Stop::EndTurn | Stop::Refusal => return None,
    };
    Some(Failure::new(Category::Unknown, message, ""))
}

/// Why the host ended the process, in words for the client.
fn killed(reason: KillReason, said: &str) -> Failure {
    let (category, message) = match reason {
        KillReason::Cancelled => (Category::Unknown, "The run was cancelled"),
        KillReason::Timeout => (Category::Timeout, "The CLI ran for longer than it may and was stopped"),
        KillReason::Idle => (Category::Timeout, "The CLI said nothing for longer than it may and was stopped"),
        KillReason::OutputLimit => (Category::Unknown, "The CLI printed more than it may and was stopped"),
        KillReason::Shutdown => (Category::Unknown, "The run was stopped because AgentBay is shutting down"),
    };
    Failure::new(category, message, said)
}

/// The verdict on a process of which these events came to light only when nothing more could follow: they can be told as an
/// answer, and as a verdict, in place of that on its end.
pub(crate) fn at_the_end(events: Vec<Event>, verdict: impl FnOnce() -> Outcome) -> Outcome {
    let (mut text, mut done) = (String::new(), None);
    for event in events {
        match event {
            Event::Text(more) => text.push_str(&more),
            Event::Done(outcome) if done.is_none() => done = Some(outcome),
            _ => {}
        }
    }
    let mut outcome = done.unwrap_or_else(verdict);
    if !text.is_empty() && outcome.answer.is_none() {
        outcome.answer = Some(text);
    }
    outcome
}
