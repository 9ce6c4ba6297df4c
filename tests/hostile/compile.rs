//! Plugins that need much time or memory to compile: no request waits for them, and no process of a cancelled compilation
//! is left.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::bomb::{long, nest};
use super::component::{Contract, component};
use super::{known, refusal};
use crate::support::{Machine, Proxy, binary, chat, error, processes_marked_by, wait_for};

/// Two models, one of them with a plugin that has to be compiled; the start does not wait for it.
fn machine() -> Machine {
    machine_that_compiles_for("10m")
}

/// The same with this time limit for compiling.
fn machine_that_compiles_for(time: &str) -> Machine {
    let machine = Machine::configured(&format!(
        "[plugins]\nload_timeout = 0\n[plugins.m.limits]\ncompile_timeout = \"{time}\"\n[defaults]\nrepo = \".\"\n\
         [models.echo]\ndriver = \"echo\"\n[models.m]\ndriver = \"m\"\nprogram = \"cli\"\n"
    ));
    machine.stand_in("cli", &["say", "hello"]);
    machine
}

/// A plugin that works once it is compiled, which takes about a second.
fn slow() -> Vec<u8> {
    component("m", &long(100_000), &Contract::ours())
}

/// A plugin that takes minutes to compile.
fn endless() -> Vec<u8> {
    component("m", &nest(1500, 1500), &Contract::ours())
}

fn compilers(pid: u32) -> usize {
    compiler(pid).iter().count()
}

/// The compiler process of a program. At most one file is compiled.
fn compiler(pid: u32) -> Option<Pid> {
    let mut compilers = processes_marked_by(pid).filter(|(_, command)| command.contains(" compile "));
    compilers.next().map(|(process, _)| process)
}

/// A machine whose plugin is being compiled by a stopped compiler. If the compilation ends before it is stopped, another
/// machine is tried.
fn held(start: impl Fn() -> (Machine, Proxy)) -> (Machine, Proxy, Pid) {
    loop {
        let (machine, proxy) = start();
        wait_for("the compiler, or its end", || compiler(proxy.pid()).is_some() || loading(&proxy) == json!([]));
        let Some(compiler) = compiler(proxy.pid()) else { continue };
        if kill_process(compiler, Signal::STOP).is_ok() && is_stopped(compiler) {
            return (machine, proxy, compiler);
        }
    }
}

/// Whether a process that received SIGSTOP is stopped and has not ended.
fn is_stopped(process: Pid) -> bool {
    let state = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
        stat.rsplit_once(") ")?.1.chars().next()
    };
    wait_for("it to stop or end", || matches!(state(), Some('T' | 'Z') | None));
    state() == Some('T')
}

fn resume(compiler: Pid) {
    kill_process(compiler, Signal::CONT).unwrap();
}

fn loading(proxy: &Proxy) -> Value {
    known(proxy)["loading"].clone()
}

#[test]
fn a_plugin_that_is_being_compiled_blocks_no_request_and_comes_into_use_by_itself() {
    let (machine, proxy, compiler) = held(|| {
        let machine = machine();
        machine.put_plugin("m.wasm", slow());
        let proxy = machine.serve();
        (machine, proxy)
    });
    let file = machine.plugin("m.wasm");
    let answer = proxy.complete(&chat("m", "hi"));
    let message = format!("the driver `m` is still being compiled from {}: try again in a moment", file.display());
    let expected = error(&message, "rate_limit_error", None, "rate_limit", None);
    assert_eq!((answer.status, answer.header("retry-after"), answer.json()), (429, Some("10"), expected));
    assert_eq!(loading(&proxy), json!([file]));
    assert_eq!(proxy.ask("echo", "hi"), "hi");
    resume(compiler);
    wait_for("it to be compiled", || loading(&proxy) == json!([]));
    assert_eq!(proxy.ask("m", "hi"), "hello");
}

