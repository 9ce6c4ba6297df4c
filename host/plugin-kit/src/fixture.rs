//! A recorded run of a CLI: a folder with its output, its exit status, and the time of each read.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agentbay_domain::{ExitStatus, KillReason, Permission, StreamName, Turn};
use serde::{Deserialize, Serialize};

use super::error::KitError;

pub(super) const META: &str = "meta.json";
pub(super) const STDOUT: &str = "stdout";
pub(super) const STDERR: &str = "stderr";

/// A recorded run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fixture {
    pub(super) folder: PathBuf,
    /// The output, in the order and in the pieces in which it was read.
    pub(super) reads: Vec<Read>,
    pub(super) exit: ExitStatus,
    /// The turn that was recorded.
    pub(super) turn: Turn,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) source: StreamName,
    pub(super) bytes: Vec<u8>,
}

/// The fields of `meta.json` that are used.
#[derive(Debug, Default, Deserialize)]
struct Meta {
    exit_code: Option<i32>,
    signal: Option<i32>,
    /// Set if the recorder ended the process.
    killed: Option<String>,
    #[serde(default)]
    stdout_reads: Vec<ReadAt>,
    #[serde(default)]
    stderr_reads: Vec<ReadAt>,
    #[serde(default)]
    turn: RecordedTurn,
}

/// The size and time of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReadAt {
    /// Milliseconds since the start of the process.
    pub(super) ms: u64,
    pub(super) bytes: usize,
}

/// The turn of a recorded run. Missing keys have the default values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RecordedTurn {
    prompt: String,
    system: Option<String>,
    model: Option<String>,
    permission: Permission,
    workdir: String,
    extra_dirs: Vec<String>,
    session: Option<String>,
    output_schema: Option<String>,
    partial: bool,
    run_dir: String,
    options: BTreeMap<String, String>,
}

impl Default for RecordedTurn {
    fn default() -> Self {
        Self {
            prompt: "Say hello".to_owned(),
            system: None,
            model: None,
            permission: Permission::WorkspaceWrite,
            workdir: "/repo".to_owned(),
            extra_dirs: Vec::new(),
            session: None,
            output_schema: None,
            partial: true,
            run_dir: "/run/agentbay/run-1".to_owned(),
            options: BTreeMap::new(),
        }
    }
}

impl From<RecordedTurn> for Turn {
    fn from(turn: RecordedTurn) -> Self {
        Self {
            prompt: turn.prompt,
            system: turn.system,
            model: turn.model,
            permission: turn.permission,
            workdir: turn.workdir,
            extra_dirs: turn.extra_dirs,
            session: turn.session,
            output_schema: turn.output_schema,
            partial: turn.partial,
            run_dir: turn.run_dir,
            options: turn.options.into_iter().collect(),
        }
    }
}

/// The turn of a recording that sets none.
pub(super) fn usual_turn() -> Turn {
    RecordedTurn::default().into()
}

/// The recorded runs at these paths. A path is the folder of one, or a folder that contains such folders.
///
/// # Errors
/// There is none, or one cannot be read.
pub(super) fn fixtures(paths: &[PathBuf]) -> Result<Vec<Fixture>, KitError> {
    let folders: Vec<Vec<PathBuf>> = paths.iter().map(|path| folders(path)).collect::<Result<_, _>>()?;
    folders.into_iter().flatten().map(Fixture::read).collect()
}

fn folders(path: &Path) -> Result<Vec<PathBuf>, KitError> {
    let is_fixture = |path: &Path| path.join(META).is_file();
    if is_fixture(path) {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(KitError::file(path))?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_fixture(path)).collect();
    folders.sort();
    if folders.is_empty() { Err(KitError::NoFixture(path.to_owned())) } else { Ok(folders) }
}

impl Fixture {
    /// Reads a recorded run.
    fn read(folder: PathBuf) -> Result<Self, KitError> {
        let path = folder.join(META);
        let text = fs::read(&path).map_err(KitError::file(&path))?;
        let wrong = |reason: String| KitError::Meta { path: path.clone(), reason };
        let meta: Meta = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        let exit = meta.exit().ok_or_else(|| wrong("it needs an `exit_code` or a `signal`".to_owned()))?;
        let stdout = stream(&folder.join(STDOUT))?;
        let stderr = stream(&folder.join(STDERR))?;
        let reads = in_order(pieces(&stdout, &meta.stdout_reads), pieces(&stderr, &meta.stderr_reads));
        Ok(Self { folder, reads, exit, turn: meta.turn.into() })
    }

