//! A settings file as a tree of values, each with its line. TOML and JSON become the same tree; the keys are not interpreted
//! here.

use std::collections::BTreeMap;

use jsonc_parser::ast::Value as Json;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml::de::{DeTable, DeValue};

/// A value and its place in the file.
pub(super) struct Node {
    /// The line of its key or, in a list, of the value.
    pub(super) line: usize,
    /// The value.
    pub(super) value: Value,
}

/// A value of TOML or JSON.
pub(super) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// Values by key.
pub(super) type Table = BTreeMap<String, Node>;

/// A file that cannot be parsed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// The line.
    pub(super) line: usize,
    /// The parser's message.
    pub(super) message: String,
}

impl Value {
    /// The name of the type.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Text(_) => "a string",
            Self::Date(_) => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// The value in JSON, if JSON can represent it: it has no infinity.
    pub(super) fn to_json(&self) -> Option<serde_json::Value> {
        Some(match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Integer(value) => (*value).into(),
            Self::Float(value) => serde_json::Number::from_f64(*value)?.into(),
            Self::Text(value) | Self::Date(value) => value.as_str().into(),
            Self::List(nodes) => nodes.iter().map(|node| node.value.to_json()).collect::<Option<Vec<_>>>()?.into(),
            Self::Table(table) => {
                let members = table.iter().map(|(key, node)| Some((key.clone(), node.value.to_json()?)));
                serde_json::Value::Object(members.collect::<Option<_>>()?)
            }
        })
    }
}

/// Returns the value at a path of keys.
pub(super) fn find<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Node> {
    let (first, rest) = path.split_first()?;
    let node = table.get(*first)?;
    match (rest, &node.value) {
        ([], _) => Some(node),
        (rest, Value::Table(table)) => find(table, rest),
        _ => None,
    }
}

/// Reads a TOML document.
pub(super) fn from_toml(text: &str) -> Result<Table, SyntaxError> {
    let lines = Lines::of(text);
    let document = DeTable::parse(text).map_err(|error| SyntaxError {
        line: lines.at(error.span().map_or(0, |span| span.start)),
        // Not its Display, which prints the line: it may contain an API key.
        message: error.message().to_owned(),
    })?;
    toml_table(document.get_ref(), &lines)
}

fn toml_table(table: &DeTable<'_>, lines: &Lines) -> Result<Table, SyntaxError> {
    let nodes = table.iter().map(|(key, value)| {
        let line = lines.at(key.span().start);
        let value = toml_value(value.get_ref(), lines, line)?;
        Ok((key.get_ref().clone().into_owned(), Node { line, value }))
    });
    nodes.collect()
}

fn toml_value(value: &DeValue<'_>, lines: &Lines, line: usize) -> Result<Value, SyntaxError> {
    let too_large = || SyntaxError { line, message: "the number is too large".to_owned() };
    Ok(match value {
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        DeValue::Integer(number) => {
            Value::Integer(i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| too_large())?)
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().map_err(|_| too_large())?),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => {
            let nodes = items.iter().map(|item| {
                let line = lines.at(item.span().start);
                Ok(Node { line, value: toml_value(item.get_ref(), lines, line)? })
            });
            Value::List(nodes.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Table(toml_table(table, lines)?),
    })
}

/// Reads a JSON object.
pub(super) fn from_json(text: &str) -> Result<Table, SyntaxError> {
    // First a parser that refuses what is not JSON: the parser with positions accepts, for example, line feeds in strings.
    serde_json::from_str::<serde_json::Value>(text).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        SyntaxError { line: error.line(), message: error.to_string().replace(&place, "") }
    })?;
    let document = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
        .map_err(|error| SyntaxError { line: error.line_display(), message: error.kind().to_string() })?;
    let root = document.value.map(|json| json_node(json, &Lines::of(text))).transpose()?;
    match root.map(|root| root.value) {
        Some(Value::Table(table)) => Ok(table),
        other => {
            let kind = other.map_or("nothing", |value| value.kind());
            Err(SyntaxError { line: 1, message: format!("expected an object, found {kind}") })
        }
    }
}

fn json_node(json: Json<'_>, lines: &Lines) -> Result<Node, SyntaxError> {
    let line = lines.at(json.start());
    let value = match json {
        Json::NullKeyword(_) => Value::Null,
        Json::BooleanLit(json) => Value::Bool(json.value),
        Json::StringLit(json) => Value::Text(json.value.into_owned()),
        Json::NumberLit(json) => match json.value.parse() {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Float(json.value.parse().unwrap_or(f64::INFINITY)),
        },
        Json::Array(json) => {
            Value::List(json.elements.into_iter().map(|item| json_node(item, lines)).collect::<Result<_, _>>()?)
        }
        Json::Object(json) => {
            let mut table = Table::new();
            for member in json.properties {
                let key = member.name.into_string();
                let node = json_node(member.value, lines)?;
                let line = node.line;
                if table.insert(key.clone(), node).is_some() {
                    return Err(SyntaxError { line, message: format!("duplicate key {key:?}") });
                }
            }
            Value::Table(table)
        }
    };
    Ok(Node { line, value })
}

