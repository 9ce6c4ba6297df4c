//! Files that agents may add to a repository: the instructions in their prompt, and the commits.

use std::fs;
use std::thread;

use crate::support::{Machine, Proxy, Repo, chat};

const COMMITTED: &str = "policy = { may_create_helpers = true, auto_commit = true }";

/// A machine with a repository, an agent that is this script, and more settings of its model.
fn machine(cli: &str, more: &str) -> (Machine, Repo) {
    let machine = Machine::new();
    let repo = machine.repo("repo").with("file.txt", "first\n");
    let model = format!(
        "driver = \"generic\"\nprogram = \"cli\"\nrepo = \"{}\"\noptions = {{ answer = \"whole\" }}\n{more}\n",
        repo.name()
    );
    machine.write("proxy.toml", format!("[models.m]\n{model}"));
    std::os::unix::fs::symlink("/bin/mkdir", machine.path("tools/mkdir")).unwrap();
    std::os::unix::fs::symlink("/bin/ln", machine.path("tools/ln")).unwrap();
    std::os::unix::fs::symlink("/bin/chmod", machine.path("tools/chmod")).unwrap();
    machine.script("cli", cli);
    (machine, repo)
}

/// Asks the agent and waits until the run is over. Returns its name.
fn run(proxy: &Proxy) -> String {
    let answer = proxy.complete(&chat("m", "hi"));
    assert_eq!(answer.status, 200, "{answer:?}");
    proxy.wait_until_idle();
    answer.json()["id"].as_str().unwrap().strip_prefix("chatcmpl-").unwrap().to_owned()
}

/// The newest commit: its subject and files.
fn newest(repo: &Repo) -> String {
    repo.git(&["show", "--format=%s", "--name-status", "HEAD"])
}

/// The entry of a log, with its time replaced by `TIME`.
fn entries(log: &str) -> String {
    let timeless = |line: &str| match line.strip_prefix("- ").and_then(|rest| rest.split_once(' ')) {
        Some((time, rest)) if time.len() == 20 && time.ends_with('Z') => format!("- TIME {rest}"),
        _ => line.to_owned(),
    };
    log.lines().map(timeless).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_prompt_says_what_the_agent_may_add() {
    let (machine, _repo) = machine("cat", "policy = { may_create_helpers = true, helpers_dir = \"bin\" }");
    let answer = machine.serve().complete(&chat("m", "hi")).json();
    let expected = "You may leave small helper scripts and tools for later tasks in this repository, as new files in \
                    `bin/` and nowhere else.\n\n--- USER TASK ---\nhi";
    assert_eq!(answer["choices"][0]["message"]["content"], expected);
}

#[test]
fn new_files_in_the_folder_are_committed_with_an_entry_in_the_log_and_nothing_else_is() {
    let (machine, repo) = machine(
        "mkdir -p tools/agent/deep; echo 'echo hi' > tools/agent/hi; chmod +x tools/agent/hi; echo x > tools/agent/deep/x\n\
         echo 'a b' > 'tools/agent/ä b'; git add tools/agent/hi; echo changed > file.txt; echo other > other; echo ok",
        COMMITTED,
    );
    let id = run(&machine.serve());
    let files = "A\tAGENT_LOG.md\nA\ttools/agent/deep/x\nA\ttools/agent/hi\nA\t\"tools/agent/\\303\\244 b\"";
    assert_eq!(newest(&repo), format!("Helpers that an agent added\n\n{files}"));
    let body = repo.git(&["show", "--no-patch", "--format=%an <%ae>%n%b", "HEAD"]);
    assert_eq!(body, format!("AgentBay <agentbay@localhost>\nRun: {id}\nModel: m"));
    assert_eq!(repo.git(&["status", "--porcelain"]), " M file.txt\n?? other");
    assert_eq!(repo.git(&["ls-tree", "--format=%(objectmode)", "HEAD", "tools/agent/hi"]), "100755");
    let entry = format!("- TIME run `{id}` of `m`: `tools/agent/deep/x`, `tools/agent/hi`, `tools/agent/ä b`");
    let log = fs::read_to_string(machine.path("repo/AGENT_LOG.md")).unwrap();
    assert_eq!(entries(&log), format!("# Files that agents added\n\n{entry}"));
}

#[test]
fn files_that_existed_before_are_not_committed() {
    let (machine, repo) =
        machine("echo changed > tools/agent/mine; echo changed > tools/agent/known; echo ok", COMMITTED);
    fs::create_dir_all(machine.path("repo/tools/agent")).unwrap();
    repo.commit("tools/agent/known", "known\n");
    fs::write(machine.path("repo/tools/agent/mine"), "mine\n").unwrap();
    let before = repo.git(&["rev-parse", "HEAD"]);
    run(&machine.serve());
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(repo.git(&["status", "--porcelain"]), " M tools/agent/known\n?? tools/agent/mine");
}

#[test]
fn staged_and_changed_files_of_the_user_stay_so_including_the_log() {
    let (machine, repo) = machine("mkdir -p tools/agent; echo x > tools/agent/x; echo ok", COMMITTED);
    repo.commit("AGENT_LOG.md", "first\n");
    fs::write(machine.path("repo/AGENT_LOG.md"), "first\nstaged").unwrap();
    fs::write(machine.path("repo/file.txt"), "staged\n").unwrap();
    repo.git(&["add", "."]);
    fs::write(machine.path("repo/AGENT_LOG.md"), "first\nstaged\nchanged\n").unwrap();
    let id = run(&machine.serve());
    assert_eq!(newest(&repo), "Helpers that an agent added\n\nM\tAGENT_LOG.md\nA\ttools/agent/x");
    assert_eq!(repo.git(&["status", "--porcelain"]), "MM AGENT_LOG.md\nM  file.txt");
    let entry = format!("- TIME run `{id}` of `m`: `tools/agent/x`");
    let log = |name: &str| entries(&repo.git(&["show", name]));
    assert_eq!(log("HEAD:AGENT_LOG.md"), format!("first\n{entry}"));
    assert_eq!(log(":AGENT_LOG.md"), format!("first\nstaged\n{entry}"));
    let file = fs::read_to_string(machine.path("repo/AGENT_LOG.md")).unwrap();
    assert_eq!(entries(&file), format!("first\nstaged\nchanged\n{entry}"));
}

#[test]
fn links_nested_repositories_and_ignored_files_are_not_committed() {
    let (machine, repo) = machine(
        "mkdir -p tools/agent; ln -s /etc/passwd tools/agent/link; git init --quiet tools/agent/inner\n\
         echo x > tools/agent/inner/x; echo x > tools/agent/a.o; echo ok",
        COMMITTED,
    );
    repo.commit(".gitignore", "*.o\n");
    let before = repo.git(&["rev-parse", "HEAD"]);
    run(&machine.serve());
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), before);
}

