//! What CLIs, shells and loaders say of the system's troubles, and what they say that is none of them.

use super::*;

const AUTH: &str = "The CLI is not logged in, or its credentials were refused";

/// The failure of a CLI that printed this on standard error and exited with this code.
fn named(category: Category, exit: i32, stderr: &str) -> (Category, String) {
    let mut failure = Failure::new(category, AUTH, "");
    let exit = Some(ExitStatus::Code(exit));
    name(&mut failure, &End { exit, has_answer: false, stderr, obstacle: None });
    (failure.category, failure.message)
}

fn configuration(message: &str) -> (Category, String) {
    (Category::Configuration, message.to_owned())
}

#[test]
fn a_program_that_a_launcher_does_not_find_is_named() {
    let missing = |name: &str| {
        configuration(&format!(
            "the CLI's launcher cannot start {name}: install it, or put its folder on the `PATH` that AgentBay is started \
             with"
        ))
    };
    for (stderr, name) in [
        ("env: 'node': No such file or directory", "`node`"),
        ("env: ‘node’: No such file or directory", "`node`"),
        ("/usr/bin/env: 'node': No such file or directory\n/usr/bin/env: use -[v]S to pass options", "`node`"),
        ("env: node: No such file or directory", "`node`"),
        ("env: can't execute 'node': No such file or directory", "`node`"),
        ("sh: 1: exec: node: not found", "`node`"),
        ("/x/bin/cli: 3: node: not found", "`node`"),
        ("/x/bin/cli: line 3: node: command not found", "`node`"),
        ("zsh:1: command not found: node", "`node`"),
        ("bash: /x/cli: /opt/node: bad interpreter: No such file or directory", "`/opt/node`"),
        ("/x/cli: line 3: /opt/node: cannot execute: required file not found", "`/opt/node`"),
        ("npx: it was not found", "a program that it needs"),
    ] {
        for category in [Category::NotFound, Category::Unknown, Category::Authentication] {
            assert_eq!(named(category, 127, stderr), missing(name), "{stderr}");
        }
        // An agent that ran a command without success has ended in another way.
        assert_ne!(named(Category::NotFound, 1, stderr), missing(name), "{stderr}");
    }
}

#[test]
fn an_error_of_the_system_is_not_a_missing_login() {
    let permission =
        |what: &str| format!("the CLI has no permission to use {what}: give it to the user that AgentBay runs as");
    let disk = "the disk is full, or its quota is used up: make room on it";
    let memory = "the CLI ran out of memory: give it more, or lower `limits.runs`";
    let files = "the CLI can open no more files: raise `ulimit -n`, or lower `limits.runs`";
    let library = "a library that the CLI needs is missing or too old: install it, or the CLI's build for this system";
    for (stderr, message) in [
        ("Error: EACCES: permission denied, mkdir '/home/u/.codex'", permission("`/home/u/.codex`")),
        (
            "Error: EACCES: permission denied, open '/h/.x'\n    at Object.open (node:fs:1)\n  errno: -13,",
            permission("`/h/.x`"),
        ),
        ("Error: Permission denied (os error 13)", permission("a file or folder that it needs")),
        ("PermissionError: [Errno 13] Permission denied: '/h/.aider.conf'", permission("`/h/.aider.conf`")),
        ("open /h/.config/x: permission denied", permission("`/h/.config/x`")),
        ("mkdir: cannot create directory ‘/h/.x’: Permission denied", permission("`/h/.x`")),
        ("EPERM: operation not permitted, rename '/a/b' -> '/a/c'", permission("`/a/c`")),
        ("Error: ENOSPC: no space left on device, write", disk.to_owned()),
        ("Error: No space left on device (os error 28)", disk.to_owned()),
        ("OSError: [Errno 122] Disk quota exceeded", disk.to_owned()),
        (
            "Error: EROFS: read-only file system, open '/h/.x'",
            "the CLI cannot write to `/h/.x`: mount it writable".to_owned(),
        ),
        ("Error: EMFILE: too many open files, watch", files.to_owned()),
        ("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", memory.to_owned()),
        ("memory allocation of 4096 bytes failed", memory.to_owned()),
        ("sh: 1: Cannot allocate memory", memory.to_owned()),
        (
            "x: error while loading shared libraries: libz.so.1: cannot open shared object file: No such file or directory",
            library.to_owned(),
        ),
        ("x: /lib/libc.so.6: version `GLIBC_2.38' not found (required by x)", library.to_owned()),
    ] {
        for category in [Category::Authentication, Category::NotFound, Category::Unknown] {
            assert_eq!(named(category, 1, stderr), configuration(&message), "{stderr}");
        }
    }
}

#[test]
fn settings_that_cannot_be_read_are_reported_with_their_file() {
    for (stderr, file) in [
        ("Error in /h/.gemini/settings.json: Expected ',' or '}' in JSON at position 20", "`/h/.gemini/settings.json`"),
        ("Error loading config.toml: TOML parse error at line 1, column 5", "`config.toml`"),
        (
            "Error: Config file at /h/.config/opencode/opencode.json is not valid JSON(C)",
            "`/h/.config/opencode/opencode.json`",
        ),
        ("Claude configuration file at /h/.claude.json is corrupted: Unexpected token }", "`/h/.claude.json`"),
        ("failed to parse ~/.qwen/settings.json: unexpected end of input", "`~/.qwen/settings.json`"),
    ] {
        for category in [Category::Validation, Category::Configuration, Category::Unknown] {
            let message = format!("the CLI cannot read its settings in {file}: correct them");
            assert_eq!(named(category, 1, stderr), configuration(&message), "{stderr}");
        }
    }
}

#[test]
fn a_program_that_is_being_written_may_be_retried() {
    let message = "a program that the CLI starts is being written to: try again in a moment";
    assert_eq!(named(Category::Unknown, 126, "sh: 1: /x/cli: Text file busy"), (Category::Server, message.to_owned()));
}

#[test]
fn remarks_beside_another_failure_do_not_change_it() {
    let remark = "Ripgrep not available: spawn /opt/rg EACCES. Falling back to built-in grep.";
    for (category, stderr) in [
        (Category::Authentication, format!("{remark}\nNo auth type is selected")),
        (Category::Authentication, "Please log in\nError: EACCES: permission denied, open '/h/.x/log'".to_owned()),
        (Category::Authentication, "403 PERMISSION_DENIED: Permission denied on resource project p".to_owned()),
        (Category::Unknown, "Permission denied".to_owned()),
        (Category::Unknown, remark.to_owned()),
        (Category::Unknown, "the tests of package.json are expected to fail".to_owned()),
        (Category::RateLimit, "429\nError: ENOSPC: no space left on device".to_owned()),
        (Category::Network, "fetch failed\nError: EACCES: permission denied, connect '/x'".to_owned()),
        (Category::NotFound, "No conversation found with session ID 1".to_owned()),
    ] {
        assert_eq!(named(category, 1, &stderr), (category, AUTH.to_owned()), "{stderr}");
    }
}

#[test]
fn a_cli_that_has_answered_has_no_failure_of_a_launcher() {
    let mut failure = Failure::new(Category::Unknown, "CLI failed", "");
    let (exit, stderr) = (Some(ExitStatus::Code(127)), "sh: 1: make: not found");
    name(&mut failure, &End { exit, has_answer: true, stderr, obstacle: None });
    assert_eq!(failure, Failure::new(Category::Unknown, "CLI failed", ""));
}
