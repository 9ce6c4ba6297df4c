//! Refusals of the operating system: the error names them and the remedy, and does not suggest a login.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::thread;

use crate::support::{CLIS, Machine, binary, chat, error};

fn machine(driver: &str, settings: &str) -> Machine {
    Machine::configured(&format!("[models.m]\ndriver = \"{driver}\"\nrepo = \".\"\n{settings}\n"))
}

/// A machine whose CLI is this file.
fn with_file(content: &[u8], mode: u32) -> Machine {
    let machine = machine("generic", "program = \"cli\"\noptions = { answer = \"whole\" }");
    let file = machine.path("bin/cli");
    fs::write(&file, content).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    machine
}

/// Status, code, message and detail of the error that one request receives.
fn refusal(machine: &Machine) -> (u16, String, String, String) {
    let answer = machine.serve().complete(&chat("m", "hi"));
    let error = answer.json()["error"].clone();
    let text = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
    (answer.status, text("code"), text("message"), text("detail"))
}

#[test]
pub(crate) fn t2_14_an_interpreter_that_is_not_on_path_is_named_instead_of_a_missing_model() {
    for (driver, program) in CLIS {
        for script in ["#!/usr/bin/env node-that-is-not-there\n", "#!/bin/sh\nexec node-that-is-not-there \"$@\"\n"] {
            let machine = machine(driver, "");
            let file = machine.path("bin").join(program);
            fs::write(&file, script).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            let (status, code, message, detail) = refusal(&machine);
            let expected = "the CLI's launcher cannot start `node-that-is-not-there`: install it, or put its folder on the \
                            `PATH` that AgentBay is started with";
            assert_eq!((status, code.as_str(), message.as_str()), (500, "configuration", expected), "{driver}");
            assert!(detail.contains("node-that-is-not-there"), "{detail}");
        }
    }
}

#[test]
pub(crate) fn a_refusal_of_the_system_is_reported_as_such_for_every_driver_and_not_retried() {
    for (driver, program) in CLIS {
        let machine = machine(driver, "retries = 2\n[limits]\nretry_initial_delay = \"1ms\"");
        machine.script(program, "cat >/dev/null; echo >> ../runs; cat ../says >&2; exit 1");
        let proxy = machine.serve();
        for (says, message) in [
            (
                "Error: EACCES: permission denied, mkdir '/home/u/.cli'\n    at Object.mkdirSync (node:fs:1:2)\n",
                "the CLI has no permission to use `/home/u/.cli`: give it to the user that AgentBay runs as",
            ),
            (
                "Error: ENOSPC: no space left on device, write\n",
                "the disk is full, or its quota is used up: make room on it",
            ),
            (
                "Error: EMFILE: too many open files, open '/x'\n",
                "the CLI can open no more files: raise `ulimit -n`, or lower `limits.runs`",
            ),
            (
                "Error in /home/u/.cli/settings.json: Unexpected token } in JSON at position 7\n",
                "the CLI cannot read its settings in `/home/u/.cli/settings.json`: correct them",
            ),
            (
                "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n",
                "the CLI ran out of memory: give it more, or lower `limits.runs`",
            ),
        ] {
            fs::write(machine.path("says"), says).unwrap();
            fs::write(machine.path("runs"), "").unwrap();
            // Another request each time: a repeated one would receive the remembered failure.
            let answer = proxy.complete(&chat("m", says));
            let expected = error(message, "server_error", None, "configuration", Some(says.trim()));
            assert_eq!((answer.status, answer.json()), (500, expected), "{driver}");
            assert_eq!(fs::read_to_string(machine.path("runs")).unwrap(), "\n", "{driver} was run again");
        }
    }
}

