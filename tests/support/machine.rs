//! A machine for the program: a user's home, the programs on PATH, a working folder. Only `TOOLS` are those of the machine that
//! runs the tests.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::proxy::Proxy;
use super::repo::Repo;

/// The programs that the scripts of the tests, and the program itself, need.
const TOOLS: [&str; 7] = ["cat", "git", "grep", "rm", "seq", "sh", "sleep"];

/// Settings with the model that needs no CLI.
pub(crate) const ECHO: &str = "[models.echo]\ndriver = \"echo\"\nrepo = \".\"\n";

/// The machine of one test.
pub(crate) struct Machine {
    dir: TempDir,
}

/// The exit code and the output of the program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Machine {
    /// A machine without any CLI.
    pub(crate) fn new() -> Self {
        let machine = Self { dir: tempfile::tempdir().unwrap() };
        for folder in ["home", "bin", "tools", "work"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        for tool in TOOLS {
            symlink(on_path(tool), machine.path("tools").join(tool)).unwrap();
        }
        machine
    }

    /// A machine with a proxy.toml.
    pub(crate) fn configured(toml: &str) -> Self {
        let machine = Self::new();
        machine.write("proxy.toml", toml);
        machine
    }

    /// A machine with the model `echo`, served.
    pub(crate) fn echo() -> (Self, Proxy) {
        let machine = Self::configured(ECHO);
        let proxy = machine.serve();
        (machine, proxy)
    }

    /// A path on the machine, without symbolic links.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// A path as text, for configurations and scripts.
    pub(crate) fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a file into the working folder of the program, as editors do: the old file stays until the new one is complete.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        put(&self.path("work").join(name), content.as_ref());
    }

    /// Puts a file into the plugin folder in the same way.
    pub(crate) fn put_plugin(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let file = self.plugin(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        put(&file, content.as_ref());
        file
    }

    /// The path of a file in the plugin folder.
    pub(crate) fn plugin(&self, name: &str) -> PathBuf {
        self.path("home/.local/share/agentbay/plugins").join(name)
    }

    /// Puts a shell script on PATH.
    pub(crate) fn script(&self, name: &str, body: &str) {
        let file = self.path("bin").join(name);
        fs::write(&file, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Puts the stand-in CLI on PATH under a name. Its `main` describes its arguments.
    pub(crate) fn stand_in(&self, name: &str, args: &[&str]) {
        self.script(name, &format!("exec {} -- \"$@\"", stand_in_command(args)));
    }

    /// Puts a CLI on PATH that starts another process and prints this; then both hang. Each locks one of the returned files.
    pub(crate) fn hanging(&self, name: &str, says: &str) -> [PathBuf; 2] {
        fs::create_dir(self.path("alive")).unwrap();
        self.stand_in(name, &["hang", &self.name("alive"), says]);
        ["alive/leader", "alive/descendant"].map(|file| self.path(file))
    }

    /// Puts a stand-in CLI on PATH that writes its arguments, input and environment to `NAME.json` of the machine.
    pub(crate) fn recording(&self, name: &str, args: &[&str]) {
        let seen = self.name(&format!("{name}.json"));
        self.stand_in(name, &[&["--seen", &seen], args].concat());
    }

    /// The recorded arguments, input and environment of a CLI.
    pub(crate) fn seen(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.path(&format!("{name}.json"))).unwrap()).unwrap()
    }

    /// Creates a repository.
    pub(crate) fn repo(&self, name: &str) -> Repo {
        Repo::new(self.path(name))
    }

    /// An existing repository.
    pub(crate) fn repo_at(&self, name: &str) -> Repo {
        Repo::at(self.path(name))
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(&mut self.command(args))
    }

    /// The document that a command prints with `--json`.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
    }

    /// The faults that `check` finds, each as `FILE:LINE: KEY: MESSAGE`.
    pub(crate) fn faults(&self) -> Vec<String> {
        faults(&self.json(&["check"]))
    }

    /// Runs a script in a shell, as a person does who has the program and `curl` on PATH.
    pub(crate) fn shell(&self, script: &str) -> Run {
        for (name, file) in [("agentbay", Some(binary("agentbay"))), ("curl", find_on_path("curl"))] {
            let file = file.unwrap_or_else(|| panic!("the tests need `{name}` on PATH"));
            self.script(name, &format!("exec {} \"$@\"", quoted(file.to_str().unwrap())));
        }
        Run::of(&mut self.command_of(Path::new("/bin/sh"), &["-eu", "-c", script]))
    }

    /// Starts the program; the test ends it.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Starts the program to serve on a free port.
    pub(crate) fn serve(&self) -> Proxy {
        self.serve_with(&["--listen", "127.0.0.1:0"])
    }

    /// Like `serve`, with another file of the program.
    pub(crate) fn serve_by(&self, program: &Path) -> Proxy {
        Proxy::start(self.command_of(program, &["serve", "--listen", "127.0.0.1:0"]))
    }

    /// Like `serve`, with these inherited variables.
    pub(crate) fn serve_inheriting(&self, variables: &[(&str, &str)]) -> Proxy {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.envs(variables.iter().copied());
        Proxy::start(command)
    }

    /// Like `serve`, as the first process of a namespace, as in a container; `None` if this machine permits no namespaces.
    pub(crate) fn serve_as_first_process(&self) -> Option<Proxy> {
        let namespace = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];
        let unshare = on_path("unshare");
        let mut nothing = self.command_of(&unshare, &[&namespace[..], &["/bin/true"]].concat());
        let may = nothing.status().is_ok_and(|status| status.success());
        may.then(|| Proxy::start(self.serve_through(&unshare, &namespace)))
    }

    /// Like `serve`, without the capabilities of root. The second value states whether they are known to be dropped.
    pub(crate) fn serve_unprivileged(&self) -> (Proxy, bool) {
        if !rustix::process::geteuid().is_root() {
            return (self.serve(), true);
        }
        let words = ["--bounding-set=-all", "--inh-caps=-all"];
        let setpriv = Path::new("/usr/bin/setpriv");
        let mut nothing = self.command_of(setpriv, &[&words[..], &["/bin/true"]].concat());
        if nothing.status().is_ok_and(|status| status.success()) {
            (Proxy::start(self.serve_through(setpriv, &words)), true)
        } else {
            (self.serve(), false)
        }
    }

    /// Like `serve`, on a terminal of its own; `None` without Python, except in CI.
    pub(crate) fn serve_on_terminal(&self) -> Option<Proxy> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/terminal.py");
        let command = self.serve_through(&python()?, &[script.to_str().unwrap()]);
        Some(Proxy::start_with_keys(command))
    }

    /// Runs the program on a terminal with this number of columns. Its output is what the terminal receives. It gets SIGTERM as
    /// soon as the terminal has received `until`, unless that is empty. `None` if there is no Python.
    pub(crate) fn run_on_screen(
        &self,
        columns: u16,
        until: &str,
        args: &[&str],
        variables: &[(&str, &str)],
    ) -> Option<Run> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/screen.py");
        let (program, columns) = (binary("agentbay"), columns.to_string());
        let words = [script.to_str().unwrap(), &columns, until, program.to_str().unwrap()];
        let mut command = self.command_of(&python()?, &[&words, args].concat());
        Some(Run::of(command.env("TERM", "xterm-256color").envs(variables.iter().copied())))
    }

    /// Starts the program to serve, with these arguments.
    pub(crate) fn serve_with(&self, args: &[&str]) -> Proxy {
        Proxy::start(self.command(&[&["serve"], args].concat()))
    }

    /// A command of another program that starts this one to serve.
    fn serve_through(&self, starter: &Path, words: &[&str]) -> Command {
        let program = binary("agentbay");
        let serve = [program.to_str().unwrap(), "serve", "--listen", "127.0.0.1:0"];
        self.command_of(starter, &[words, &serve].concat())
    }

    /// A command of the program.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(&binary("agentbay"), args)
    }

    /// A command with the environment of the machine.
    #[expect(clippy::disallowed_methods, reason = "the program is started as a user would, or through another one")]
    fn command_of(&self, file: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(file);
        let path = format!("{}:{}", self.name("bin"), self.name("tools"));
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        // The compiled plugins are the same for all tests, and shared.
        command.args(args).current_dir(self.path("work")).env_clear().env("XDG_CACHE_HOME", cache);
        command.env("PATH", path).env("HOME", self.path("home"));
        command
    }
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// The faults in a document of `check`, each as `FILE:LINE: KEY: MESSAGE`.
pub(crate) fn faults(checked: &Value) -> Vec<String> {
    let line = |fault: &Value| {
        let file = fault["file"].as_str().map(|file| match fault["line"].as_u64() {
            Some(line) => format!("{file}:{line}: "),
            None => format!("{file}: "),
        });
        let key = fault["key"].as_str().map(|key| format!("{key}: "));
        file.unwrap_or_default() + &key.unwrap_or_default() + fault["message"].as_str().unwrap()
    };
    checked["faults"].as_array().unwrap().iter().map(line).collect()
}

