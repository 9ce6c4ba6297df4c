//! Plugins that are swapped while requests run: each request is answered by one version, no request is lost, and old code is
//! dropped. `make swap` runs for a given time at a share of the machine's request rate; the suite until some swaps have
//! happened.

mod letter;
mod load;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Machine, Proxy, StreamItem, Streamed, wait_for};

/// The interval between two swaps.
const SWAP_INTERVAL: Duration = Duration::from_millis(300);

/// Number of clients of a load without a fixed rate.
const CLIENTS: usize = 4;

/// The share of the machine's request rate that is used while plugins are compiled.
const SHARE: f64 = 0.5;

/// Permitted memory per dropped version, in KiB, besides memory that the allocator keeps. A version that is not dropped
/// needs 28 KiB for its code alone.
const KEPT: u64 = 8;
const ALLOCATOR: u64 = 2048;

/// The duration of `make swap`; `None` for the suite.
#[expect(clippy::disallowed_methods, reason = "the environment selects the length of the test")]
fn seconds() -> Option<Duration> {
    std::env::var("AGENTBAY_SWAP").ok().map(|seconds| Duration::from_secs(seconds.parse().expect("seconds")))
}

fn machine() -> Machine {
    Machine::configured(
        "[limits]\nqueue = 10000\n\
         [defaults]\nrepo = \".\"\nretries = 0\nmax_repo_runs = 1000\n\
         [models.echo]\ndriver = \"echo\"\n\
         [models.waits]\ndriver = \"echo\"\nprogram = \"waits\"\n\
         [models.other]\ndriver = \"generic\"\nprogram = \"waits\"\noptions = { answer = \"whole\" }\n",
    )
}

/// Number of versions of the plugin in memory. The built-in one is not compiled while a file has its place.
fn versions(proxy: &Proxy) -> i64 {
    let metrics = proxy.get("/metrics").body;
    let gauge = metrics.lines().find_map(|line| line.strip_prefix("agentbay_plugin_versions{plugin=\"echo\"} "));
    gauge.expect("the gauge").parse().unwrap()
}

fn reload(proxy: &Proxy) {
    let answer = proxy.reload();
    assert_eq!((answer.status, &answer.json()["refused"]), (200, &serde_json::json!([])));
}

/// The letter of an answer that consists of one letter.
fn letter(answer: &Streamed) -> Option<char> {
    let first = answer.content.chars().next()?;
    let is_one = answer.content.chars().all(|letter| letter == first) && answer.content.len() >= 3;
    (answer.done && answer.error.is_none() && is_one).then_some(first)
}

#[test]
fn old_code_is_dropped_with_its_last_run() {
    let machine = machine();
    let open = machine.path("open");
    machine.stand_in("waits", &["gate", open.to_str().unwrap(), "first", "last"]);
    machine.put_plugin("echo.wasm", letter::component('A'));
    let proxy = machine.serve();
    assert_eq!(versions(&proxy), 1);
    let (_, mut events) = proxy.stream("waits", "hi");
    let is_first = |item: &StreamItem| matches!(item, StreamItem::Data(data) if data.contains("\"content\":\"A"));
    assert!(events.by_ref().any(|item| is_first(&item)));

    for new in ['B', 'C', 'B'] {
        machine.put_plugin("echo.wasm", letter::component(new));
        reload(&proxy);
        assert_eq!(letter(&proxy.streamed("echo", "hi")), Some(new));
    }
    wait_for("versions without a run to be dropped", || versions(&proxy) == 2);

    fs::write(open, "").unwrap();
    let rest = Streamed::read(events);
    assert_eq!(letter(&rest), Some('A'));
    wait_for("the first version to be dropped", || versions(&proxy) == 1);
    fs::remove_file(machine.plugin("echo.wasm")).unwrap();
    reload(&proxy);
    proxy.logged(&["a built-in plugin is compiled", "plugin=echo"]);
    wait_for("the last version of the file to be dropped", || versions(&proxy) == 1);
}

#[test]
fn a_run_keeps_no_old_code_of_other_plugins() {
    let machine = machine();
    let open = machine.path("open");
    machine.stand_in("waits", &["gate", open.to_str().unwrap(), "first ", "last"]);
    machine.put_plugin("echo.wasm", letter::component('A'));
    let proxy = machine.serve();
    let (_, mut events) = proxy.stream("other", "hi");
    assert!(events.by_ref().any(|item| matches!(item, StreamItem::Data(data) if data.contains("first"))));

    machine.put_plugin("echo.wasm", letter::component('B'));
    reload(&proxy);
    wait_for("the old code to be dropped", || versions(&proxy) == 1);
    fs::write(open, "").unwrap();
    assert!(Streamed::read(events).done);
}

