//! Reasons why a program cannot be started, found in its file: the operating system's error does not name the cause.
//! It reports `No such file or directory` also for a script whose interpreter is missing.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use object::FileKind;
use object::elf::{EM_386, EM_AARCH64, EM_ARM, EM_PPC64, EM_RISCV, EM_S390, EM_X86_64, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use rustix::fs::{Access, access};
use rustix::io::Errno;

/// Bytes of a program's file that are read: the first line of a script, the headers of a binary.
const HEAD: u64 = 64 * 1024;

/// The reason why a program cannot be started, as the end of a sentence that begins with its path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// The file does not exist.
    #[error("does not exist")]
    Missing,
    /// It is a folder, a pipe, a socket or a device.
    #[error("is not a file: name the program itself")]
    NotAFile,
    /// The file has no permission to be executed.
    #[error("cannot be executed by the user that AgentBay runs as: `chmod +x` it, or correct its owner")]
    NotExecutable,
    /// A parent folder of the file cannot be entered.
    #[error("cannot be reached by the user that AgentBay runs as: give that user access to {}", .0.display())]
    UnreachableFolder(PathBuf),
    /// Its working directory cannot be entered.
    #[error("cannot run in {}: give the user that AgentBay runs as access to that folder", .0.display())]
    UnreachableWorkdir(PathBuf),
    /// The system refuses although the permissions allow it.
    #[error("may not be started here: its file system may be mounted with `noexec`, or a security policy forbids it")]
    Forbidden,
    /// The first line of a script ends with a carriage return.
    #[error("has a first line with a Windows line end: convert it with `sed -i 's/\\r$//'`")]
    CarriageReturn,
    /// The interpreter that a script names does not exist.
    #[error("names the interpreter {}, which does not exist: install it, or correct the first line", .0.display())]
    NoInterpreter(PathBuf),
    /// The interpreter that a script names cannot be executed.
    #[error("names the interpreter {}, which cannot be executed: correct the first line, or `chmod +x` that file", .0.display())]
    BadInterpreter(PathBuf),
    /// The file is empty.
    #[error("is empty: install it again")]
    Empty,
    /// A text file without a first line that names its interpreter.
    #[error("is a text file without a `#!` line: write the interpreter into its first line")]
    NoFirstLine,
    /// A binary for another machine.
    #[error("is a program for {0}, and this machine is {arch}: install the one for this machine", arch = std::env::consts::ARCH)]
    OtherMachine(&'static str),
    /// The loader that a binary names does not exist: it was built for another C library.
    #[error("needs the loader {}, which does not exist: install the build for this system's C library", .0.display())]
    NoLoader(PathBuf),
    /// Neither a script nor a binary that this system supports.
    #[error("has a format that this system cannot execute: install it again")]
    UnknownFormat,
    /// The file is open for writing.
    #[error("is being written to: try again in a moment")]
    Busy,
    /// This process, or the machine, has too many files open.
    #[error("cannot be started, since too many files are open: raise `ulimit -n`, or lower `limits.runs`")]
    TooManyFiles,
    /// There is not enough memory.
    #[error("cannot be started for lack of memory: free some, or lower `limits.runs`")]
    NoMemory,
    /// There are too many processes.
    #[error("cannot be started, since there are too many processes: raise `ulimit -u`, or lower `limits.runs`")]
    TooManyProcesses,
    /// The disk does not respond.
    #[error("cannot be read: check the disk or the mount that it is on ({0})")]
    Disk(Errno),
    /// Anything else.
    #[error("cannot be started: {0}")]
    Other(String),
}

impl Obstacle {
    /// The obstacle behind the system's refusal to start a program in a folder.
    pub(super) fn of(program: &Path, workdir: &Path, error: &io::Error) -> Self {
        let Some(errno) = Errno::from_io_error(error) else { return Self::Other(error.to_string()) };
        match errno {
            Errno::TXTBSY => Self::Busy,
            Errno::MFILE | Errno::NFILE => Self::TooManyFiles,
            Errno::NOMEM => Self::NoMemory,
            Errno::AGAIN => Self::TooManyProcesses,
            Errno::IO | Errno::STALE | Errno::NOTCONN | Errno::TIMEDOUT | Errno::HOSTDOWN => Self::Disk(errno),
            _ if access(workdir, Access::EXEC_OK).is_err() => Self::UnreachableWorkdir(workdir.to_owned()),
            _ => Self::in_file(program).unwrap_or_else(|| match errno {
                Errno::ACCESS | Errno::PERM => Self::Forbidden,
                Errno::NOEXEC => Self::UnknownFormat,
                _ => Self::Other(error.to_string()),
            }),
        }
    }

    /// The obstacle that a program's file shows, if any.
    pub(super) fn in_file(program: &Path) -> Option<Self> {
        let meta = match fs::metadata(program) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Some(closed_folder(program)),
            Err(_) => return Some(Self::Missing),
        };
        let kind = meta.file_type();
        if kind.is_dir() || kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() {
            return Some(Self::NotAFile);
        }
        if access(program, Access::EXEC_OK).is_err() {
            return Some(Self::NotExecutable);
        }
        // A program may be executable and not readable: then nothing can be found.
        let mut head = Vec::new();
        File::open(program).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
        match head.strip_prefix(b"#!") {
            Some(script) => in_first_line(script),
            None => in_binary(&head),
        }
    }
}

