//! Writing `[plugins.NAME]`: into proxy.toml, where its comments, its order and all else in it stay as they are, or as a
//! text of its own.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::source::Source;
use crate::domain::{PluginId, Sha256Sum, Wasi};
use crate::files::Staged;

/// So often an edit is made again because another program has changed the file.
const EDITS: usize = 10;

/// What is written of a plugin. Other keys of its table stay. Shown as the table that it is in a proxy.toml with nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// The plugin.
    pub id: PluginId,
    /// The programs that it may start.
    pub programs: BTreeSet<String>,
    /// The variables that its plans may set or take away.
    pub env: BTreeSet<String>,
    /// The files of the CLI's home that it may declare to be shared.
    pub home: BTreeSet<String>,
    /// The hash that its component must have.
    pub sha256: Sha256Sum,
    /// What happens to imports of WASI.
    pub wasi: Wasi,
    /// Its limits, as `limits` of its table, such as `{ memory = "256 MiB" }`; none leaves those that are there.
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

/// Limits as they are written.
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

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The file is no TOML. Its text is not shown: a key may stand in it.
    #[error("{path}:{line}: {message}", path = .path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// The line, the first being 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The file is changed again and again while it is edited.
    #[error("{0} is being changed by another program: try again")]
    Contended(PathBuf),
    /// What is there cannot hold the table.
    #[error("{path}: `plugins.{id}` is there and is no table")]
    NoTable {
        /// The file.
        path: PathBuf,
        /// The plugin.
        id: PluginId,
    },
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// Writes what a plugin may ask for into proxy.toml, in one step, and says which file that is.
///
/// # Errors
/// See [`EditError`]. Nothing is written then.
pub fn write_grant(source: &Source, grant: &NewGrant) -> Result<PathBuf, EditError> {
    let named = source.settings().path().to_owned();
    let failed = |error: io::Error| EditError::File { path: named.clone(), error };
    // What a link leads to is written, and the link stays.
    let path = match fs::canonicalize(&named) {
        Ok(path) => path,
        // Only the file that nobody named may be missing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = edited(&first(grant), grant).map_err(|_| failed(io::ErrorKind::InvalidData.into()))?;
            Staged::new(&named, text.as_bytes()).and_then(Staged::commit).map_err(failed)?;
            return Ok(named);
        }
        Err(error) => return Err(failed(error)),
    };
    // Two of this program edit one after the other. Not every file system has locks.
    let _turn = path.parent().and_then(|folder| File::open(folder).and_then(|lock| lock.lock().map(|()| lock)).ok());
    for _ in 0..EDITS {
        let text = fs::read_to_string(&path).map_err(failed)?;
        let edited = edited(&text, grant).map_err(|error| match error {
            Wrong::Toml { line, message } => EditError::Toml { path: named.clone(), line, message },
            Wrong::NoTable => EditError::NoTable { path: named.clone(), id: grant.id.clone() },
        })?;
        let staged = Staged::new(&path, edited.as_bytes()).map_err(failed)?;
        // What another editor has written meanwhile is not lost: the edit is made in that.
        if fs::read_to_string(&path).map_err(failed)? == text {
            staged.commit().map_err(failed)?;
            return Ok(named);
        }
    }
    Err(EditError::Contended(named))
}

/// The settings that there are where there were none: a model of the plugin, and `echo`.
fn first(grant: &NewGrant) -> String {
    let id = &grant.id;
    let program = if grant.programs.is_empty() { "# The CLI that it drives.\n#program = \"\"\n" } else { "" };
    format!(
        "# Settings of AgentBay. Now that there is this file, the models are those that stand in it.\n\
         [defaults]\n\
         # The repository that agents work in.\n\
         repo = \".\"\n\n\
         [models.{id}]\ndriver = \"{id}\"\n{program}\n\
         [models.echo]\ndriver = \"echo\"\n"
    )
}

/// Why a text cannot be edited.
#[derive(Debug)]
enum Wrong {
    Toml { line: usize, message: String },
    NoTable,
}

fn edited(text: &str, grant: &NewGrant) -> Result<String, Wrong> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let before = &text.as_bytes()[..error.span().map_or(0, |span| span.start).min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Wrong::Toml { line, message: error.message().to_owned() }
    })?;
    fill(table(&mut document, grant.id.as_str()).ok_or(Wrong::NoTable)?, grant);
    Ok(document.to_string())
}

