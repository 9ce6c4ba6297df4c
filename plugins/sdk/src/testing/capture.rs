//! Recorded runs of CLIs: a folder with `stdout`, `meta.json` and optionally `stderr`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use super::{Grouping, Replay, feed};
use crate::{Agent, ExitStatus, KillReason, StreamName, Turn};

/// A recorded run of a CLI.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The folder it was read from.
    pub folder: PathBuf,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// How it ended.
    pub exit: ExitStatus,
    /// The lines of both streams in the order of their reads; true for standard output.
    lines: Vec<(bool, String)>,
}

/// All recorded runs in a folder, by name.
///
/// # Errors
/// As [`Capture::read`]; also if there is none.
pub fn captures(folder: impl AsRef<Path>) -> io::Result<Vec<Capture>> {
    let folder = folder.as_ref();
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    let mut folders: Vec<PathBuf> = entries.into_iter().filter(|path| path.join("meta.json").is_file()).collect();
    folders.sort();
    if folders.is_empty() {
        return Err(io::Error::other(format!("{}: no recorded runs", folder.display())));
    }
    folders.iter().map(Capture::read).collect()
}

impl Capture {
    /// Reads a recorded run.
    ///
    /// # Errors
    /// If a file is missing or has neither an exit code nor a signal.
    pub fn read(folder: impl AsRef<Path>) -> io::Result<Self> {
        let folder = folder.as_ref();
        let meta: Value = serde_json::from_slice(&fs::read(folder.join("meta.json"))?)?;
        let text = |name: &str| fs::read(folder.join(name)).map(|bytes| plain(&String::from_utf8_lossy(&bytes)));
        let stdout = text("stdout")?;
        let stderr = text("stderr").unwrap_or_default();
        let mut lines = timed(&stdout, meta.get("stdout_reads"), true);
        lines.extend(timed(&stderr, meta.get("stderr_reads"), false));
        lines.sort_by_key(|(ms, ..)| *ms);
        Ok(Self {
            folder: folder.to_owned(),
            stdout,
            stderr,
            exit: exit(&meta).ok_or_else(|| io::Error::other(format!("{}: no exit status", folder.display())))?,
            lines: lines.into_iter().map(|(_, is_stdout, line)| (is_stdout, line)).collect(),
        })
    }

    /// The name of its folder.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Replays both streams in the recorded order, grouped by lines.
    pub fn replay<A: Agent>(&self, turn: &Turn, grouping: Grouping) -> Replay {
        self.replay_lines::<A>(turn, self.lines.len(), grouping, self.exit)
    }

    /// Replays the first `count` lines.
    pub(super) fn replay_lines<A: Agent>(
        &self,
        turn: &Turn,
        count: usize,
        grouping: Grouping,
        exit: ExitStatus,
    ) -> Replay {
        let pieces = self.pieces(count, grouping);
        feed::<A>(turn, pieces.iter().map(|(source, piece)| (*source, piece.as_str())), exit)
    }

    pub(super) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The first lines, with consecutive lines of a stream joined up to the size of the grouping.
    pub(super) fn pieces(&self, count: usize, grouping: Grouping) -> Vec<(StreamName, String)> {
        let most = match grouping {
            Grouping::Whole => usize::MAX,
            Grouping::Each(size) => size.max(1),
        };
        let lines = self.lines.get(..count).unwrap_or(&self.lines);
        let mut pieces = Vec::new();
        for run in lines.chunk_by(|one, other| one.0 == other.0) {
            let source =
                if run.iter().all(|(is_stdout, _)| *is_stdout) { StreamName::Stdout } else { StreamName::Stderr };
            for group in run.chunks(most) {
                let joined: Vec<&str> = group.iter().map(|(_, line)| line.as_str()).collect();
                pieces.push((source, joined.join("\n")));
            }
        }
        pieces
    }
}

/// Removes terminal escape sequences, as the host does before a plugin reads the output. CLIs print those from `ESC [` to a letter.
fn plain(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default();
    let rest =
        pieces.map(|piece| piece.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).get(1..).unwrap_or_default());
    std::iter::once(first).chain(rest).collect()
}

/// The lines of a stream, each with the time of the read that ended it.
fn timed(text: &str, reads: Option<&Value>, is_stdout: bool) -> Vec<(u64, bool, String)> {
    let number = |read: &Value, name: &str| read.get(name).and_then(Value::as_u64).unwrap_or(0);
    let reads: Vec<(u64, u64)> = reads
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .scan(0, |end, read| {
            *end += number(read, "bytes");
            Some((*end, number(read, "ms")))
        })
        .collect();
    let mut end = 0;
    text.split_inclusive('\n')
        .map(|line| {
            end += line.len() as u64;
            let ms = reads.iter().find(|(read, _)| *read >= end).or(reads.last()).map_or(0, |(_, ms)| *ms);
            (ms, is_stdout, line.trim_end_matches('\n').to_owned())
        })
        .collect()
}

fn exit(meta: &Value) -> Option<ExitStatus> {
    match meta.get("killed").and_then(Value::as_str) {
        Some("timeout") => return Some(ExitStatus::Killed(KillReason::Timeout)),
        Some("cancelled") => return Some(ExitStatus::Killed(KillReason::Cancelled)),
        Some(_) | None => {}
    }
    let number = |name: &str| meta.get(name).and_then(Value::as_i64).and_then(|number| i32::try_from(number).ok());
    number("exit_code").map(ExitStatus::Code).or_else(|| number("signal").map(ExitStatus::Signal))
}
