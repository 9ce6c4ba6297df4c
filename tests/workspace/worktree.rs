//! A run in a separate git worktree: created before it, removed after it, and no work lost. The first git on PATH logs its
//! arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use serde_json::json;

use crate::runs::soak::is_soak;
use crate::support::{Machine, Proxy, Repo, Request, chat, error, quoted, read_once_there, wait_for};

/// A machine with a repository, a model that works in worktrees of it, and a CLI that is this script.
fn machine(cli: &str) -> (Machine, Repo) {
    let machine = Machine::new();
    let repo = machine.repo("repo").with("AGENTS.md", "RULES\n");
    machine.write(
        "proxy.toml",
        format!(
            "[models.m]\ndriver = \"generic\"\nprogram = \"cli\"\nrepo = \"{}\"\nworktree = {{ dir = \"{}\" }}\n",
            repo.name(),
            machine.name("worktrees"),
        ),
    );
    let log = quoted(&machine.name("log"));
    let git = quoted(&fs::canonicalize(machine.path("tools/git")).unwrap().display().to_string());
    machine.script("git", &format!("echo \"git $*\" >> {log}\nexec {git} \"$@\""));
    machine.script("cli", &format!("echo \"cli $PWD\" >> {log}\n{cli}"));
    (machine, repo)
}

/// Asks the model, and returns the name of the run and its answer.
fn run(proxy: &Proxy) -> (String, String) {
    let answer = proxy.complete(&chat("m", "hi"));
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    let id = answer["id"].as_str().unwrap().strip_prefix("chatcmpl-").unwrap();
    (id.to_owned(), answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned())
}

/// Adds tools of the host system to the machine's PATH.
fn symlink_tools(machine: &Machine, tools: &[&str]) {
    for tool in tools {
        std::os::unix::fs::symlink(format!("/usr/bin/{tool}"), machine.path("tools").join(tool)).unwrap();
    }
}

/// The calls of `git worktree` and of the CLI, in order.
fn history(machine: &Machine) -> Vec<String> {
    let log = fs::read_to_string(machine.path("log")).unwrap();
    log.lines().filter(|line| line.starts_with("cli ") || line.contains(" worktree ")).map(str::to_owned).collect()
}

/// The head of the table that `worktree prune` prints.
const PRUNED: [&str; 5] = ["RUN", "MODEL", "RESULT", "REPOSITORY", "WORKTREE"];

/// The words of each line.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().collect()).collect()
}

/// The worktrees that git lists, besides the repository itself.
fn worktrees(repo: &Repo) -> Vec<String> {
    let list = repo.git(&["worktree", "list", "--porcelain"]);
    let all = list.lines().filter_map(|line| line.strip_prefix("worktree "));
    all.filter(|path| *path != repo.name()).map(str::to_owned).collect()
}

