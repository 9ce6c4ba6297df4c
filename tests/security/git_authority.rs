//! The host's git runs no command that a repository names, in any of its settings, and still runs what the user has configured.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::{Machine, Proxy, Repo, chat, is_alive, with_time_enough};

/// Keys whose value git runs, from its documentation. The command planted under each key writes its own file.
const COMMANDS: [&str; 52] = [
    "alias.add",
    "alias.status",
    "alias.write-tree",
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.gitProxy",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "credential.https://x.invalid.helper",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "diff.tool",
    "difftool.evil.cmd",
    "filter.evil-clean.clean",
    "filter.evil-smudge.smudge",
    "filter.evil-process.process",
    "gc.recentObjectsHook",
    "gpg.program",
    "gpg.openpgp.program",
    "gpg.ssh.defaultKeyCommand",
    "gpg.ssh.program",
    "gpg.x509.program",
    "guitool.evil.cmd",
    "hook.evil.command",
    "imap.tunnel",
    "init.templateDir",
    "interactive.diffFilter",
    "man.evil.cmd",
    "merge.evil.driver",
    "mergetool.evil.cmd",
    "pager.diff",
    "pager.log",
    "pager.reflog",
    "pager.status",
    "receive.certNonceSeed",
    "remote.origin.receivepack",
    "remote.origin.uploadpack",
    "sendemail.ccCmd",
    "sendemail.sendmailCmd",
    "sendemail.toCmd",
    "sequence.editor",
    "submodule.evil.update",
    "tar.tar.gz.command",
    "trailer.evil.cmd",
    "trailer.evil.command",
    "uploadpack.packObjectsHook",
    "web.browser",
    "lfs.extension.evil.clean",
];

/// Settings that make git run more of them.
const SWITCHES: [(&str, &str); 9] = [
    ("commit.gpgSign", "true"),
    ("tag.gpgSign", "true"),
    ("push.gpgSign", "true"),
    ("log.showSignature", "true"),
    ("filter.evil-clean.required", "true"),
    ("filter.evil-process.required", "true"),
    ("hook.evil.event", "post-checkout"),
    ("gc.auto", "1"),
    ("submodule.recurse", "true"),
];

const ATTRIBUTES: &str = "*.clean filter=evil-clean\n*.smudge filter=evil-smudge\n*.process filter=evil-process\n\
                          * diff=evil merge=evil\n";

/// The agent's actions, without git: new and changed files for every filter; one is a helper.
const AGENT: &str = "for f in clean smudge process; do echo new > new.$f; echo changed > old.$f; done\n\
                     mkdir -p tools/agent; echo tool > tools/agent/t.clean; echo done";

/// A machine whose repository has files for every filter, and two models that work in it: `tree` and `plain`.
fn machine() -> (Machine, Repo) {
    let machine = Machine::new();
    let repo = machine.repo("repo").with(".gitattributes", ATTRIBUTES);
    for filter in ["clean", "smudge", "process"] {
        repo.commit(&format!("old.{filter}"), "old\n");
    }
    let (name, dir) = (repo.name(), machine.name("trees"));
    let model = format!(
        "driver = \"generic\"\nprogram = \"cli\"\nrepo = \"{name}\"\noptions = {{ answer = \"whole\" }}\n\
         policy = {{ may_create_helpers = true, auto_commit = true }}\n"
    );
    machine.write(
        "proxy.toml",
        format!("[models.tree]\n{model}worktree = {{ dir = \"{dir}\" }}\n[models.plain]\n{model}"),
    );
    symlink("/bin/mkdir", machine.path("tools/mkdir")).unwrap();
    machine.script("cli", AGENT);
    fs::create_dir(machine.path("proofs")).unwrap();
    (machine, repo)
}

/// A program that records its execution.
fn evil(machine: &Machine, key: &str) -> String {
    let name = key.replace(['/', ':'], "_");
    let file = machine.path(&format!("evil-{name}"));
    fs::write(&file, format!("#!/bin/sh\n: > '{}'\nexec cat\n", machine.name(&format!("proofs/{name}")))).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file.to_str().unwrap().to_owned()
}

/// The programs that were run.
fn proofs(machine: &Machine) -> Vec<String> {
    let mut proofs: Vec<_> = fs::read_dir(machine.path("proofs"))
        .unwrap()
        .map(|proof| proof.unwrap().file_name().into_string().unwrap())
        .collect();
    proofs.sort();
    proofs
}

