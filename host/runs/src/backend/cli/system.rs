//! Errors of the operating system in a failure of a CLI, recognised by its last output and its exit. A plugin may take
//! `permission denied` for a missing login; the host knows the cause and the remedy.
//!
//! Obstacles to starting the CLI itself are `process::Obstacle`.

use agentbay_domain::{Category, ExitStatus, Failure, RetryHint};
use agentbay_os::process::SpawnError;

/// An error of the system and its forms in output.
struct Row {
    /// Codes of Node.js and names of exceptions: whole words, in lower case.
    codes: &'static [&'static str],
    /// The number, as in `(os error 13)` of Rust and `[Errno 13]` of Python.
    numbers: &'static [u32],
    /// The words of the C library and of shells, in lower case.
    words: &'static [&'static str],
    /// The words count only in a line that names a path, since others use them too.
    wants_path: bool,
    trouble: Trouble,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Permission,
    Space,
    ReadOnly,
    Files,
    Memory,
    Processes,
    Busy,
    Disk,
    Library,
    Format,
    Instruction,
    Settings,
    Program,
}

const fn row(
    trouble: Trouble,
    codes: &'static [&'static str],
    numbers: &'static [u32],
    words: &'static [&'static str],
) -> Row {
    Row { codes, numbers, words, wants_path: false, trouble }
}

#[rustfmt::skip]
static TABLE: [Row; 11] = [
    row(Trouble::Space, &["enospc", "edquot"], &[28, 122], &["no space left on device", "disk quota exceeded"]),
    row(Trouble::ReadOnly, &["erofs"], &[30], &["read-only file system"]),
    row(Trouble::Files, &["emfile", "enfile"], &[23, 24], &["too many open files"]),
    row(Trouble::Busy, &["etxtbsy"], &[26], &["text file busy"]),
    row(Trouble::Processes, &[], &[], &[
        "fork: retry: resource", "fork: resource temporarily", "spawn eagain", "uv_thread_create", "failed to spawn thread",
        "pthread_create failed",
    ]),
    row(Trouble::Memory, &["enomem", "memoryerror"], &[12], &[
        "cannot allocate memory", "heap out of memory", "memory allocation of", "std::bad_alloc",
    ]),
    row(Trouble::Disk, &["estale", "enotconn:", "eio:"], &[5, 116], &[
        "input/output error", "stale file handle", "transport endpoint is not connected",
    ]),
    row(Trouble::Library, &[], &[], &["error while loading shared libraries", "library not loaded:", "version `glibc", "version `cxxabi"]),
    row(Trouble::Format, &["enoexec"], &[8], &["exec format error", "cannot execute binary file", "bad cpu type in executable"]),
    row(Trouble::Instruction, &[], &[], &["illegal instruction"]),
    Row { wants_path: true, ..row(Trouble::Permission, &["eacces", "eperm"], &[1, 13], &["permission denied", "operation not permitted"]) },
];

/// Words of a line that reports what the CLI does instead.
const REMARKS: [&str; 8] =
    ["falling back", "fallback", "warning", "skipping", "skipped", "ignoring", "ignored", "continuing without"];

/// Words of a refused login.
const LOGIN: [&str; 12] = [
    "401",
    "403",
    "log in",
    "login",
    "logged in",
    "sign in",
    "signed in",
    "api key",
    "api_key",
    "credential",
    "token",
    "auth",
];

/// Words of a file of settings that cannot be read.
const UNREADABLE: [&str; 13] = [
    "pars",
    "syntax",
    "invalid",
    "not valid",
    "unexpected",
    "malformed",
    "corrupt",
    "expected",
    "unknown field",
    "duplicate key",
    "error loading",
    "failed to load",
    "missing field",
];

const SETTINGS_ENDINGS: [&str; 5] = [".json", ".jsonc", ".toml", ".yaml", ".yml"];

/// The end of a CLI that failed.
#[derive(Debug)]
pub(super) struct End<'a> {
    /// The exit of its process, if it came before the failure was known.
    pub(super) exit: Option<ExitStatus>,
    /// It had sent a part of an answer.
    pub(super) has_answer: bool,
    /// The end of its standard error.
    pub(super) stderr: &'a str,
    /// Why the program that its file names cannot be started.
    pub(super) obstacle: Option<SpawnError>,
}

