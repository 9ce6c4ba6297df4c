//! The program on a terminal: its CLIs have no terminal, and keys reach the program alone.

use std::fs;

use rustix::process::{Pid, getsid};
use serde_json::Value;

use crate::support::{Events, Machine, Proxy, Streamed, error};

/// The key that a terminal turns into SIGINT.
const CTRL_C: &[u8] = b"\x03";

/// Prints whether it has a terminal, its PID and that of the program; exits with 0 when it may end. Its signals are files.
const CLI: &str = "trap ': > ../got/INT' INT\n\
                   trap ': > ../got/TERM; exit 1' TERM\n\
                   if (: < /dev/tty) 2> /dev/null; then has=terminal; else has=none; fi\n\
                   printf '%s %s %s.' $has $$ $PPID\n\
                   until [ -e ../may-end ]; do sleep 0.01; done\n\
                   printf bye";

const MODEL: &str = "
[models.m]
driver = \"generic\"
repo = \".\"
program = \"cli\"
options = { answer = \"whole\" }
timeout = \"10m\"
";

fn machine(settings: &str) -> Machine {
    let machine = Machine::configured(&format!("{MODEL}{settings}"));
    machine.script("cli", CLI);
    fs::create_dir(machine.path("got")).unwrap();
    machine
}

/// Starts a run, and reads what its CLI prints: its terminal, its PID and that of the program.
fn started(proxy: &Proxy) -> (String, [Pid; 2], Events) {
    let (head, mut events) = proxy.stream("m", "hi");
    assert_eq!(head.status, 200, "{head:?}");
    let mut printed = String::new();
    while !printed.ends_with('.') {
        let chunk: Value = serde_json::from_str(&events.data().expect("a chunk")).unwrap();
        printed += chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_else(|| panic!("no text in {chunk}"));
    }
    let [has, cli, program] = printed.trim_end_matches('.').split(' ').collect::<Vec<_>>()[..] else {
        panic!("{printed:?}")
    };
    let pid = |number: &str| Pid::from_raw(number.parse().unwrap()).unwrap();
    (has.to_owned(), [pid(cli), pid(program)], events)
}

/// The signals that the CLI got.
fn signals(machine: &Machine) -> Vec<String> {
    let files = fs::read_dir(machine.path("got")).unwrap();
    files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn on_a_terminal_a_cli_has_none_and_ctrl_c_reaches_the_program_which_lets_the_cli_end() {
    let machine = machine("");
    let Some(proxy) = machine.serve_on_terminal() else { return };
    let (has, [cli, program], events) = started(&proxy);
    assert_eq!(has, "none");
    let session = |process| getsid(Some(process)).unwrap();
    assert_eq!([session(cli), session(program)], [cli, program], "each leads a session of its own");

    proxy.press(CTRL_C);
    proxy.logged(&["stopping", "runs=1"]);
    fs::write(machine.path("may-end"), "").unwrap();
    let rest = Streamed::read(events);
    assert_eq!((rest.content.as_str(), rest.finish_reason.as_deref(), rest.done), ("bye", Some("stop"), true));
    assert_eq!(proxy.ended().code(), Some(0));
    assert_eq!(signals(&machine), [""; 0]);
}

#[test]
fn a_cli_that_continues_after_ctrl_c_is_ended_by_the_program() {
    let machine = machine("[server]\nshutdown_timeout = 0\n[limits]\nexit_grace = \"10m\"\n");
    let Some(proxy) = machine.serve_on_terminal() else { return };
    let (_, _, events) = started(&proxy);
    proxy.press(CTRL_C);
    let error = error("the proxy is stopping", "server_error", None, "server", None);
    assert_eq!(Streamed::read(events), Streamed { error: Some(error), ..Streamed::default() });
    assert_eq!(proxy.ended().code(), Some(0));
    assert_eq!(signals(&machine), ["TERM"]);
}
