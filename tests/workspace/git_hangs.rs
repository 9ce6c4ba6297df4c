//! Git commands that hang, before the CLI, after it and at the start of the program: they are ended with their descendants,
//! the client is answered, the repository is free, and nothing is lost. The first git on PATH can be made to hang.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Machine, Proxy, Repo, Request, chat, error, is_alive, quoted, wait_for, with_time_enough};

/// A machine whose models work in one repository: `tree` in worktrees of it, `plain` in the repository itself. Their CLI
/// writes a file. `silent` prints nothing before there is a file `go`. If git's arguments contain the words in the file `hang`, git ignores SIGTERM and waits for processes that
/// never end, in a separate session.
fn machine(limits: &str) -> (Machine, Repo) {
    let machine = Machine::new();
    let repo = machine.repo("repo").with("AGENTS.md", "RULES\n");
    let (name, trees) = (repo.name(), machine.name("trees"));
    let settings = format!(
        "[limits]\nruns = 1\nqueue = 9\nretry_initial_delay = 0\n{limits}\n[defaults]\nrepo = \"{name}\"\n\
         [models.tree]\ndriver = \"generic\"\nprogram = \"cli\"\nworktree = {{ dir = \"{trees}\" }}\n\
         [models.silent]\ndriver = \"generic\"\nprogram = \"silent\"\n\
         [models.plain]\ndriver = \"generic\"\nprogram = \"cli\"\n"
    );
    machine.write("proxy.toml", settings);
    std::os::unix::fs::symlink("/usr/bin/setsid", machine.path("tools/setsid")).unwrap();
    machine.hanging("hang", "");
    let git = quoted(&fs::canonicalize(machine.path("tools/git")).unwrap().display().to_string());
    let hang = quoted(&machine.name("hang"));
    machine.script(
        "git",
        &format!(
            // Read once: the file may be removed between two reads, and empty words match all arguments.
            "words=$(cat {hang} 2>/dev/null); if [ -n \"$words\" ]; then case \" $* \" in *\" $words\"*)\n\
             trap '' TERM; setsid hang & while :; do sleep 617; done ;; esac; fi\nexec {git} \"$@\""
        ),
    );
    machine.script("cli", &format!("echo started >> {}; echo work > new; echo done", quoted(&machine.name("started"))));
    let go = quoted(&machine.name("go"));
    machine.script("silent", &format!("until [ -e {go} ]; do sleep 0.02; done; echo done"));
    (machine, repo)
}

fn hang(machine: &Machine, words: &str) {
    fs::write(machine.path("hang.new"), words).unwrap();
    fs::rename(machine.path("hang.new"), machine.path("hang")).unwrap();
}

fn unhang(machine: &Machine) {
    fs::remove_file(machine.path("hang")).unwrap();
}

/// The lock files of the processes of a hanging git.
fn processes(machine: &Machine) -> [PathBuf; 2] {
    ["alive/leader", "alive/descendant"].map(|name| machine.path(name))
}

/// Waits until a git hangs, with its processes.
fn wait_for_a_hang(machine: &Machine) {
    for file in processes(machine) {
        wait_for("git to hang", || file.exists() && is_alive(&file));
    }
}

/// Waits until all processes of a hanging git are ended.
fn wait_for_its_end(machine: &Machine) {
    for file in processes(machine) {
        wait_for("git to be ended", || !is_alive(&file));
    }
}

fn was_started(machine: &Machine) -> bool {
    machine.path("started").exists()
}