/// The topmost parent folder of a file that cannot be entered.
fn closed_folder(program: &Path) -> Obstacle {
    let folders: Vec<_> = program.ancestors().skip(1).collect();
    let closed = folders.into_iter().rev().find(|folder| access(*folder, Access::EXEC_OK).is_err());
    closed.map_or(Obstacle::NotExecutable, |folder| Obstacle::UnreachableFolder(folder.to_owned()))
}

fn in_first_line(script: &[u8]) -> Option<Obstacle> {
    let line = script.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if line.ends_with(b"\r") {
        return Some(Obstacle::CarriageReturn);
    }
    let line = String::from_utf8_lossy(line);
    let interpreter = Path::new(line.split_whitespace().next().unwrap_or_default());
    match fs::metadata(interpreter) {
        Err(_) => Some(Obstacle::NoInterpreter(interpreter.to_owned())),
        Ok(meta) if meta.is_dir() || access(interpreter, Access::EXEC_OK).is_err() => {
            Some(Obstacle::BadInterpreter(interpreter.to_owned()))
        }
        Ok(_) => None,
    }
}

fn in_binary(head: &[u8]) -> Option<Obstacle> {
    if head.is_empty() {
        return Some(Obstacle::Empty);
    }
    match FileKind::parse(head) {
        Ok(FileKind::Elf64) => in_elf(head),
        Ok(FileKind::Elf32) if cfg!(target_pointer_width = "64") => Some(Obstacle::OtherMachine("32-bit machines")),
        Ok(_) if !cfg!(target_os = "macos") => Some(Obstacle::OtherMachine("another operating system")),
        Ok(_) => None,
        Err(_) if head.starts_with(b"MZ") => Some(Obstacle::OtherMachine("another operating system")),
        Err(_) if std::str::from_utf8(&head[..head.len().min(256)]).is_ok() => Some(Obstacle::NoFirstLine),
        Err(_) => None,
    }
}

fn in_elf(head: &[u8]) -> Option<Obstacle> {
    if !cfg!(target_os = "linux") {
        return Some(Obstacle::OtherMachine("another operating system"));
    }
    let header = FileHeader64::<object::Endianness>::parse(head).ok()?;
    let endian = header.endian().ok()?;
    let machine = header.e_machine(endian);
    if machine_of(std::env::consts::ARCH).is_some_and(|own| own != machine) {
        return Some(Obstacle::OtherMachine(name_of(machine)));
    }
    let segments = header.program_headers(endian, head).ok()?;
    let loader = segments.iter().find_map(|segment| segment.interpreter(endian, head).ok()?)?;
    let loader = PathBuf::from(String::from_utf8_lossy(loader).into_owned());
    (!loader.exists()).then_some(Obstacle::NoLoader(loader))
}

/// Machines by their names in Rust.
const MACHINES: [(&str, u16); 7] = [
    ("x86_64", EM_X86_64),
    ("aarch64", EM_AARCH64),
    ("x86", EM_386),
    ("arm", EM_ARM),
    ("riscv64", EM_RISCV),
    ("powerpc64", EM_PPC64),
    ("s390x", EM_S390),
];

fn machine_of(name: &str) -> Option<u16> {
    MACHINES.iter().find(|(known, _)| *known == name).map(|(_, machine)| *machine)
}

fn name_of(machine: u16) -> &'static str {
    MACHINES.iter().find(|(_, known)| *known == machine).map_or("another processor", |(name, _)| name)
}