#[test]
fn a_worktree_is_added_then_the_cli_runs_in_it_then_it_is_removed() {
    let (machine, repo) = machine("cat");
    let proxy = machine.serve();
    let (id, answer) = run(&proxy);
    assert_eq!(answer, "--- USER TASK ---\nhi");
    let worktree = machine.name(&format!("worktrees/{id}"));
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    let name = repo.name();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let expected = [
        format!("git -C {name} worktree add --detach {worktree} {head}"),
        format!("cli {worktree}"),
        format!("git -C {name} worktree remove --force --force {worktree}"),
    ];
    assert_eq!(history(&machine), expected);
    assert!(!fs::exists(worktree).unwrap());
    let mode = fs::metadata(machine.path("worktrees")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_worktree_is_removed_after_a_run_that_failed() {
    let (machine, repo) = machine("echo no >&2; exit 3");
    let proxy = machine.serve();
    assert_eq!(proxy.complete(&chat("m", "hi")).status, 500);
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
}

#[test]
pub(crate) fn case_067_changes_and_new_files_are_saved_under_a_ref_and_ignored_ones_are_not() {
    let (machine, repo) =
        machine("echo precious > new.txt; echo more >> README.md; echo x > a.o; echo '*.o' > .gitignore; echo done");
    let proxy = machine.serve();
    let (id, answer) = run(&proxy);
    assert_eq!(answer, "done");
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    let name = format!("refs/agentbay/{id}");
    assert_eq!(repo.git(&["diff", "--name-status", "HEAD", &name]), "A\t.gitignore\nM\tREADME.md\nA\tnew.txt");
    assert_eq!(repo.git(&["show", &format!("{name}:new.txt")]), "precious");
    let commit = repo.git(&["show", "--no-patch", "--format=%an <%ae> %s", &name]);
    assert_eq!(commit, format!("AgentBay <agentbay@localhost> Work of run {id}"));
    assert_eq!(repo.git(&["rev-parse", &format!("{name}^")]), repo.git(&["rev-parse", "HEAD"]));
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
pub(crate) fn case_067_only_ignored_files_leave_no_ref() {
    let (machine, repo) = machine("echo x > a.o; echo done");
    repo.commit(".gitignore", "*.o\n");
    let proxy = machine.serve();
    run(&proxy);
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    assert_eq!(repo.git(&["for-each-ref", "refs/agentbay"]), "");
}

#[test]
fn a_worktree_that_contains_another_repository_stays() {
    let (machine, repo) = machine(
        "git init --quiet inner; cd inner; echo precious > new.txt; git add .\n\
         git -c user.name=Agent -c user.email=agent@example.invalid commit --quiet --message inner\n\
         echo done",
    );
    let proxy = machine.serve();
    let (id, _) = run(&proxy);
    let worktree = machine.name(&format!("worktrees/{id}"));
    proxy.logged(&["WARN", "worktree kept", &worktree]);
    assert_eq!(worktrees(&repo), std::slice::from_ref(&worktree));
    assert_eq!(fs::read_to_string(format!("{worktree}/inner/new.txt")).unwrap(), "precious\n");
}

#[test]
pub(crate) fn thirty_two_worktrees_at_once() {
    let (machine, repo) = machine("echo done");
    let config = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    machine.write("proxy.toml", config + "[limits]\nruns = 32\n");
    let proxy = machine.serve();
    for _round in 0..if is_soak() { 10 } else { 1 } {
        thread::scope(|scope| {
            for _ in 0..32 {
                scope.spawn(|| assert_eq!(run(&proxy).1, "done"));
            }
        });
    }
    wait_for("the worktrees to be removed", || repo.worktrees() == 0);
}

#[test]
fn two_servers_share_a_repository() {
    const EACH: usize = 8;
    let (machine, repo) = machine("pwd > new.txt; pwd");
    let proxies = [machine.serve(), machine.serve()];
    let ask = |proxy: &Proxy| (0..EACH).map(|_| run(proxy)).collect::<Vec<_>>();
    let runs = thread::scope(|scope| {
        let asked = [0, 1, 0, 1].map(|at: usize| {
            scope.spawn({
                let proxy = &proxies[at];
                move || ask(proxy)
            })
        });
        asked.map(|asked| asked.join().unwrap()).concat()
    });
    wait_for("the worktrees to be removed", || repo.worktrees() == 0);
    for (id, answer) in &runs {
        assert_eq!(*answer, machine.name(&format!("worktrees/{id}")));
        assert_eq!(repo.git(&["show", &format!("refs/agentbay/{id}:new.txt")]), *answer);
    }
    assert_eq!(runs.len(), 4 * EACH);
}

#[test]
fn a_folder_inside_a_repository_causes_no_warning() {
    let (machine, repo) = machine("pwd");
    fs::create_dir(machine.path("repo/app")).unwrap();
    repo.commit("app/file", "text");
    let config = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    machine.write(
        "proxy.toml",
        config.replace(&format!("repo = \"{}\"", repo.name()), &format!("repo = \"{}/app\"", repo.name())),
    );
    let proxy = machine.serve();
    let (id, answer) = run(&proxy);
    assert_eq!(answer, machine.name(&format!("worktrees/{id}/app")));
    assert!(!proxy.log().contains("WARN"), "{}", proxy.log());
}

#[test]
pub(crate) fn case_064_a_repository_without_a_commit_is_a_clear_error() {
    let (machine, repo) = machine("echo done");
    repo.git(&["checkout", "--quiet", "--orphan", "trunk"]);
    let answer = machine.serve().complete(&chat("m", "hi"));
    let error = &answer.json()["error"];
    let message = format!(
        "the repository {} has no commit yet: make a first commit, or set `worktree = false` for the model",
        repo.name()
    );
    assert_eq!((answer.status, &error["message"], &error["code"]), (500, &message.into(), &"configuration".into()));
}

#[test]
pub(crate) fn a_commit_of_a_run_is_kept_under_a_ref() {
    let (machine, repo) = machine(
        "echo precious > new.txt; git add new.txt\n\
         git -c user.name=Agent -c user.email=agent@example.invalid commit --quiet --message 'by the agent'\n\
         echo done",
    );
    let proxy = machine.serve();
    let (id, answer) = run(&proxy);
    assert_eq!(answer, "done");
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    let refs = repo.git(&["for-each-ref", "--format=%(refname) %(subject)"]);
    let base = format!("refs/agentbay-base/{id} AGENTS.md");
    assert_eq!(refs, format!("{base}\nrefs/agentbay/{id} by the agent\nrefs/heads/main AGENTS.md"));
    assert_eq!(repo.git(&["show", &format!("refs/agentbay/{id}:new.txt")]), "precious");
}

#[test]
fn two_runs_at_once_have_two_worktrees() {
    let (machine, repo) =
        machine("echo mine > mine.txt; rm mine.txt; pwd; until [ -e \"$OPEN\" ]; do sleep 0.01; done");
    let open = machine.path("open");
    let config = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    machine.write("proxy.toml", config + &format!("env = {{ OPEN = \"{}\" }}\n", open.display()));
    let proxy = machine.serve();
    let runs = thread::scope(|scope| {
        let runs = [(); 2].map(|()| scope.spawn(|| run(&proxy)));
        wait_for("both to run", || read_once_there(&machine.path("log")).matches("cli ").count() == 2);
        fs::write(&open, "").unwrap();
        runs.map(|run| run.join().unwrap())
    });
    for (id, answer) in &runs {
        assert_eq!(*answer, machine.name(&format!("worktrees/{id}")));
    }
    assert_ne!(runs[0], runs[1]);
    wait_for("the worktrees to be removed", || repo.worktrees() == 0);
}

#[test]
fn a_folder_for_worktrees_that_others_can_open_is_refused() {
    let (machine, _repo) = machine("echo done");
    fs::create_dir(machine.path("worktrees")).unwrap();
    fs::set_permissions(machine.path("worktrees"), fs::Permissions::from_mode(0o755)).unwrap();
    let answer = machine.serve().complete(&chat("m", "hi"));
    let error = &answer.json()["error"];
    let place = machine.name("worktrees");
    let message = format!("cannot use the folder {place}: other users may open it: `chmod 700 {place}`");
    assert_eq!((answer.status, &error["message"], &error["code"]), (500, &message.into(), &"configuration".into()));
}

#[test]
fn for_a_folder_outside_of_a_repository_the_error_has_the_message_of_git() {
    let (machine, _repo) = machine("echo done");
    fs::create_dir(machine.path("empty")).unwrap();
    let config = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    machine.write("proxy.toml", config.replace("/repo\"", "/empty\""));
    let answer = machine.serve().complete(&chat("m", "hi"));
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    let begin = format!("`git rev-parse` failed in {}: fatal: not a git repository", machine.name("empty"));
    assert!(answer.status == 500 && message.starts_with(&begin), "{message}");
}

#[test]
fn the_changes_of_a_run_are_available_as_a_patch() {
    let (machine, repo) = machine("printf 'caf\\351\\n' > new.txt; echo CHANGED > AGENTS.md; echo done");
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("m", "hi"));
    let name = answer.header("x-agentbay-ref").expect("a ref").to_owned();
    let id = name.strip_prefix("refs/agentbay/").unwrap();
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    let patch = Request::get(&format!("/v1/runs/{id}/diff")).raw(proxy.address());
    let file = machine.path("patch");
    fs::write(&file, patch).unwrap();
    repo.git(&["apply", "--index", file.to_str().unwrap()]);
    assert_eq!(repo.git(&["write-tree"]), repo.git(&["rev-parse", &format!("{name}^{{tree}}")]));
}

#[test]
fn a_run_without_changes_has_no_patch() {
    let (machine, _repo) = machine("echo done");
    let proxy = machine.serve();
    let (id, _answer) = run(&proxy);
    let answer = proxy.get(&format!("/v1/runs/{id}/diff"));
    let message = format!(
        "no saved work of the run `{id}`: it left nothing in a worktree of its own, has not ended, or never existed"
    );
    let expected = error(&message, "invalid_request_error", None, "not_found", None);
    assert_eq!((answer.status, answer.json()), (404, expected));
}

#[test]
fn a_worktree_that_is_in_use_is_listed_and_not_pruned() {
    let (machine, repo) = machine("echo > ../../started; until [ -e ../../open ]; do sleep 0.01; done; echo done");
    let proxy = machine.serve();
    thread::scope(|scope| {
        let run = scope.spawn(|| run(&proxy).0);
        wait_for("the run to start", || machine.path("started").exists());
        let id = worktrees(&repo)[0].rsplit('/').next().unwrap().to_owned();
        let path = machine.name(&format!("worktrees/{id}"));
        let listed = json!({"run": id, "model": "m", "state": "in_use", "repo": repo.name(), "path": path});
        assert_eq!(machine.json(&["worktree", "list"]), json!({"worktrees": [listed]}));
        let pruned = machine.run(&["worktree", "prune"]);
        assert_eq!((pruned.code, pruned.stdout.as_str()), (Some(0), "no worktrees to remove\n"));
        assert_eq!(machine.json(&["worktree", "prune"]), json!({"worktrees": []}));
        fs::write(machine.path("open"), "").unwrap();
        assert_eq!(run.join().unwrap(), id);
    });
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
}

#[test]
pub(crate) fn case_065_stale_worktrees_are_released_and_foreign_folders_are_not_touched() {
    let (machine, repo) = machine("mkdir nested; git init --quiet nested; echo done");
    std::os::unix::fs::symlink("/bin/mkdir", machine.path("tools/mkdir")).unwrap();
    let proxy = machine.serve();
    let (first, _answer) = run(&proxy);
    proxy.logged(&["worktree kept"]);
    // A folder with a file that git does not know; a locked worktree; and a worktree whose folder is gone.
    let foreign = machine.path("worktrees/foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("file"), "precious").unwrap();
    let locked = machine.name("worktrees/locked");
    repo.git(&["worktree", "add", "--quiet", "--lock", "--detach", &locked]);
    let gone = machine.name("worktrees/gone");
    repo.git(&["worktree", "add", "--quiet", "--detach", &gone]);
    fs::remove_dir_all(&gone).unwrap();
    proxy.stop();

    let path = machine.name(&format!("worktrees/{first}"));
    let result = |result: &str| json!({"worktrees": [{"run": first, "model": "m", "result": result, "repo": repo.name(), "path": path}]});
    let kept = machine.run(&["worktree", "prune"]);
    let remark = ["its work cannot be saved: the log states why"].map(|remark| remark.split(' ').collect());
    let table = [PRUNED.to_vec(), vec![first.as_str(), "m", "kept", repo.name(), &path]];
    assert_eq!((kept.code, words(&kept.stdout)), (Some(1), [table.as_slice(), &remark].concat()));
    assert_eq!(machine.json(&["worktree", "prune"]), result("kept"));
    fs::remove_dir_all(machine.path(&format!("worktrees/{first}/nested"))).unwrap();
    let pruned = machine.run(&["worktree", "prune", "--json"]);
    assert_eq!((pruned.code, serde_json::from_str(&pruned.stdout).ok()), (Some(0), Some(result("removed"))));

    assert_eq!(fs::read_to_string(foreign.join("file")).unwrap(), "precious");
    assert_eq!(worktrees(&repo), [gone, locked]);
    assert_eq!(run(&machine.serve()).1, "done");
}

#[test]
pub(crate) fn case_066_a_submodule_that_the_agent_fills_does_not_keep_the_worktree() {
    let (machine, repo) =
        machine("git -c protocol.file.allow=always submodule --quiet update --init >&2; cat sub/f.txt");
    let module = machine.repo("module").with("f.txt", "of the submodule\n");
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module.name(), "sub"]);
    repo.git(&["commit", "--quiet", "--message", "a submodule"]);
    symlink_tools(&machine, &["basename", "sed", "uname", "dirname", "mkdir", "ls", "tr"]);
    let (_id, answer) = run(&machine.serve());
    assert_eq!(answer, "of the submodule");
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    assert_eq!(repo.git(&["for-each-ref", "refs/agentbay/"]), "");
}

#[test]
pub(crate) fn case_068_inherited_variables_of_git_have_no_effect() {
    let (machine, repo) = machine("git rev-parse --git-common-dir; echo $GIT_DIR");
    let other = machine.repo("other");
    let before = other.git(&["for-each-ref"]) + &fs::read_to_string(machine.path("other/.git/config")).unwrap();
    let (git_dir, index) = (machine.name("other/.git"), machine.name("other/.git/index"));
    let variables = [
        ("GIT_DIR", git_dir.as_str()),
        ("GIT_WORK_TREE", other.name()),
        ("GIT_INDEX_FILE", &index),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.worktree"),
        ("GIT_CONFIG_VALUE_0", other.name()),
    ];
    let proxy = machine.serve_inheriting(&variables);
    let (_id, answer) = run(&proxy);
    assert_eq!(answer, machine.name("repo/.git"));
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    let after = other.git(&["for-each-ref"]) + &fs::read_to_string(machine.path("other/.git/config")).unwrap();
    assert_eq!(after, before);
    assert!(!fs::read_to_string(machine.path("repo/.git/config")).unwrap().contains("worktree"));
}

#[test]
fn a_worktree_whose_index_an_agent_left_locked_is_saved() {
    let (machine, repo) = machine("echo work > new; : > \"$(git rev-parse --git-dir)/index.lock\"; echo done");
    let (id, answer) = run(&machine.serve());
    assert_eq!(answer, "done");
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    assert_eq!(repo.git(&["show", &format!("refs/agentbay/{id}:new")]), "work");
}

#[test]
fn hooks_of_the_repository_are_not_run() {
    let (machine, repo) = machine("echo work > new; echo done");
    let hook = machine.path("repo/.git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\n: > {}\n", machine.name("hooked"))).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let (id, _answer) = run(&machine.serve());
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    assert_eq!(repo.git(&["show", &format!("refs/agentbay/{id}:new")]), "work");
    assert!(!machine.path("hooked").exists());
}

