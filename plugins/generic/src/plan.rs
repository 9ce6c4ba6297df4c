//! Owns the options of proxy.toml and the command line they make.
//!
//! | option | values | default |
//! |---|---|---|
//! | `args` | list of strings | none |
//! | `prompt` | `stdin`, `arg` | `stdin` |
//! | `format` | `text`, `json`, `stream-json` | `text` |
//! | `answer` | `last-block`, `whole` | `last-block` |

use agentbay_plugin_sdk::{Failure, Plan, Turn, arguments, wrong_option};

/// How the prompt reaches the CLI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// On standard input.
    #[default]
    Stdin,
    /// As the last argument.
    Arg,
}

/// What the CLI prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// Plain text.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// One JSON value a line.
    StreamJson,
}

/// Which part of plain text is the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The last block: what stands before it are logs.
    #[default]
    LastBlock,
    /// All of it.
    Whole,
}

/// The options of a model, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) args: Vec<String>,
    pub(crate) prompt: Prompt,
    pub(crate) format: Format,
    pub(crate) answer: Answer,
}

impl Settings {
    /// Reads the options of a turn.
    pub(crate) fn read(turn: &Turn) -> Result<Self, Failure> {
        let mut settings = Self::default();
        for (name, value) in &turn.options {
            match name.as_str() {
                "args" => settings.args = arguments(value)?,
                "prompt" => settings.prompt = one_of(name, value, &[("stdin", Prompt::Stdin), ("arg", Prompt::Arg)])?,
                "format" => {
                    let known = [("text", Format::Text), ("json", Format::Json), ("stream-json", Format::StreamJson)];
                    settings.format = one_of(name, value, &known)?;
                }
                "answer" => {
                    settings.answer =
                        one_of(name, value, &[("last-block", Answer::LastBlock), ("whole", Answer::Whole)])?;
                }
                _ => {
                    let message = format!("unknown option `{name}`: allowed are `args`, `prompt`, `format`, `answer`");
                    return Err(wrong_option(message));
                }
            }
        }
        Ok(settings)
    }
}

/// The command line. The program is left to the host.
pub(crate) fn prepare(turn: &Turn) -> Result<Plan, Failure> {
    let settings = Settings::read(turn)?;
    let plan = Plan::new("", settings.args.iter().map(String::as_str));
    Ok(match settings.prompt {
        Prompt::Stdin => plan,
        Prompt::Arg => {
            let dashes_are_safe = settings.args.last().is_some_and(|last| last == "--");
            if turn.prompt.starts_with('-') && !dashes_are_safe {
                // What a client writes must not become an option of the CLI. A space before it is harmless in a prompt.
                plan.arg(&format!(" {}", turn.prompt))
            } else {
                plan.arg(&turn.prompt)
            }
        }
    })
}

fn one_of<T: Copy>(name: &str, value: &str, known: &[(&str, T)]) -> Result<T, Failure> {
    known.iter().find(|(allowed, _)| *allowed == value).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let allowed: Vec<String> = known.iter().map(|(allowed, _)| format!("`{allowed}`")).collect();
        wrong_option(format!("option `{name}` is `{value}`: allowed are {}", allowed.join(", ")))
    })
}
