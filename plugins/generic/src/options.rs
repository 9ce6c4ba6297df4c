//! The options of proxy.toml. The guide (plugins/generic/README.md) explains them.

use agentbay_plugin_sdk::{Failure, Turn, Value, invalid_option};

use crate::pattern::Pattern;
use crate::rule::{Condition, Rule};

/// All options, in the order of the guide.
const NAMES: [&str; 22] = [
    "args",
    "prompt",
    "format",
    "answer",
    "model_args",
    "resume_args",
    "read_only_args",
    "write_args",
    "extra_dir_args",
    "schema_args",
    "text_path",
    "message_path",
    "reasoning_path",
    "answer_path",
    "error_path",
    "session_path",
    "usage_path",
    "break_when",
    "skip",
    "begin",
    "end",
    "fail_if",
];

/// The way of the prompt to the CLI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// On standard input.
    #[default]
    Stdin,
    /// As an argument: the last one, or in the place of `{prompt}`.
    Arg,
    /// In a file, whose path replaces `{prompt_file}`.
    File,
}

/// The format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// Plain text.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// A sequence of JSON values.
    StreamJson,
}

/// The part of plain text that is the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The last block; earlier ones are logs.
    #[default]
    LastBlock,
    /// The whole text.
    Whole,
}

/// Arguments for the features of a turn. The CLI lacks a feature without arguments.
#[derive(Debug, Default)]
pub(crate) struct Abilities {
    pub(crate) model: Option<Vec<String>>,
    pub(crate) resume: Option<Vec<String>>,
    pub(crate) read_only: Option<Vec<String>>,
    pub(crate) write: Vec<String>,
    pub(crate) extra_dir: Option<Vec<String>>,
    pub(crate) schema: Option<Vec<String>>,
}

/// Paths in JSON. For a value without a path, the places that many CLIs use are searched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    pub(crate) text: Vec<Rule>,
    pub(crate) message: Vec<Rule>,
    pub(crate) reasoning: Vec<Rule>,
    pub(crate) answer: Vec<Rule>,
    pub(crate) error: Vec<Rule>,
    pub(crate) session: Vec<Rule>,
    pub(crate) usage: Vec<Rule>,
    pub(crate) breaks: Vec<Condition>,
}

/// Patterns of lines of plain text. `fail_if` counts in every format.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub(crate) skip: Vec<Pattern>,
    pub(crate) begin: Vec<Pattern>,
    pub(crate) end: Vec<Pattern>,
    pub(crate) fail_if: Vec<Pattern>,
}

/// The options of a model, checked.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) args: Vec<String>,
    pub(crate) prompt: Prompt,
    pub(crate) format: Format,
    pub(crate) answer: Answer,
    pub(crate) abilities: Abilities,
    pub(crate) paths: Paths,
    pub(crate) lines: Lines,
}

impl Settings {
    /// Reads the options of a turn.
    pub(crate) fn read(turn: &Turn) -> Result<Self, Failure> {
        let mut settings = Self::default();
        for (name, value) in &turn.options {
            settings.take(name, value)?;
        }
        settings.fit_together(turn)?;
        Ok(settings)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let Self { args, prompt, format, answer, abilities, paths, lines } = self;
        match name {
            "args" => *args = list(name, value, "[\"--quiet\"]")?,
            "prompt" => {
                *prompt =
                    one_of(name, value, &[("stdin", Prompt::Stdin), ("arg", Prompt::Arg), ("file", Prompt::File)])?;
            }
            "format" => {
                let known = [("text", Format::Text), ("json", Format::Json), ("stream-json", Format::StreamJson)];
                *format = one_of(name, value, &known)?;
            }
            "answer" => *answer = one_of(name, value, &[("last-block", Answer::LastBlock), ("whole", Answer::Whole)])?,
            "model_args" => abilities.model = Some(with(name, value, &["{model}"], "[\"--model\", \"{model}\"]")?),
            "resume_args" => {
                abilities.resume = Some(with(name, value, &["{session}"], "[\"--resume\", \"{session}\"]")?)
            }
            "read_only_args" => abilities.read_only = Some(list(name, value, "[\"--plan\"]")?),
            "write_args" => abilities.write = list(name, value, "[\"--yes\"]")?,
            "extra_dir_args" => {
                abilities.extra_dir = Some(with(name, value, &["{dir}"], "[\"--add-dir\", \"{dir}\"]")?)
            }
            "schema_args" => {
                let example = "[\"--schema\", \"{schema_file}\"]";
                abilities.schema = Some(with(name, value, &["{schema}", "{schema_file}"], example)?);
            }
            "text_path" => paths.text = Rule::list(name, value)?,
            "message_path" => paths.message = Rule::list(name, value)?,
            "reasoning_path" => paths.reasoning = Rule::list(name, value)?,
            "answer_path" => paths.answer = Rule::list(name, value)?,
            "error_path" => paths.error = Rule::list(name, value)?,
            "session_path" => paths.session = Rule::list(name, value)?,
            "usage_path" => paths.usage = Rule::list(name, value)?,
            "break_when" => paths.breaks = Condition::list(name, value)?,
            "skip" => lines.skip = Pattern::list(name, value)?,
            "begin" => lines.begin = Pattern::list(name, value)?,
            "end" => lines.end = Pattern::list(name, value)?,
            "fail_if" => lines.fail_if = Pattern::list(name, value)?,
            _ => {
                let allowed: Vec<String> = NAMES.iter().map(|name| format!("`{name}`")).collect();
                return Err(invalid_option(format!("unknown option `{name}`: allowed are {}", allowed.join(", "))));
            }
        }
        Ok(())
    }

