//! `[plugins]`: the folders, and what is taken from them. What that is, is `plugin-host`'s.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay_domain::{PluginLimits, Trust};

use super::section::{Item, Section};
use super::trust;
use super::values::{self, Paths, Zero};

/// The folders of the plugins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugins {
    /// Absolute path of the folder that plugins are put into.
    pub dir: PathBuf,
    /// Absolute path of the folder for what can be made again: compiled plugins.
    pub cache: PathBuf,
    /// How changes of files are noticed.
    pub watching: Watching,
    /// How long the start, and every look after it, waits for plugins that have to be compiled. What takes longer comes
    /// into use when it is through.
    pub patience: Duration,
}

/// How changes of files are noticed: those of the plugin folder, and of the settings too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watching {
    /// The operating system tells.
    Events,
    /// By looking, each time this long after the last.
    Poll {
        /// How long.
        interval: Duration,
    },
}

/// Soon enough for a person who waits, and rare enough for a file system that is far away.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// A plugin compiles in less than a second, some languages' runtimes take half a minute.
const PATIENCE: Duration = Duration::from_secs(10);

impl Plugins {
    /// The folder for the private folders of runs.
    pub fn runs(&self) -> PathBuf {
        self.cache.join("runs")
    }
}

pub(super) fn read(mut section: Section<'_>, paths: &Paths<'_>, limits: PluginLimits) -> (Plugins, Trust) {
    let plugins = Plugins {
        dir: folder(&mut section, "dir", ("XDG_DATA_HOME", ".local/share", "agentbay/plugins"), paths),
        cache: folder(&mut section, "cache", ("XDG_CACHE_HOME", ".cache", "agentbay"), paths),
        watching: watching(&mut section),
        patience: patience(&mut section),
    };
    let trust = trust::read(&mut section, limits);
    section.finish();
    (plugins, trust)
}

fn watching(section: &mut Section<'_>) -> Watching {
    let interval = section.take("poll_interval").and_then(|item| values::duration(&item, Zero::Refused));
    let poll = Watching::Poll { interval: interval.unwrap_or(POLL_INTERVAL) };
    let chosen = section.take("watch").and_then(|item| chosen(&item, poll));
    chosen.unwrap_or(Watching::Events)
}

fn patience(section: &mut Section<'_>) -> Duration {
    section.take("patience").and_then(|item| values::duration(&item, Zero::Allowed)).unwrap_or(PATIENCE)
}

fn chosen(item: &Item<'_>, poll: Watching) -> Option<Watching> {
    match item.text()? {
        "events" => Some(Watching::Events),
        "poll" => Some(poll),
        other => {
            item.fault(format!("{other:?} is not one of \"events\", \"poll\""));
            None
        }
    }
}

/// The folder that is set, or else the place which the XDG base directory specification gives.
fn folder(section: &mut Section<'_>, key: &'static str, place: (&str, &str, &str), paths: &Paths<'_>) -> PathBuf {
    if let Some(item) = section.take(key) {
        return paths.resolve(&item).unwrap_or_default();
    }
    let (variable, in_home, ours) = place;
    let base = paths.environment.absolute_path(variable).map(Path::to_path_buf);
    match base.or_else(|| Some(paths.environment.absolute_path("HOME")?.join(in_home))) {
        Some(base) => base.join(ours),
        None => {
            section.fault(key, "HOME is not set, so there is no default: set this key to a folder");
            PathBuf::new()
        }
    }
}
