//! Owns what keeps a CLI from reading a prompt as something else than a prompt.

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
