//! The text of `[plugins.NAME]`: inside that of a proxy.toml, whose comments and order stay as they are, or by itself.
//! No file is written here.

use std::collections::BTreeSet;
use std::fmt;

use agentbay_domain::{PluginId, Sha256Sum, Wasi};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

/// The keys that are written for a plugin. Other keys of its table stay. Displayed as the table of a proxy.toml without anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// The plugin.
    pub id: PluginId,
    /// The programs that it may start.
    pub programs: BTreeSet<String>,
    /// The variables that its plans may set or remove.
    pub env: BTreeSet<String>,
    /// The files of the CLI's home that it may declare as shared.
    pub home_files: BTreeSet<String>,
    /// The hash that its component must have.
    pub sha256: Sha256Sum,
    /// How imports of WASI are handled.
    pub wasi: Wasi,
    /// Its limits, as `limits` of its table, such as `{ memory = "256 MiB" }`; `None` keeps the existing ones.
    pub limits: Option<InlineLimits>,
}

impl fmt::Display for NewGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut plugins, mut own) = (implicit(), Table::new());
        fill(&mut own, self);
        plugins.insert(self.id.as_str(), Item::Table(own));
        let mut document = DocumentMut::new();
        document.insert("plugins", Item::Table(plugins));
        document.fmt(f)
    }
}

/// Limits as an inline table.
#[derive(Debug, Clone)]
pub struct InlineLimits(InlineTable);

impl PartialEq for InlineLimits {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for InlineLimits {}

impl fmt::Display for InlineLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for InlineLimits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<Value>() {
            Ok(Value::InlineTable(table)) => Ok(Self(table)),
            Ok(_) | Err(_) => Err("write it as in proxy.toml: { memory = \"256 MiB\", call_cpu = \"1s\" }".to_owned()),
        }
    }
}

/// The settings of a new file: a model of the plugin, and `echo`.
fn beginning(grant: &NewGrant) -> String {
    let id = &grant.id;
    let program = if grant.programs.is_empty() { "# The CLI that it drives.\n#program = \"\"\n" } else { "" };
    format!(
        "# Settings of AgentBay. Since this file exists, only its models are offered.\n\
         [defaults]\n\
         # The repository that agents work in.\n\
         repo = \".\"\n\n\
         [models.{id}]\ndriver = \"{id}\"\n{program}\n\
         [models.echo]\ndriver = \"echo\"\n"
    )
}

/// A text that cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditFault {
    /// It is not valid TOML. It is not shown, since it may contain an API key.
    Toml {
        /// The line, the first being 1.
        line: usize,
        /// The parser's message.
        message: String,
    },
    /// `plugins` or the plugin's key exists and is not a table.
    NoTable,
}

/// Adds a grant to the text of settings; without a text, creates one.
///
/// # Errors
/// See [`EditFault`].
pub fn with_grant(text: Option<&str>, grant: &NewGrant) -> Result<String, EditFault> {
    match text {
        Some(text) => edited(text, grant),
        None => edited(&beginning(grant), grant),
    }
}

fn edited(text: &str, grant: &NewGrant) -> Result<String, EditFault> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let before = &text.as_bytes()[..error.span().map_or(0, |span| span.start).min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        EditFault::Toml { line, message: error.message().to_owned() }
    })?;
    fill(table(&mut document, grant.id.as_str()).ok_or(EditFault::NoTable)?, grant);
    Ok(document.to_string())
}

fn fill(table: &mut dyn TableLike, grant: &NewGrant) {
    set(table, "programs", list(&grant.programs));
    set(table, "env", list(&grant.env));
    set(table, "home_files", list(&grant.home_files));
    set(table, "sha256", grant.sha256.to_string().into());
    match grant.wasi {
        Wasi::Trap => set(table, "wasi", "trap".into()),
        Wasi::Refuse => drop(table.remove("wasi")),
    }
    if let Some(InlineLimits(limits)) = &grant.limits {
        set(table, "limits", Value::InlineTable(limits.clone()));
    }
}

