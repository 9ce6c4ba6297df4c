//! Answers to chores without a model: the first words of what the user said, or nothing, in the form of each chore.

use serde_json::json;

use super::{Chore, ChoreKind};

/// The maximum length of a title in characters: Codex accepts no more.
const TITLE: usize = 36;

/// The maximum length of a sentence in characters: Gemini CLI asks for it.
const SENTENCE: usize = 80;

/// The form of a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The title alone.
    Text,
    /// An object with the key `title`.
    Object,
    /// An object with the keys `language` and `title`.
    WithLanguage,
}

/// A title of a conversation that began with this text.
pub(super) fn title(form: Form, said: &str) -> Chore {
    let title = beginning(said, TITLE);
    let title = if title.is_empty() { "New conversation".to_owned() } else { title };
    let answer = match form {
        Form::Text => title,
        Form::Object => json!({"title": title}).to_string(),
        Form::WithLanguage => json!({"language": "unknown", "title": title}).to_string(),
    };
    Chore { kind: ChoreKind::Title, answer: Some(answer) }
}

/// The chores of Open WebUI, by the key of the object that it expects.
pub(super) fn of_key(key: &str, said: &str) -> Option<Chore> {
    let (kind, answer) = match key {
        "title" => return Some(title(Form::Object, said)),
        "tags" => (ChoreKind::Tags, json!({"tags": ["General"]})),
        "follow_ups" => (ChoreKind::FollowUps, json!({"follow_ups": []})),
        "queries" => (ChoreKind::SearchQueries, json!({"queries": []})),
        "text" => (ChoreKind::Autocompletion, json!({"text": ""})),
        "prompt" => (ChoreKind::ImagePrompt, json!({"prompt": beginning(said, SENTENCE)})),
        _ => return None,
    };
    Some(Chore { kind, answer: Some(answer.to_string()) })
}

/// The choice of a model: neither the simplest nor the most complex task.
pub(super) fn routing() -> Chore {
    let answer = json!({"complexity_reasoning": "The proxy runs one agent for all tasks.", "complexity_score": 50});
    Chore { kind: ChoreKind::Routing, answer: Some(answer.to_string()) }
}

/// A sentence about a session that began with this text.
pub(super) fn session_summary(said: &str) -> Chore {
    let sentence = beginning(said, SENTENCE);
    let sentence = if sentence.is_empty() { "An earlier session.".to_owned() } else { sentence };
    Chore { kind: ChoreKind::SessionSummary, answer: Some(sentence) }
}

/// Only a model can summarise a conversation.
pub(super) const COMPACTION: Chore = Chore { kind: ChoreKind::Compaction, answer: None };

/// The first line with words, in whole words up to a length.
fn beginning(text: &str, most: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut beginning = String::new();
    for word in line.trim_matches('"').split_whitespace() {
        let room = most.saturating_sub(beginning.chars().count());
        if beginning.is_empty() {
            beginning.extend(word.chars().take(room));
        } else if word.chars().count() < room {
            beginning.push(' ');
            beginning.push_str(word);
        } else {
            break;
        }
    }
    beginning
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_whole_words_of_the_first_line() {
        for (said, expected) in [
            ("How do I list files?", "How do I list files?"),
            ("\n  \"Fix the build\"\nIt fails.", "Fix the build"),
            ("Explain how the compile cache of the plugin host works", "Explain how the compile cache of the"),
            (&"x".repeat(50), &"x".repeat(36)),
            ("über\u{3000}Straßen", "über Straßen"),
            (" \n", "New conversation"),
        ] {
            assert_eq!(title(Form::Text, said).answer.as_deref(), Some(expected), "{said}");
        }
        let quoted = title(Form::Object, "say \"hi\" \\").answer.unwrap();
        assert_eq!(quoted, r#"{"title":"say \"hi\" \\"}"#);
    }
}
