//! A hostile plugin folder: files of all kinds are created and removed at random while requests run, which must not be
//! affected. `make folder` runs it for ten minutes, the suite for some rounds.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::folder::pipe;
use crate::support::{Machine, Proxy, chat, fixtures, wait_for};

/// Number of changes in the suite.
const CHANGES: u64 = 400;

/// Number of clients when latency is measured, and the interval of each: twenty requests a second together.
const CLIENTS: usize = 8;
const INTERVAL: Duration = Duration::from_millis(400);

/// The time limit for the server to stop.
const DRAIN: Duration = Duration::from_secs(20);

/// The duration of a measured test; `None` for the suite.
#[expect(clippy::disallowed_methods, reason = "the environment selects the length of the test")]
fn measured() -> Option<Duration> {
    let seconds = std::env::var("AGENTBAY_FOLDER").ok()?;
    Some(Duration::from_secs(seconds.parse().expect("AGENTBAY_FOLDER is a number of seconds")))
}

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        usize::try_from(self.0 >> 33).unwrap() % count
    }
}

/// The folder and its content.
struct Ground {
    folder: PathBuf,
    good: Vec<u8>,
    random: Random,
    sockets: Vec<UnixListener>,
}

impl Ground {
    fn new(folder: &Path) -> Self {
        let good = fs::read(fixtures().join("plugins/stranger.wasm")).unwrap();
        let ground = Self { folder: folder.to_owned(), good, random: Random(25), sockets: Vec::new() };
        ground.clear();
        ground
    }

    fn clear(&self) {
        open(&self.folder);
        for entry in fs::read_dir(&self.folder).unwrap() {
            remove(&entry.unwrap().path());
        }
    }

    /// One change: a file is created, removed or replaced.
    fn change(&mut self) {
        let suffix = [".wasm", ".wasm", ".wasm.minisig"][self.random.below(3)];
        let file = self.folder.join(format!("file-{}{suffix}", self.random.below(24)));
        let other = self.folder.join(format!("file-{}.wasm", self.random.below(24)));
        let kind = self.random.below(16);
        if kind < 13 {
            remove(&file);
        }
        match kind {
            0..=2 => pipe(&file),
            3 => symlink("/dev/zero", &file).unwrap(),
            4 => symlink("/proc/kmsg", &file).unwrap(),
            5 => symlink(&other, &file).unwrap(),
            6 => File::create(&file).unwrap().set_len(2 << 30).unwrap(),
            7 => fs::create_dir(&file).unwrap(),
            8 => fs::write(&file, &self.good[..self.random.below(self.good.len())]).unwrap(),
            9 => fs::write(&file, &self.good).unwrap(),
            10 => {
                fs::write(&file, &self.good).unwrap();
                fs::set_permissions(&file, Permissions::from_mode(0o000)).unwrap();
            }
            11 => {
                self.sockets.extend(UnixListener::bind(&file));
                self.sockets.truncate(8);
            }
            12 => fs::write(&file, vec![b'x'; 9 * 1024]).unwrap(),
            13 => {
                let _one_may_be_a_folder = fs::rename(&other, &file);
            }
            14 => {
                fs::set_permissions(&self.folder, Permissions::from_mode([0o644, 0o000][self.random.below(2)])).unwrap()
            }
            _ => remove(&file),
        }
        if kind == 14 {
            thread::yield_now();
            open(&self.folder);
        }
    }
}

fn open(folder: &Path) {
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
}

fn remove(file: &Path) {
    match fs::symlink_metadata(file) {
        Ok(is) if is.is_dir() => fs::remove_dir_all(file).unwrap(),
        Ok(_) => fs::remove_file(file).unwrap(),
        Err(_) => {}
    }
}

/// The results of the requests.
#[derive(Default)]
struct Results {
    took: Vec<Duration>,
    failed: Vec<String>,
}

