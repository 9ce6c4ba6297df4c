//! A JSON value as a client wrote it, parsed only as deep as requested: parts that are not read may be nested or long at will,
//! and take no memory.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A text that is one valid JSON value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Json<'a>(Cow<'a, str>);

impl<'a> Json<'a> {
    /// Checks that a text is one JSON value and nothing else.
    pub(crate) fn new(text: Cow<'a, str>) -> Result<Self, (serde_json::Error, Cow<'a, str>)> {
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(_) => Ok(Self(text)),
            Err(error) => Err((error, text)),
        }
    }

    /// The value.
    pub(crate) fn value(&self) -> Raw<'_> {
        Raw(self.0.trim())
    }
}

/// A valid JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    Text,
    List,
    Object,
}

impl<'a> Raw<'a> {
    /// The value null.
    pub(crate) const NULL: Self = Self("null");

    pub(crate) fn kind(self) -> Kind {
        match self.0.bytes().next() {
            Some(b'"') => Kind::Text,
            Some(b'[') => Kind::List,
            Some(b'{') => Kind::Object,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    /// The value as it was written.
    pub(crate) fn json(self) -> &'a str {
        self.0
    }

    /// The text of a string.
    pub(crate) fn text(self) -> Option<String> {
        serde_json::from_str(self.0).ok()
    }

    /// The values of these keys of an object, which may be in snake_case or camelCase; the last one of duplicate keys. Null
    /// counts as missing.
    pub(crate) fn fields<const N: usize>(self, names: [&str; N]) -> [Option<Self>; N] {
        let mut reader = serde_json::Deserializer::from_str(self.0);
        reader.deserialize_map(Fields(names)).unwrap_or([None; N])
    }

    /// The value of one key of an object.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        let [found] = self.fields([name]);
        found
    }

    /// The keys and values of an object, in order.
    pub(crate) fn entries(self) -> Option<Vec<(String, Self)>> {
        let mut reader = serde_json::Deserializer::from_str(self.0);
        reader.deserialize_map(Entries).ok()
    }

    /// The items of a list.
    pub(crate) fn items(self) -> Option<Vec<Self>> {
        let mut reader = serde_json::Deserializer::from_str(self.0);
        reader.deserialize_seq(Items).ok()
    }

    /// A boolean, in any spelling that clients use.
    pub(crate) fn flag(self) -> Option<bool> {
        match self.word()?.as_str() {
            "true" | "1" | "1.0" | "yes" | "on" => Some(true),
            "false" | "0" | "0.0" | "no" | "off" | "" => Some(false),
            _ => None,
        }
    }

    /// A number, in any spelling that clients use.
    pub(crate) fn number(self) -> Option<f64> {
        self.word()?.parse().ok()
    }

    /// A scalar as one word.
    fn word(self) -> Option<String> {
        let word: Cow<'_, str> = match self.kind() {
            Kind::Text => self.text()?.into(),
            Kind::Bool | Kind::Number => self.0.into(),
            Kind::Null | Kind::List | Kind::Object => return None,
        };
        Some(word.trim().to_ascii_lowercase())
    }
}

impl<'a> From<&'a RawValue> for Raw<'a> {
    fn from(value: &'a RawValue) -> Self {
        Self(value.get().trim())
    }
}

struct Fields<'n, const N: usize>([&'n str; N]);

impl<'de, const N: usize> Visitor<'de> for Fields<'_, N> {
    type Value = [Option<Raw<'de>>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(at) = map.next_key_seed(Position(&self.0))? {
            let value = Raw::from(map.next_value::<&RawValue>()?);
            if let Some(entry) = at.and_then(|at| found.get_mut(at)) {
                *entry = Some(value).filter(|value| value.kind() != Kind::Null);
            }
        }
        Ok(found)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, Raw<'de>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            entries.push((key, Raw::from(value)));
        }
        Ok(entries)
    }
}

/// The position of a key among some names.
struct Position<'n>(&'n [&'n str]);

impl<'de> DeserializeSeed<'de> for Position<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Position<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key || are_one_name(name, key)))
    }
}

/// Returns whether two names differ in nothing but snake_case and camelCase. Clients mix the two at any depth.
pub(crate) fn are_one_name(name: &str, key: &str) -> bool {
    letters(name).eq(letters(key))
}

fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
}

struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Vec<Raw<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<&RawValue>()? {
            items.push(Raw::from(item));
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Raw<'_> {
        Raw::from(serde_json::from_str::<&RawValue>(json).unwrap())
    }

    #[test]
    fn only_the_requested_keys_of_an_object_are_parsed() {
        let deep = format!("{}1e999{}", "[".repeat(5_000), "]".repeat(5_000));
        let json = format!(r#"{{"a": 1, "deep": {deep}, "b\u0063": "x", "a": [2, null], "none": null}}"#);
        let [a, none, bc, other] = raw(&json).fields(["a", "none", "bc", "other"]);
        assert_eq!((a, none, bc, other), (Some(raw("[2, null]")), None, Some(raw("\"x\"")), None));
        assert_eq!(a.and_then(Raw::items), Some(vec![raw("2"), raw("null")]));
        assert_eq!((raw("[1]").fields(["a"]), raw("{}").items()), ([None], None));
    }

    #[test]
    fn a_key_may_be_in_snake_case_or_camel_case() {
        for key in ["mime_type", "mimeType", "MimeType", "mimetype"] {
            let json = format!(r#"{{"type": 1, "mime": 2, "{key}": 3}}"#);
            assert_eq!(raw(&json).fields(["mimeType"]), [Some(raw("3"))], "{key}");
            assert_eq!(raw(&json).fields(["mime_type", "type"]), [Some(raw("3")), Some(raw("1"))], "{key}");
        }
        assert_eq!(raw(r#"{"": 1, "_": 2}"#).field("id"), None);
    }

    #[test]
    fn flags_and_numbers_are_read_in_the_spellings_of_clients() {
        let flags = ["true", "\"True\"", "1", "\" yes \"", "false", "\"off\"", "0", "\"\"", "2", "{}"]
            .map(|json| raw(json).flag());
        let [yes, no] = [Some(true), Some(false)];
        assert_eq!(flags, [yes, yes, yes, yes, no, no, no, no, None, None]);
        let numbers = ["1", "1.0", "\"1\"", "1e0", "\"one\"", "[1]"].map(|json| raw(json).number());
        assert_eq!(numbers, [Some(1.0), Some(1.0), Some(1.0), Some(1.0), None, None]);
    }
}