/// The content of the folder of worktrees.
fn trees(machine: &Machine) -> Vec<String> {
    let entries = fs::read_dir(machine.path("trees")).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The active run.
fn run(proxy: &Proxy) -> Option<String> {
    let runs = proxy.get("/v1/runs").json();
    runs["data"].as_array().unwrap().first().map(|run| run["id"].as_str().unwrap().to_owned())
}

fn cancel(proxy: &Proxy) -> u16 {
    let run = run(proxy).expect("a run");
    proxy.send(&Request::get(&format!("/v1/runs/{run}")).method("DELETE")).status
}

fn message(answer: &Value) -> String {
    answer["error"]["message"].as_str().unwrap().to_owned()
}

/// The git commands before a CLI is started: a model, and words of the arguments.
const BEFORE: [(&str, &str); 2] = [("tree", "HEAD^{commit}"), ("tree", "worktree add")];

/// The git commands while a CLI starts, which tell later whether it has changed something.
const BESIDE: [(&str, &str); 3] = [("silent", "--show-toplevel"), ("silent", "status"), ("silent", "ls-files")];

#[test]
pub(crate) fn a_git_that_hangs_before_the_cli_is_ended_and_its_slot_is_free_for_the_next_run() {
    for (model, words) in BEFORE {
        let (machine, _repo) = machine("");
        let settings = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
        with_time_enough(|limit| {
            machine
                .write("proxy.toml", settings.replace("[limits]\n", &format!("[limits]\ngit_timeout = \"{limit}\"\n")));
            let proxy = machine.serve();
            hang(&machine, words);
            let answer = proxy.complete(&chat(model, "hi"));
            let command = match words.split(' ').next().unwrap() {
                "worktree" => "worktree add",
                _ => "rev-parse",
            };
            let text = format!(
                "`git {command}` in {} took longer than {limit} and was ended: find out what it waits for (a filter, the \
                 network, a slow disk), or raise `limits.git_timeout`",
                machine.name("repo")
            );
            let expected = error(&text, "server_error", None, "timeout", None);
            let json = answer.json();
            // On a busy machine another command may have exceeded the limit.
            if answer.status == 504 && message(&json).contains("took longer than") && message(&json) != text {
                return None;
            }
            assert_eq!((answer.status, json), (504, expected), "{model} {words}");
            assert!(!was_started(&machine), "{model} {words}");
            wait_for_its_end(&machine);
            unhang(&machine);
            wait_for("the run to be over", || run(&proxy).is_none());
            let answer = proxy.complete(&chat(model, "again"));
            if answer.status == 504 {
                return None;
            }
            assert_eq!(answer.status, 200, "{answer:?}");
            Some(())
        });
    }
}

#[test]
pub(crate) fn a_run_whose_git_hangs_can_be_cancelled_and_its_cli_is_never_started() {
    for (model, words) in BEFORE.into_iter().chain(BESIDE) {
        let (machine, _repo) = machine("git_timeout = \"1h\"");
        let proxy = machine.serve();
        hang(&machine, words);
        let answer = std::thread::scope(|scope| {
            let asked = scope.spawn(|| proxy.complete(&chat(model, "hi")));
            wait_for_a_hang(&machine);
            assert_eq!(cancel(&proxy), 202);
            asked.join().unwrap()
        });
        assert_eq!(
            (answer.status, message(&answer.json()).as_str()),
            (500, "the run was cancelled"),
            "{model} {words}"
        );
        wait_for_its_end(&machine);
        unhang(&machine);
        wait_for("the run to be over", || run(&proxy).is_none());
        assert_eq!((was_started(&machine), trees(&machine)), (false, vec![]), "{model} {words}");
        fs::write(machine.path("go"), "").unwrap();
        assert_eq!(proxy.ask(model, "again"), "done");
    }
}

#[test]
fn a_git_that_hangs_while_the_cli_starts_delays_nothing_and_is_ended_at_the_first_output() {
    for (model, words) in BESIDE {
        let (machine, _repo) = machine("git_timeout = \"1h\"");
        let proxy = machine.serve();
        hang(&machine, words);
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| proxy.ask(model, "hi"));
            wait_for_a_hang(&machine);
            fs::write(machine.path("go"), "").unwrap();
            assert_eq!(asked.join().unwrap(), "done", "{words}");
        });
        wait_for_its_end(&machine);
    }
}

#[test]
fn a_client_that_disconnects_ends_a_git_that_hangs() {
    let (machine, _repo) = machine("git_timeout = \"1h\"");
    let proxy = machine.serve();
    hang(&machine, "worktree add");
    let client = Request::complete(&chat("tree", "hi")).open(proxy.address());
    wait_for_a_hang(&machine);
    drop(client);
    wait_for_its_end(&machine);
    unhang(&machine);
    wait_for("the run to be over", || run(&proxy).is_none());
    assert_eq!((was_started(&machine), trees(&machine)), (false, vec![]));
}

#[test]
pub(crate) fn a_git_that_hangs_does_not_outlive_a_program_that_is_stopped() {
    for (model, words) in [("tree", "worktree add"), ("silent", "status"), ("tree", "write-tree")] {
        let (machine, repo) =
            machine("git_timeout = \"1h\"\nexit_grace = \"200ms\"\n[server]\nshutdown_timeout = \"100ms\"\n");
        let proxy = machine.serve();
        hang(&machine, words);
        let client = Request::complete(&chat(model, "hi")).open(proxy.address());
        wait_for_a_hang(&machine);
        assert!(proxy.stop().success());
        wait_for_its_end(&machine);
        drop(client);
        // Unsaved work is saved at the next start.
        unhang(&machine);
        let proxy = machine.serve();
        wait_for("the worktrees to be removed", || trees(&machine).is_empty());
        let saved = repo.git(&["for-each-ref", "--format=%(refname)", "refs/agentbay/"]);
        assert_eq!(saved.lines().count(), usize::from(was_started(&machine)), "{model} {words}");
        proxy.stop();
    }
}

