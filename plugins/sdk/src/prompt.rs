//! Owns what keeps a CLI from reading a prompt as something else than a prompt.

/// The prompt, with a space before it if it begins with `/name`, which a CLI could take for one of its commands. A path at its
/// beginning is none: no command has a second slash in its name.
pub fn without_command(prompt: &str) -> String {
    let is_command = prompt.strip_prefix('/').is_some_and(|rest| {
        let name = rest.split(char::is_whitespace).next().unwrap_or_default();
        !name.contains('/') && !name.starts_with('*')
    });
    if is_command { format!(" {prompt}") } else { prompt.to_owned() }
}
