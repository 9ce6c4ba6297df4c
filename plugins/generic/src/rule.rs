//! Paths in JSON and their conditions, for `text_path` and similar options.

use agentbay_plugin_sdk::{Failure, Value, invalid_option, json};

/// The form of a rule, for error messages.
const RULE: &str = "a path such as `event.text`, a table such as \
     { path = \"event.text\", when = { \"event.type\" = \"text\" } }, or a list of these";

/// The form of a condition.
const CONDITION: &str =
    "a table such as { \"event.type\" = \"iteration_start\" }, or a list of these of which one has to hold";

/// Field names from outside to inside; a number is an index of a list.
#[derive(Clone, Debug)]
struct Path(Vec<String>);

impl Path {
    fn read(path: &str) -> Option<Self> {
        let names: Vec<String> = path.split('.').map(str::to_owned).collect();
        names.iter().all(|name| !name.is_empty()).then_some(Self(names))
    }

    fn of<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(value, |inner, name| match inner {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => inner.get(name),
        })
    }
}

/// Required values at paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition(Vec<(Path, Vec<Value>)>);

impl Condition {
    /// Reads the option `name`, which is a condition or a list of them.
    pub(crate) fn list(name: &str, option: &str) -> Result<Vec<Self>, Failure> {
        let conditions = match option.parse::<Value>() {
            Ok(Value::Array(items)) => items.iter().map(Self::read).collect(),
            Ok(table) => Self::read(&table).map(|condition| vec![condition]),
            Err(_) => None,
        };
        conditions.filter(|list: &Vec<Self>| !list.is_empty()).ok_or_else(|| wrong(name, option, CONDITION))
    }

    fn read(table: &Value) -> Option<Self> {
        let fields = table.as_object().filter(|fields| !fields.is_empty())?;
        let field = |(path, wanted): (&String, &Value)| Some((Path::read(path)?, wanted_values(wanted)?));
        fields.iter().map(field).collect::<Option<_>>().map(Self)
    }

    /// Whether each path has a required value.
    pub(crate) fn holds(&self, value: &Value) -> bool {
        self.0.iter().all(|(path, wanted)| path.of(value).is_some_and(|found| wanted.iter().any(|it| same(it, found))))
    }
}

/// A required value, or a list of alternatives.
fn wanted_values(wanted: &Value) -> Option<Vec<Value>> {
    let values = match wanted {
        Value::Array(items) => items.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![wanted.clone()],
    };
    let is_plain = |value: &Value| value.is_string() || value.is_boolean() || value.is_number();
    (!values.is_empty() && values.iter().all(is_plain)).then_some(values)
}

/// Compares values; 1 and 1.0 are equal.
fn same(one: &Value, other: &Value) -> bool {
    one == other || (one.is_number() && one.as_f64() == other.as_f64())
}

/// A path with a condition.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    path: Path,
    when: Condition,
}

impl Rule {
    /// Reads the option `name`, which is a rule or a list of them.
    pub(crate) fn list(name: &str, option: &str) -> Result<Vec<Self>, Failure> {
        let rules = match option.parse::<Value>() {
            Ok(Value::Array(items)) => items.iter().map(Self::read).collect(),
            Ok(table @ Value::Object(_)) => Self::read(&table).map(|rule| vec![rule]),
            Ok(_) | Err(_) => Path::read(option).map(|path| vec![Self { path, when: Condition::default() }]),
        };
        rules.filter(|list: &Vec<Self>| !list.is_empty()).ok_or_else(|| wrong(name, option, RULE))
    }

    fn read(option: &Value) -> Option<Self> {
        if let Some(path) = option.as_str() {
            return Some(Self { path: Path::read(path)?, when: Condition::default() });
        }
        let fields = option.as_object()?;
        if fields.keys().any(|name| !matches!(name.as_str(), "path" | "when")) {
            return None;
        }
        let path = Path::read(json::text(option, &["path"])?)?;
        let when = fields.get("when").map_or(Some(Condition::default()), Condition::read)?;
        Some(Self { path, when })
    }

    /// The value at the path, if the condition holds.
    pub(crate) fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.path.of(value).filter(|_| self.when.holds(value))
    }
}

/// The value of the first rule that has one.
pub(crate) fn first<'a>(rules: &[Rule], value: &'a Value) -> Option<&'a Value> {
    rules.iter().find_map(|rule| rule.find(value)).filter(|found| !found.is_null())
}

fn wrong(name: &str, option: &str, allowed: &str) -> Failure {
    invalid_option(format!("option `{name}` is `{option}`: allowed is {allowed}"))
}
