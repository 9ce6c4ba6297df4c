//! Many runs at once, cancelled at pseudo-random times, which are the same each time. `make soak` has a thousand, the
//! suite a few.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{Machine, Proxy, Repo, Request, Streamed, chat, marked_by, wait_for};

/// Runs that last for the whole test.
const STEADY: usize = 16;

/// Clients that start runs and disconnect.
const CLIENTS: usize = 8;

/// The longest time until a client disconnects.
const MAX_DELAY_MS: u64 = 80;

/// The number of runs to cancel in a soak test.
#[expect(clippy::disallowed_methods, reason = "a setting for a test")]
fn many() -> Option<usize> {
    std::env::var("AGENTBAY_SOAK").ok().map(|count| count.parse().unwrap())
}

/// Whether this is a soak test, which may take longer.
pub(crate) fn is_soak() -> bool {
    many().is_some()
}

fn machine() -> (Machine, Repo) {
    let machine = Machine::new();
    let model = |name: &str, more: &str| {
        format!(
            "[models.{name}]\ndriver = \"generic\"\nrepo = \"../repo\"\nprogram = \"{name}\"\noptions = {{ answer = \"whole\" }}\n{more}\n"
        )
    };
    let models = model("steady", "max_repo_runs = 16")
        + &model("fleeting", "worktree = { dir = \"../trees\" }")
        + &model("once", "");
    machine.write("proxy.toml", format!("[limits]\nruns = 64\nexit_grace = \"200ms\"\n{models}"));
    let open = machine.name("open");
    machine.script("steady", &format!("echo first; until [ -e {open} ]; do sleep 0.05; done; echo last"));
    machine.script("once", "echo done");
    machine.script("fleeting", "(trap '' TERM; sleep 100) & echo begun; sleep 100");
    let repo = machine.repo("repo");
    (machine, repo)
}

/// A pseudo-random delay, the same for the same number.
fn delay(number: usize) -> Duration {
    let mixed =
        (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    Duration::from_millis(mixed % MAX_DELAY_MS)
}

fn open_files(proxy: &Proxy) -> usize {
    fs::read_dir(format!("/proc/{}/fd", proxy.pid())).unwrap().count()
}

fn disconnect_at_random(proxy: &Proxy, next: &AtomicUsize) {
    let count = many().unwrap_or(60);
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return;
        }
        let mut body = chat("fleeting", "hi");
        body["stream"] = number.is_multiple_of(2).into();
        let connection = Request::post("/v1/chat/completions", body.to_string()).open(proxy.address());
        thread::sleep(delay(number));
        drop(connection);
    }
}

#[test]
fn runs_that_are_cancelled_at_any_time_leave_nothing_behind_and_disturb_no_other_run() {
    let (machine, repo) = machine();
    let proxy = machine.serve();
    // The driver is compiled for it, and keeps a file open.
    assert_eq!(proxy.ask("once", "hi"), "done");
    proxy.wait_until_idle();
    let before = open_files(&proxy);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let steady: Vec<_> =
            (0..STEADY).map(|_| scope.spawn(|| Streamed::read(proxy.stream("steady", "hi").1))).collect();
        wait_for("all to run", || marked_by(proxy.pid()).count() >= STEADY);
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| disconnect_at_random(&proxy, &next))).collect();
        for client in clients {
            client.join().unwrap();
        }
        fs::write(machine.path("open"), "").unwrap();
        for answer in steady {
            let answer = answer.join().unwrap();
            assert_eq!((answer.content.as_str(), answer.done), ("first\nlast", true));
        }
    });
    proxy.wait_until_idle();
    wait_for("all processes to end", || marked_by(proxy.pid()).count() == 0);
    wait_for("all files to be closed", || open_files(&proxy) <= before);
    assert_eq!(fs::read_dir(machine.path("trees")).map_or(0, Iterator::count), 0);
    assert_eq!(repo.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
}
