//! The message of a failure, for a person. Most clients show the message alone, so it states what failed, why, and what to
//! do.

use std::path::Path;

use agentbay_domain::{Category, Failure, Outcome};

use super::Cli;
use crate::step::Ended;

/// The message of a failure without a known cause.
const UNKNOWN: &str = "CLI failed";

/// The characters of output that fit into a message.
const LONGEST: usize = 300;

/// The same end, with the failure in words for the client.
pub(super) fn explained(ended: Ended, cli: &Cli) -> Ended {
    let outcome = match ended.outcome {
        Outcome::Failed { failure, answer } => Outcome::Failed { failure: in_words(failure, cli), answer },
        finished @ Outcome::Finished { .. } => finished,
    };
    Ended { outcome, ..ended }
}

fn in_words(failure: Failure, cli: &Cli) -> Failure {
    if failure.category == Category::Authentication {
        let (name, hint) = login(cli);
        return Failure { message: with_login(&failure.message, &name, &hint), ..failure };
    }
    match first_line(&failure.detail) {
        Some(line) if failure.message == UNKNOWN => Failure { message: format!("{UNKNOWN}: {line}"), ..failure },
        _ => failure,
    }
}

/// The name of the CLI, and the plugin's hint for logging in.
fn login(cli: &Cli) -> (String, String) {
    let Ok(driver) = &cli.driver else { return (cli.target.driver.to_string(), String::new()) };
    let description = driver.plugin.description();
    // A driver for any CLI has no name of a CLI.
    let program = cli.target.program.as_deref().filter(|_| description.programs.is_empty());
    let name = program.map_or_else(|| description.name.clone(), base);
    (name, description.probe.login_hint.clone())
}

fn base(program: &Path) -> String {
    program.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The message may end with the hint already.
fn with_login(message: &str, name: &str, hint: &str) -> String {
    let reason = message.split(". To log in: ").next().unwrap_or_default();
    if hint.is_empty() {
        format!("{name} needs a login: {reason}")
    } else {
        format!("{name} needs a login: {hint}. {reason}")
    }
}

fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut shown: String = line.chars().take(LONGEST).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_with_text_is_shown_up_to_a_limit() {
        assert_eq!(first_line("\n  \nboom: no such thing\r\nat line 3\n").as_deref(), Some("boom: no such thing"));
        assert_eq!(first_line(" \n"), None);
        let long = first_line(&"é".repeat(LONGEST + 1)).unwrap();
        assert_eq!(long, "é".repeat(LONGEST) + "…");
    }

    #[test]
    fn the_name_of_the_cli_and_the_login_command_come_first() {
        let refused = "The CLI is not logged in, or its credentials were refused";
        let message = format!("{refused}. To log in: codex login");
        assert_eq!(
            with_login(&message, "Codex", "codex login"),
            format!("Codex needs a login: codex login. {refused}")
        );
        assert_eq!(with_login(refused, "mycli", ""), format!("mycli needs a login: {refused}"));
    }
}
