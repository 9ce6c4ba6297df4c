//! The files in which a CLI keeps its login, as far as that can be known without knowing the CLI: whether they have changed.
//! What a login is, nobody here reads.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agentbay_domain::Environment;
use agentbay_os::process::Variables;

use super::route::Route;

/// Words in the names of such files.
const WORDS: [&str; 6] = ["auth", "account", "cred", "login", "token", "key"];

/// Settings, in which several CLIs keep a key.
const SETTINGS: [&str; 5] = [".env", "config.json", "config.toml", "settings.json", "models.json"];

/// Files of a folder that are looked at.
const MOST: usize = 1_000;

/// How the login files were at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Logins(u64);

impl Logins {
    /// Those of the CLIs of a model and of what may stand in for it, as they are now.
    pub(super) fn of(route: &Route, resumes: bool, host: &Environment) -> Self {
        let mut hasher = DefaultHasher::new();
        for route in route.with_fallbacks(resumes) {
            files(route, host).hash(&mut hasher);
        }
        Self(hasher.finish())
    }
}

/// A file, when it was changed, and its length.
type File = (PathBuf, Option<SystemTime>, u64);

fn files(route: &Route, host: &Environment) -> Vec<File> {
    let Ok(driver) = &route.driver else { return Vec::new() };
    let description = driver.plugin.description();
    let mut variables = Variables::base(host);
    variables.configure(&route.model.env, host);
    let folder = |name: &str| variables.get(name).map(PathBuf::from);
    let program =
        route.model.program.as_deref().and_then(Path::file_stem).map(|name| name.to_string_lossy().into_owned());
    let Some(name) = description.programs.first().cloned().or(program) else { return Vec::new() };
    let home = folder("HOME").unwrap_or_default();
    let moved = description.home.as_ref().and_then(|home| folder(&home.env));
    let folders = [
        moved.unwrap_or_else(|| home.join(format!(".{name}"))),
        folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join(&name),
        folder("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")).join(&name),
    ];
    let kept = description.home.iter().flat_map(|home| &home.keep);
    let is_kept = |name: &str| kept.clone().any(|kept| kept == name);
    let mut files: Vec<File> = folders.iter().flat_map(|folder| of_folder(folder, &is_kept)).collect();
    files.extend(state(home.join(format!(".{name}.json"))));
    files.sort();
    files
}

fn of_folder(folder: &Path, is_kept: &impl Fn(&str) -> bool) -> Vec<File> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(MOST).flatten();
    let is_login = |name: &str| {
        let name = name.to_ascii_lowercase();
        SETTINGS.contains(&name.as_str()) || is_kept(&name) || WORDS.iter().any(|word| name.contains(word))
    };
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_login))
        .filter_map(|entry| state(entry.path()))
        .collect()
}

fn state(file: PathBuf) -> Option<File> {
    let state = fs::metadata(&file).ok().filter(fs::Metadata::is_file)?;
    Some((file, state.modified().ok(), state.len()))
}

#[cfg(test)]
impl Logins {
    /// Some state of the files.
    pub(super) fn unknown(state: u64) -> Self {
        Self(state)
    }
}
