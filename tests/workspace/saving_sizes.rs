//! Work of any size and with any file names is saved; and the errors where it cannot be.

use std::fs;

use crate::support::{Machine, Proxy, Repo, chat, error, quoted};

/// A number of files whose list is larger than 1 MiB: each name has a hundred characters.
const MANY: usize = 12_000;

/// A machine with a repository, and an agent that runs this script in a worktree of it.
fn machine(cli: &str) -> (Machine, Repo) {
    let machine = Machine::new();
    let repo = machine.repo("repo").with("file.txt", "first\n");
    let (name, dir) = (repo.name(), machine.name("trees"));
    let model = format!(
        "driver = \"generic\"\nprogram = \"cli\"\nrepo = \"{name}\"\noptions = {{ answer = \"whole\" }}\nretries = 1\n"
    );
    let models = format!(
        "[limits]\nretry_initial_delay = 0\n[models.tree]\n{model}worktree = {{ dir = \"{dir}\" }}\n[models.plain]\n{model}"
    );
    machine.write("proxy.toml", models);
    machine.script("cli", &format!("{cli}\necho done"));
    (machine, repo)
}

/// A line of shell that creates many files.
fn many() -> String {
    format!("n={}; i=0; while [ $i -lt {MANY} ]; do echo $i > $n$i; i=$((i+1)); done", "x".repeat(95))
}

/// Runs the agent, and returns the ref of its saved work once everything else is removed.
fn saved(machine: &Machine, proxy: &Proxy) -> String {
    let answer = proxy.complete(&chat("tree", "hi"));
    assert_eq!(answer.status, 200, "{answer:?}");
    proxy.wait_until_idle();
    assert_eq!(fs::read_dir(machine.path("trees")).unwrap().count(), 0, "{}", proxy.log());
    answer.header("x-agentbay-ref").unwrap().to_owned()
}

fn files(repo: &Repo, name: &str) -> usize {
    repo.git(&["ls-tree", "-r", "--name-only", name]).lines().count()
}

#[test]
pub(crate) fn twelve_thousand_new_files_are_saved_and_removed() {
    let (machine, repo) = machine(&many());
    let name = saved(&machine, &machine.serve());
    assert_eq!(files(&repo, &name), MANY + 2);
}

/// Several ways to delete everything: the files, the `.git` file, and the folder.
#[test]
pub(crate) fn a_deletion_of_everything_is_saved() {
    for delete in ["rm -r *", "rm -rf * .git", "for f in * .git; do rm -r $f; done"] {
        let (machine, repo) = machine(delete);
        for number in 0..MANY {
            fs::write(machine.path(&format!("repo/{}{number}", "x".repeat(95))), "x").unwrap();
        }
        repo.git(&["add", "."]);
        repo.git(&["commit", "--quiet", "--message", "many"]);
        let name = saved(&machine, &machine.serve());
        assert_eq!(files(&repo, &name), 0, "{delete}");
        assert_eq!(repo.git(&["rev-parse", &format!("{name}^")]), repo.git(&["rev-parse", "main"]));
        let patch = repo.git(&["diff", "--shortstat", "main", &name]);
        assert!(patch.trim_start().starts_with(&format!("{} files changed", MANY + 2)), "{patch}");
    }
}

#[test]
fn commits_in_a_worktree_whose_folder_the_agent_removed_are_kept() {
    let git = "git -c user.name=Agent -c user.email=agent@example.invalid";
    let (machine, repo) = machine(&format!("echo one > one; git add one; {git} commit -qm one; rm -rf \"$PWD\""));
    let name = saved(&machine, &machine.serve());
    assert_eq!(repo.git(&["show", &format!("{name}:one")]), "one");
}

