//! Processes and work left behind when the program is killed, or when a process leaves the group of its CLI.

use std::fs;
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use crate::support::{Machine, Proxy, Request, chat, is_alive, processes_marked_by, wait_for};

/// Runs at once.
const RUNS: usize = 8;

/// A model in worktrees whose CLI ignores SIGTERM and never ends, nor does a process that it starts. Each run creates a
/// file in its worktree, and a folder in `alive` with the locks of both processes.
fn stubborn() -> Machine {
    let machine = Machine::configured(
        "[models.m]\ndriver = \"generic\"\nrepo = \"../repo\"\nprogram = \"cli\"\nworktree = { dir = \"../trees\" }\n\
         options = { answer = \"whole\" }\n[limits]\nexit_grace = \"200ms\"\n",
    );
    machine.repo("repo");
    fs::create_dir(machine.path("alive")).unwrap();
    std::os::unix::fs::symlink("/bin/mkdir", machine.path("tools/mkdir")).unwrap();
    let alive = machine.name("alive");
    machine.stand_in("hang", &["hang", &format!("{alive}/DIR"), "here"]);
    let hang = fs::read_to_string(machine.path("bin/hang")).unwrap().replace("DIR'", "'$$");
    machine
        .script("cli", &format!("trap '' TERM; echo work > new; mkdir {alive}/$$\n{}", hang.lines().nth(1).unwrap()));
    machine
}

/// The locks of all processes that runs have started.
fn processes(machine: &Machine) -> Vec<PathBuf> {
    let runs = fs::read_dir(machine.path("alive")).unwrap().map(|run| run.unwrap().path());
    runs.flat_map(|run| [run.join("leader"), run.join("descendant")]).filter(|file| file.exists()).collect()
}

#[test]
pub(crate) fn no_process_outlives_a_killed_program_and_the_work_is_saved_at_the_next_start() {
    let machine = stubborn();
    let proxy = machine.serve();
    let ask = Request::complete(&chat("m", "hi"));
    let _clients: Vec<_> = (0..RUNS).map(|_| ask.open(proxy.address())).collect();
    wait_for("all to run", || processes(&machine).len() == 2 * RUNS);
    proxy.signal(Signal::KILL);
    assert_eq!(proxy.ended().code(), None);
    for file in processes(&machine) {
        wait_for("the watchdog to end it", || !is_alive(&file));
    }

    let repo = machine.repo_at("repo");
    assert_eq!(fs::read_dir(machine.path("trees")).unwrap().count() / 2, RUNS);
    let proxy = machine.serve();
    wait_for("the worktrees to be removed", || fs::read_dir(machine.path("trees")).unwrap().count() == 0);
    let saved = repo.git(&["for-each-ref", "--format=%(refname)", "refs/agentbay/"]);
    assert_eq!(saved.lines().count(), RUNS);
    for name in saved.lines() {
        assert_eq!(repo.git(&["show", &format!("{name}:new")]), "work");
    }
    proxy.stop();
}

#[test]
fn the_watchdog_kills_the_processes_of_a_host_when_its_standard_input_ends() {
    let machine = stubborn();
    let cli = fs::read_to_string(machine.path("bin/cli")).unwrap();
    let mark = machine.name("mark");
    machine.script("cli", &cli.replace("#!/bin/sh", &format!("echo $AGENTBAY_RUN > {mark}.new; mv {mark}.new {mark}")));
    std::os::unix::fs::symlink("/bin/mv", machine.path("tools/mv")).unwrap();
    let proxy = machine.serve();
    let _client = Request::complete(&chat("m", "hi")).open(proxy.address());
    wait_for("it to run", || processes(&machine).len() == 2);
    let mark = fs::read_to_string(mark).unwrap();
    let (_run, host) = mark.trim().split_once('/').unwrap();
    let other = format!("1{host}");
    assert_eq!(machine.run(&["watchdog", &other]).code, Some(0));
    assert!(processes(&machine).iter().all(|file| is_alive(file)), "the watchdog of another host leaves it alone");
    assert_eq!(machine.run(&["watchdog", host]).code, Some(0));
    assert!(!processes(&machine).iter().any(|file| is_alive(file)));
}

