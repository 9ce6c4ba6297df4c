//! Owns what keeps a CLI from reading a prompt as something else than a prompt.

use crate::{Category, Failure, Plan};

/// Whether a prompt begins with `/name`, which a CLI could take for one of its commands. A path at its beginning is none: no
/// command has a second slash in its name.
pub fn is_command(prompt: &str) -> bool {
    prompt.strip_prefix('/').is_some_and(|rest| {
        let name = rest.split(char::is_whitespace).next().unwrap_or_default();
        !name.contains('/') && !name.starts_with('*')
    })
}

/// The prompt, with a space before it if it could be taken for a command.
pub fn without_command(prompt: &str) -> String {
    if is_command(prompt) { format!(" {prompt}") } else { prompt.to_owned() }
}

/// The longest argument that Linux lets through is 128 KiB, its closing zero included.
pub(crate) const ARGUMENT_BYTES: usize = 128 * 1024 - 1;

impl Plan {
    /// Adds the prompt as one argument, for a CLI that does not read it from standard input. `before` stands in front of it in
    /// the same argument, such as `--prompt=`, and may be empty: then put `--` before it where the CLI knows that, or else a
    /// prompt that begins with a dash gets a space before it, so that it never becomes an option.
    ///
    /// Give the prompt to nobody twice: [`begin`](crate::Transcript::begin) then only closes standard input, and
    /// [`Protocol::input`](crate::Protocol::input) returns an empty text.
    ///
    /// # Errors
    /// `validation` if the prompt is longer than an argument can be.
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
