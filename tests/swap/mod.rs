//! Plugins that are swapped while requests run: each request is answered by one version, no request is lost, and old code
//! goes. `make swap` does so for the time that was promised, at a share of the rate that the machine manages; the suite until
//! some swaps have been seen.

mod letter;
mod load;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Machine, Proxy, Said, Streamed, wait_for};

/// How long a component stays.
const STAYS: Duration = Duration::from_millis(300);

/// The built-in plugin, which is kept for when the file goes.
const BUILT_IN: i64 = 1;

/// How many clients ask at once where none waits for its time.
const CLIENTS: usize = 4;

/// The share of the machine's own rate that is asked for while plugins are compiled beside.
const SHARE: f64 = 0.5;

/// What may stay of the memory of each version that is gone, in KiB, beside what the allocator has not given back yet. A
/// version that stays takes 28 KiB for its code alone.
const KEPT: u64 = 8;
const ALLOCATOR: u64 = 2048;

/// The seconds that `make swap` takes; none for the suite.
#[expect(clippy::disallowed_methods, reason = "a test is told how long it may take")]
fn seconds() -> Option<Duration> {
    std::env::var("AGENTBAY_SWAP").ok().map(|seconds| Duration::from_secs(seconds.parse().expect("seconds")))
}

fn machine() -> Machine {
    Machine::configured(
        "[limits]\nqueue = 10000\n\
         [defaults]\nrepo = \".\"\nretries = 0\nrepo_runs = 1000\n\
         [models.echo]\ndriver = \"echo\"\n\
         [models.waits]\ndriver = \"echo\"\nprogram = \"waits\"\n\
         [models.other]\ndriver = \"generic\"\nprogram = \"waits\"\noptions = { answer = \"whole\" }\n",
    )
}

/// How many versions of the plugin there are in memory, the built-in one among them.
fn versions(proxy: &Proxy) -> i64 {
    let metrics = proxy.get("/metrics").body;
    let gauge = metrics.lines().find_map(|line| line.strip_prefix("agentbay_plugin_versions{plugin=\"echo\"} "));
    gauge.expect("the gauge").parse().unwrap()
}

fn reload(proxy: &Proxy) {
    let answer = proxy.reload();
    assert_eq!((answer.status, &answer.json()["refused"]), (200, &serde_json::json!([])));
}

/// The letter of an answer that has no other.
fn letter(answer: &Streamed) -> Option<char> {
    let first = answer.content.chars().next()?;
    let is_one = answer.content.chars().all(|letter| letter == first) && answer.content.len() >= 3;
    (answer.done && answer.error.is_none() && is_one).then_some(first)
}

#[test]
fn old_code_goes_with_the_last_run_that_began_with_it() {
    let machine = machine();
    let open = machine.path("open");
    machine.stand_in("waits", &["gate", open.to_str().unwrap(), "first", "last"]);
    machine.put_plugin("echo.wasm", letter::component('A'));
    let proxy = machine.serve();
    assert_eq!(versions(&proxy), BUILT_IN + 1);
    let (_, mut events) = proxy.stream("waits", "hi");
    let begun = |said: &Said| matches!(said, Said::Data(data) if data.contains("\"content\":\"A"));
    assert!(events.by_ref().any(|said| begun(&said)));

    for new in ['B', 'C', 'B'] {
        machine.put_plugin("echo.wasm", letter::component(new));
        reload(&proxy);
        assert_eq!(letter(&proxy.streamed("echo", "hi")), Some(new));
    }
    wait_for("those without a run to go", || versions(&proxy) == BUILT_IN + 2);

    fs::write(open, "").unwrap();
    let rest = Streamed::read(events);
    assert_eq!(letter(&rest), Some('A'));
    wait_for("the first to go", || versions(&proxy) == BUILT_IN + 1);
    fs::remove_file(machine.plugin("echo.wasm")).unwrap();
    reload(&proxy);
    wait_for("the last to go", || versions(&proxy) == BUILT_IN);
}

