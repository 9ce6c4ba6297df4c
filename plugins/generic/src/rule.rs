//! Owns paths into JSON, and the conditions under which they count: what `text_path` and its like hold.

use agentbay_plugin_sdk::{Failure, Value, json, wrong_option};

/// How a rule is written, for the message of one that is written wrongly.
const RULE: &str = "a path such as `event.text`, a table such as \
     { path = \"event.text\", when = { \"event.type\" = \"text\" } }, or a list of these";

/// How a condition is written.
const CONDITION: &str =
    "a table such as { \"event.type\" = \"iteration_start\" }, or a list of these of which one has to hold";

/// Names of fields from the outside to the inside; a number is a place in a list.
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

/// Values that must stand at paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition(Vec<(Path, Vec<Value>)>);

impl Condition {
    /// Reads the option `name`, which is a condition or a list of them.
    pub(crate) fn list(name: &str, told: &str) -> Result<Vec<Self>, Failure> {
        let conditions = match told.parse::<Value>() {
            Ok(Value::Array(items)) => items.iter().map(Self::read).collect(),
            Ok(table) => Self::read(&table).map(|condition| vec![condition]),
            Err(_) => None,
        };
        conditions.filter(|list: &Vec<Self>| !list.is_empty()).ok_or_else(|| wrong(name, told, CONDITION))
    }

    fn read(table: &Value) -> Option<Self> {
        let fields = table.as_object().filter(|fields| !fields.is_empty())?;
        let field = |(path, wanted): (&String, &Value)| Some((Path::read(path)?, wanted_values(wanted)?));
        fields.iter().map(field).collect::<Option<_>>().map(Self)
    }

    /// Whether each of the paths leads to a value that is wanted there.
    pub(crate) fn holds(&self, value: &Value) -> bool {
        self.0.iter().all(|(path, wanted)| path.of(value).is_some_and(|found| wanted.iter().any(|it| same(it, found))))
    }
}

/// A value that a field may have, or a list of them.
fn wanted_values(wanted: &Value) -> Option<Vec<Value>> {
    let values = match wanted {
        Value::Array(items) => items.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![wanted.clone()],
    };
    let is_plain = |value: &Value| value.is_string() || value.is_boolean() || value.is_number();
    (!values.is_empty() && values.iter().all(is_plain)).then_some(values)
}

/// 1 and 1.0 are the same number.
fn same(one: &Value, other: &Value) -> bool {
    one == other || (one.is_number() && one.as_f64() == other.as_f64())
}

/// A path that counts where its condition holds.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    path: Path,
    when: Condition,
}

impl Rule {
    /// Reads the option `name`, which is a rule or a list of them.
    pub(crate) fn list(name: &str, told: &str) -> Result<Vec<Self>, Failure> {
        let rules = match told.parse::<Value>() {
            Ok(Value::Array(items)) => items.iter().map(Self::read).collect(),
            Ok(table @ Value::Object(_)) => Self::read(&table).map(|rule| vec![rule]),
            Ok(_) | Err(_) => Path::read(told).map(|path| vec![Self { path, when: Condition::default() }]),
        };
        rules.filter(|list: &Vec<Self>| !list.is_empty()).ok_or_else(|| wrong(name, told, RULE))
    }

    fn read(told: &Value) -> Option<Self> {
        if let Some(path) = told.as_str() {
            return Some(Self { path: Path::read(path)?, when: Condition::default() });
        }
        let fields = told.as_object()?;
        if fields.keys().any(|name| !matches!(name.as_str(), "path" | "when")) {
            return None;
        }
        let path = Path::read(json::text(told, &["path"])?)?;
        let when = fields.get("when").map_or(Some(Condition::default()), Condition::read)?;
        Some(Self { path, when })
    }

    /// What the path leads to, if the condition holds.
    pub(crate) fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.path.of(value).filter(|_| self.when.holds(value))
    }
}

/// What the first of the rules that leads anywhere leads to.
pub(crate) fn first<'a>(rules: &[Rule], value: &'a Value) -> Option<&'a Value> {
    rules.iter().find_map(|rule| rule.find(value)).filter(|found| !found.is_null())
}

fn wrong(name: &str, told: &str, allowed: &str) -> Failure {
    wrong_option(format!("option `{name}` is `{told}`: allowed is {allowed}"))
}