/// Writes all keys into a settings file.
fn plant(machine: &Machine, repo: &Repo, file: &str) {
    for key in COMMANDS {
        repo.git(&["config", "--file", file, key, &evil(machine, key)]);
    }
    for (key, value) in SWITCHES {
        repo.git(&["config", "--file", file, key, value]);
    }
    let hooks = machine.name("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit"] {
        fs::copy(evil(machine, hook), format!("{hooks}/{hook}")).unwrap();
    }
    repo.git(&["config", "--file", file, "core.hooksPath", &hooks]);
}

/// Runs a model, waits until the run is cleaned up, and returns its ref.
fn run(proxy: &Proxy, model: &str) -> String {
    let answer = proxy.complete(&chat(model, "hi"));
    assert_eq!(answer.status, 200, "{answer:?}");
    proxy.wait_until_idle();
    answer.header("x-agentbay-ref").unwrap_or_default().to_owned()
}

/// Locations of a repository's settings: the name, and the function that creates one.
const PLACES: [(&str, &str); 4] = [
    ("config", ""),
    ("included", "include.path"),
    ("included-if", "includeIf.gitdir:/.path"),
    ("config.worktree", "extensions.worktreeConfig"),
];

#[test]
pub(crate) fn no_command_that_a_repository_names_is_run() {
    for (place, key) in PLACES {
        let (machine, repo) = machine();
        let file = machine.name(&format!("repo/.git/{place}"));
        plant(&machine, &repo, &file);
        match key {
            "" => {}
            "extensions.worktreeConfig" => drop(repo.git(&["config", key, "true"])),
            key => drop(repo.git(&["config", key, &file])),
        }
        let proxy = machine.serve();
        let name = run(&proxy, "tree");
        run(&proxy, "plain");
        let id = name.strip_prefix("refs/agentbay/").unwrap();
        assert_eq!(proxy.get(&format!("/v1/runs/{id}/diff")).status, 200);
        proxy.stop();
        machine.run(&["worktree", "prune"]);
        assert_eq!(proofs(&machine), Vec::<String>::new(), "{place}");
        // Nothing is lost or changed.
        for filter in ["clean", "smudge", "process"] {
            assert_eq!(repo.git(&["cat-file", "blob", &format!("{name}:new.{filter}")]), "new", "{place}");
        }
        assert_eq!(repo.git(&["cat-file", "blob", "HEAD:tools/agent/t.clean"]), "tool", "{place}");
        // The user's git would have run them.
        fs::write(machine.path("repo/mine.clean"), "mine\n").unwrap();
        repo.git(&["add", "mine.clean"]);
        assert!(proofs(&machine).contains(&"filter.evil-clean.clean".to_owned()), "{place}");
    }
}

#[test]
pub(crate) fn what_an_agent_plants_in_its_worktree_is_not_run_when_its_work_is_saved() {
    let plants = [
        // As settings of the worktree, and of the repository.
        "git config extensions.worktreeConfig true; git config --worktree filter.evil-clean.clean EVIL",
        "git config filter.evil-clean.clean EVIL; git config filter.evil-clean.required true",
        // A separate repository in place of the file that names git's folder.
        "rm .git; git init --quiet .; git config filter.evil-clean.clean EVIL",
        "rm .git",
        // Another folder in place of the worktree.
        "git config extensions.worktreeConfig true; git config --worktree core.worktree ELSEWHERE",
        "git config core.worktree ELSEWHERE",
    ];
    for plant in plants {
        let (machine, repo) = machine();
        fs::create_dir(machine.path("elsewhere")).unwrap();
        fs::write(machine.path("elsewhere/secret"), "secret").unwrap();
        let elsewhere = machine.name("elsewhere");
        let line = plant.replace("EVIL", &evil(&machine, "planted")).replace("ELSEWHERE", &elsewhere);
        machine.script("cli", &format!("echo new > new.clean\n{line}\necho done"));
        let proxy = machine.serve();
        let name = run(&proxy, "tree");
        assert_eq!((proofs(&machine), fs::read_dir(machine.path("trees")).unwrap().count()), (vec![], 0), "{plant}");
        assert_eq!(fs::read_to_string(machine.path("elsewhere/secret")).unwrap(), "secret");
        let git_dir = machine.name("repo/.git");
        let shown =
            repo.git(&["--git-dir", &git_dir, "--work-tree", repo.name(), "ls-tree", "-r", "--name-only", &name]);
        let expected = ".gitattributes\nREADME.md\nnew.clean\nold.clean\nold.process\nold.smudge";
        assert_eq!(shown, expected, "{plant}");
    }
}