/// Returns `[plugins.NAME]`, and creates it if it is missing.
fn table<'a>(document: &'a mut DocumentMut, name: &str) -> Option<&'a mut dyn TableLike> {
    let plugins = document.entry("plugins").or_insert(Item::Table(implicit()));
    let is_inline = plugins.is_inline_table();
    let new = if is_inline { value(InlineTable::new()) } else { Item::Table(Table::new()) };
    plugins.as_table_like_mut()?.entry(name).or_insert(new).as_table_like_mut()
}

/// A table without a header line of its own.
fn implicit() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

/// Sets a key. White space and comments around a replaced value stay.
fn set(table: &mut dyn TableLike, key: &str, mut new: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => drop(table.insert(key, value(new))),
    }
}

fn list(words: &BTreeSet<String>) -> Value {
    Value::Array(words.iter().map(String::as_str).collect::<Array>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    fn grant() -> NewGrant {
        NewGrant {
            id: PluginId::try_from("my-cli".to_owned()).unwrap(),
            programs: words(&["my-cli", "a \"b\""]),
            env: words(&[]),
            home_files: words(&["auth.json"]),
            sha256: Sha256Sum::of(b""),
            wasi: Wasi::Refuse,
            limits: None,
        }
    }

    const WRITTEN: &str = "programs = ['a \"b\"', \"my-cli\"]\nenv = []\nhome_files = [\"auth.json\"]\n\
        sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\n";

    #[test]
    fn a_missing_table_is_added_at_the_end() {
        let text = "# Mine.\n[models.m] # the one\ndriver = \"echo\"   # repeats the prompt\nrepo = '.'\n";
        let expected = format!("{text}\n[plugins.my-cli]\n{WRITTEN}");
        assert_eq!(edited(text, &grant()).unwrap(), expected);
    }

    #[test]
    fn an_existing_table_keeps_its_comments_and_other_keys() {
        let text = "[plugins]\ndir = \"p\" # here\n\n# Reviewed by hand.\n[plugins.my-cli]\nprograms = [] # none\n\
                    wasi = \"trap\"\nlimits = { memory = 5 }\n\n[models]\n";
        let expected = "[plugins]\ndir = \"p\" # here\n\n# Reviewed by hand.\n[plugins.my-cli]\n\
                        programs = ['a \"b\"', \"my-cli\"] # none\nlimits = { memory = 5 }\nenv = []\n\
                        home_files = [\"auth.json\"]\n\
                        sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\n\n[models]\n";
        assert_eq!(edited(text, &grant()).unwrap(), expected);
    }

    #[test]
    fn limits_and_the_handling_of_wasi_are_written_if_they_are_set() {
        let limits = Some("{ memory = \"256 MiB\" }".parse().unwrap());
        let grant = NewGrant { wasi: Wasi::Trap, limits, ..grant() };
        let expected = format!("[plugins.my-cli]\n{WRITTEN}wasi = \"trap\"\nlimits = {{ memory = \"256 MiB\" }}\n");
        assert_eq!((edited("", &grant).unwrap(), grant.to_string()), (expected.clone(), expected));
    }

    #[test]
    fn an_inline_table_stays_inline_and_any_other_value_is_a_fault() {
        let inline = edited("plugins = { dir = \"p\" }\n", &grant()).unwrap();
        assert!(inline.starts_with("plugins = { dir = \"p\" , my-cli = { programs = ["), "{inline}");
        assert!(matches!(edited("[plugins]\nmy-cli = 1\n", &grant()), Err(EditFault::NoTable)));
        assert!(matches!(edited("plugins = 1\n", &grant()), Err(EditFault::NoTable)));
    }

    #[test]
    fn invalid_toml_is_reported_by_its_line_and_not_shown() {
        let Err(EditFault::Toml { line, message }) = edited("a = 1\nsecret-key 5\n", &grant()) else {
            panic!("no fault")
        };
        assert_eq!((line, message.contains("secret")), (2, false), "{message}");
    }
}