/// The same machine with more settings of its worktrees.
fn machine_with(cli: &str, more: &str) -> (Machine, Repo) {
    let (machine, repo) = machine(cli);
    let config = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    machine.write("proxy.toml", config.replace("/worktrees\" }", &format!("/worktrees\", {more} }}")));
    (machine, repo)
}

#[test]
fn a_worktree_is_created_from_the_configured_commit() {
    let (machine, repo) = machine_with("cat AGENTS.md; git rev-parse --abbrev-ref HEAD", "base = \"older\"");
    repo.git(&["branch", "older"]);
    repo.commit("AGENTS.md", "NEWER\n");
    let proxy = machine.serve();
    assert_eq!(run(&proxy).1, "RULES\nHEAD");
    repo.git(&["branch", "--delete", "--force", "older"]);
    let answer = proxy.complete(&chat("m", "hi"));
    let message = format!(
        "`worktree.base` of the model is \"older\", which is not a commit in {}: correct it, or fetch it",
        repo.name()
    );
    let expected = error(&message, "server_error", None, "configuration", None);
    assert_eq!((answer.status, answer.json()), (500, expected));
}

#[test]
fn a_worktree_with_work_stays_until_it_is_pruned_if_configured() {
    let (machine, repo) = machine_with("echo done", "keep = \"changed\"");
    let proxy = machine.serve();
    run(&proxy);
    wait_for("a worktree without work to be removed", || repo.worktrees() == 0);
    machine.script("cli", "echo work > new; echo done");
    let (id, _answer) = run(&proxy);
    proxy.stop();
    let path = machine.name(&format!("worktrees/{id}"));
    let saved = || repo.git(&["show", &format!("refs/agentbay/{id}:new")]);
    assert_eq!((worktrees(&repo), saved().as_str()), (vec![path.clone()], "work"));

    machine.serve().stop();
    let listed = json!({"run": id, "model": "m", "state": "kept", "repo": repo.name(), "path": path});
    assert_eq!(machine.json(&["worktree", "list"]), json!({"worktrees": [listed]}));
    let pruned = machine.run(&["worktree", "prune"]);
    let table = [PRUNED.to_vec(), vec![id.as_str(), "m", "removed", repo.name(), &path]];
    assert_eq!((pruned.code, words(&pruned.stdout)), (Some(0), table.to_vec()));
    assert_eq!((worktrees(&repo), saved().as_str()), (vec![], "work"));
}