#[test]
fn the_current_version_stays_in_use_until_the_next_is_compiled() {
    let (machine, proxy, compiler) = held(|| {
        let machine = machine();
        machine.put_plugin("m.wasm", component("m", "", &Contract::ours()));
        let proxy = machine.serve();
        wait_for("the first version", || loading(&proxy) == json!([]));
        machine.put_plugin("m.wasm", slow());
        proxy.reload();
        (machine, proxy)
    });
    assert_eq!(loading(&proxy), json!([machine.plugin("m.wasm")]));
    assert_eq!(proxy.ask("m", "hi"), "hello");
    resume(compiler);
    wait_for("the next version", || loading(&proxy) == json!([]));
    assert_eq!(proxy.ask("m", "hi"), "hello");
    assert!(proxy.get("/metrics").body.contains("\nagentbay_plugin_changes_total 2\n"));
}

#[test]
fn a_compilation_that_times_out_is_refused_and_retried_on_a_requested_reload() {
    let machine = machine_that_compiles_for("300ms");
    let file = machine.put_plugin("m.wasm", endless());
    let proxy = machine.serve();
    let reason =
        "took longer than 300ms to compile: raise `limits.plugin_compile_timeout` in proxy.toml if it needs more";
    let refused = || wait_for("it to be refused", || refusal(&known(&proxy), "m") == reason);
    refused();
    wait_for("its compiler to be gone", || compilers(proxy.pid()) == 0);
    assert_eq!(proxy.get("/readyz").status, 200);

    let settings = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    machine.write("proxy.toml", settings + "\n# Something else.\n");
    proxy.logged(&["reloaded", "generation=3 "]);
    assert_eq!((loading(&proxy), refusal(&known(&proxy), "m").as_str()), (json!([]), reason));
    let asked = proxy.reload().json();
    assert_eq!((&asked["loading"], &asked["refused"]), (&json!([file]), &json!([])));
    refused();
}

#[test]
fn the_compilation_of_a_replaced_or_removed_file_is_ended() {
    let machine = machine();
    let file = machine.put_plugin("m.wasm", endless());
    let proxy = machine.serve();
    wait_for("its compiler to run", || compilers(proxy.pid()) == 1);
    machine.put_plugin("m.wasm", component("m", "", &Contract::ours()));
    wait_for("the plugin", || proxy.complete(&chat("m", "hi")).status == 200);
    assert_eq!(compilers(proxy.pid()), 0);

    machine.put_plugin("m.wasm", endless());
    wait_for("its compiler to run", || compilers(proxy.pid()) == 1);
    fs::remove_file(file).unwrap();
    wait_for("its compiler to be gone", || compilers(proxy.pid()) == 0);
    assert_eq!(loading(&proxy), json!([]));
}

#[test]
fn a_server_can_still_compile_and_start_processes_when_its_own_file_is_replaced() {
    let machine = machine();
    let program = machine.path("bin/program");
    fs::copy(binary("agentbay"), &program).unwrap();
    let proxy = machine.serve_by(&program);
    fs::remove_file(&program).unwrap();
    machine.script("program", "exit 1");
    machine.put_plugin("m.wasm", slow());
    wait_for("the plugin", || proxy.complete(&chat("m", "hi")).status == 200);
    assert_eq!(proxy.ask("echo", "hi"), "hi");
}

#[test]
fn the_system_ends_a_compiler_that_has_used_up_its_processor_time() {
    let machine = Machine::new();
    let mut compiler = machine.command(&["compile", &machine.name("cache"), "1000000000", "0"]);
    let mut compiler = compiler.stdin(Stdio::piped()).spawn().unwrap();
    compiler.stdin.take().unwrap().write_all(&endless()).unwrap();
    const SIGXCPU: i32 = 24;
    assert_eq!(compiler.wait().unwrap().signal(), Some(SIGXCPU));
}

#[test]
fn a_compiler_does_not_outlive_a_program_that_is_killed_or_terminated() {
    let machine = machine();
    machine.put_plugin("m.wasm", endless());
    for signal in [Signal::KILL, Signal::TERM] {
        let proxy = machine.serve();
        let pid = proxy.pid();
        wait_for("the compiler to run", || compilers(pid) == 1);
        proxy.signal(signal);
        proxy.ended();
        wait_for("the compiler to be gone", || compilers(pid) == 0);
    }
}
