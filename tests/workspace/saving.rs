//! Work that is saved besides the files of a worktree: abandoned commits, staged and hidden changes, unfinished merges. And
//! the kinds of repository that worktrees are created from.

use std::fs;

use crate::support::{Machine, Proxy, Repo, chat, error, wait_for};

/// The first line of the script of an agent that commits.
const GIT: &str = "g() { git -c user.name=Agent -c user.email=agent@example.invalid \"$@\"; }\n";

/// A machine with a repository and an agent that runs this script in a worktree of it.
fn machine(cli: &str) -> (Machine, Repo) {
    let machine = Machine::new();
    let repo = machine.repo("repo").with("AGENTS.md", "RULES\n").with("file.txt", "first\n");
    configure(&machine, repo.name());
    machine.script("cli", &format!("{GIT}{cli}\necho done"));
    (machine, repo)
}

fn configure(machine: &Machine, repo: &str) {
    let dir = machine.name("worktrees");
    let options = "options = { answer = \"whole\" }";
    let worktree = format!("worktree = {{ dir = \"{dir}\" }}");
    let model = format!("driver = \"generic\"\nprogram = \"cli\"\nrepo = \"{repo}\"\n{options}\n{worktree}\n");
    machine.write("proxy.toml", format!("[models.m]\n{model}"));
}

/// Asks the agent, and returns its answer and the ref of its saved work.
fn ask(proxy: &Proxy) -> (String, String) {
    let answer = proxy.complete(&chat("m", "hi"));
    let text = answer.content();
    (text, answer.header("x-agentbay-ref").unwrap().to_owned())
}

/// The ref of the agent's saved work, once its worktree is removed.
fn saved(machine: &Machine, repo: &Repo) -> String {
    let proxy = machine.serve();
    let (_answer, name) = ask(&proxy);
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    name
}

/// The subjects of the commits that are reachable from a name and not from `main`.
fn subjects(repo: &Repo, name: &str) -> Vec<String> {
    let log = repo.git(&["log", "--format=%s", name, "--not", "main"]);
    let mut subjects: Vec<String> = log.lines().map(str::to_owned).collect();
    subjects.sort();
    subjects
}

fn run_of(name: &str) -> &str {
    name.strip_prefix("refs/agentbay/").unwrap()
}

#[test]
fn commits_that_the_agent_abandoned_are_kept() {
    let (machine, repo) = machine(
        "echo one > one; git add one; g commit --quiet -m one; git checkout --quiet --detach HEAD~\n\
         echo two > two; git add two; g commit --quiet -m two; git checkout --quiet --detach HEAD~",
    );
    let name = saved(&machine, &repo);
    assert_eq!(subjects(&repo, &name), [format!("Work of run {}", run_of(&name)).as_str(), "one", "two"]);
    assert_eq!(repo.git(&["rev-parse", &format!("{name}^{{tree}}")]), repo.git(&["rev-parse", "main^{tree}"]));
}

#[test]
fn a_commit_on_a_branch_is_kept_by_the_branch_alone() {
    let (machine, repo) = machine(
        "git checkout --quiet -b feature; echo one > one; git add one; g commit --quiet -m one\n\
         git checkout --quiet --detach main",
    );
    let name = saved(&machine, &repo);
    assert_eq!(repo.git(&["for-each-ref", &name]), "");
    assert_eq!(subjects(&repo, "feature"), ["one"]);
}

#[test]
fn staged_content_that_was_changed_later_is_kept() {
    let (machine, repo) = machine("echo staged > file.txt; git add file.txt; echo changed > file.txt");
    let name = saved(&machine, &repo);
    assert_eq!(repo.git(&["show", &format!("{name}:file.txt")]), "changed");
    assert_eq!(repo.git(&["show", &format!("{name}^2:file.txt")]), "staged");
    let run = run_of(&name);
    assert_eq!(subjects(&repo, &name), [format!("Staged changes of run {run}"), format!("Work of run {run}")]);
}

#[test]
fn staged_content_that_is_unchanged_is_kept_once() {
    let (machine, repo) = machine("echo staged > file.txt; git add file.txt; echo new > new.txt");
    let name = saved(&machine, &repo);
    assert_eq!(repo.git(&["show", &format!("{name}:file.txt")]), "staged");
    assert_eq!(subjects(&repo, &name), [format!("Work of run {}", run_of(&name))]);
}

#[test]
fn files_that_the_agent_hid_from_git_are_kept() {
    let (machine, repo) = machine(
        "git update-index --assume-unchanged file.txt; echo changed > file.txt\n\
         git update-index --skip-worktree AGENTS.md; echo CHANGED > AGENTS.md",
    );
    let name = saved(&machine, &repo);
    assert_eq!(repo.git(&["diff", "--name-status", "main", &name]), "M\tAGENTS.md\nM\tfile.txt");
    assert_eq!(repo.git(&["show", &format!("{name}:file.txt")]), "changed");
}

