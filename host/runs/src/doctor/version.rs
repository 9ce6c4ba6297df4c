//! The installed version of a CLI: asks the program and remembers the answer until the file changes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use agentbay_domain::{CliTarget, Environment, ExitStatus, RunLimits};
use agentbay_os::process::{Command, Executable, Variables, capture};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// A CLI that starts a whole runtime to print its version takes a second or two.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long a failure is remembered: the program may be in the middle of an installation.
const FAILURE_MEMORY: Duration = Duration::from_secs(10);

/// The known versions. A caller that asks while the program is already being asked waits for the same answer.
#[derive(Debug)]
pub struct Versions {
    answers: Mutex<HashMap<PathBuf, Arc<Answer>>>,
    asking: Semaphore,
}

type Answer = tokio::sync::Mutex<Option<Known>>;

/// The answer of one file.
#[derive(Debug)]
struct Known {
    changed: SystemTime,
    asked: Instant,
    version: Result<String, String>,
}

impl Known {
    fn holds(&self, changed: SystemTime) -> bool {
        self.changed == changed && (self.version.is_ok() || self.asked.elapsed() < FAILURE_MEMORY)
    }
}

impl Default for Versions {
    fn default() -> Self {
        Self { answers: Mutex::default(), asking: Semaphore::new(super::AT_ONCE) }
    }
}

impl Versions {
    /// The version of a program.
    ///
    /// # Errors
    /// Why the version is unknown.
    pub(super) async fn of(
        &self,
        executable: &Executable,
        args: &[String],
        target: &CliTarget,
        host: &Environment,
    ) -> Result<String, String> {
        let changed = std::fs::metadata(executable.path()).and_then(|file| file.modified());
        let changed = changed.map_err(|error| error.to_string())?;
        let answer = self.answer(executable.path());
        let mut answer = answer.lock().await;
        if let Some(known) = answer.as_ref().filter(|known| known.holds(changed)) {
            return known.version.clone();
        }
        let _slot = self.asking.acquire().await;
        let version = ask(executable, args, target, host).await;
        *answer = Some(Known { changed, asked: Instant::now(), version: version.clone() });
        version
    }

    fn answer(&self, program: &Path) -> Arc<Answer> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(answers.entry(program.to_owned()).or_default())
    }
}

/// The bytes of output that are kept. A version is in the first few lines.
const KEPT: usize = 64 * 1024;

async fn ask(
    executable: &Executable,
    args: &[String],
    target: &CliTarget,
    host: &Environment,
) -> Result<String, String> {
    let mut variables = Variables::for_driver(target.driver.as_str(), &target.env, host);
    variables.configure(&target.env, host);
    let command = Command {
        executable: executable.clone(),
        args: args.to_vec(),
        workdir: "/".into(),
        variables,
        run: None,
        grace: Duration::from_secs(1),
        pipe_silence: RunLimits::default().open_pipe_timeout,
    };
    let Ok(captured) = timeout(TIMEOUT, capture(command, "", KEPT)).await else {
        return Err(format!("did not end within {}", humantime::format_duration(TIMEOUT)));
    };
    let captured = captured.map_err(|error| error.to_string())?;
    if captured.status != ExitStatus::Code(0) {
        let reason = captured.stderr.trim().lines().next_back().map(|line| format!(": {line}")).unwrap_or_default();
        return Err(format!("ended with {}{reason}", captured.status));
    }
    find(&captured.text()).map(str::to_owned).ok_or_else(|| "printed no version".to_owned())
}

/// The first word that has the form of a version: numbers with dots between them.
fn find(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || ".-+".contains(c)));
    let versions = words.map(|word| word.trim_start_matches('v').trim_end_matches('.'));
    versions.into_iter().find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
}

/// Returns whether a version is among those tested, which are given by their prefixes: `0.15, 0.24`.
pub(super) fn tested(version: &str, tested: &str) -> Option<bool> {
    let mut beginnings = tested.split(',').map(str::trim).filter(|beginning| !beginning.is_empty()).peekable();
    beginnings.peek()?;
    let begins = |beginning: &str| version == beginning || version.starts_with(&format!("{beginning}."));
    Some(beginnings.any(begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_anywhere_in_the_output() {
        for (output, version) in [
            ("codex-cli 0.171.0\n", Some("0.171.0")),
            ("2.1.332 (Claude Code)\n", Some("2.1.332")),
            ("v1.18.33", Some("1.18.33")),
            ("GitHub Copilot CLI 1.0.102.\nbuild 5", Some("1.0.102")),
            ("0.25.0-beta.1+x", Some("0.25.0-beta.1+x")),
            ("no version", None),
            ("", None),
        ] {
            assert_eq!(find(output), version, "{output}");
        }
    }

    #[test]
    fn a_version_is_tested_if_it_has_a_tested_prefix() {
        assert_eq!(tested("0.15.10", "0.15, 0.24"), Some(true));
        assert_eq!(tested("0.24", "0.15, 0.24"), Some(true));
        assert_eq!(tested("0.150.1", "0.15, 0.24"), Some(false));
        assert_eq!(tested("1.0", ""), None);
    }
}
