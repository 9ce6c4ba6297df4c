//! The official clients of vendors for Python. Each is installed into a virtual environment below the target folder, which is kept
//! from one run of the tests to the next.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;

/// A package with a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PythonClient {
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
}

/// The Python of an environment with a client.
#[derive(Debug, Clone)]
pub(crate) struct Python(PathBuf);

impl PythonClient {
    /// The Python of its environment. If that cannot be created, without Python or a network, the test is skipped, except in CI.
    /// Concurrent tests create it once.
    pub(crate) fn python(self) -> Option<Python> {
        static ENVIRONMENTS: Mutex<BTreeMap<&str, Option<Python>>> = Mutex::new(BTreeMap::new());
        ENVIRONMENTS.lock().unwrap().entry(self.package).or_insert_with(|| self.installed()).clone()
    }

    #[expect(clippy::disallowed_methods, reason = "CI is a variable of the environment of the tests")]
    #[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
    fn installed(self) -> Option<Python> {
        let Self { package, version } = self;
        let requirement = format!("{package}=={version}");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(format!("{package}-client"));
        if !folder.join(&requirement).exists()
            && let Err(reason) = install(&folder, &requirement)
        {
            assert!(std::env::var_os("CI").is_none(), "cannot install {requirement}: {reason}");
            eprintln!("left out, since {requirement} cannot be installed: {reason}");
            return None;
        }
        Some(Python(folder.join("bin/python")))
    }
}

impl Python {
    /// Runs a program of `tests/clients`, and returns the JSON that it prints.
    pub(crate) fn summary(&self, program: &str, args: &[&str]) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(program);
        let printed = self.run(&[&[script.to_str().unwrap()], args].concat());
        serde_json::from_slice(&printed.unwrap_or_else(|error| panic!("{program}: {error}"))).unwrap()
    }

    /// Runs Python, and returns its output.
    pub(crate) fn run(&self, args: &[&str]) -> Result<Vec<u8>, String> {
        run(&self.0, args)
    }
}

fn install(folder: &Path, requirement: &str) -> Result<(), String> {
    run(Path::new("python3"), &["-m", "venv", "--clear", folder.to_str().unwrap()])?;
    run(&folder.join("bin/python"), &["-m", "pip", "install", "--quiet", requirement])?;
    // Marks the environment as complete.
    fs::write(folder.join(requirement), "").map_err(|error| error.to_string())
}

/// Runs a program to its end, and returns its output.
#[expect(clippy::disallowed_methods, reason = "the client is a program of its own")]
fn run(program: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let output =
        Command::new(program).args(args).output().map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() { Ok(output.stdout) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