#[test]
fn a_log_that_is_a_link_is_not_followed() {
    let (machine, repo) =
        machine("mkdir -p tools/agent; echo x > tools/agent/x; ln -s ../outside AGENT_LOG.md; echo ok", COMMITTED);
    fs::write(machine.path("outside"), "").unwrap();
    let before = repo.git(&["rev-parse", "HEAD"]);
    let proxy = machine.serve();
    run(&proxy);
    proxy.logged(&["WARN", "not committed, and still there", "it is not a plain file"]);
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(fs::read_to_string(machine.path("outside")).unwrap(), "");
}

#[test]
fn nothing_is_committed_during_a_merge_or_after_a_failed_run() {
    let (machine, repo) = machine("mkdir -p tools/agent; echo x > tools/agent/x; echo ok", COMMITTED);
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.commit("side.txt", "side\n");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-commit", "--no-ff", "side"]);
    let before = repo.git(&["rev-parse", "HEAD"]);
    let proxy = machine.serve();
    run(&proxy);
    proxy.logged(&["WARN", "not committed, and still there", "while MERGE_HEAD exists"]);
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), before);

    repo.git(&["merge", "--abort"]);
    machine.script("cli", "echo y > tools/agent/y; echo no >&2; exit 3");
    assert_eq!(proxy.complete(&chat("m", "hi")).status, 500);
    proxy.wait_until_idle();
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? tools/");
}

#[test]
fn in_a_worktree_helpers_are_a_separate_commit_below_the_rest() {
    let more = format!("{COMMITTED}\nworktree = {{ dir = \"WORKTREES\" }}");
    let (machine, repo) = machine("mkdir -p tools/agent; echo x > tools/agent/x; echo other > other; echo ok", &more);
    let config = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    machine.write("proxy.toml", config.replace("WORKTREES", &machine.name("worktrees")));
    let before = repo.git(&["rev-parse", "main"]);
    let id = run(&machine.serve());
    assert_eq!(repo.git(&["rev-parse", "main"]), before);
    let log = repo.git(&["log", "--format=%s", "--name-status", &format!("main..refs/agentbay/{id}")]);
    let helpers = "Helpers that an agent added\n\nA\tAGENT_LOG.md\nA\ttools/agent/x";
    assert_eq!(log, format!("Work of run {id}\n\nA\tother\n{helpers}"));
}

#[test]
fn each_run_adds_its_own_log_entry() {
    let (machine, repo) = machine("mkdir -p tools/agent; echo x > tools/agent/$$; echo ok", COMMITTED);
    let proxy = machine.serve();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(proxy.complete(&chat("m", "hi")).status, 200));
        }
    });
    proxy.wait_until_idle();
    assert_eq!(repo.git(&["log", "--format=%s", "-3"]).matches("Helpers that an agent added").count(), 3);
    assert_eq!(repo.git(&["show", "HEAD:AGENT_LOG.md"]).matches("- 2").count(), 3);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}