#[test]
fn a_run_keeps_no_old_code_of_plugins_that_are_not_its_own() {
    let machine = machine();
    let open = machine.path("open");
    machine.stand_in("waits", &["gate", open.to_str().unwrap(), "first ", "last"]);
    machine.put_plugin("echo.wasm", letter::component('A'));
    let proxy = machine.serve();
    let (_, mut events) = proxy.stream("other", "hi");
    assert!(events.by_ref().any(|said| matches!(said, Said::Data(data) if data.contains("first"))));

    machine.put_plugin("echo.wasm", letter::component('B'));
    reload(&proxy);
    wait_for("the old code to go", || versions(&proxy) == BUILT_IN + 1);
    fs::write(open, "").unwrap();
    assert!(Streamed::read(events).done);
}

/// Puts one version after the other into the plugin folder, each as long as it stays, until it is over, and says how often.
fn swap(machine: &Machine, over: &AtomicBool) -> usize {
    let components = ['A', 'B'].map(letter::component);
    let begun = Instant::now();
    let mut swaps = 0;
    while !over.load(Ordering::Relaxed) {
        machine.put_plugin("echo.wasm", &components[(swaps + 1) % 2]);
        swaps += 1;
        let next = begun + STAYS * u32::try_from(swaps).unwrap();
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    swaps
}

/// Puts so many versions there, each as soon as the one before has answered.
fn swap_as_they_come(machine: &Machine, proxy: &Proxy, swaps: usize) {
    for next in ['B', 'A'].into_iter().cycle().take(swaps) {
        machine.put_plugin("echo.wasm", letter::component(next));
        wait_for("the next version", || letter(&proxy.streamed("echo", "hi")) == Some(next));
    }
}

/// The most versions that there ever were when it was looked at, until it is over.
fn most_versions(proxy: &Proxy, over: &AtomicBool) -> i64 {
    let mut most = 0;
    while !over.load(Ordering::Relaxed) {
        most = most.max(versions(proxy));
        thread::sleep(Duration::from_millis(20));
    }
    most
}

#[test]
fn no_request_fails_or_is_answered_by_two_versions_while_they_are_swapped() {
    let (machine, over) = (machine(), AtomicBool::new(false));
    machine.put_plugin("echo.wasm", letter::component('A'));
    let proxy = machine.serve();
    let is_over = || over.load(Ordering::Relaxed);
    let (told, most) = thread::scope(|scope| {
        let looking = scope.spawn(|| most_versions(&proxy, &over));
        let told = if let Some(lasting) = seconds() {
            let stop = Instant::now() + Duration::from_secs(5);
            let own = load::ask_until(&proxy, "echo", CLIENTS, || Instant::now() >= stop);
            println!("by itself: {own}");
            scope.spawn(|| swap(&machine, &over));
            let told = load::ask_at(&proxy, "echo", own.rate() * SHARE, lasting);
            over.store(true, Ordering::Relaxed);
            results
        } else {
            scope.spawn(|| {
                swap_as_they_come(&machine, &proxy, 6);
                over.store(true, Ordering::Relaxed);
            });
            load::ask_until(&proxy, "echo", CLIENTS, is_over)
        };
        (told, looking.join().unwrap())
    });
    let letters: Vec<_> = told.answers.iter().map(letter).collect();
    let of = |wanted| letters.iter().filter(|letter| **letter == wanted).count();
    let (a, b) = (of(Some('A')), of(Some('B')));
    println!("{told}\n{a} times A, {b} times B, {} versions at the most", most - BUILT_IN);
    let faulty = told.answers.iter().find(|answer| letter(answer).is_none());
    assert!(a > 0 && b > 0 && told.failed == 0 && faulty.is_none(), "{faulty:?}");
    // Beside the one that is in use, each request keeps the one that it began with: those that were out, and one that
    // looked whether the next version was there.
    let kept = i64::try_from(told.most_at_once).unwrap() + 1;
    assert!(most <= BUILT_IN + 1 + kept, "{most} versions, and {} requests at once", told.most_at_once);
    wait_for("old versions to go", || versions(&proxy) == BUILT_IN + 1);
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
    // How much memory is taken settles only after some.
    let (first, last) = if seconds().is_some() { (100, 1000) } else { (40, 100) };
    (0..first).for_each(swap);
    let before = proxy.resident();
    (first..last).for_each(swap);
    let after = proxy.resident();
    println!("{before} KiB after {first} swaps, {after} KiB after {last}");
    wait_for("old versions to go", || versions(&proxy) == BUILT_IN + 1);
    let most = before + ALLOCATOR + KEPT * (last - first) as u64;
    assert!(after <= most, "{before} KiB, then {after} KiB: {most} at the most");
}