#[test]
pub(crate) fn a_process_that_left_the_group_of_its_cli_is_killed_with_the_run() {
    let machine = Machine::configured(
        "[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\noptions = { answer = \"whole\" }\n",
    );
    std::os::unix::fs::symlink("/usr/bin/setsid", machine.path("tools/setsid")).unwrap();
    let processes = machine.hanging("hang", "");
    let script = format!(
        "setsid hang </dev/null >/dev/null 2>&1 & until [ -e {} ]; do sleep 0.01; done; printf done",
        processes[1].display()
    );
    machine.script("cli", &script);
    let proxy = machine.serve();
    assert_eq!(proxy.ask("m", "hi"), "done");
    for file in processes {
        wait_for("it to be ended", || !is_alive(&file));
    }
}

/// A process of the test itself with this mark, once its script has started another program.
#[expect(clippy::disallowed_methods, reason = "a process that another host, or nobody, has started")]
fn marked(mark: &str, script: &str) -> Child {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script])
        .env("AGENTBAY_RUN", mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = shell.spawn().unwrap();
    let name = format!("/proc/{}/comm", child.id());
    wait_for("the program", || fs::read_to_string(&name).unwrap() == "sleep\n");
    child
}

/// Starts a run of a server, and returns its client and the parts of its mark: the run, the server, its start time in ticks, and the
/// boot.
fn start(machine: &Machine, proxy: &Proxy) -> (TcpStream, [String; 4]) {
    let client = Request::complete(&chat("m", "hi")).open(proxy.address());
    wait_for("it to run", || processes(machine).len() == 2);
    let (process, _) = processes_marked_by(proxy.pid()).next().unwrap();
    let environment = fs::read_to_string(format!("/proc/{}/environ", process.as_raw_nonzero())).unwrap();
    let mark = environment.split('\0').find_map(|variable| variable.strip_prefix("AGENTBAY_RUN=")).unwrap();
    (client, mark.split('/').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap())
}

/// The start time of another server.
fn later(ticks: &str) -> u64 {
    ticks.parse::<u64>().unwrap() + 1
}

#[test]
fn a_server_answers_only_after_the_processes_of_a_killed_one_have_ended() {
    let machine = stubborn();
    let proxy = machine.serve();
    let (_client, [run, host, ticks, boot]) = start(&machine, &proxy);
    let of_a_killed_server = format!("{run}/{host}/{}/{boot}", later(&ticks));
    let mut left = marked(&of_a_killed_server, "trap '' TERM; exec sleep 600");
    assert_eq!(machine.serve().get("/readyz").status, 200);
    // It was killed after `exit_grace`.
    assert_eq!(left.try_wait().unwrap().and_then(|ended| ended.signal()), Some(9));
}

#[test]
pub(crate) fn only_processes_of_a_host_that_certainly_ended_are_killed_whatever_the_clock_shows() {
    let machine = stubborn();
    let proxy = machine.serve();
    let (_client, [run, host, ticks, boot]) = start(&machine, &proxy);
    let (later, another) = (later(&ticks), "0f".repeat(16));

    let mut gone = marked(&format!("{run}/{host}/{later}/{boot}"), "exec sleep 600");
    // The last mark has a time of day as its start: after a step of the clock, a running host would seem to have ended.
    let others = [
        format!("{run}/{host}/{ticks}/{boot}"),
        format!("{run}/{host}/{ticks}/{another}"),
        format!("{run}/{host}/{later}/{another}"),
        format!("{run}/{host}/1764300000"),
    ];
    let mut left: Vec<_> = others.iter().map(|mark| marked(mark, "exec sleep 600")).collect();
    machine.write("proxy.toml", "[models.echo]\ndriver = \"echo\"\nrepo = \".\"\n");
    drop(machine.serve());
    assert_eq!(gone.wait().unwrap().signal(), Some(15));
    for (process, mark) in left.iter_mut().zip(others) {
        assert_eq!(process.try_wait().unwrap(), None, "{mark} was ended");
        process.kill().unwrap();
        process.wait().unwrap();
    }
    assert!(processes(&machine).iter().all(|file| is_alive(file)), "a run of the other server was ended");
}

#[test]
pub(crate) fn a_second_signal_ends_the_program_even_if_a_task_blocks() {
    let machine = Machine::configured(
        "[server]\nshutdown_timeout = \"10m\"\n[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\n",
    );
    machine.script("cli", "while :; do sleep 617; done");
    let proxy = machine.serve();
    let _client = Request::complete(&chat("m", "hi")).open(proxy.address());
    wait_for("the run", || proxy.get("/v1/runs").body.contains("\"m\""));
    proxy.signal(Signal::TERM);
    proxy.logged(&["stopping"]);
    proxy.signal(Signal::TERM);
    assert_eq!(proxy.ended().code(), Some(1));
}
