//! The program as the first process of a container, here of a PID namespace.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Machine, wait_for};

/// Leaves a child that has left its process group, and prints the number of zombies of the first process.
const CLI: &str = "/bin/sh -c '/usr/bin/setsid /bin/sh -c : &'\n\
                   n=0\n\
                   for stat in /proc/[0-9]*/stat; do\n\
                   read -r line < $stat || continue\n\
                   case ${line##*) } in 'Z 1 '*) n=$((n + 1)) ;; esac\n\
                   done\n\
                   echo zombies $n";

/// The children of a process.
fn children(pid: u32) -> Vec<i32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    children.split_whitespace().map(|child| child.parse().unwrap()).collect()
}

#[test]
fn the_first_process_reaps_orphans_and_forwards_signals() {
    let machine = Machine::configured("[models.m]\ndriver = \"generic\"\nrepo = \".\"\nprogram = \"cli\"\n");
    machine.script("cli", CLI);
    let Some(proxy) = machine.serve_as_first_process() else { return };
    proxy.ask("m", "hi");
    // Each run leaves another orphan, and may end before it.
    wait_for("none to be left", || proxy.ask("m", "hi") == "zombies 0");

    let [first] = children(proxy.pid())[..] else { panic!("the namespace has one first process") };
    kill_process(Pid::from_raw(first).unwrap(), Signal::TERM).unwrap();
    assert_eq!(proxy.ended().code(), Some(0));
}