/// Returns whether a process ended as `env` and shells do when they cannot start a program.
pub(super) fn is_of_a_launcher(exit: ExitStatus) -> bool {
    const NOT_EXECUTABLE: i32 = 126;
    const NOT_FOUND: i32 = 127;
    matches!(exit, ExitStatus::Code(NOT_EXECUTABLE | NOT_FOUND))
}

/// Gives a failure the error of the system as its cause, if there is one.
pub(super) fn name(failure: &mut Failure, end: &End<'_>) {
    if let (false, Some(obstacle)) = (end.has_answer, &end.obstacle) {
        *failure = Failure::new(Category::Configuration, obstacle.to_string(), failure.detail.clone());
        return;
    }
    let Some((trouble, line)) = trouble(failure, end) else { return };
    let busy = trouble == Trouble::Busy;
    let category = if busy { Category::Server } else { Category::Configuration };
    let (message, retry) = (trouble.sentence(line), busy.then_some(RetryHint::AfterMs(BUSY_MS)));
    let detail = if failure.detail.contains(line) { failure.detail.clone() } else { end.stderr.to_owned() };
    *failure = Failure { category, message, detail, retry };
}

/// When a client may retry whose CLI is being installed.
pub(super) const BUSY_MS: u64 = 1_000;

fn trouble<'a>(failure: &'a Failure, end: &End<'a>) -> Option<(Trouble, &'a str)> {
    // An answer of the provider is not an error of the system.
    let may_be_mistaken = match failure.category {
        Category::Unknown | Category::NotFound | Category::Configuration | Category::Timeout => true,
        Category::Authentication | Category::Validation => true,
        Category::Quota | Category::RateLimit | Category::Network | Category::Server => false,
    };
    if !may_be_mistaken {
        return None;
    }
    let texts = [failure.detail.as_str(), end.stderr];
    if !end.has_answer
        && let Some(found) = texts.iter().find_map(|text| launcher(text, end.exit))
    {
        return Some(found);
    }
    let candidates =
        if failure.detail.is_empty() || failure.category == Category::Unknown { &texts[..] } else { &texts[..1] };
    let (trouble, line) = candidates.iter().find_map(|text| last_error(text))?;
    let is_certain = match failure.category {
        Category::Authentication => !texts.iter().any(|text| mentions_a_login(text, line)),
        Category::Validation => trouble == Trouble::Settings,
        _ => true,
    };
    is_certain.then_some((trouble, line))
}

/// Returns whether any line but this one and remarks mentions a login.
fn mentions_a_login(text: &str, but: &str) -> bool {
    let mut lines = text.lines().filter(|line| *line != but).map(str::to_lowercase).filter(|line| !is_remark(line));
    lines.any(|line| LOGIN.iter().any(|word| line.contains(word)))
}

/// The last line with an error of the system that is not a remark.
fn last_error(text: &str) -> Option<(Trouble, &str)> {
    text.lines().rev().find_map(|line| {
        let lower = line.to_lowercase();
        if is_remark(&lower) {
            return None;
        }
        let row = TABLE.iter().find(|row| row.is_in(&lower)).map(|row| row.trouble);
        Some((row.or_else(|| is_of_settings(&lower).then_some(Trouble::Settings))?, line))
    })
}

fn is_remark(lower: &str) -> bool {
    REMARKS.iter().any(|remark| lower.contains(remark))
}

fn is_of_settings(lower: &str) -> bool {
    UNREADABLE.iter().any(|word| lower.contains(word)) && settings_file(lower).is_some()
}

/// The settings file that a line names, which may have no path.
fn settings_file(line: &str) -> Option<&str> {
    let is_settings = |word: &&str| {
        let word = word.to_lowercase();
        let of_a_cli =
            word.contains("/.") || word.starts_with('.') || word.contains("settings") || word.contains("config");
        of_a_cli && SETTINGS_ENDINGS.iter().any(|ending| word.ends_with(ending))
    };
    words(line).map(|word| word.trim_end_matches(':')).find(is_settings)
}

/// The error of a shell, `env` or the loader about a program that a launcher starts, if the exit code agrees.
fn launcher(text: &str, exit: Option<ExitStatus>) -> Option<(Trouble, &str)> {
    const SIGILL: i32 = 4;
    match exit {
        Some(ExitStatus::Signal(SIGILL)) => return Some((Trouble::Instruction, "")),
        Some(exit) if is_of_a_launcher(exit) => {}
        _ => return None,
    }
    let known = last_error(text);
    let is_missing = |line: &&str| {
        let lower = line.to_lowercase();
        let missing = ["not found", "no such file or directory", "bad interpreter", "cannot execute"];
        missing.iter().any(|words| lower.contains(words))
    };
    known.or_else(|| text.lines().rev().find(is_missing).map(|line| (Trouble::Program, line)))
}

