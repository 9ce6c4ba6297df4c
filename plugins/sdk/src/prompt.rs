//! Prompts that a CLI could take for a command or an option.

use crate::{Category, Failure, Plan};

/// Whether a prompt starts with `/name`, which a CLI could take for one of its commands. A path is not a command: it contains
/// a second slash.
pub fn is_command(prompt: &str) -> bool {
    prompt.strip_prefix('/').is_some_and(|rest| {
        let name = rest.split(char::is_whitespace).next().unwrap_or_default();
        !name.contains('/') && !name.starts_with('*')
    })
}

/// The prompt, with a leading space if a CLI could take it for a command.
pub fn escape_command(prompt: &str) -> String {
    if is_command(prompt) { format!(" {prompt}") } else { prompt.to_owned() }
}

/// The longest argument that Linux accepts: 128 KiB, including the closing zero.
pub(crate) const ARGUMENT_BYTES: usize = 128 * 1024 - 1;

impl Plan {
    /// Adds the prompt as one argument, for a CLI that does not read it from standard input. `before` is a prefix of the
    /// argument, such as `--prompt=`. If it is empty, put `--` before the prompt where the CLI supports that; otherwise a prompt
    /// that starts with a dash gets a leading space, so that it never becomes an option.
    ///
    /// Pass the prompt only once: [`begin`](crate::Transcript::begin) then only closes standard input, and
    /// [`Protocol::input`](crate::Protocol::input) returns an empty text.
    ///
    /// # Errors
    /// `validation` if the prompt exceeds the maximum length of an argument.
    pub fn prompt_argument(self, before: &str, prompt: &str) -> Result<Self, Failure> {
        let is_behind_dashes = self.args.last().is_some_and(|last| last == "--");
        let space = if before.is_empty() && prompt.starts_with('-') && !is_behind_dashes { " " } else { "" };
        let whole = format!("{before}{space}{prompt}");
        if whole.len() > ARGUMENT_BYTES {
            let message = format!(
                "The prompt is {} bytes long, and this CLI takes it as an argument, which holds no more than 128 KiB",
                prompt.len()
            );
            return Err(Failure::new(Category::Validation, message, ""));
        }
        Ok(self.arg(&whole))
    }
}
