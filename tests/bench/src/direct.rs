//! The CLI run directly, as without a proxy: started, given its prompt, read to its end, waited for.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::answer::Answer;
use crate::clock::now;

/// Runs it once.
pub(crate) fn run(command: &mut Command, prompt: &str) -> Result<Answer> {
    let asked = now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut stdin = child.stdin.take().context("a pipe")?;
    stdin.write_all(prompt.as_bytes())?;
    drop(stdin);
    let mut stdout = child.stdout.take().context("a pipe")?;
    let mut reads = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = stdout.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        reads.push((now(), buffer[..count].to_vec()));
    }
    let status = child.wait()?;
    let ended = now();
    ensure!(status.success(), "{command:?} ends with {status}");
    let pieces = reads.into_iter().map(|(at, bytes)| Ok((at, String::from_utf8(bytes)?))).collect::<Result<_>>()?;
    Ok(Answer { asked, pieces, ended })
}
