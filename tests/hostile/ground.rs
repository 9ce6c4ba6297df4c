//! The plugin folder as hostile ground: whatever is no plugin comes and goes in it at random, beside requests that notice
//! nothing of it. `make folder` does it for ten minutes, the suite for some rounds.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::folder::pipe;
use crate::support::{Machine, Proxy, chat, fixtures, wait_for};

/// How many changes the suite makes.
const CHANGES: u64 = 400;

/// How many clients ask when the time is measured, and how often each of them does: twenty times a second together.
const CLIENTS: usize = 8;
const EVERY: Duration = Duration::from_millis(400);

/// How long the server may take to stop.
const DRAIN: Duration = Duration::from_secs(20);

/// For how long it goes on; some rounds if nothing is said.
#[expect(clippy::disallowed_methods, reason = "a test is told how long it may take")]
fn measured() -> Option<Duration> {
    let seconds = std::env::var("AGENTBAY_FOLDER").ok()?;
    Some(Duration::from_secs(seconds.parse().expect("AGENTBAY_FOLDER is a number of seconds")))
}

/// Numbers that look random.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        usize::try_from(self.0 >> 33).unwrap() % count
    }
}

/// The folder, and what is put into it.
struct Ground {
    folder: PathBuf,
    good: Vec<u8>,
    chance: Chance,
    sockets: Vec<UnixListener>,
}

impl Ground {
    fn new(folder: &Path) -> Self {
        let good = fs::read(fixtures().join("plugins/stranger.wasm")).unwrap();
        let ground = Self { folder: folder.to_owned(), good, chance: Chance(25), sockets: Vec::new() };
        ground.clear();
        ground
    }

    fn clear(&self) {
        open(&self.folder);
        for entry in fs::read_dir(&self.folder).unwrap() {
            remove(&entry.unwrap().path());
        }
    }

    /// One change: something comes, goes, or becomes something else.
    fn change(&mut self) {
        let suffix = [".wasm", ".wasm", ".wasm.minisig"][self.chance.below(3)];
        let file = self.folder.join(format!("file-{}{suffix}", self.chance.below(24)));
        let other = self.folder.join(format!("file-{}.wasm", self.chance.below(24)));
        let kind = self.chance.below(16);
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
            8 => fs::write(&file, &self.good[..self.chance.below(self.good.len())]).unwrap(),
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
                fs::set_permissions(&self.folder, Permissions::from_mode([0o644, 0o000][self.chance.below(2)])).unwrap()
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

/// What came of the requests that were made meanwhile.
#[derive(Default)]
struct Asked {
    took: Vec<Duration>,
    failed: Vec<String>,
}

impl Asked {
    fn ask(&mut self, proxy: &Proxy) {
        let begun = Instant::now();
        let answer = proxy.complete(&chat("echo", "hi"));
        self.took.push(begun.elapsed());
        if answer.status != 200 || answer.content() != "hi" {
            self.failed.push(format!("{answer:?}"));
        }
    }

    fn and(mut self, other: Self) -> Self {
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

/// Requests beside the changes: at a rate if that is measured, else one after the other.
fn ask_until(over: &AtomicBool, proxy: &Proxy, is_paced: bool) -> Asked {
    let (mut asked, begun) = (Asked::default(), Instant::now());
    while !over.load(Ordering::Relaxed) {
        asked.ask(proxy);
        if is_paced {
            let next = EVERY * u32::try_from(asked.took.len()).unwrap();
            thread::sleep(next.saturating_sub(begun.elapsed()));
        }
    }
    asked
}

#[test]
fn requests_notice_nothing_of_what_comes_and_goes_in_the_plugin_folder() {
    let machine = Machine::configured(&format!(
        "server.drain = \"{}s\"\n[models.echo]\ndriver = \"echo\"\nrepo = \".\"\nrepo_runs = 64\nretries = 0\n",
        DRAIN.as_secs()
    ));
    let folder = machine.put_plugin("file-0.wasm", "").parent().unwrap().to_owned();
    let (proxy, is_unprivileged) = machine.serve_unprivileged();
    let (measured, over) = (measured(), AtomicBool::new(false));
    let mut ground = Ground::new(&folder);
    let (mut changes, mut looks) = (0_u64, 0_u64);
    let clients = if measured.is_some() { CLIENTS } else { 1 };
    let mut asked = thread::scope(|scope| {
        let asking: Vec<_> =
            (0..clients).map(|_| scope.spawn(|| ask_until(&over, &proxy, measured.is_some()))).collect();
        let begun = Instant::now();
        while measured.map_or(changes < CHANGES, |time| begun.elapsed() < time) {
            ground.change();
            changes += 1;
            if changes % 50 == 0 {
                looks += u64::from(proxy.reload().status == 200);
            }
            if measured.is_some() {
                thread::sleep(Duration::from_millis(10));
            }
        }
        over.store(true, Ordering::Relaxed);
        asking.into_iter().map(|asking| asking.join().unwrap()).collect::<Vec<_>>()
    });
    let asked = asked.drain(..).fold(Asked::default(), Asked::and);
    assert_eq!((asked.failed, looks), (Vec::new(), changes / 50), "of {}", asked.took.len());

    ground.clear();
    machine.put_plugin("echo.wasm", fs::read(fixtures().join("plugins/loud-echo.wasm")).unwrap());
    assert_eq!(proxy.reload().status, 200);
    wait_for("the plugin", || proxy.ask("echo", "hi") == "HI");
    let resident = proxy.resident() / 1024;
    let stopping = Instant::now();
    assert!(proxy.stop().success());
    if measured.is_some() {
        assert!(stopping.elapsed() < DRAIN, "it took {:?} to stop", stopping.elapsed());
        told(&asked.took, changes, looks, resident, stopping.elapsed(), is_unprivileged);
    }
}

#[expect(clippy::print_stdout, reason = "the figures are for whoever runs the test with its output")]
fn told(took: &[Duration], changes: u64, looks: u64, resident: u64, stop: Duration, is_unprivileged: bool) {
    let [half, most, longest] = [500, 990, 1000].map(|permille| permille_of(took, permille));
    println!("{changes} changes of the folder, {looks} looks asked for; unreadable files tried: {is_unprivileged}");
    println!("{} requests, none failed: p50 {half:.1?}, p99 {most:.1?}, longest {longest:.1?}", took.len());
    println!("{resident} MiB in memory at the end, stopped in {stop:.1?}");
}