/// The recorded runs.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("fixtures")
}

/// A component that is built for the tests.
pub(crate) fn built_plugin(name: &str) -> Vec<u8> {
    fs::read(fixtures().join("plugins").join(name)).unwrap()
}

/// A word, quoted for a shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn stand_in_command(args: &[&str]) -> String {
    let stand_in = binary("stand-in");
    let words = [&[stand_in.to_str().unwrap()], args].concat();
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn put(file: &Path, content: &[u8]) {
    let unfinished = file.with_file_name(".unfinished");
    fs::write(&unfinished, content).unwrap();
    fs::rename(unfinished, file).unwrap();
}

/// A program of this workspace, built beside the tests.
pub(crate) fn binary(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let file = tests.ancestors().nth(2).unwrap().join(name);
    assert!(file.is_file(), "{} is missing: run `make bins`", file.display());
    file
}

fn on_path(tool: &str) -> PathBuf {
    find_on_path(tool).unwrap_or_else(|| panic!("the tests need `{tool}` on PATH"))
}

#[expect(clippy::disallowed_methods, reason = "the tools are those of the user who runs the tests")]
fn find_on_path(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(tool));
    files.find(|file| file.is_file())
}

/// Returns whether a test that needs `curl` can run. It is skipped without `curl`, except in CI.
#[expect(clippy::disallowed_methods, reason = "CI is a variable of the environment of the tests")]
#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
pub(crate) fn has_curl() -> bool {
    let has = find_on_path("curl").is_some();
    assert!(has || std::env::var_os("CI").is_none(), "there is no curl");
    if !has {
        eprintln!("skipped: there is no curl");
    }
    has
}

/// The executable of Python itself: the one on PATH may be a script that searches for it.
#[expect(clippy::disallowed_methods, reason = "the tools are those of the user who runs the tests, which may be CI")]
#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
fn python() -> Option<PathBuf> {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable, end='')"]).output();
    match output {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).unwrap().into()),
        other => {
            assert!(std::env::var_os("CI").is_none(), "there is no python3: {other:?}");
            eprintln!("skipped: there is no python3: {other:?}");
            None
        }
    }
}
