//! The server from its start to its end.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agentbay_api::State;
use agentbay_config::{Overrides, Plugins, Source};
use agentbay_os::process::{self, Watchdog};
use agentbay_runs::{Runner, Snapshots, Tasks, reload};
use agentbay_workspace::Git;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::connections::Connections;
use super::error::AppError;
use super::load::{Loaded, with_config};
use super::reload::Reload;
use super::signals::{Hangup, Stop};
use super::telling::Telling;
use super::worktrees;
use crate::status::Board;
use crate::watch::{Watch, Watched};

/// Serves until the process is told to stop. `announce` is called once connections are accepted.
///
/// # Errors
/// See [`AppError`].
pub async fn serve(
    source: Source,
    overrides: Overrides,
    announce: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> Result<(), AppError> {
    let (config, seen) = agentbay_config::read(&source, &overrides, None)?;
    make_folder(&config.plugins.dir);
    // From here on no change is missed.
    let watched = Watched { folders: vec![config.plugins.dir.clone()], files: source.watched() };
    let watch = Watch::new(watched, config.plugins.watching)?;
    let loaded = with_config(&source, config.clone(), config.plugins.patience).await?;
    end_orphans(&loaded).await;
    let snapshots = Snapshots::default();
    let tasks = Tasks::default();
    let host = loaded.host.clone();
    let metrics = Arc::clone(&loaded.metrics);
    let runner = Runner::new(snapshots.clone(), host.clone(), config.plugins.runs(), metrics.clone(), tasks.clone());

    let wanted = config.server.listen;
    let listener = TcpListener::bind(wanted).await.map_err(|error| AppError::Listen { address: wanted, error })?;
    let listen = listener.local_addr()?;

    // The work may be large and git slow: nobody waits for it.
    let folders = worktrees::folders(&loaded.config);
    tasks.spawn_until_stopped(clear_up(runner.git().clone(), config.limits.run.git, folders));
    tell(&tasks, &loaded, snapshots.clone(), listen);
    let reload = Reload::new(source, overrides, listen, seen, loaded, snapshots.clone());
    let (mut signals, hangup) = (Stop::new()?, Hangup::new()?);
    let (handle, requests) = reload::channel();
    tasks.spawn_until_stopped(reload.follow(watch, hangup, requests));

    // Not among the tasks that are told to stop: while those end, they still start git, which the watchdog would end.
    let watchdog = Tasks::default();
    start_watchdog(&watchdog);
    let runs = runner.clone();
    let router = agentbay_api::router(State {
        snapshots,
        reload: handle,
        runner: runs,
        host,
        versions: Arc::default(),
        metrics,
        listen,
    });
    let connections = Connections::new(listener, router, config.limits.connections, tasks.clone());
    tasks.spawn(connections.serve());
    announce(listen)?;

    signals.told().await;
    tokio::select! {
        () = drain(&runner, config.server.drain) => {}
        () = signals.told() => return Err(AppError::StoppedAtOnce),
    }
    tokio::select! {
        () = stop(&tasks, config.limits.run.grace) => Ok(()),
        () = signals.told() => Err(AppError::StoppedAtOnce),
    }
}

/// Without the folder there are the plugins of the program; if it comes later, that is noticed.
fn make_folder(dir: &Path) {
    if let Err(error) = fs::create_dir_all(dir) {
        tracing::warn!(dir = %dir.display(), %error, "cannot make the plugin folder");
    }
}

/// Ends what is left of the runs of a host that was killed.
async fn end_orphans(loaded: &Loaded) {
    let grace = loaded.config.limits.run.grace;
    match tokio::task::spawn_blocking(move || process::end_orphans(grace)).await {
        Ok(0) => {}
        Ok(count) => tracing::warn!(count, "processes of runs whose host is gone were ended"),
        Err(error) => tracing::warn!(%error, "cannot look for what is left of earlier runs"),
    }
}

/// Saves the work of such runs.
async fn clear_up(git: Git, limit: Duration, folders: BTreeSet<PathBuf>) {
    for (worktree, cleared) in worktrees::clear(&git, limit, folders, false).await {
        tracing::warn!(worktree = %worktree.display(), ?cleared, "a worktree was left by a run whose host is gone");
    }
}

/// Without it everything works, but for programs that want to know how plugins fare.
fn tell(tasks: &Tasks, loaded: &Loaded, snapshots: Snapshots, listen: SocketAddr) {
    let Plugins { dir, cache, .. } = &loaded.config.plugins;
    match Board::put_up(cache) {
        Ok(board) => {
            let telling =
                Telling { board, listen, dir: dir.clone(), snapshots, trouble: loaded.catalogue.failure_signal() };
            tasks.spawn_until_stopped(telling.go_on());
        }
        Err(error) => tracing::warn!(%error, "cannot tell other programs how plugins fare"),
    }
}

/// Without a watchdog only the cleanup after a killed host is delayed.
fn start_watchdog(tasks: &Tasks) {
    match Watchdog::start() {
        Ok(watchdog) => tasks.spawn_until_stopped(watchdog.keep()),
        Err(error) => tracing::warn!(%error, "no watchdog: if the host is killed, its runs end at its next start"),
    }
}

/// Lets no run begin any more, and gives those that go on some time to end.
async fn drain(runner: &Runner, patience: Duration) {
    runner.close();
    let going_on = runner.live().len();
    tracing::info!(runs = going_on, "stopping");
    if timeout(patience, runner.answered()).await.is_err() {
        tracing::warn!("some runs go on after {}, and are ended", humantime::format_duration(patience));
    }
}

/// Ends the runs, with all their processes, and waits for the last answers to go out.
async fn stop(tasks: &Tasks, grace: Duration) {
    // A process may take one grace time to end, and its streams another.
    let patience = grace.saturating_mul(2) + Duration::from_secs(1);
    if !tasks.stop(patience).await {
        tracing::warn!("some runs did not end in time");
    }
}