#[test]
fn a_run_times_out_also_while_git_hangs() {
    with_time_enough(|timeout| {
        let (machine, _repo) = machine("git_timeout = \"1h\"");
        let settings = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
        let of_tree = format!("[models.tree]\ntimeout = \"{timeout}\"\n");
        machine.write("proxy.toml", settings.replace("[models.tree]\n", &of_tree));
        let proxy = machine.serve();
        hang(&machine, "worktree add");
        let answer = proxy.complete(&chat("tree", "hi"));
        let text =
            format!("the run took longer than {timeout} and was ended: raise `timeout` of the model if it needs more");
        let expected = error(&text, "server_error", None, "timeout", None);
        assert_eq!((answer.status, answer.json()), (504, expected));
        wait_for("the run to be over", || run(&proxy).is_none());
        assert!(!was_started(&machine));
        unhang(&machine);
        (proxy.complete(&chat("plain", "again")).status == 200).then_some(())
    });
}

#[test]
pub(crate) fn work_that_cannot_be_saved_in_time_stays_and_is_saved_at_the_next_start() {
    for words in ["write-tree", "diff-files", "update-ref refs/agentbay", "worktree remove"] {
        with_time_enough(|limit| {
            let (machine, repo) = machine(&format!("git_timeout = \"{limit}\""));
            let proxy = machine.serve();
            hang(&machine, words);
            let answer = proxy.complete(&chat("tree", "hi"));
            if answer.status == 504 {
                return None;
            }
            assert_eq!(answer.status, 200, "{answer:?}");
            proxy.logged(&["WARN", "worktree kept, nothing in it is lost", "took longer than"]);
            wait_for("the run to be over", || run(&proxy).is_none());
            wait_for_its_end(&machine);
            let listed = machine.json(&["worktree", "list"]);
            assert_eq!(listed["worktrees"][0]["state"], "stale", "{words}: {listed}");
            unhang(&machine);
            proxy.stop();
            let proxy = machine.serve();
            wait_for("the worktrees to be removed", || {
                trees(&machine).is_empty() || proxy.log().contains("longer than")
            });
            if !trees(&machine).is_empty() {
                return None;
            }
            let saved = repo.git(&["for-each-ref", "--format=%(refname)", "refs/agentbay/"]);
            assert_eq!(repo.git(&["show", &format!("{saved}:new")]), "work");
            Some(())
        });
    }
}

#[test]
fn a_client_does_not_wait_for_a_git_that_hangs_while_a_failed_attempt_is_discarded() {
    let (machine, _repo) = machine("git_timeout = \"1h\"");
    machine.script("cli", "echo 'API Error: 503 Service Unavailable' >&2; exit 1");
    let proxy = machine.serve();
    hang(&machine, "worktree remove");
    let answer = std::thread::scope(|scope| {
        let asked = scope.spawn(|| proxy.complete(&chat("tree", "hi")));
        wait_for_a_hang(&machine);
        assert_eq!(cancel(&proxy), 202);
        asked.join().unwrap()
    });
    assert_eq!((answer.status, message(&answer.json()).as_str()), (500, "the run was cancelled"));
}

#[test]
pub(crate) fn the_port_opens_while_a_git_hangs_that_releases_stale_worktrees() {
    let (machine, repo) = machine("git_timeout = \"1h\"");
    let proxy = machine.serve();
    hang(&machine, "write-tree");
    let _client = Request::complete(&chat("tree", "hi")).open(proxy.address());
    wait_for_a_hang(&machine);
    proxy.signal(Signal::KILL);
    assert_eq!(proxy.ended().code(), None);
    wait_for_its_end(&machine);

    let proxy = machine.serve();
    wait_for_a_hang(&machine);
    assert_eq!(proxy.ask("plain", "hi"), "done");
    proxy.stop();
    wait_for_its_end(&machine);
    unhang(&machine);
    let pruned = machine.run(&["worktree", "prune"]);
    assert_eq!((pruned.code, trees(&machine)), (Some(0), vec![]), "{pruned:?}");
    let saved = repo.git(&["for-each-ref", "--format=%(refname)", "refs/agentbay/"]);
    assert_eq!(repo.git(&["show", &format!("{saved}:new")]), "work");
}

#[test]
fn an_agent_file_that_is_a_pipe_is_refused_without_waiting() {
    let (machine, repo) = machine("");
    let path = machine.path("repo/PIPE.md");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0)
        .unwrap();
    std::os::unix::fs::symlink(&path, machine.path("repo/LINK.md")).unwrap();
    for file in ["PIPE.md", "LINK.md"] {
        let settings = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
        machine.write("proxy.toml", format!("{settings}agent_file = \"{file}\"\n"));
        let answer = machine.serve().complete(&chat("plain", "hi"));
        let text = format!("cannot read the agent file {}/{file}: it is not a plain file", repo.name());
        let expected = error(&text, "server_error", None, "configuration", None);
        assert_eq!((answer.status, answer.json()), (500, expected));
        machine.write("proxy.toml", settings);
    }
}