#[test]
pub(crate) fn the_settings_of_a_repository_inside_are_not_acted_upon() {
    for model in ["plain", "tree"] {
        let (machine, repo) = machine();
        for tool in ["basename", "sed", "uname", "dirname", "ls", "tr"] {
            symlink(format!("/usr/bin/{tool}"), machine.path("tools").join(tool)).unwrap();
        }
        let module = machine.repo("module").with("f.clean", "first\n").with(".gitattributes", "* filter=evil\n");
        repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module.name(), "sub"]);
        repo.git(&["commit", "--quiet", "--message", "a submodule"]);
        let file = evil(&machine, "inside");
        let plant = format!(
            "git -c protocol.file.allow=always submodule --quiet update --init >&2\n\
             git -C sub config filter.evil.clean '{file}'; echo changed > sub/f.clean"
        );
        machine.script("cli", &format!("{plant}\necho done"));
        let proxy = machine.serve();
        // The second run meets what the first one planted.
        for _ in 0..2 {
            assert_eq!(proxy.ask(model, "hi"), "done");
            proxy.wait_until_idle();
        }
        assert_eq!(proofs(&machine), Vec::<String>::new(), "{model}");
    }
}

/// Sources of a missing object: settings of the repository that would run a command during the fetch.
const FETCHES: [(&str, &[(&str, &str)]); 7] = [
    ("/", &[("remote.origin.uploadpack", "EVIL")]),
    ("file:///", &[("remote.origin.uploadpack", "EVIL"), ("protocol.file.allow", "always")]),
    ("ssh://host.invalid/x", &[("core.sshCommand", "EVIL")]),
    ("ext::EVIL", &[("protocol.ext.allow", "always")]),
    ("ext::EVIL", &[("protocol.allow", "always")]),
    ("git://127.0.0.1:1/x", &[("core.gitProxy", "EVIL")]),
    ("EVIL", &[("remote.origin.vcs", "ext"), ("protocol.ext.allow", "always")]),
];

#[test]
pub(crate) fn a_fetch_of_what_is_missing_runs_nothing_that_the_repository_names() {
    for (url, settings) in FETCHES {
        let (machine, repo) = machine();
        let file = evil(&machine, "fetch");
        let real = |text: &str| text.replace("EVIL", &file);
        let all =
            [("remote.origin.url", url), ("remote.origin.promisor", "true"), ("extensions.partialClone", "origin")];
        for (key, value) in all.iter().chain(settings) {
            repo.git(&["config", key, &real(value)]);
        }
        repo.git(&["config", "core.repositoryFormatVersion", "1"]);
        let blob = repo.git(&["rev-parse", "HEAD:old.clean"]);
        fs::remove_file(machine.path(&format!("repo/.git/objects/{}/{}", &blob[..2], &blob[2..]))).unwrap();
        let proxy = machine.serve();
        let answer = proxy.complete(&chat("tree", "hi"));
        proxy.wait_until_idle();
        assert_eq!(proofs(&machine), Vec::<String>::new(), "{url} {settings:?}: {answer:?}");
        assert_eq!(answer.status, 500, "{url} {settings:?}: {answer:?}");
    }
}

/// A filter of the user that stores `pointer` and restores `filled`, like that of LFS.
fn user_filter(machine: &Machine) {
    machine.script("store", "cat > /dev/null; printf pointer");
    machine.script("fill", "cat > /dev/null; printf filled");
    let settings = "[filter \"lfs\"]\n\tclean = store\n\tsmudge = fill\n\trequired = true\n";
    fs::write(machine.path("home/.gitconfig"), settings).unwrap();
}

#[test]
pub(crate) fn a_filter_of_the_user_goes_on_working_also_where_the_repository_has_one_of_its_name() {
    for planted in [false, true] {
        let (machine, repo) = machine();
        repo.commit("big.bin", "pointer");
        repo.commit(".gitattributes", "*.bin filter=lfs\n");
        user_filter(&machine);
        if planted {
            for key in ["filter.lfs.clean", "filter.lfs.smudge"] {
                repo.git(&["config", key, &evil(&machine, key)]);
            }
            repo.git(&["config", "filter.lfs.required", "false"]);
        }
        machine.script("cli", "cat big.bin; echo large > new.bin");
        let proxy = machine.serve();
        let answer = proxy.complete(&chat("tree", "hi"));
        assert_eq!(answer.content(), "filled", "{planted}");
        proxy.wait_until_idle();
        let name = answer.header("x-agentbay-ref").unwrap();
        assert_eq!(repo.git(&["cat-file", "blob", &format!("{name}:new.bin")]), "pointer", "{planted}");
        assert_eq!(proofs(&machine), Vec::<String>::new());
    }
}