    /// The name of its folder.
    pub(super) fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// All output of one stream.
    pub(super) fn all_of(&self, source: StreamName) -> Vec<u8> {
        self.reads.iter().filter(|read| read.source == source).flat_map(|read| read.bytes.iter().copied()).collect()
    }
}

impl Meta {
    fn exit(&self) -> Option<ExitStatus> {
        for reason in [KillReason::Timeout, KillReason::Cancelled] {
            let exit = ExitStatus::Killed(reason);
            if self.killed.is_some() && self.killed.as_deref() == killed(exit) {
                return Some(exit);
            }
        }
        self.exit_code.map(ExitStatus::Code).or_else(|| self.signal.map(ExitStatus::Signal))
    }
}

/// Why the recorder ended the process, as written in `meta.json`.
pub(super) fn killed(exit: ExitStatus) -> Option<&'static str> {
    match exit {
        ExitStatus::Killed(KillReason::Timeout) => Some("timeout"),
        ExitStatus::Killed(_) => Some("cancelled"),
        ExitStatus::Code(_) | ExitStatus::Signal(_) => None,
    }
}

/// A missing file is an empty stream.
fn stream(path: &Path) -> Result<Vec<u8>, KitError> {
    match fs::read(path) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(KitError::File { path: path.to_owned(), error }),
    }
}

/// The stream in the pieces in which it was read. Bytes that no read covers are last.
fn pieces<'a>(mut stream: &'a [u8], reads: &[ReadAt]) -> Vec<(u64, &'a [u8])> {
    let mut pieces = Vec::new();
    for read in reads {
        let (piece, rest) = stream.split_at(read.bytes.min(stream.len()));
        pieces.push((read.ms, piece));
        stream = rest;
    }
    pieces.push((reads.last().map_or(0, |read| read.ms), stream));
    pieces.retain(|(_, piece)| !piece.is_empty());
    pieces
}

/// Both streams merged. Within a millisecond, standard output is first.
fn in_order(stdout: Vec<(u64, &[u8])>, stderr: Vec<(u64, &[u8])>) -> Vec<Read> {
    let of = |source: StreamName| move |(ms, bytes)| (ms, source, bytes);
    let mut all: Vec<(u64, StreamName, &[u8])> = stdout.into_iter().map(of(StreamName::Stdout)).collect();
    all.extend(stderr.into_iter().map(of(StreamName::Stderr)));
    all.sort_by_key(|(ms, ..)| *ms);
    all.into_iter().map(|(_, source, bytes)| Read { source, bytes: bytes.to_vec() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: StreamName, bytes: &str) -> Read {
        Read { source, bytes: bytes.into() }
    }

    /// A folder with these files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    #[test]
    fn the_two_streams_are_merged_by_the_times_of_their_reads() {
        let meta = r#"{"exit_code": 3, "signal": null, "turn": {"session": "s", "options": {"a": "b"}},
            "stdout_reads": [{"ms": 1, "bytes": 2}, {"ms": 9, "bytes": 1}], "stderr_reads": [{"ms": 5, "bytes": 1}]}"#;
        let dir = folder(&[("one/stdout", "abcd"), ("one/stderr", "e"), ("one/meta.json", meta), ("two/stdout", "")]);
        let turn =
            Turn { session: Some("s".to_owned()), options: vec![("a".to_owned(), "b".to_owned())], ..usual_turn() };
        let expected = Fixture {
            folder: dir.path().join("one"),
            reads: vec![
                read(StreamName::Stdout, "ab"),
                read(StreamName::Stderr, "e"),
                read(StreamName::Stdout, "c"),
                read(StreamName::Stdout, "d"),
            ],
            exit: ExitStatus::Code(3),
            turn,
        };
        assert_eq!(fixtures(&[dir.path().to_owned()]).unwrap(), [expected]);
    }

    #[test]
    fn a_folder_without_a_recorded_run_and_a_run_without_an_end_are_errors() {
        let dir =
            folder(&[("one/meta.json", r#"{"turn": {}}"#), ("two/meta.json", r#"{"exit_code": 0, "turn": {"x": 1}}"#)]);
        let error = |name: &str| fixtures(&[dir.path().join(name)]).unwrap_err().to_string();
        assert!(error("one").ends_with("it needs an `exit_code` or a `signal`"), "{}", error("one"));
        assert!(error("two").contains("unknown field `x`"), "{}", error("two"));
        let empty = tempfile::tempdir().unwrap();
        assert!(matches!(fixtures(&[empty.path().to_owned()]), Err(KitError::NoFixture(_))));
    }
}