fn fill(table: &mut dyn TableLike, grant: &NewGrant) {
    set(table, "programs", list(&grant.programs));
    set(table, "env", list(&grant.env));
    set(table, "home", list(&grant.home));
    set(table, "sha256", grant.sha256.to_string().into());
    match grant.wasi {
        Wasi::Trap => set(table, "wasi", "trap".into()),
        Wasi::Refuse => drop(table.remove("wasi")),
    }
    if let Some(InlineLimits(limits)) = &grant.limits {
        set(table, "limits", Value::InlineTable(limits.clone()));
    }
}

/// `[plugins.NAME]`, which is made if it is not there.
fn table<'a>(document: &'a mut DocumentMut, name: &str) -> Option<&'a mut dyn TableLike> {
    let plugins = document.entry("plugins").or_insert(Item::Table(implicit()));
    let is_inline = plugins.is_inline_table();
    let new = if is_inline { value(InlineTable::new()) } else { Item::Table(Table::new()) };
    plugins.as_table_like_mut()?.entry(name).or_insert(new).as_table_like_mut()
}

/// A table without a line of its own.
fn implicit() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

/// What stands around a value that is replaced stays.
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
            home: words(&["auth.json"]),
            sha256: Sha256Sum::of(b""),
            wasi: Wasi::Refuse,
            limits: None,
        }
    }

    const WRITTEN: &str = "programs = ['a \"b\"', \"my-cli\"]\nenv = []\nhome = [\"auth.json\"]\n\
        sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\n";

    #[test]
    fn a_table_that_is_not_there_is_put_at_the_end() {
        let text = "# Mine.\n[models.m] # the one\ndriver = \"echo\"   # says it back\nrepo = '.'\n";
        let expected = format!("{text}\n[plugins.my-cli]\n{WRITTEN}");
        assert_eq!(edited(text, &grant()).unwrap(), expected);
    }

    #[test]
    fn a_table_that_is_there_keeps_its_comments_and_other_keys() {
        let text = "[plugins]\ndir = \"p\" # here\n\n# Looked at it myself.\n[plugins.my-cli]\nprograms = [] # none\n\
                    wasi = \"trap\"\nlimits = { memory = 5 }\n\n[models]\n";
        let expected = "[plugins]\ndir = \"p\" # here\n\n# Looked at it myself.\n[plugins.my-cli]\n\
                        programs = ['a \"b\"', \"my-cli\"] # none\nlimits = { memory = 5 }\nenv = []\n\
                        home = [\"auth.json\"]\n\
                        sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\n\n[models]\n";
        assert_eq!(edited(text, &grant()).unwrap(), expected);
    }

    #[test]
    fn limits_and_what_happens_to_wasi_are_written_if_they_are_said() {
        let limits = Some("{ memory = \"256 MiB\" }".parse().unwrap());
        let grant = NewGrant { wasi: Wasi::Trap, limits, ..grant() };
        let expected = format!("[plugins.my-cli]\n{WRITTEN}wasi = \"trap\"\nlimits = {{ memory = \"256 MiB\" }}\n");
        assert_eq!((edited("", &grant).unwrap(), grant.to_string()), (expected.clone(), expected));
    }

    #[test]
    fn an_inline_table_stays_inline_and_what_is_no_table_is_told() {
        let inline = edited("plugins = { dir = \"p\" }\n", &grant()).unwrap();
        assert!(inline.starts_with("plugins = { dir = \"p\" , my-cli = { programs = ["), "{inline}");
        assert!(matches!(edited("[plugins]\nmy-cli = 1\n", &grant()), Err(Wrong::NoTable)));
        assert!(matches!(edited("plugins = 1\n", &grant()), Err(Wrong::NoTable)));
    }

    #[test]
    fn what_several_write_at_once_is_all_there_in_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let environment = crate::config::Environment::default();
        let source = Source { config: None, cwd: dir.path().to_owned(), environment };
        fs::write(dir.path().join("proxy.toml"), "# Mine.\n").unwrap();
        let ids: Vec<_> = (0..8).map(|at| PluginId::try_from(format!("cli-{at}")).unwrap()).collect();
        std::thread::scope(|scope| {
            for id in &ids {
                let (source, grant) = (&source, NewGrant { id: id.clone(), ..grant() });
                scope.spawn(move || write_grant(source, &grant).unwrap());
            }
        });
        let text = fs::read_to_string(dir.path().join("proxy.toml")).unwrap();
        assert!(
            ids.iter().all(|id| text.contains(&format!("[plugins.{id}]\n"))) && text.contains("# Mine.\n"),
            "{text}"
        );
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_text_that_is_no_toml_is_told_by_its_line_and_not_shown() {
        let Err(Wrong::Toml { line, message }) = edited("a = 1\nsecret-key 5\n", &grant()) else { panic!("no fault") };
        assert_eq!((line, message.contains("secret")), (2, false), "{message}");
    }
}