    /// An option that has no effect with the others is an error.
    fn fit_together(&self, turn: &Turn) -> Result<(), Failure> {
        let given = |names: &[&'static str]| names.iter().copied().find(|name| turn.option(name).is_some());
        let idle = match self.format {
            Format::Text => {
                given(&NAMES[10..18]).map(|name| (name, "reads JSON: add `format = \"stream-json\"` or `\"json\"`"))
            }
            Format::Json | Format::StreamJson => given(&["answer", "skip", "begin", "end"])
                .map(|name| (name, "reads plain text: leave `format` out, or it")),
        };
        if let Some((name, instead)) = idle {
            return Err(invalid_option(format!("option `{name}` {instead}")));
        }
        if self.abilities.resume.is_none() && !self.paths.session.is_empty() {
            let message =
                "option `session_path` does nothing without `resume_args`, such as [\"--resume\", \"{session}\"]";
            return Err(invalid_option(message.to_owned()));
        }
        self.prompt_has_its_place()
    }

    fn prompt_has_its_place(&self) -> Result<(), Failure> {
        let has = |placeholder: &str| self.args.iter().filter(|arg| arg.contains(placeholder)).count();
        let wrong = match self.prompt {
            Prompt::File if has("{prompt_file}") == 0 => {
                "option `prompt` is `file`: `args` must say where the file's path goes, such as [\"--message-file\", \"{prompt_file}\"]"
            }
            Prompt::Stdin | Prompt::Arg if has("{prompt_file}") > 0 => {
                "option `args` has `{prompt_file}`: add `prompt = \"file\"`"
            }
            Prompt::Stdin | Prompt::File if has("{prompt}") > 0 => {
                "option `args` has `{prompt}`: add `prompt = \"arg\"`"
            }
            Prompt::Arg
                if has("{prompt}") > 1
                    || self.args.iter().any(|arg| arg.contains("{prompt}") && !arg.ends_with("{prompt}")) =>
            {
                "option `args` may have `{prompt}` once, at the end of an argument, such as [\"--message={prompt}\"]"
            }
            Prompt::Stdin | Prompt::Arg | Prompt::File => return Ok(()),
        };
        Err(invalid_option(wrong.to_owned()))
    }
}

fn one_of<T: Copy>(name: &str, value: &str, known: &[(&str, T)]) -> Result<T, Failure> {
    known.iter().find(|(allowed, _)| *allowed == value).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let allowed: Vec<String> = known.iter().map(|(allowed, _)| format!("`{allowed}`")).collect();
        invalid_option(format!("option `{name}` is `{value}`: allowed are {}", allowed.join(", ")))
    })
}

fn list(name: &str, value: &str, example: &str) -> Result<Vec<String>, Failure> {
    value
        .parse::<Value>()
        .ok()
        .and_then(|list| list.as_array()?.iter().map(|item| item.as_str().map(String::from)).collect())
        .ok_or_else(|| {
            invalid_option(format!("option `{name}` is `{value}`: allowed is a list of strings such as {example}"))
        })
}

/// A list with a placeholder for the value.
fn with(name: &str, value: &str, placeholders: &[&str], example: &str) -> Result<Vec<String>, Failure> {
    let args = list(name, value, example)?;
    if args.iter().any(|arg| placeholders.iter().any(|placeholder| arg.contains(placeholder))) {
        return Ok(args);
    }
    let needed = placeholders.join("` or `");
    Err(invalid_option(format!("option `{name}` is `{value}`: it needs `{needed}`, as in {example}")))
}
