//! Real processes: their input, their output, and that none of their descendants is left.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agentbay_domain::{Environment, ExitStatus, RunId, StreamName};
use agentbay_os::process::{Child, ChildEvent, Command, SpawnError, Variables, capture, find};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio::time::timeout;

const GRACE: Duration = Duration::from_millis(300);

const MAX_KEPT: usize = 1000;

fn shell(script: &str, workdir: &Path) -> Command {
    Command {
        executable: find(Path::new("/bin/sh"), None).unwrap(),
        args: vec!["-c".to_owned(), script.to_owned()],
        workdir: workdir.to_owned(),
        variables: Variables::base(&Environment::from_pairs([("PATH", "/usr/bin:/bin")])),
        run: None,
        grace: GRACE,
        pipe_silence: GRACE,
    }
}

/// The output on one stream, and the exit status.
async fn collect(child: &mut Child, stream: StreamName) -> (String, ExitStatus) {
    let mut output = Vec::new();
    loop {
        match child.next().await {
            ChildEvent::Output(source, bytes) if source == stream => output.extend_from_slice(&bytes),
            ChildEvent::Output(..) => {}
            ChildEvent::Exited(status) => return (String::from_utf8(output).unwrap(), status),
        }
    }
}

fn pid(dir: &TempDir) -> u32 {
    fs::read_to_string(dir.path().join("pid")).unwrap().trim().parse().unwrap()
}

/// Waits until a process that is not our child is gone: a kill takes the kernel a moment.
async fn gone(pid: u32) {
    let gone = async {
        while lives(pid) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.expect("the process ends");
}

/// Whether a process exists and is not a zombie.
fn lives(pid: u32) -> bool {
    state(pid).is_some_and(|state| !state.contains('Z'))
}

/// The state of a process, if it exists.
fn state(pid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("State:")).map(str::to_owned)
}

#[tokio::test]
async fn the_exit_status_is_a_code_or_a_signal() {
    let dir = TempDir::new().unwrap();
    for (script, expected) in [("exit 3", ExitStatus::Code(3)), ("kill -TERM $$", ExitStatus::Signal(15))] {
        let captured = capture(shell(script, dir.path()), "", MAX_KEPT).await.unwrap();
        assert_eq!(captured.status, expected);
    }
}

