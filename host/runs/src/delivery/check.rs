//! The check of an answer that has to be JSON: finds the JSON in what an agent wrote, and holds it against the schema.

use std::fmt::Write;

use agentbay_domain::{AnswerFormat, AnswerSchema};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::schema_loop;
use super::strict::is_strict;

/// The number of code blocks in which the JSON is searched.
const BLOCKS: usize = 32;

/// The number of deviations from a schema that are reported, and the bytes of each.
const REPORTED: usize = 3;
const REPORT_BYTES: usize = 300;

/// The check of a format.
#[derive(Debug)]
pub(crate) struct FormatCheck {
    schema: Option<Box<Validator>>,
    /// The schema in words, for error messages.
    name: String,
    is_strict: bool,
}

/// The schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the JSON Schema of the answer cannot be used: {0}")]
pub struct InvalidSchema(String);

/// Why an answer does not have its format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FormatError {
    /// It has no JSON.
    #[error("the agent's answer does not have the requested format: it is not {expected}")]
    NoJson {
        /// What was expected.
        expected: &'static str,
    },
    /// Its JSON is another.
    #[error("the agent's answer does not follow {schema} of the request: {deviations}")]
    Deviates {
        /// The schema, in words.
        schema: String,
        /// The first deviations.
        deviations: String,
    },
}

impl FormatCheck {
    /// The check of a format; `None` if any text has it.
    ///
    /// # Errors
    /// The schema is invalid, or refers to something outside of it.
    pub(crate) fn of(format: &AnswerFormat) -> Result<Option<Self>, InvalidSchema> {
        match format {
            AnswerFormat::Text => Ok(None),
            AnswerFormat::Json => Ok(Some(Self { schema: None, name: String::new(), is_strict: false })),
            AnswerFormat::Schema(AnswerSchema { name, json }) => {
                let schema = serde_json::from_str(json).map_err(|error| InvalidSchema(error.to_string()))?;
                schema_loop::refuse(&schema).map_err(InvalidSchema)?;
                let validator = jsonschema::options().build(&schema);
                let validator = validator.map_err(|error| InvalidSchema(shortened(error.to_string())))?;
                let name = if name.is_empty() { "the schema".to_owned() } else { format!("the schema `{name}`") };
                Ok(Some(Self { schema: Some(Box::new(validator)), name, is_strict: is_strict(&schema) }))
            }
        }
    }

    /// Returns whether providers accept the schema for their own structured output.
    pub(crate) fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// The JSON of an answer, as the agent wrote it. It is the last message or a code block in it; else it may be anywhere.
    pub(super) fn json_of<'a>(&self, answer: &'a str, last_message: &'a str) -> Result<&'a str, FormatError> {
        let mut first_error = None;
        for text in candidates(last_message).chain(candidates(answer)) {
            let Ok(value) = serde_json::from_str::<Value>(text) else { continue };
            match self.check(&value) {
                Ok(()) => return Ok(text),
                Err(error) => drop(first_error.get_or_insert(error)),
            }
        }
        Err(first_error.unwrap_or(FormatError::NoJson { expected: self.expected() }))
    }

    fn expected(&self) -> &'static str {
        if self.schema.is_some() { "JSON" } else { "a JSON object" }
    }

    fn check(&self, value: &Value) -> Result<(), FormatError> {
        let Some(schema) = &self.schema else {
            return if value.is_object() { Ok(()) } else { Err(FormatError::NoJson { expected: self.expected() }) };
        };
        let mut deviations = String::new();
        for deviation in schema.iter_errors(value).take(REPORTED) {
            let separator = if deviations.is_empty() { "" } else { "; " };
            // Writing to a string cannot fail.
            let _written = write!(deviations, "{separator}{}", described(&deviation));
        }
        if deviations.is_empty() {
            Ok(())
        } else {
            Err(FormatError::Deviates { schema: self.name.clone(), deviations })
        }
    }
}

fn described(deviation: &ValidationError<'_>) -> String {
    let at = deviation.instance_path.as_str();
    let message = shortened(deviation.to_string());
    if at.is_empty() { message } else { format!("{message} (at `{}`)", shortened(at.to_owned())) }
}

fn shortened(mut text: String) -> String {
    if text.len() > REPORT_BYTES {
        text.truncate(text.floor_char_boundary(REPORT_BYTES));
        text.push('…');
    }
    text
}

/// Where the JSON of a text may be, the most likely place first.
fn candidates(text: &str) -> impl Iterator<Item = &str> {
    let mut blocks: Vec<&str> = blocks(text).collect();
    blocks.reverse();
    blocks.truncate(BLOCKS);
    let braces = text.find('{').and_then(|from| Some(&text[from..=text.rfind('}').filter(|to| *to > from)?]));
    std::iter::once(text.trim()).chain(blocks).chain(braces)
}