/// Writes one version after the other to the plugin folder, at fixed intervals, until `over`. Returns the number of swaps.
fn swap(machine: &Machine, over: &AtomicBool) -> usize {
    let components = ['A', 'B'].map(letter::component);
    let started = Instant::now();
    let mut swaps = 0;
    while !over.load(Ordering::Relaxed) {
        machine.put_plugin("echo.wasm", &components[(swaps + 1) % 2]);
        swaps += 1;
        let next = started + SWAP_INTERVAL * u32::try_from(swaps).unwrap();
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    swaps
}

/// Writes a number of versions, each as soon as the one before has answered.
fn swap_after_each_answer(machine: &Machine, proxy: &Proxy, swaps: usize) {
    for next in ['B', 'A'].into_iter().cycle().take(swaps) {
        machine.put_plugin("echo.wasm", letter::component(next));
        wait_for("the next version", || letter(&proxy.streamed("echo", "hi")) == Some(next));
    }
}

/// The maximum number of versions, sampled until `over`.
fn max_versions(proxy: &Proxy, over: &AtomicBool) -> i64 {
    let mut max = 0;
    while !over.load(Ordering::Relaxed) {
        max = max.max(versions(proxy));
        thread::sleep(Duration::from_millis(20));
    }
    max
}

#[test]
fn no_request_fails_or_is_answered_by_two_versions_while_they_are_swapped() {
    let (machine, over) = (machine(), AtomicBool::new(false));
    machine.put_plugin("echo.wasm", letter::component('A'));
    let proxy = machine.serve();
    let is_over = || over.load(Ordering::Relaxed);
    let (results, max) = thread::scope(|scope| {
        let sampling = scope.spawn(|| max_versions(&proxy, &over));
        let results = if let Some(lasting) = seconds() {
            let stop = Instant::now() + Duration::from_secs(5);
            let own = load::ask_until(&proxy, "echo", CLIENTS, || Instant::now() >= stop);
            println!("without swaps: {own}");
            scope.spawn(|| swap(&machine, &over));
            let results = load::ask_at(&proxy, "echo", own.rate() * SHARE, lasting);
            over.store(true, Ordering::Relaxed);
            results
        } else {
            scope.spawn(|| {
                swap_after_each_answer(&machine, &proxy, 6);
                over.store(true, Ordering::Relaxed);
            });
            load::ask_until(&proxy, "echo", CLIENTS, is_over)
        };
        (results, sampling.join().unwrap())
    });
    let letters: Vec<_> = results.answers.iter().map(letter).collect();
    let of = |wanted| letters.iter().filter(|letter| **letter == wanted).count();
    let (a, b) = (of(Some('A')), of(Some('B')));
    println!("{results}\n{a} times A, {b} times B, {max} versions at most");
    let faulty = results.answers.iter().find(|answer| letter(answer).is_none());
    assert!(a > 0 && b > 0 && results.failed == 0 && faulty.is_none(), "{faulty:?}");
    // Besides the version in use, each request keeps the one that it started with: those in flight, and one that checked
    // for the next version.
    let kept = i64::try_from(results.max_in_flight).unwrap() + 1;
    assert!(max <= 1 + kept, "{max} versions, and {} requests in flight", results.max_in_flight);
    wait_for("old versions to be dropped", || versions(&proxy) == 1);
}

#[test]
fn memory_does_not_grow_with_the_swaps() {
    let machine = machine();
    let components = ['A', 'B'].map(letter::component);
    let proxy = machine.serve();
    let swap = |number: usize| {
        machine.put_plugin("echo.wasm", &components[number % 2]);
        reload(&proxy);
        if number.is_multiple_of(10) {
            assert_eq!(letter(&proxy.streamed("echo", "hi")), Some('A'));
        }
    };
    // The use of memory settles only after some swaps.
    let (first, last) = if seconds().is_some() { (100, 1000) } else { (40, 100) };
    (0..first).for_each(swap);
    let before = proxy.resident();
    (first..last).for_each(swap);
    let after = proxy.resident();
    println!("{before} KiB after {first} swaps, {after} KiB after {last}");
    wait_for("old versions to be dropped", || versions(&proxy) == 1);
    let max = before + ALLOCATOR + KEPT * (last - first) as u64;
    assert!(after <= max, "{before} KiB, then {after} KiB: the maximum is {max}");
}