#[test]
pub(crate) fn files_of_every_name_are_saved() {
    // Every byte but NUL and the slash, between letters; names like options; and names that other systems do not allow.
    let octals: Vec<String> = (1..=255u8).filter(|byte| *byte != b'/').map(|byte| format!("{byte:o}")).collect();
    let (machine, repo) = machine(&format!(
        "for o in {}; do n=$(printf \"n\\\\$o.\"); echo $o > \"$n\"; done\n\
         for n in -x --all ':(top)x' git~1 '.git ' 'a\\b' CON ' '; do echo x > \"./$n\"; done",
        octals.join(" ")
    ));
    // Names of files that git is told to ignore are listed as well.
    let hidden = machine.path("repo");
    let name = std::os::unix::ffi::OsStrExt::from_bytes;
    let name: &std::ffi::OsStr = name(b"h\xff\n");
    fs::write(hidden.join(name), "first").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "--quiet", "--message", "a name"]);
    let cli = fs::read_to_string(machine.path("bin/cli")).unwrap();
    let hide = "for h in h*; do git update-index --assume-unchanged \"$h\"; echo changed > \"$h\"; done\n";
    machine.script("cli", &cli.replacen("#!/bin/sh\n", hide, 1));

    let saved = saved(&machine, &machine.serve());
    let listed = repo.git(&["-c", "core.quotePath=true", "ls-tree", "-r", "--name-only", &saved]);
    assert_eq!(listed.lines().count(), 254 + 8 + 3, "{listed}");
    let found = repo.git(&["grep", "--count", "changed", &saved]);
    assert_eq!(found.lines().count(), 1, "{found}");
}

#[test]
pub(crate) fn a_conflicting_ref_is_reported_before_the_agent_starts_and_no_header_names_a_ref() {
    for name in ["refs/agentbay", "refs/agentbay-base"] {
        let (machine, repo) = machine("echo work > new");
        repo.git(&["update-ref", name, "HEAD"]);
        let proxy = machine.serve();
        let answer = proxy.complete(&chat("tree", "hi"));
        let json = answer.json();
        let message = json["error"]["message"].as_str().unwrap();
        let run =
            message.split(&format!("cannot lock ref '{name}/")).nth(1).expect(message).split('\'').next().unwrap();
        let text = format!(
            "the work of a run could not be saved in {}, under refs/agentbay/ and refs/agentbay-base/: fatal: prepare: cannot \
             lock ref '{name}/{run}': '{name}' exists; cannot create '{name}/{run}'. If another ref conflicts, rename \
             it: `git update-ref refs/NEW REF`, then `git update-ref -d REF`",
            repo.name()
        );
        assert_eq!((answer.status, &json), (500, &error(&text, "server_error", None, "configuration", None)));
        assert_eq!((answer.header("x-agentbay-model"), answer.header("x-agentbay-ref")), (Some("tree"), None));
        proxy.wait_until_idle();
        assert_eq!(fs::read_dir(machine.path("trees")).unwrap().count(), 0);
    }
}

#[test]
fn a_branch_with_the_name_of_our_refs_does_not_conflict() {
    let (machine, repo) = machine("echo work > new");
    repo.git(&["branch", "refs/agentbay"]);
    repo.git(&["branch", "agentbay"]);
    let name = saved(&machine, &machine.serve());
    assert_eq!(repo.git(&["show", &format!("{name}:new")]), "work");
}

#[test]
fn a_repository_with_twelve_thousand_new_files_is_recognised_as_unchanged() {
    let (machine, repo) = machine("");
    for number in 0..MANY {
        fs::write(machine.path(&format!("repo/{}{number}", "x".repeat(95))), "x").unwrap();
    }
    let attempts = machine.name("attempts");
    let quoted = quoted(&attempts);
    machine.script(
        "cli",
        &format!(
            "printf x >> {quoted}; [ $(cat {quoted}) = xx ] && echo done && exit\n\
             echo 'API Error: 503 Service Unavailable' >&2; exit 1"
        ),
    );
    assert_eq!(machine.serve().ask("plain", "hi"), "done");
    assert_eq!(
        (fs::read_to_string(attempts).unwrap().as_str(), repo.git(&["rev-list", "--count", "HEAD"])),
        ("xx", "2".to_owned())
    );
}