#[test]
fn settings_in_a_home_of_the_cli_alone_are_not_read() {
    let (machine, repo) = machine();
    let home = machine.path("planted");
    fs::create_dir_all(home.join("git")).unwrap();
    let file = evil(&machine, "home");
    let settings = format!("[filter \"evil-clean\"]\n\tclean = {file}\n\trequired = true\n");
    for name in [".gitconfig", "git/config"] {
        fs::write(home.join(name), &settings).unwrap();
    }
    let home = home.to_str().unwrap();
    let toml = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
    let env = format!(
        "env = {{ HOME = \"{home}\", XDG_CONFIG_HOME = \"{home}\", GIT_CONFIG_GLOBAL = \"{home}/.gitconfig\" }}"
    );
    machine.write("proxy.toml", format!("[defaults]\n{env}\n{toml}"));
    machine.script("cli", "echo new > new.clean; echo done");
    let proxy = machine.serve();
    let name = run(&proxy, "tree");
    run(&proxy, "plain");
    assert_eq!(repo.git(&["cat-file", "blob", &format!("{name}:new.clean")]), "new");
    assert_eq!(proofs(&machine), Vec::<String>::new());
}

#[test]
fn t2_18_a_hook_that_fails_in_a_fresh_worktree_prevents_no_run() {
    let (machine, repo) = machine();
    let hook = machine.path("repo/.git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\necho 'husky.sh: No such file' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let name = run(&machine.serve(), "tree");
    assert_eq!(repo.git(&["cat-file", "blob", &format!("{name}:new.clean")]), "new");
}

#[test]
fn t2_19_commits_are_made_where_signing_hangs() {
    let (machine, repo) = machine();
    machine.script("sign", "while :; do sleep 617; done");
    let sign = machine.name("bin/sign");
    for scope in [machine.path("repo/.git/config"), machine.path("home/.gitconfig")] {
        let scope = scope.to_str().unwrap();
        for (key, value) in [("commit.gpgSign", "true"), ("gpg.program", sign.as_str())] {
            repo.git(&["config", "--file", scope, key, value]);
        }
    }
    let proxy = machine.serve();
    let name = run(&proxy, "tree");
    assert_eq!(repo.git(&["cat-file", "blob", &format!("{name}:new.clean")]), "new");
    run(&proxy, "plain");
    assert_eq!(repo.git(&["cat-file", "blob", "HEAD:tools/agent/t.clean"]), "tool");
}

#[test]
fn t2_21_a_filter_of_the_repository_that_is_missing_leaves_pointers_and_one_of_the_user_is_named() {
    let (machine, repo) = machine();
    repo.commit("big.bin", "pointer");
    repo.commit(".gitattributes", "*.bin filter=lfs\n");
    let settings = [("filter.lfs.process", "git-lfs-that-is-not-there"), ("filter.lfs.required", "true")];
    for (key, value) in settings {
        repo.git(&["config", key, value]);
    }
    machine.script("cli", "cat big.bin");
    let proxy = machine.serve();
    assert_eq!(proxy.ask("tree", "hi"), "pointer");
    for (key, value) in settings {
        repo.git(&["config", "--file", &machine.name("home/.gitconfig"), key, value]);
    }
    let answer = proxy.complete(&chat("tree", "hi"));
    let error = &answer.json()["error"];
    assert_eq!((answer.status, &error["code"]), (500, &"configuration".into()));
    assert!(error["message"].as_str().unwrap().contains("git-lfs-that-is-not-there"), "{error}");
}

#[test]
pub(crate) fn t2_21_a_filter_of_the_user_that_hangs_ends_with_the_time_of_its_model() {
    with_time_enough(|timeout| {
        let (machine, repo) = machine();
        repo.commit("big.bin", "pointer");
        repo.commit(".gitattributes", "*.bin filter=lfs\n");
        let alive = machine.hanging("hang", "");
        fs::write(machine.path("home/.gitconfig"), "[filter \"lfs\"]\n\tsmudge = hang\n\trequired = true\n").unwrap();
        let toml = fs::read_to_string(machine.path("work/proxy.toml")).unwrap();
        machine.write("proxy.toml", format!("[limits]\nruns = 1\n[defaults]\ntimeout = \"{timeout}\"\n{toml}"));
        let proxy = machine.serve();
        assert_eq!(proxy.complete(&chat("tree", "hi")).status, 504);
        proxy.wait_until_idle();
        // On a busy machine the time may be over before the filter starts.
        if !alive[1].exists() {
            return None;
        }
        assert!(!alive.iter().any(|file| is_alive(file)));
        assert_eq!(fs::read_dir(machine.path("trees")).unwrap().count(), 0);
        fs::remove_file(machine.path("home/.gitconfig")).unwrap();
        (proxy.complete(&chat("tree", "again")).status == 200).then_some(())
    });
}
