//! `plugin list`: the plugins in use, their health in the servers that use the same folders, and the files of the plugin folder
//! that are refused. Plugins that a server still uses although their file is no longer valid come last.

use std::io::{self, Write};

use agentbay_domain::terminal_safe_path;
use agentbay_plugin_host::{Health, LoadedPlugin};
use serde_json::{Value, json};

use crate::app::Loaded;
use crate::cli::console::Console;
use crate::cli::table::Table;
use crate::status::{self, PluginStatus, ServerStatus};

/// The digits of a hash in the table: enough to tell versions apart. `--json` has all of them.
const DIGITS: usize = 12;

/// The state of a plugin in one server.
struct InServer<'a> {
    server: &'a ServerStatus,
    plugin: &'a PluginStatus,
}

/// Prints the list.
///
/// # Errors
/// Standard output is closed.
pub(super) fn show(loaded: &Loaded, json: bool, console: &Console) -> io::Result<()> {
    let folders = &loaded.config.plugins;
    let mut servers = status::of_servers(&folders.cache);
    servers.retain(|server| server.dir == folders.dir);
    if json {
        return writeln!(io::stdout(), "{:#}", to_json(loaded, &servers));
    }
    console.print(&in_use(loaded, &servers))?;
    let mut refused = Table::new(["REFUSED FILE", "REASON"]);
    for refusal in &loaded.snapshot.plugins.refusals {
        refused.row([terminal_safe_path(&refusal.path), refusal.reason.clone()], []);
    }
    let mut kept = Table::new(["KEPT BY A SERVER", "VERSION", "SHA-256", "SERVER"]);
    for InServer { server, plugin } in only_in_servers(loaded, &servers) {
        let PluginStatus { id, version, sha256, .. } = plugin;
        kept.row([id.clone(), version.clone(), short(sha256), server.listen.to_string()], []);
    }
    if !refused.is_empty() {
        writeln!(io::stdout())?;
        console.print(&refused)?;
    }
    if !kept.is_empty() {
        writeln!(io::stdout())?;
        console.print(&kept)?;
    }
    Ok(())
}

/// The plugins in use; below one, its failures and other versions in servers.
fn in_use(loaded: &Loaded, servers: &[ServerStatus]) -> Table<6> {
    let mut table = Table::new(["PLUGIN", "VERSION", "HEALTH", "PROGRAMS", "SHA-256", "SOURCE"]);
    for plugin in loaded.snapshot.plugins.drivers.values().map(|driver| &driver.plugin) {
        let in_servers = InServer::all(servers, plugin);
        let description = plugin.description();
        let cells = [
            plugin.id().to_string(),
            description.version.clone(),
            health(plugin, &in_servers).unwrap_or_default().to_owned(),
            description.programs.join(", "),
            short(&plugin.sha256().to_string()),
            plugin.origin().to_string(),
        ];
        table.row(cells, in_servers.iter().flat_map(|one| one.remarks(plugin)));
    }
    table
}

fn to_json(loaded: &Loaded, servers: &[ServerStatus]) -> Value {
    let plugins = loaded.snapshot.plugins.drivers.values().map(|driver| &driver.plugin).map(|plugin| {
        let in_servers = InServer::all(servers, plugin);
        let description = plugin.description();
        json!({
            "id": plugin.id().to_string(),
            "name": description.name,
            "version": description.version,
            "contract": plugin.contract(),
            "programs": description.programs,
            "sha256": plugin.sha256().to_string(),
            "source": plugin.origin().to_string(),
            "health": health(plugin, &in_servers),
            "servers": in_servers.iter().map(InServer::to_json).collect::<Vec<_>>(),
        })
    });
    let refused = loaded.snapshot.plugins.refusals.iter();
    let refused = refused.map(|refusal| json!({ "file": terminal_safe_path(&refusal.path), "reason": refusal.reason }));
    let kept = only_in_servers(loaded, servers).map(|one| {
        let PluginStatus { id, version, sha256, .. } = one.plugin;
        json!({ "id": id, "version": version, "sha256": sha256, "server": one.server.listen })
    });
    json!({
        "plugins": plugins.collect::<Vec<_>>(),
        "refused": refused.collect::<Vec<_>>(),
        "kept": kept.collect::<Vec<_>>(),
    })
}

/// The plugins that servers use and that are not loaded here.
fn only_in_servers<'a>(loaded: &'a Loaded, servers: &'a [ServerStatus]) -> impl Iterator<Item = InServer<'a>> {
    let drivers = &loaded.snapshot.plugins.drivers;
    servers.iter().flat_map(move |server| {
        let kept = server.plugins.iter().filter(|plugin| !drivers.keys().any(|id| id.as_str() == plugin.id));
        kept.map(move |plugin| InServer { server, plugin })
    })
}

/// The health of this version: the worst in any server, `None` if no server uses it.
fn health(plugin: &LoadedPlugin, in_servers: &[InServer<'_>]) -> Option<&'static str> {
    let same = in_servers.iter().filter(|one| one.is_version(plugin));
    let is_unhealthy = same.map(|one| one.plugin.health.unhealthy).max()?;
    Some(if is_unhealthy { "unhealthy" } else { "healthy" })
}

fn short(sha256: &str) -> String {
    sha256.chars().take(DIGITS).collect()
}

impl<'a> InServer<'a> {
    fn all(servers: &'a [ServerStatus], plugin: &LoadedPlugin) -> Vec<Self> {
        let id = plugin.id().as_str();
        let in_server = |server: &'a ServerStatus| {
            let plugin = server.plugins.iter().find(|plugin| plugin.id == id)?;
            Some(Self { server, plugin })
        };
        servers.iter().filter_map(in_server).collect()
    }

    /// Returns whether the server uses this version.
    fn is_version(&self, plugin: &LoadedPlugin) -> bool {
        self.plugin.sha256 == plugin.sha256().to_string()
    }

    /// What the row of the plugin does not show.
    fn remarks(&self, plugin: &LoadedPlugin) -> Vec<String> {
        let listen = self.server.listen;
        let PluginStatus { version, sha256, health, .. } = self.plugin;
        let other = (!self.is_version(plugin))
            .then(|| format!("the server on {listen} uses another one: {version}, sha256 {sha256}"));
        other.into_iter().chain(failures(health).map(|failures| format!("on {listen} it {failures}"))).collect()
    }

    fn to_json(&self) -> Value {
        let PluginStatus { version, sha256, health, .. } = self.plugin;
        json!({ "listen": self.server.listen, "version": version, "sha256": sha256, "health": health })
    }
}

/// The number of failures, and the last one.
fn failures(health: &Health) -> Option<String> {
    let last = health.last.as_ref()?;
    let times = if health.traps == 1 { "time" } else { "times" };
    let traps = health.traps;
    Some(format!("failed {traps} {times}, the last time at {} in `{}`: {}", last.at, last.call, last.reason))
}
