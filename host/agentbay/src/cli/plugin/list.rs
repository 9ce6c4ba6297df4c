//! `plugin list`: the plugins in use, how they fare in the servers that use the same folders, and the files of the plugin
//! folder that are not in use. What a server has kept of a file that could not be loaded again comes last.

use std::fmt;
use std::io::{self, Write};

use agentbay_domain::{visible, visible_path};
use agentbay_plugin_host::{Health, LoadedPlugin};

use crate::app::Loaded;
use crate::status::{self, InUse, Status};

/// What one server says of a plugin.
struct Said<'a> {
    server: &'a Status,
    plugin: &'a InUse,
}

/// Prints a line for each plugin and each refused file; below a plugin, indented, what is to be said of it.
pub(super) fn show(loaded: &Loaded) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let (snapshot, folders) = (&loaded.snapshot, &loaded.config.plugins);
    let mut servers = status::of_servers(&folders.cache);
    servers.retain(|server| server.dir == folders.dir);
    for plugin in snapshot.plugins.drivers.values().map(|driver| &driver.plugin) {
        let description = plugin.description();
        let programs = if description.programs.is_empty() { "-".to_owned() } else { description.programs.join(",") };
        let (id, version) = (plugin.id().as_str(), &description.version);
        let (origin, sha256) = (plugin.origin(), plugin.sha256());
        let said: Vec<Said<'_>> = servers.iter().filter_map(|server| Said::of(server, id)).collect();
        let health = health(plugin, &said);
        writeln!(stdout, "{id}\t{version}\t{health}\tprograms {programs}\tsha256 {sha256}\t{origin}")?;
        for said in said {
            said.remark(plugin, &mut stdout)?;
        }
    }
    for refusal in &snapshot.plugins.refusals {
        writeln!(stdout, "refused\t{}\t{}", visible_path(&refusal.path), visible(&refusal.reason))?;
    }
    for server in &servers {
        let kept = |plugin: &&InUse| !snapshot.plugins.drivers.keys().any(|id| id.as_str() == plugin.id);
        for InUse { id, version, sha256, .. } in server.plugins.iter().filter(kept) {
            writeln!(stdout, "kept\t{id}\t{version}\tsha256 {sha256}\tby the server on {}", server.listen)?;
        }
    }
    Ok(())
}

/// How this version fares, if any server uses it: the worst that is said.
fn health(plugin: &LoadedPlugin, said: &[Said<'_>]) -> &'static str {
    let same = said.iter().filter(|said| said.is_of(plugin));
    match same.map(|said| said.plugin.health.unhealthy).max() {
        None => "-",
        Some(true) => "unhealthy",
        Some(false) => "healthy",
    }
}

impl<'a> Said<'a> {
    fn of(server: &'a Status, id: &str) -> Option<Self> {
        let plugin = server.plugins.iter().find(|plugin| plugin.id == id)?;
        Some(Self { server, plugin })
    }

    /// Whether it is about this very version.
    fn is_of(&self, plugin: &LoadedPlugin) -> bool {
        self.plugin.sha256 == plugin.sha256().to_string()
    }

    /// Prints what the line of the plugin does not say.
    fn remark(&self, plugin: &LoadedPlugin, out: &mut impl Write) -> io::Result<()> {
        let listen = self.server.listen;
        let InUse { version, sha256, health, .. } = self.plugin;
        if !self.is_of(plugin) {
            writeln!(out, "  the server on {listen} uses another one: {version}, sha256 {sha256}")?;
        }
        match &health.last {
            Some(_) => writeln!(out, "  on {listen} it {}", Failures(health)),
            None => Ok(()),
        }
    }
}

/// How often a plugin has failed, and how it did so the last time.
struct Failures<'a>(&'a Health);

impl fmt::Display for Failures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.0.traps == 1 { "time" } else { "times" };
        write!(f, "failed {} {times}", self.0.traps)?;
        match &self.0.last {
            Some(last) => write!(f, ", the last time at {} in `{}`: {}", last.at, last.call, last.reason),
            None => Ok(()),
        }
    }
}
