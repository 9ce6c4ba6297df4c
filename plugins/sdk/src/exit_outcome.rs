//! The outcome of a process that ended without reporting the end of its turn.

use crate::{Category, Event, ExitStatus, Failure, KillReason, Outcome, Stop, classify, finished};

/// The answer of a run without output.
pub const NO_OUTPUT: &str = "No output from CLI.";

/// The outcome by exit status. After exit code 0, `clean` decides. Otherwise the turn failed, and `error` is the text from the
/// CLI's error channel, which determines the category. The host replaces an empty detail with standard error.
pub fn exit_outcome(how: ExitStatus, error: &str, clean: impl FnOnce() -> Outcome) -> Outcome {
    match how {
        ExitStatus::Code(0) => clean(),
        ExitStatus::Code(_) | ExitStatus::Signal(_) => classify::failure(error).into(),
        ExitStatus::Killed(reason) => killed(reason, error).into(),
    }
}

/// The outcome of a process that exited with 0 without an answer. `error` is the text from its error channel; if that does not
/// explain the failure, the failure has this message.
pub fn failed_without_answer(message: &str, error: &str) -> Outcome {
    let mut failure = classify::failure(error);
    if failure.category == Category::Unknown {
        failure.message = message.into();
    }
    failure.into()
}

/// The outcome of a process that exited with 0 and printed nothing: the answer is [`NO_OUTPUT`], unless there is error text or the turn
/// resumes a session. A session without output does not exist.
pub fn outcome_without_output(error: &str, is_resumed: bool) -> Outcome {
    if error.is_empty() && !is_resumed {
        return finished(Some(NO_OUTPUT.to_owned()));
    }
    failed_without_answer(NO_OUTPUT, error)
}

/// The failure of a turn that reached a limit before it produced text.
pub(crate) fn limit_failure(stop: Stop) -> Option<Failure> {
    let message = match stop {
        Stop::MaxTurns => "The agent used up its turns before it had said anything: raise the CLI's limit of turns",
        Stop::MaxTokens => "The agent used up its tokens before it had said anything: raise the CLI's limit of tokens",
        Stop::EndTurn | Stop::Refusal => return None,
    };
    Some(Failure::new(Category::Unknown, message, ""))
}

/// The failure of a process that the host ended.
fn killed(reason: KillReason, error: &str) -> Failure {
    let (category, message) = match reason {
        KillReason::Cancelled => (Category::Unknown, "The run was cancelled"),
        KillReason::Timeout => (Category::Timeout, "The CLI ran for longer than it may and was stopped"),
        KillReason::Idle => (Category::Timeout, "The CLI said nothing for longer than it may and was stopped"),
        KillReason::OutputLimit => (Category::Unknown, "The CLI printed more than it may and was stopped"),
        KillReason::Shutdown => (Category::Unknown, "The run was stopped because AgentBay is shutting down"),
    };
    Failure::new(category, message, error)
}

/// Merges events that were found only after the process had ended, when no event can be sent any more: their text becomes the
/// answer, and a `Done` among them replaces `outcome`.
pub(crate) fn merge_final_events(events: Vec<Event>, outcome: impl FnOnce() -> Outcome) -> Outcome {
    let (mut text, mut done) = (String::new(), None);
    for event in events {
        match event {
            Event::Text(more) => text.push_str(&more),
            Event::Done(outcome) if done.is_none() => done = Some(outcome),
            _ => {}
        }
    }
    let mut outcome = done.unwrap_or_else(outcome);
    if !text.is_empty() && outcome.answer.is_none() {
        outcome.answer = Some(text);
    }
    outcome
}
