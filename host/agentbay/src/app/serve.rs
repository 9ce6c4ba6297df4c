//! The server from its start to its end.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_api::AppState;
use agentbay_config::{Overrides, Plugins, Source};
use agentbay_os::process::{self, Watchdog};
use agentbay_runs::{Runner, Snapshots, Tasks, reload};
use agentbay_workspace::Git;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::connections::Connections;
use super::error::AppError;
use super::load::{Loaded, with_config};
use super::preparation::Preparation;
use super::reload::Reload;
use super::screen::Screen;
use super::signals::{Hangup, Stop};
use super::status_writer::StatusWriter;
use super::worktrees;
use crate::status::StatusFile;
use crate::watch::{Watch, Watched};

/// Serves until the process is stopped. The screen shows the address once connections are accepted.
///
/// # Errors
/// See [`AppError`].
pub async fn serve(source: Source, overrides: Overrides, screen: Arc<dyn Screen>) -> Result<(), AppError> {
    let (config, seen) = agentbay_config::read(&source, &overrides, None)?;
    // It reads all processes of the machine, beside the rest of the start.
    let grace = config.limits.run.exit_grace;
    let orphans = spawn_blocking(move || process::end_orphans(grace));
    create_plugin_folder(&config.plugins.dir);
    // From here on no change is missed.
    let watched = Watched { folders: vec![config.plugins.dir.clone()], files: source.watched() };
    let watch = Watch::new(watched, config.plugins.watching)?;
    let loaded = with_config(&source, config.clone(), config.plugins.load_timeout, &*screen).await?;
    let snapshots = Snapshots::default();
    let tasks = Tasks::default();
    let environment = loaded.environment.clone();
    let metrics = Arc::clone(&loaded.metrics);
    let runner =
        Runner::new(snapshots.clone(), environment.clone(), config.plugins.runs(), metrics.clone(), tasks.clone());

    let wanted = config.server.listen;
    let listener = TcpListener::bind(wanted).await.map_err(|error| AppError::Listen { address: wanted, error })?;
    let listen = listener.local_addr()?;

    let watchdog = spawn_blocking(Watchdog::start);
    let prune =
        prune_worktrees(runner.git().clone(), config.limits.run.git_timeout, worktrees::folders(&loaded.config));
    write_status(&tasks, &loaded, snapshots.clone(), listen);
    let reload = Reload::new(source, overrides, listen, seen, loaded, snapshots.clone());
    let (mut signals, hangup) = (Stop::new()?, Hangup::new()?);
    let (handle, requests) = reload::channel();
    let preparation = Preparation {
        snapshots: snapshots.clone(),
        environment: environment.clone(),
        screen: Arc::clone(&screen),
        reloads: reload.reloads(),
    };
    tasks.spawn_until_stopped(reload.follow(watch, hangup, requests));

    // Not among the tasks that are stopped: while those end, they still start git, which the watchdog would end.
    let watchdogs = Tasks::default();
    let guard = watchdogs.clone();
    watchdogs.spawn_until_stopped(process::reap_children());
    let runs = runner.clone();
    let router = agentbay_api::router(AppState {
        snapshots,
        reload: handle,
        runner: runs,
        host: environment,
        versions: Arc::default(),
        metrics,
        responses: agentbay_api::ResponseStore::default(),
        tasks: tasks.clone(),
        listen,
    });
    let connections = Connections::new(listener, router, config.limits.connections, tasks.clone());
    let serving = tasks.clone();
    tasks.spawn(async move {
        // No run starts beside those of a killed server, or without a watchdog: until then connections wait.
        end_orphans(orphans).await;
        keep_watchdog(&guard, watchdog).await;
        // The work may be large and git slow: nothing waits for it.
        serving.spawn_until_stopped(prune);
        connections.serve().await;
    });
    screen.listening(listen)?;
    // After the address, which is the first line.
    tasks.spawn_until_stopped(preparation.follow());

    signals.received().await;
    tokio::select! {
        () = drain(&runner, config.server.shutdown_timeout) => {}
        () = signals.received() => return Err(AppError::StoppedAtOnce),
    }
    tokio::select! {
        () = stop(&tasks, config.limits.run.exit_grace) => Ok(()),
        () = signals.received() => Err(AppError::StoppedAtOnce),
    }
}

/// Without the folder only the built-in plugins are used; its creation later is noticed.
fn create_plugin_folder(dir: &Path) {
    if let Err(error) = fs::create_dir_all(dir) {
        tracing::warn!(dir = %dir.display(), %error, "cannot create the plugin folder");
    }
}

/// Waits until the processes that are left of the runs of a killed server have ended.
async fn end_orphans(orphans: JoinHandle<usize>) {
    match orphans.await {
        Ok(0) => {}
        Ok(count) => tracing::warn!(count, "ended processes of runs whose server was killed"),
        Err(error) => tracing::warn!(%error, "cannot search for processes of earlier runs"),
    }
}

/// Saves the work of such runs.
async fn prune_worktrees(git: Git, limit: Duration, folders: BTreeSet<PathBuf>) {
    for (worktree, released) in worktrees::release(&git, limit, folders, false).await {
        tracing::warn!(worktree = %worktree.path.display(), ?released, "found a worktree of a run whose server was killed");
    }
}

/// Without the status file everything works, but for programs that show the health of plugins.
fn write_status(tasks: &Tasks, loaded: &Loaded, snapshots: Snapshots, listen: SocketAddr) {
    let Plugins { dir, cache, .. } = &loaded.config.plugins;
    match StatusFile::create(cache) {
        Ok(file) => {
            let writer =
                StatusWriter { file, listen, dir: dir.clone(), snapshots, failures: loaded.catalogue.failure_signal() };
            tasks.spawn_until_stopped(writer.run());
        }
        Err(error) => tracing::warn!(%error, "cannot write the status file: `agentbay plugin list` shows no health"),
    }
}

/// Keeps the watchdog once it is started. Without one only the cleanup after a killed server is delayed.
async fn keep_watchdog(tasks: &Tasks, started: JoinHandle<io::Result<Watchdog>>) {
    match started.await.unwrap_or_else(|lost| Err(lost.into())) {
        Ok(watchdog) => tasks.spawn_until_stopped(watchdog.keep()),
        Err(error) => tracing::warn!(%error, "no watchdog: if the server is killed, its runs end at its next start"),
    }
}

/// Starts no more runs, and gives the active ones some time to end.
async fn drain(runner: &Runner, limit: Duration) {
    runner.close();
    let active = runner.live().len();
    tracing::info!(runs = active, "stopping");
    if timeout(limit, runner.answered()).await.is_err() {
        tracing::warn!("runs that are active after {} are ended", humantime::format_duration(limit));
    }
}

/// Ends the runs with all their processes, and waits for the last answers to be sent.
async fn stop(tasks: &Tasks, grace: Duration) {
    // A process may take one grace period to end, and its streams another.
    let limit = grace.saturating_mul(2) + Duration::from_secs(1);
    if !tasks.stop(limit).await {
        tracing::warn!("some runs did not end in time");
    }
}