#[test]
pub(crate) fn a_file_that_this_machine_cannot_execute_is_refused_with_the_reason() {
    let stand_in = fs::read(binary("stand-in")).unwrap();
    let mut other_machine = stand_in.clone();
    // `e_machine`: no processor has this value.
    other_machine[18..20].copy_from_slice(&0xfefe_u16.to_ne_bytes());
    let mut no_loader = stand_in.clone();
    let at = no_loader.windows(8).position(|window| window == b"ld-linux").expect("the name of the loader");
    no_loader[at..at + 8].copy_from_slice(b"ld-nojoy");

    let arch = std::env::consts::ARCH;
    let files: [(&[u8], u32, &str); 9] = [
        (
            b"#!/no/such/shell\n",
            0o755,
            "names the interpreter /no/such/shell, which does not exist: install it, or correct the first line",
        ),
        (
            b"#!/bin/sh\r\necho hi\r\n",
            0o755,
            "has a first line with a Windows line end: convert it with `sed -i 's/\\r$//'`",
        ),
        (
            b"#!/usr/bin/env sh\r\necho hi\r\n",
            0o755,
            "has a first line with a Windows line end: convert it with `sed -i 's/\\r$//'`",
        ),
        (
            b"#!/etc\n",
            0o755,
            "names the interpreter /etc, which cannot be executed: correct the first line, or `chmod +x` that file",
        ),
        (
            b"#!/bin/sh\necho hi\n",
            0o644,
            "cannot be executed by the user that AgentBay runs as: `chmod +x` it, or correct its owner",
        ),
        (b"", 0o755, "is empty: install it again"),
        (b"echo hi\n", 0o755, "is a text file without a `#!` line: write the interpreter into its first line"),
        (
            &other_machine,
            0o755,
            &format!(
                "is a program for another processor, and this machine is {arch}: install the one for this machine"
            ),
        ),
        (&no_loader, 0o755, "needs the loader "),
    ];
    for (content, mode, wrong) in files {
        let machine = with_file(content, mode);
        let (status, code, message, _) = refusal(&machine);
        assert_eq!((status, code.as_str()), (500, "configuration"), "{message}");
        assert!(message.starts_with(&format!("{} {wrong}", machine.name("bin/cli"))), "{message}");
    }
}

#[test]
fn a_folder_in_place_of_a_program_is_refused_with_the_reason() {
    let machine = machine("generic", "program = \"./cli\"");
    fs::create_dir(machine.path("work/cli")).unwrap();
    let (status, code, message, _) = refusal(&machine);
    let expected = format!("{} is not a file: name the program itself", machine.name("work/cli"));
    assert_eq!((status, code.as_str(), message), (500, "configuration", expected));
    let faults = machine.faults();
    assert!(faults[0].ends_with("is not a file: name the program itself"), "{faults:?}");
}

const SCRIPT: &[u8] = b"#!/bin/sh\necho done\n";

#[test]
pub(crate) fn t2_29_the_start_of_a_program_that_is_being_written_to_is_retried() {
    for content in [SCRIPT, &fs::read(binary("stand-in")).unwrap()] {
        let machine = with_file(content, 0o755);
        let settings = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
        let args = "options = { answer = \"whole\", args = [\"say\", \"done\"] }";
        let settings = settings.replace("options = { answer = \"whole\" }", args);
        machine.write("proxy.toml", settings + "[limits]\nprogram_busy_timeout = \"10m\"\n");
        let proxy = machine.serve();
        let writing = OpenOptions::new().append(true).open(machine.path("bin/cli")).unwrap();
        thread::scope(|scope| {
            let answer = scope.spawn(|| proxy.ask("m", "hi"));
            proxy.logged(&["the program is being written to: its start is retried"]);
            drop(writing);
            assert_eq!(answer.join().unwrap().trim(), "done");
        });
    }
}

#[test]
pub(crate) fn t2_29_a_program_that_is_written_to_for_longer_is_a_failure_that_clients_may_retry() {
    let machine = with_file(SCRIPT, 0o755);
    let settings = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    machine.write("proxy.toml", settings + "retries = 0\n[limits]\nprogram_busy_timeout = \"20ms\"\n");
    let proxy = machine.serve();
    let writing = OpenOptions::new().append(true).open(machine.path("bin/cli")).unwrap();
    let answer = proxy.complete(&chat("m", "hi"));
    let message = format!("{} is being written to: try again in a moment", machine.name("bin/cli"));
    let expected = error(&message, "server_error", None, "server", None);
    assert_eq!((answer.status, answer.json(), answer.header("retry-after")), (502, expected, Some("1")));
    drop(writing);
}