/// The contents of the code blocks of a text.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    const FENCE: &str = "```";
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, opened) = rest.split_once(FENCE)?;
        // The language is in the first line.
        let content = opened.split_once('\n').map_or(opened, |(language, content)| {
            if language.trim().chars().all(char::is_alphanumeric) { content } else { opened }
        });
        // A fence inside a JSON string is never at the beginning of a line.
        let end = content.find("\n```").map_or_else(|| content.find(FENCE), |end| Some(end + 1));
        let end = end.unwrap_or(content.len());
        rest = content[end..].strip_prefix(FENCE).unwrap_or_default();
        Some(content[..end].trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

    fn check(schema: &str) -> Result<FormatCheck, InvalidSchema> {
        let schema = AnswerSchema { name: "count".to_owned(), json: schema.to_owned() };
        FormatCheck::of(&AnswerFormat::Schema(schema)).map(Option::unwrap)
    }

    fn found(answer: &str) -> Result<&str, FormatError> {
        check(SCHEMA).unwrap().json_of(answer, answer.rsplit("\n\n").next().unwrap())
    }

    #[test]
    fn the_json_is_found_where_agents_write_it_and_is_not_rewritten() {
        for (answer, json) in [
            (r#" {"n": 1.0} "#, r#"{"n": 1.0}"#),
            ("Done.\n\n```json\n{\"n\":1}\n```", r#"{"n":1}"#),
            ("```\n{\"n\":1}\n```\nThat is all.", r#"{"n":1}"#),
            ("```json {\"n\":1} ```", r#"{"n":1}"#),
            ("```json\n{\"n\":1}", r#"{"n":1}"#),
            ("```json\n{\"n\":1}\n```\nor better\n```json\n{\"n\":2}\n```", r#"{"n":2}"#),
            ("```json\n{\"n\":1,\"s\":\"```\"}\n```", r#"{"n":1,"s":"```"}"#),
            ("The result is {\"n\":1}, as asked.", r#"{"n":1}"#),
            ("{\"n\":1}\n\nI have counted the files.", r#"{"n":1}"#),
            ("I use {\"n\":\"x\"} first.\n\n{\"n\":1}", r#"{"n":1}"#),
        ] {
            assert_eq!(found(answer), Ok(json), "{answer}");
        }
    }

    #[test]
    fn an_answer_without_the_json_is_an_error_that_names_the_deviation() {
        let none = FormatError::NoJson { expected: "JSON" };
        for answer in ["", "no", "{", "}{", "``````"] {
            assert_eq!(found(answer), Err(none.clone()), "{answer}");
        }
        let error = found(r#"{"n":"x"}"#).unwrap_err().to_string();
        assert_eq!(
            error,
            "the agent's answer does not follow the schema `count` of the request: \"x\" is not of type \"integer\" (at `/n`)"
        );
        let long = format!(r#"{{"n":"{}"}}"#, "x".repeat(10_000));
        assert!(found(&long).unwrap_err().to_string().len() < 500);
    }

    #[test]
    fn an_object_of_any_content_is_checked_without_a_schema() {
        let any = FormatCheck::of(&AnswerFormat::Json).unwrap().unwrap();
        assert_eq!(any.json_of("```json\n{}\n```", ""), Ok("{}"));
        assert_eq!(any.json_of("[1]", "[1]"), Err(FormatError::NoJson { expected: "a JSON object" }));
        assert!(FormatCheck::of(&AnswerFormat::Text).unwrap().is_none());
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_refused() {
        for schema in [
            "",
            "7",
            r#"{"type": "strange"}"#,
            r#"{"$ref": "http://localhost:9/schema.json"}"#,
            r#"{"$ref": "file:///etc/passwd"}"#,
            r##"{"$ref": "#/$defs/none"}"##,
            r##"{"$ref": "#"}"##,
            r##"{"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}"##,
            r#"{"pattern": "("}"#,
        ] {
            assert!(check(schema).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_schema_of_nested_values_may_refer_to_itself() {
        let list =
            r##"{"type":"object","properties":{"next":{"anyOf":[{"type":"null"},{"$ref":"#"}]}},"required":["next"]}"##;
        let check = check(list).unwrap();
        assert!(check.json_of(r#"{"next":{"next":null}}"#, "").is_ok());
        assert!(check.json_of(r#"{"next":{"next":1}}"#, "").is_err());
    }
}
