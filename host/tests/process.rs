//! Processes, started for real: what is said to them, what they say, and that nothing of them is left.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentbay::domain::{ExitStatus, StreamName};
use agentbay::process::{Child, Command, HostVariables, Sign, SpawnError, Variables, capture, find};
use tempfile::TempDir;

const GRACE: Duration = Duration::from_millis(300);

const KEPT: usize = 1000;

fn shell(script: &str, workdir: &Path) -> Command {
    Command {
        executable: find(Path::new("/bin/sh"), None).unwrap(),
        args: vec!["-c".to_owned(), script.to_owned()],
        workdir: workdir.to_owned(),
        variables: Variables::base(&[("PATH".into(), "/usr/bin:/bin".into())].into_iter().collect::<HostVariables>()),
        run: None,
        grace: GRACE,
    }
}

/// What came of one stream, and how the process ended.
async fn listen(child: &mut Child, stream: StreamName) -> (String, ExitStatus) {
    let mut heard = Vec::new();
    loop {
        match child.next().await {
            Sign::Output(source, bytes) if source == stream => heard.extend_from_slice(&bytes),
            Sign::Output(..) => {}
            Sign::Exited(status) => return (String::from_utf8(heard).unwrap(), status),
        }
    }
}

fn pid(dir: &TempDir) -> u32 {
    fs::read_to_string(dir.path().join("pid")).unwrap().trim().parse().unwrap()
}

/// Waits until a process that is not our child is gone: the kernel takes a moment to carry a kill out.
async fn gone(pid: u32) {
    let gone = async {
        while lives(pid) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.expect("it is still there");
}

/// Whether a process is there, other than as an entry that nobody has waited for yet.
fn lives(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status"));
    status.is_ok_and(|status| !status.lines().any(|line| line.starts_with("State:") && line.contains('Z')))
}

#[tokio::test]
async fn it_ends_with_its_code_or_its_signal() {
    let dir = TempDir::new().unwrap();
    for (script, expected) in [("exit 3", ExitStatus::Code(3)), ("kill -TERM $$", ExitStatus::Signal(15))] {
        let captured = capture(shell(script, dir.path()), "", KEPT).await.unwrap();
        assert_eq!(captured.status, expected);
    }
}

#[tokio::test]
async fn both_streams_and_the_folder_are_its_own() {
    let dir = TempDir::new().unwrap();
    let captured = capture(shell("pwd; echo no >&2", dir.path()), "", KEPT).await.unwrap();
    assert_eq!(captured.text().trim(), dir.path().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(captured.stderr, "no\n");
}

#[tokio::test]
async fn what_is_kept_of_a_command_is_bounded() {
    let dir = TempDir::new().unwrap();
    let captured = capture(shell("printf 0123456789; printf 0123456789 >&2", dir.path()), "", 4).await.unwrap();
    assert_eq!((captured.text().as_ref(), captured.stderr.as_str()), ("0123", "0123"));
}

#[tokio::test]
async fn more_than_a_pipe_holds_goes_in_while_as_much_comes_out() {
    let dir = TempDir::new().unwrap();
    let said = "x".repeat(1024 * 1024);
    let mut child = Child::spawn(shell("cat", dir.path())).unwrap();
    child.write(said.clone());
    child.close_input();
    assert_eq!(listen(&mut child, StreamName::Stdout).await, (said, ExitStatus::Code(0)));
}

#[tokio::test]
async fn a_process_that_does_not_read_is_no_failure() {
    let dir = TempDir::new().unwrap();
    let mut child = Child::spawn(shell("exec <&-; echo done", dir.path())).unwrap();
    child.write("x".repeat(1024 * 1024));
    child.close_input();
    assert_eq!(listen(&mut child, StreamName::Stdout).await, ("done\n".to_owned(), ExitStatus::Code(0)));
}

#[tokio::test]
async fn its_end_is_seen_although_a_descendant_holds_the_pipe() {
    let dir = TempDir::new().unwrap();
    let mut child = Child::spawn(shell("sleep 600 & echo $! >pid; echo done", dir.path())).unwrap();
    child.close_input();
    assert_eq!(listen(&mut child, StreamName::Stdout).await, ("done\n".to_owned(), ExitStatus::Code(0)));
    child.settle().await;
    gone(pid(&dir)).await;
}

#[tokio::test]
async fn stopping_ends_descendants_that_do_not_listen_to_reason() {
    let dir = TempDir::new().unwrap();
    let script = "sh -c 'trap \"\" TERM; echo $$ >pid; echo ready; while :; do sleep 600; done' & wait";
    let mut child = Child::spawn(shell(script, dir.path())).unwrap();
    assert_eq!(child.next().await, Sign::Output(StreamName::Stdout, "ready\n".into()));
    assert!(lives(pid(&dir)));
    child.stop().await;
    gone(pid(&dir)).await;
}

#[tokio::test]
async fn a_missing_folder_is_told_apart_from_a_missing_program() {
    let gone = PathBuf::from("/no/such/folder");
    let refused = Child::spawn(shell("true", &gone)).map(drop);
    assert!(matches!(refused, Err(SpawnError::Workdir(folder)) if folder == gone));
}