#[test]
fn a_file_left_out_of_a_sparse_worktree_does_not_count_as_deleted() {
    let (machine, repo) = machine("git sparse-checkout set --no-cone /file.txt; echo changed > file.txt");
    let name = saved(&machine, &repo);
    assert_eq!(repo.git(&["diff", "--name-status", "main", &name]), "M\tfile.txt");
}

#[test]
fn a_merge_with_conflicts_is_kept_with_both_sides() {
    let (machine, repo) = machine(
        "echo ours > file.txt; g commit --quiet --all -m ours\n\
         git checkout --quiet --detach HEAD~; echo theirs > file.txt; g commit --quiet --all -m theirs\n\
         g merge --quiet HEAD@{2} >&2; git checkout --quiet --theirs file.txt; echo solved >> file.txt",
    );
    let name = saved(&machine, &repo);
    let run = run_of(&name);
    assert_eq!(subjects(&repo, &name), [format!("Work of run {run}").as_str(), "ours", "theirs"]);
    assert_eq!(repo.git(&["show", &format!("{name}:file.txt")]), "ours\nsolved");
}

#[test]
fn a_rebase_that_stopped_half_way_is_kept_with_its_remaining_commits() {
    let (machine, repo) = machine(
        "echo base > file.txt; g commit --quiet --all -m base; base=$(git rev-parse HEAD)\n\
         git checkout --quiet --detach HEAD~; echo mine > file.txt; g commit --quiet --all -m mine\n\
         echo more > more.txt; git add more.txt; g commit --quiet -m more\n\
         g rebase --quiet \"$base\" >&2",
    );
    let name = saved(&machine, &repo);
    let left = format!("Work of run {}", run_of(&name));
    assert_eq!(subjects(&repo, &name), [left.as_str(), "base", "mine", "more"]);
}

#[test]
fn a_bare_repository_provides_worktrees_and_its_agent_file() {
    let (machine, repo) = machine("cat; echo; echo new > new.txt");
    repo.git(&["clone", "--quiet", "--bare", repo.name(), &machine.name("bare")]);
    configure(&machine, &machine.name("bare"));
    let (answer, name) = ask(&machine.serve());
    assert_eq!(answer, "RULES\n\n--- USER TASK ---\nhi\ndone");
    let bare = Repo::at(machine.path("bare"));
    wait_for("the worktree to be removed", || bare.worktrees() == 0);
    assert_eq!(bare.git(&["show", &format!("{name}:new.txt")]), "new");
}

#[test]
fn a_linked_worktree_can_be_the_repository() {
    let (machine, repo) = machine("cat file.txt; echo new > new.txt");
    repo.git(&["worktree", "add", "--quiet", "-b", "side", &machine.name("side")]);
    let side = Repo::at(machine.path("side")).with("file.txt", "of the side\n");
    configure(&machine, side.name());
    let (answer, name) = ask(&machine.serve());
    assert_eq!(answer, "of the side\ndone");
    wait_for("the worktree to be removed", || repo.git(&["worktree", "list"]).lines().count() == 2);
    assert_eq!(repo.git(&["diff", "--name-status", "side", &name]), "A\tnew.txt");
}

#[test]
fn an_agent_works_in_the_same_folder_of_the_worktree_as_of_the_repository() {
    let (machine, repo) = machine("pwd; cat; echo; echo new > new.txt; echo up > ../up.txt");
    fs::create_dir(machine.path("repo/app")).unwrap();
    repo.commit("app/AGENTS.md", "APP\n");
    configure(&machine, &machine.name("repo/app"));
    let proxy = machine.serve();
    let (answer, name) = ask(&proxy);
    let workdir = machine.name(&format!("worktrees/{}/app", run_of(&name)));
    assert_eq!(answer, format!("{workdir}\nAPP\n\n--- USER TASK ---\nhi\ndone"));
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
    assert_eq!(repo.git(&["diff", "--name-status", "main", &name]), "A\tapp/new.txt\nA\tup.txt");

    let head = repo.git(&["rev-parse", "HEAD"]);
    fs::create_dir(machine.path("repo/late")).unwrap();
    configure(&machine, &machine.name("repo/late"));
    proxy.stop();
    let proxy = machine.serve();
    let answer = proxy.complete(&chat("m", "hi"));
    let late = machine.name("repo/late");
    let message =
        format!("the folder {late} is not in the commit {head}, from which worktrees are created: commit it first");
    let expected = error(&message, "server_error", None, "configuration", None);
    assert_eq!((answer.status, answer.json()), (500, expected));
    wait_for("the worktree to be removed", || repo.worktrees() == 0);
}