/// The offsets of the lines of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    /// The line of a byte; the first line is 1.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of all nodes, by their paths.
    fn lines(table: &Table) -> Vec<(String, usize)> {
        fn walk(path: &str, node: &Node, found: &mut Vec<(String, usize)>) {
            found.push((path.to_owned(), node.line));
            match &node.value {
                Value::Table(table) => table.iter().for_each(|(key, node)| walk(&format!("{path}.{key}"), node, found)),
                Value::List(nodes) => nodes.iter().for_each(|node| walk(&format!("{path}[]"), node, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        table.iter().for_each(|(key, node)| walk(key, node, &mut found));
        found
    }

    fn owned(lines: &[(&str, usize)]) -> Vec<(String, usize)> {
        lines.iter().map(|&(path, line)| (path.to_owned(), line)).collect()
    }

    #[test]
    fn every_value_of_a_toml_file_has_its_line() {
        let tree = from_toml("# x\na = 1\n\n[t]\nb = [\n  1,\n  2,\n]\n[u.v]\nc.d = \"\"\"\n\n\"\"\"\n").unwrap();
        let expected = [("a", 2), ("t", 4), ("t.b", 5), ("t.b[]", 6), ("t.b[]", 7)];
        let nested = [("u", 9), ("u.v", 9), ("u.v.c", 10), ("u.v.c.d", 10)];
        assert_eq!(lines(&tree), owned(&[expected.as_slice(), nested.as_slice()].concat()));
    }

    #[test]
    fn every_value_of_a_json_file_has_its_line() {
        let tree = from_json("\n{\n  \"a\": {\n    \"b\": [1,\n 2.5],\n\"c\": true },\n \"d\": null\n}\n").unwrap();
        let expected = [("a", 3), ("a.b", 4), ("a.b[]", 4), ("a.b[]", 5), ("a.c", 6), ("d", 7)];
        assert_eq!(lines(&tree), owned(&expected));
    }

    #[test]
    fn a_syntax_error_has_its_line_and_shows_nothing_of_the_text() {
        let error = |line, message: &str| Some(SyntaxError { line, message: message.to_owned() });
        assert_eq!(from_toml("a = 1\nkey = sk-secret\n").err().map(|error| error.line), Some(2));
        assert!(!from_toml("a = \"sk-secret\n").err().unwrap().message.contains("secret"));
        assert_eq!(from_toml("a = 1\na = 2\n").err(), error(2, "duplicate key"));
        assert_eq!(from_toml("\na = 99999999999999999999\n").err(), error(2, "the number is too large"));
        assert_eq!(from_json("{\n\"a\": 1,\n}").err(), error(3, "trailing comma"));
        assert_eq!(from_json("{\"a\": 1,\n\"a\": 2}").err(), error(2, "duplicate key \"a\""));
        assert_eq!(from_json("[]").err(), error(1, "expected an object, found a list"));
    }

    #[test]
    fn a_json_file_that_only_a_lenient_parser_accepts_is_a_fault() {
        let lenient = [
            "{\"a\": 1 /* x */}",
            "// x\n{}",
            "{\"a\": 1,}",
            "{\"a\": [1,]}",
            "{\"a\": 1 \"b\": 2}",
            "{a: 1}",
            "{'a': 1}",
            "{\"a\": \"x\ny\"}",
            "{\"a\": \"\\x41\"}",
            "{\"a\": \"\\ud800\"}",
            "{\"a\":\u{a0}1}",
            "{\"a\":\u{b}1}",
            "{\"a\": 0xff}",
            "{\"a\": +1}",
            "{\"a\": .5}",
            "{\"a\": 01}",
            "{\"a\": NaN}",
            "{\"a\": 1e999}",
            "{} {}",
            "",
        ];
        let accepted: Vec<_> = lenient.into_iter().filter(|text| from_json(text).is_ok()).collect();
        assert_eq!(accepted, [""; 0]);
    }

    #[test]
    fn a_value_of_a_json_file_keeps_its_type_and_its_characters() {
        let tree =
            from_json(r#"{"a": [null, true, -3, 9223372036854775808, 1e2, "\u00e4\ud83d\ude00\/\n\"\\"]}"#).unwrap();
        let expected = serde_json::json!([null, true, -3, 9_223_372_036_854_775_808.0, 100.0, "ä😀/\n\"\\"]);
        assert_eq!(tree["a"].value.to_json(), Some(expected));
    }

    #[test]
    fn a_deeply_nested_json_file_is_a_fault_and_does_not_crash() {
        assert!(from_json(&format!("{{\"a\":{}", "[".repeat(100_000))).is_err());
    }
}
