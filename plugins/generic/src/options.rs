//! Owns the options of proxy.toml. What they are for is in the guide (plugins/README.md, "Any CLI by options alone").

use agentbay_plugin_sdk::{Failure, Turn, Value, wrong_option};

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

/// How the prompt reaches the CLI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// On standard input.
    #[default]
    Stdin,
    /// As an argument: the last one, or where `{prompt}` stands.
    Arg,
    /// In a file, whose path is where `{prompt_file}` stands.
    File,
}

/// What the CLI prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// Plain text.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// One JSON value after the other.
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

/// Arguments that say what a turn asks for. What has none, the CLI cannot do.
#[derive(Debug, Default)]
pub(crate) struct Abilities {
    pub(crate) model: Option<Vec<String>>,
    pub(crate) resume: Option<Vec<String>>,
    pub(crate) read_only: Option<Vec<String>>,
    pub(crate) write: Vec<String>,
    pub(crate) extra_dir: Option<Vec<String>>,
    pub(crate) schema: Option<Vec<String>>,
}

/// Where things stand in JSON. What has no path is looked for where many CLIs have it.
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
        for (name, told) in &turn.options {
            settings.take(name, told)?;
        }
        settings.fit_together(turn)?;
        Ok(settings)
    }

    fn take(&mut self, name: &str, told: &str) -> Result<(), Failure> {
        let Self { args, prompt, format, answer, abilities, paths, lines } = self;
        match name {
            "args" => *args = list(name, told, "[\"--quiet\"]")?,
            "prompt" => {
                *prompt =
                    one_of(name, told, &[("stdin", Prompt::Stdin), ("arg", Prompt::Arg), ("file", Prompt::File)])?;
            }
            "format" => {
                let known = [("text", Format::Text), ("json", Format::Json), ("stream-json", Format::StreamJson)];
                *format = one_of(name, told, &known)?;
            }
            "answer" => *answer = one_of(name, told, &[("last-block", Answer::LastBlock), ("whole", Answer::Whole)])?,
            "model_args" => abilities.model = Some(with(name, told, &["{model}"], "[\"--model\", \"{model}\"]")?),
            "resume_args" => {
                abilities.resume = Some(with(name, told, &["{session}"], "[\"--resume\", \"{session}\"]")?)
            }
            "read_only_args" => abilities.read_only = Some(list(name, told, "[\"--plan\"]")?),
            "write_args" => abilities.write = list(name, told, "[\"--yes\"]")?,
            "extra_dir_args" => abilities.extra_dir = Some(with(name, told, &["{dir}"], "[\"--add-dir\", \"{dir}\"]")?),
            "schema_args" => {
                let example = "[\"--schema\", \"{schema_file}\"]";
                abilities.schema = Some(with(name, told, &["{schema}", "{schema_file}"], example)?);
            }
            "text_path" => paths.text = Rule::list(name, told)?,
            "message_path" => paths.message = Rule::list(name, told)?,
            "reasoning_path" => paths.reasoning = Rule::list(name, told)?,
            "answer_path" => paths.answer = Rule::list(name, told)?,
            "error_path" => paths.error = Rule::list(name, told)?,
            "session_path" => paths.session = Rule::list(name, told)?,
            "usage_path" => paths.usage = Rule::list(name, told)?,
            "break_when" => paths.breaks = Condition::list(name, told)?,
            "skip" => lines.skip = Pattern::list(name, told)?,
            "begin" => lines.begin = Pattern::list(name, told)?,
            "end" => lines.end = Pattern::list(name, told)?,
            "fail_if" => lines.fail_if = Pattern::list(name, told)?,
            _ => {
                let allowed: Vec<String> = NAMES.iter().map(|name| format!("`{name}`")).collect();
                return Err(wrong_option(format!("unknown option `{name}`: allowed are {}", allowed.join(", "))));
            }
        }
        Ok(())
    }

    /// An option that would do nothing beside the others is a fault.
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
            return Err(wrong_option(format!("option `{name}` {instead}")));
        }
        if self.abilities.resume.is_none() && !self.paths.session.is_empty() {
            let message =
                "option `session_path` does nothing without `resume_args`, such as [\"--resume\", \"{session}\"]";
            return Err(wrong_option(message.to_owned()));
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
        Err(wrong_option(wrong.to_owned()))
    }
}

fn one_of<T: Copy>(name: &str, told: &str, known: &[(&str, T)]) -> Result<T, Failure> {
    known.iter().find(|(allowed, _)| *allowed == told).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let allowed: Vec<String> = known.iter().map(|(allowed, _)| format!("`{allowed}`")).collect();
        wrong_option(format!("option `{name}` is `{told}`: allowed are {}", allowed.join(", ")))
    })
}

fn list(name: &str, told: &str, example: &str) -> Result<Vec<String>, Failure> {
    told.parse::<Value>()
        .ok()
        .and_then(|list| list.as_array()?.iter().map(|item| item.as_str().map(String::from)).collect())
        .ok_or_else(|| {
            wrong_option(format!("option `{name}` is `{told}`: allowed is a list of strings such as {example}"))
        })
}

/// A list that says with a placeholder where the value goes.
fn with(name: &str, told: &str, placeholders: &[&str], example: &str) -> Result<Vec<String>, Failure> {
    let args = list(name, told, example)?;
    if args.iter().any(|arg| placeholders.iter().any(|placeholder| arg.contains(placeholder))) {
        return Ok(args);
    }
    let wanted = placeholders.join("` or `");
    Err(wrong_option(format!("option `{name}` is `{told}`: it needs `{wanted}`, as in {example}")))
}