impl Row {
    fn is_in(&self, lower: &str) -> bool {
        let coded =
            words(lower).any(|word| self.codes.contains(&word) || self.codes.contains(&word.trim_end_matches(':')));
        let numbered = self.numbers.iter().any(|number| {
            lower.contains(&format!("os error {number})")) || lower.contains(&format!("errno {number}]"))
        });
        let worded = self.words.iter().any(|words| lower.contains(words));
        coded || numbered || (worded && (!self.wants_path || path(lower).is_some()))
    }
}

impl Trouble {
    /// The message for a client: the cause and the remedy.
    fn sentence(self, line: &str) -> String {
        let path = path(line);
        let named = |or: &str| path.map_or_else(|| or.to_owned(), |path| format!("`{path}`"));
        match self {
            Self::Permission => format!(
                "the CLI has no permission to use {}: give it to the user that AgentBay runs as",
                named("a file or folder that it needs")
            ),
            Self::Space => "the disk is full, or its quota is used up: make room on it".to_owned(),
            Self::ReadOnly => {
                format!("the CLI cannot write to {}: mount it writable", named("a read-only file system"))
            }
            Self::Files => "the CLI can open no more files: raise `ulimit -n`, or lower `limits.runs`".to_owned(),
            Self::Memory => "the CLI ran out of memory: give it more, or lower `limits.runs`".to_owned(),
            Self::Processes => {
                "the CLI can start no more processes: raise `ulimit -u`, or lower `limits.runs`".to_owned()
            }
            Self::Busy => "a program that the CLI starts is being written to: try again in a moment".to_owned(),
            Self::Disk => format!("{} cannot be read: check the disk or the mount", named("a file of the CLI")),
            Self::Library => {
                "a library that the CLI needs is missing or too old: install it, or the CLI's build for this system"
                    .to_owned()
            }
            Self::Format => {
                "a program of the CLI is not for this machine: install the CLI's build for this system".to_owned()
            }
            Self::Instruction => {
                "the CLI uses instructions that this processor does not have: install its build for older processors"
                    .to_owned()
            }
            Self::Settings => {
                let file = settings_file(line).map_or_else(|| named("a file"), |file| format!("`{file}`"));
                format!("the CLI cannot read its settings in {file}: correct them")
            }
            Self::Program => format!(
                "the CLI's launcher cannot start {}: install it, or put its folder on the `PATH` that AgentBay is started \
                 with",
                program(line).map_or_else(|| "a program that it needs".to_owned(), |name| format!("`{name}`"))
            ),
        }
    }
}

/// The words of a line, without quotes and the ends of sentences.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let quote = |c: char| matches!(c, '\'' | '"' | '`' | '‘' | '’' | '(' | ')' | ',' | '<' | '>' | '=');
    let parts = line.split(move |c: char| c.is_whitespace() || quote(c));
    parts.map(|word| word.trim_end_matches(['.', ';'])).filter(|word| !word.is_empty())
}

/// The path that a line names.
fn path(line: &str) -> Option<&str> {
    let paths = words(line).map(|word| word.trim_end_matches(':')).filter(|word| word.len() > 1);
    let is_path = |word: &&str| (word.starts_with('/') && !word.starts_with("//")) || word.starts_with("~/");
    // The last one: the refused path follows the program that was refused it.
    paths.filter(is_path).last()
}

/// The program that a launcher did not find: it precedes the error.
fn program(line: &str) -> Option<&str> {
    let quotes = ['\'', '"', '`', '‘', '’', ' '];
    if let Some((_, name)) = line.split_once("command not found: ") {
        return Some(name.trim());
    }
    let refusal = |part: &&str| {
        let part = part.trim().to_lowercase();
        ["not found", "command not found", "no such file or directory", "bad interpreter"].contains(&part.as_str())
            || part.starts_with("cannot execute")
    };
    let parts: Vec<&str> = line.split(": ").collect();
    let at = parts.iter().position(refusal)?;
    let before = parts.get(at.checked_sub(1)?)?.trim_matches(quotes);
    let name = before.strip_prefix("can't execute ").unwrap_or(before).trim_matches(quotes);
    (!name.is_empty() && name.parse::<u32>().is_err()).then_some(name)
}

#[cfg(test)]
mod tests;
