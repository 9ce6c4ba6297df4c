//! Repositories to run in: a few files, or very many.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Number of files in a folder of a large repository.
const FOLDER: usize = 100;

/// Makes a repository with a number of files in one commit. `git` is the command without arguments.
pub(crate) fn make(dir: &Path, files: usize, git: impl Fn() -> Command) -> Result<()> {
    for number in 0..files {
        let folder = dir.join(format!("folder-{}", number / FOLDER));
        if number % FOLDER == 0 {
            fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        // Empty, so that only their number counts.
        File::create(folder.join(format!("{number}.txt")))?;
    }
    let user = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    let commit = [&user[..], &["commit", "--quiet", "--message", "Files"]].concat();
    let settings = [["config", "gc.auto", "0"], ["config", "maintenance.auto", "false"]];
    let prepare = [&["init", "--quiet"][..], &settings[0], &settings[1], &["add", "."], &commit];
    // The status makes git write the times of the files into its index, as it does in a repository that is in use.
    for args in prepare.into_iter().chain([&["status", "--porcelain"][..]]) {
        let output = git().arg("-C").arg(dir).args(args).output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "git {args:?} ends with {}: {errors}", output.status);
    }
    Ok(())
}
