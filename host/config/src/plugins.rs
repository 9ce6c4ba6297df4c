//! `[plugins]`: the folders, and which plugins are accepted from them. The plugins themselves are `plugin-host`'s.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay_domain::{PluginLimits, Trust};

use super::section::{Item, Section};
use super::trust;
use super::values::{self, AllowZero, Paths};

/// The plugin folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugins {
    /// Absolute path of the folder of installed plugins.
    pub dir: PathBuf,
    /// Absolute path of the folder of compiled plugins, which can be deleted at any time.
    pub cache: PathBuf,
    /// How file changes are detected.
    pub watching: WatchMode,
    /// How long the start and each reload wait for plugins that have to be compiled. A plugin that takes longer comes into
    /// use when it is compiled.
    pub load_timeout: Duration,
}

/// How changes of the plugin folder and of the settings files are detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchMode {
    /// By events of the operating system.
    Events,
    /// By polling.
    Poll {
        /// The time between two polls.
        interval: Duration,
    },
}

/// Short enough for a person who waits, and long enough for a remote file system.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// A plugin compiles in less than a second, the runtimes of some languages take half a minute.
const LOAD_TIMEOUT: Duration = Duration::from_secs(10);

impl Plugins {
    /// The parent of the private folders of runs.
    pub fn runs(&self) -> PathBuf {
        self.cache.join("runs")
    }
}

pub(super) fn read(mut section: Section<'_>, paths: &Paths<'_>, limits: PluginLimits) -> (Plugins, Trust) {
    let plugins = Plugins {
        dir: folder(&mut section, "dir", ("XDG_DATA_HOME", ".local/share", "agentbay/plugins"), paths),
        cache: folder(&mut section, "cache", ("XDG_CACHE_HOME", ".cache", "agentbay"), paths),
        watching: watching(&mut section),
        load_timeout: load_timeout(&mut section),
    };
    let trust = trust::read(&mut section, limits);
    section.finish();
    (plugins, trust)
}

fn watching(section: &mut Section<'_>) -> WatchMode {
    let interval = section.take("poll_interval").and_then(|item| values::duration(&item, AllowZero::No));
    let poll = WatchMode::Poll { interval: interval.unwrap_or(POLL_INTERVAL) };
    let chosen = section.take("watch").and_then(|item| chosen(&item, poll));
    chosen.unwrap_or(WatchMode::Events)
}

fn load_timeout(section: &mut Section<'_>) -> Duration {
    section.take("load_timeout").and_then(|item| values::duration(&item, AllowZero::Yes)).unwrap_or(LOAD_TIMEOUT)
}

fn chosen(item: &Item<'_>, poll: WatchMode) -> Option<WatchMode> {
    match item.text()? {
        "events" => Some(WatchMode::Events),
        "poll" => Some(poll),
        other => {
            item.fault(format!("{other:?} is not one of \"events\", \"poll\""));
            None
        }
    }
}

/// The configured folder, else the default of the XDG base directory specification.
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