#[tokio::test]
async fn a_command_runs_in_its_folder_and_both_streams_are_captured() {
    let dir = TempDir::new().unwrap();
    let captured = capture(shell("pwd; echo no >&2", dir.path()), "", MAX_KEPT).await.unwrap();
    assert_eq!(captured.text().trim(), dir.path().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(captured.stderr, "no\n");
}

#[tokio::test]
async fn the_captured_output_is_bounded() {
    let dir = TempDir::new().unwrap();
    let captured = capture(shell("printf 0123456789; printf 0123456789 >&2", dir.path()), "", 4).await.unwrap();
    assert_eq!((captured.text().as_ref(), captured.stderr.as_str()), ("0123", "0123"));
}

#[tokio::test]
async fn input_and_output_larger_than_a_pipe_are_transferred_at_once() {
    let dir = TempDir::new().unwrap();
    let text = "x".repeat(1024 * 1024);
    let mut child = Child::spawn(shell("cat", dir.path())).unwrap();
    child.write(text.clone());
    child.close_input();
    assert_eq!(collect(&mut child, StreamName::Stdout).await, (text, ExitStatus::Code(0)));
}

#[tokio::test]
async fn a_process_that_does_not_read_its_input_does_not_fail() {
    let dir = TempDir::new().unwrap();
    let mut child = Child::spawn(shell("exec <&-; echo done", dir.path())).unwrap();
    child.write("x".repeat(1024 * 1024));
    child.close_input();
    assert_eq!(collect(&mut child, StreamName::Stdout).await, ("done\n".to_owned(), ExitStatus::Code(0)));
}

#[tokio::test]
async fn the_exit_is_reported_although_a_descendant_holds_the_pipe() {
    let dir = TempDir::new().unwrap();
    let mut child = Child::spawn(shell("sleep 600 & echo $! >pid; echo done", dir.path())).unwrap();
    child.close_input();
    assert_eq!(collect(&mut child, StreamName::Stdout).await, ("done\n".to_owned(), ExitStatus::Code(0)));
    child.finish().await;
    gone(pid(&dir)).await;
}

#[tokio::test]
async fn stopping_ends_descendants_that_ignore_sigterm() {
    let dir = TempDir::new().unwrap();
    let script = "sh -c 'trap \"\" TERM; echo $$ >pid; echo ready; while :; do sleep 600; done' & wait";
    let mut child = Child::spawn(shell(script, dir.path())).unwrap();
    assert_eq!(child.next().await, ChildEvent::Output(StreamName::Stdout, "ready\n".into()));
    assert!(lives(pid(&dir)));
    child.stop().await;
    gone(pid(&dir)).await;
}

#[tokio::test]
async fn a_descendant_that_left_the_group_is_ended_although_the_stop_is_not_awaited() {
    let dir = TempDir::new().unwrap();
    let script = "trap '' TERM; setsid sh -c 'echo $$ >pid; echo ready; while :; do sleep 600; done' & wait; wait";
    let command = Command { run: Some(RunId::new()), grace: AGES, ..shell(script, dir.path()) };
    let mut child = Child::spawn(command).unwrap();
    assert_eq!(child.next().await, ChildEvent::Output(StreamName::Stdout, "ready\n".into()));
    assert!(timeout(Duration::ZERO, child.stop()).await.is_err());
    gone(pid(&dir)).await;
}

/// Starts a process that leaves the group, writes its number to `pid`, and loses its parent. The script ends with `code`.
fn detaching(body: &str, code: i32) -> String {
    format!(
        "(setsid sh -c 'echo $$ >pid; {body}' >/dev/null 2>&1 &) & wait; until [ -s pid ]; do sleep 0.01; done; exit {code}"
    )
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_run_detached_is_ended_with_it_and_reaped_and_that_of_another_run_is_not() {
    let (dir, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let start = |dir: &TempDir| {
        let script = detaching("exec sleep 600", 0);
        Child::spawn(Command { run: Some(RunId::new()), ..shell(&script, dir.path()) }).unwrap()
    };
    let (mut one, mut two) = (start(&dir), start(&other));
    for child in [&mut one, &mut two] {
        assert_eq!(collect(child, StreamName::Stdout).await, (String::new(), ExitStatus::Code(0)));
    }
    assert_eq!([lives(pid(&dir)), lives(pid(&other))], [true, true]);
    one.finish().await;
    assert_eq!((state(pid(&dir)), lives(pid(&other))), (None, true));
    two.finish().await;
    assert_eq!(state(pid(&other)), None);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn adopted_processes_that_end_by_themselves_are_reaped() {
    let dir = TempDir::new().unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("gate"), rustix::fs::Mode::RWXU).unwrap();
    let mut child = Child::spawn(shell(&detaching("read _ <gate", 0), dir.path())).unwrap();
    collect(&mut child, StreamName::Stdout).await;
    let reaped = async {
        while state(pid(&dir)).is_some() {
            tokio::task::yield_now().await;
        }
    };
    let ended = async {
        assert!(lives(pid(&dir)), "nothing of a process without a run is killed");
        fs::write(dir.path().join("gate"), "").unwrap();
        timeout(Duration::from_secs(60), reaped).await
    };
    tokio::select! {
        ended = ended => assert_eq!(ended, Ok(())),
        () = agentbay_os::process::reap_children() => panic!("it continues"),
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_exit_status_is_lost_while_others_are_adopted_and_reaped() {
    let mut runs = JoinSet::new();
    for code in 0..64 {
        runs.spawn(async move {
            let dir = TempDir::new().unwrap();
            let command = Command { run: Some(RunId::new()), ..shell(&detaching("exit 0", code), dir.path()) };
            let mut child = Child::spawn(command).unwrap();
            let (_output, status) = collect(&mut child, StreamName::Stdout).await;
            ([status, child.finish().await], [ExitStatus::Code(code); 2])
        });
    }
    for (seen, expected) in runs.join_all().await {
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn a_missing_folder_is_distinguished_from_a_missing_program() {
    let gone = PathBuf::from("/no/such/folder");
    let refused = Child::spawn(shell("true", &gone)).map(drop);
    assert!(matches!(refused, Err(SpawnError::Workdir(folder)) if folder == gone));
}

/// Longer than any test takes.
const AGES: Duration = Duration::from_secs(60 * 60);

#[tokio::test]
async fn a_silent_descendant_that_holds_the_pipe_is_not_waited_for() {
    let dir = TempDir::new().unwrap();
    let command = Command { grace: AGES, ..shell("sleep 600 & echo $! >pid; echo done", dir.path()) };
    let mut child = Child::spawn(Command { pipe_silence: Duration::from_millis(20), ..command }).unwrap();
    assert_eq!(collect(&mut child, StreamName::Stdout).await, ("done\n".to_owned(), ExitStatus::Code(0)));
    child.finish().await;
    gone(pid(&dir)).await;
}

#[tokio::test]
async fn output_of_a_descendant_after_the_exit_is_read() {
    let dir = TempDir::new().unwrap();
    let script = "(until [ -e gate ]; do sleep 0.01; done; echo more) & echo done";
    let command = Command { grace: AGES, pipe_silence: AGES, ..shell(script, dir.path()) };
    let mut child = Child::spawn(command).unwrap();
    assert_eq!(child.next().await, ChildEvent::Output(StreamName::Stdout, "done\n".into()));
    fs::write(dir.path().join("gate"), "").unwrap();
    assert_eq!(collect(&mut child, StreamName::Stdout).await, ("more\n".to_owned(), ExitStatus::Code(0)));
}

#[tokio::test]
async fn all_own_output_is_read_although_a_descendant_holds_the_pipe_and_the_grace_time_is_zero() {
    const BYTES: usize = 300_000;
    for _ in 0..20 {
        let dir = TempDir::new().unwrap();
        let script = format!("sleep 600 & head -c {BYTES} /dev/zero; head -c 50000 /dev/zero >&2");
        let command = shell(&script, dir.path());
        let mut child =
            Child::spawn(Command { grace: Duration::ZERO, pipe_silence: Duration::ZERO, ..command }).unwrap();
        let (mut stdout, mut stderr) = (0, 0);
        while let ChildEvent::Output(source, bytes) = child.next().await {
            match source {
                StreamName::Stdout => stdout += bytes.len(),
                StreamName::Stderr => stderr += bytes.len(),
            }
        }
        assert_eq!((stdout, stderr), (BYTES, 50_000));
    }
}

#[tokio::test]
async fn a_process_number_stays_reserved_until_all_descendants_are_ended() {
    let dir = TempDir::new().unwrap();
    let mut child = Child::spawn(shell("echo $$ >pid", dir.path())).unwrap();
    assert_eq!(collect(&mut child, StreamName::Stdout).await, (String::new(), ExitStatus::Code(0)));
    let leader = pid(&dir);
    assert!(state(leader).is_some_and(|state| state.contains('Z')), "it has ended and is not reaped");
    assert_eq!(child.finish().await, ExitStatus::Code(0));
    assert_eq!(state(leader), None);

    let mut child = Child::spawn(shell("echo $$ >pid", dir.path())).unwrap();
    collect(&mut child, StreamName::Stdout).await;
    let leader = pid(&dir);
    drop(child);
    assert_eq!(state(leader), None, "a dropped child leaves no zombie");
}

#[tokio::test]
async fn a_stubborn_process_is_killed_after_one_grace_time() {
    let dir = TempDir::new().unwrap();
    for grace in [200, 2_000, 20_000].map(Duration::from_millis) {
        let script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
        let mut child = Child::spawn(Command { grace, ..shell(script, dir.path()) }).unwrap();
        assert_eq!(child.next().await, ChildEvent::Output(StreamName::Stdout, "ready\n".into()));
        let since = Instant::now();
        assert_eq!(child.finish().await, ExitStatus::Signal(9));
        // A busy machine gets further attempts with longer ones.
        if since.elapsed() < grace + grace / 2 {
            return;
        }
    }
    panic!("the kill takes more than one grace time");
}

#[tokio::test]
async fn a_process_that_does_not_read_its_input_is_held_back_until_it_does() {
    let dir = TempDir::new().unwrap();
    let script = "echo one; until [ -e gate ]; do sleep 0.01; done; cat >/dev/null; echo two";
    let mut child = Child::spawn(shell(script, dir.path())).unwrap();
    child.write("x".repeat(200 * 1024));
    child.limit_input(1024);
    assert!(!child.is_held_back(), "input queued before the limit is not counted");
    assert_eq!(child.next().await, ChildEvent::Output(StreamName::Stdout, "one\n".into()));
    // More than the pipe may have accepted of the first bytes meanwhile.
    child.write("x".repeat(200 * 1024 + 1025));
    assert!(child.is_held_back());
    fs::write(dir.path().join("gate"), "").unwrap();
    child.close_input();
    assert_eq!(collect(&mut child, StreamName::Stdout).await, ("two\n".to_owned(), ExitStatus::Code(0)));
    assert!(!child.is_held_back());
}