impl Results {
    fn ask(&mut self, proxy: &Proxy) {
        let started = Instant::now();
        let answer = proxy.complete(&chat("echo", "hi"));
        self.took.push(started.elapsed());
        if answer.status != 200 || answer.content() != "hi" {
            self.failed.push(format!("{answer:?}"));
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.took.extend(other.took);
        self.failed.extend(other.failed);
        self
    }
}

fn permille_of(took: &[Duration], permille: usize) -> Duration {
    let mut took = took.to_vec();
    took.sort();
    took[(took.len() - 1) * permille / 1000]
}

/// Sends requests during the changes: at a fixed rate if latency is measured, else one after the other.
fn ask_until(over: &AtomicBool, proxy: &Proxy, is_paced: bool) -> Results {
    let (mut asked, started) = (Results::default(), Instant::now());
    while !over.load(Ordering::Relaxed) {
        asked.ask(proxy);
        if is_paced {
            let next = INTERVAL * u32::try_from(asked.took.len()).unwrap();
            thread::sleep(next.saturating_sub(started.elapsed()));
        }
    }
    asked
}

#[test]
fn requests_are_not_affected_by_random_changes_of_the_plugin_folder() {
    let machine = Machine::configured(&format!(
        "server.shutdown_timeout = \"{}s\"\n[models.echo]\ndriver = \"echo\"\nrepo = \".\"\nmax_repo_runs = 64\nretries = 0\n",
        DRAIN.as_secs()
    ));
    let folder = machine.put_plugin("file-0.wasm", "").parent().unwrap().to_owned();
    let (proxy, is_unprivileged) = machine.serve_unprivileged();
    let (measured, over) = (measured(), AtomicBool::new(false));
    let mut ground = Ground::new(&folder);
    let (mut changes, mut reloads) = (0_u64, 0_u64);
    let clients = if measured.is_some() { CLIENTS } else { 1 };
    let mut asked = thread::scope(|scope| {
        let asking: Vec<_> =
            (0..clients).map(|_| scope.spawn(|| ask_until(&over, &proxy, measured.is_some()))).collect();
        let started = Instant::now();
        while measured.map_or(changes < CHANGES, |time| started.elapsed() < time) {
            ground.change();
            changes += 1;
            if changes % 50 == 0 {
                reloads += u64::from(proxy.reload().status == 200);
            }
            if measured.is_some() {
                thread::sleep(Duration::from_millis(10));
            }
        }
        over.store(true, Ordering::Relaxed);
        asking.into_iter().map(|asking| asking.join().unwrap()).collect::<Vec<_>>()
    });
    let asked = asked.drain(..).fold(Results::default(), Results::merge);
    assert_eq!((asked.failed, reloads), (Vec::new(), changes / 50), "of {}", asked.took.len());

    ground.clear();
    machine.put_plugin("echo.wasm", fs::read(fixtures().join("plugins/loud-echo.wasm")).unwrap());
    assert_eq!(proxy.reload().status, 200);
    wait_for("the plugin", || proxy.ask("echo", "hi") == "HI");
    let resident = proxy.resident() / 1024;
    let stopping = Instant::now();
    assert!(proxy.stop().success());
    if measured.is_some() {
        assert!(stopping.elapsed() < DRAIN, "it took {:?} to stop", stopping.elapsed());
        report(&asked.took, changes, reloads, resident, stopping.elapsed(), is_unprivileged);
    }
}

#[expect(clippy::print_stdout, reason = "the figures are for a person who runs the test")]
fn report(took: &[Duration], changes: u64, reloads: u64, resident: u64, stop: Duration, is_unprivileged: bool) {
    let [half, p99, longest] = [500, 990, 1000].map(|permille| permille_of(took, permille));
    println!("{changes} changes of the folder, {reloads} reloads; with unreadable files: {is_unprivileged}");
    println!("{} requests, none failed: p50 {half:.1?}, p99 {p99:.1?}, longest {longest:.1?}", took.len());
    println!("{resident} MiB in memory at the end, stopped in {stop:.1?}");
}
