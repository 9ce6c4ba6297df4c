//! Text that a client's program adds to what people and applications write: context in tags beside the words of a user, and a
//! header of its own at the beginning of instructions.

use agentbay_domain::{Block, Role};

use super::part;

/// The tags in which clients add context to a message of the user. Only a client's own tags are here: in any other tag, the text
/// may be the task.
const TAGS: [&str; 13] = [
    // Claude Code, opencode, Qwen Code.
    "system-reminder",
    // Claude Code: a command that the user typed into it, its output, and what the editor shows.
    "command-name",
    "command-message",
    "command-args",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "ide_opened_file",
    "ide_selection",
    // Codex.
    "environment_context",
    // Gemini CLI.
    "session_context",
    // Copilot.
    "current_datetime",
    // Cline and those that descend from it.
    "environment_details",
];

/// Begins a line about the client itself, which changes with each request.
const HEADER: &str = "x-anthropic-billing-header:";

/// Adds the text of one part of a message, without the client's header, and with the client's context in blocks of its own.
pub(super) fn add(text: String, role: Role, blocks: &mut Vec<Block>) {
    match role {
        Role::User => {
            let (context, rest) = split(&text);
            if context.is_empty() {
                part::add_text(text, blocks);
                return;
            }
            blocks.push(Block::Context(context.to_owned()));
            if !rest.is_empty() {
                part::add_text(rest.to_owned(), blocks);
            }
        }
        Role::System | Role::Developer if text.starts_with(HEADER) => {
            if let Some((_, rest)) = text.split_once('\n') {
                part::add_text(rest.to_owned(), blocks);
            }
        }
        Role::System | Role::Developer | Role::Assistant | Role::Tool | Role::Other => part::add_text(text, blocks),
    }
}

/// The client's context at the beginning of a text, and the rest. Tags within the words of the user are the user's.
fn split(text: &str) -> (&str, &str) {
    let mut end = 0;
    while let Some((start, length)) = element(&text[end..]) {
        end += start + length;
    }
    let (context, rest) = text.split_at(end);
    (context.trim(), if end == 0 { rest } else { rest.trim_start() })
}

/// The start and the length of the element that is the first thing in a text, behind white space.
fn element(text: &str) -> Option<(usize, usize)> {
    let inner = text.trim_start();
    let name = inner.strip_prefix('<')?.split_once('>')?.0;
    let name = TAGS.into_iter().find(|tag| *tag == name)?;
    let closing = format!("</{name}>");
    Some((text.len() - inner.len(), inner.find(&closing)? + closing.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(texts: &[&str], role: Role) -> Vec<Block> {
        let mut blocks = Vec::new();
        texts.iter().for_each(|text| add((*text).to_owned(), role, &mut blocks));
        blocks
    }

    fn text(text: &str) -> Block {
        Block::Text(text.to_owned())
    }

    fn context(text: &str) -> Block {
        Block::Context(text.to_owned())
    }

    #[test]
    fn context_at_the_beginning_of_a_text_is_separated_from_the_words_of_the_user() {
        const REMINDER: &str = "<system-reminder>\nThe date has changed.\n</system-reminder>";
        for tag in TAGS {
            let element = format!("<{tag}>x</{tag}>");
            assert_eq!(added(&[&element, "hi"], Role::User), [context(&element), text("hi")]);
        }
        let two = format!("\n{REMINDER}\n\n{REMINDER}\n");
        assert_eq!(added(&[&two], Role::User), [context(two.trim())]);
        let before = format!("{REMINDER}\n\nhi\n there");
        assert_eq!(added(&[&before], Role::User), [context(REMINDER), text("hi\n there")]);
        assert_eq!(added(&["a", REMINDER, "b", "c"], Role::User), [text("a"), context(REMINDER), text("b\nc")]);
    }

    #[test]
    fn all_other_text_of_the_user_stays_as_it_is() {
        for own in [
            "",
            " \n",
            "What does <system-reminder>x</system-reminder> mean?",
            "hi\n<system-reminder>x</system-reminder>",
            "<system-reminder>\nNo closing tag.",
            "<system-reminder",
            "<task>x</task>",
            "<system-reminders>x</system-reminders>",
            "</system-reminder>",
        ] {
            assert_eq!(added(&[own], Role::User), [text(own)]);
        }
        let reminder = "<system-reminder>x</system-reminder>";
        for role in [Role::System, Role::Developer, Role::Assistant, Role::Tool, Role::Other] {
            assert_eq!(added(&[reminder], role), [text(reminder)]);
        }
    }

    #[test]
    fn the_client_s_header_is_no_part_of_the_instructions() {
        let header = "x-anthropic-billing-header: cc_version=2.1.332.1c9; cc_entrypoint=cli;";
        let joined = format!("{header}\nBe brief.\nBe kind.");
        for role in [Role::System, Role::Developer] {
            assert_eq!(added(&[header, "Be brief."], role), [text("Be brief.")]);
            assert_eq!(added(&[header], role), []);
            assert_eq!(added(&[&joined], role), [text("Be brief.\nBe kind.")]);
            assert_eq!(added(&["Be brief.", &joined], role), [text("Be brief.\nBe brief.\nBe kind.")]);
        }
        assert_eq!(added(&[header], Role::User), [text(header)]);
    }
}
