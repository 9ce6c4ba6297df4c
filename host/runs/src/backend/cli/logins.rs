//! The files in which a CLI may keep its login, by name alone: when they change, so may the login. Their content is not read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agentbay_domain::{CliTarget, Environment};
use agentbay_os::process::Variables;
use agentbay_plugin_host::Driver;

/// Words in the names of such files.
const WORDS: [&str; 6] = ["auth", "account", "cred", "login", "token", "key"];

/// Settings, in which some CLIs keep a key.
const SETTINGS: [&str; 5] = [".env", "config.json", "config.toml", "settings.json", "models.json"];

/// The number of entries of a folder that are checked.
const MOST: usize = 1_000;

/// A file, the time of its last change, and its length.
pub(super) type LoginFile = (PathBuf, Option<SystemTime>, u64);

/// The files in which the CLI of a driver keeps its login.
pub(super) fn files(target: &CliTarget, driver: &Driver, host: &Environment) -> Vec<LoginFile> {
    let description = driver.plugin.description();
    let mut variables = Variables::base(host);
    variables.configure(&target.env, host);
    let folder = |name: &str| variables.get(name).map(PathBuf::from);
    let program = target.program.as_deref().and_then(Path::file_stem).map(|name| name.to_string_lossy().into_owned());
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
    let mut files: Vec<LoginFile> = folders.iter().flat_map(|folder| of_folder(folder, &is_kept)).collect();
    files.extend(state(home.join(format!(".{name}.json"))));
    files.sort();
    files
}

fn of_folder(folder: &Path, is_kept: &impl Fn(&str) -> bool) -> Vec<LoginFile> {
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

fn state(file: PathBuf) -> Option<LoginFile> {
    let state = fs::metadata(&file).ok().filter(fs::Metadata::is_file)?;
    Some((file, state.modified().ok(), state.len()))
}
