//! Compiles third-party plugins in a separate process with limited time and memory. The process writes the code into the
//! compile cache, where this process reads it.
//!
//! The separate process is this program with another task. It reads the component from standard input and reports the result
//! by its exit code.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agentbay_domain::{ExitStatus, PluginLimits, RunId};
use agentbay_os::files::{FolderError, private_dir};
use agentbay_os::process::{Captured, Command, ResourceLimits, Variables, capture, current_exe, limit_resources};
use agentbay_plugin_host::{
    CompileError, CompileFailure, CompileFuture, Compiler, Engine, EngineError, Observer, compile,
};
use bytes::Bytes;
use tokio::time::timeout;

/// The task of the program that is the compiler, as on the command line.
const TASK: &str = "compile";

/// The component is in the cache.
const COMPILED: u8 = 0;
/// The bytes are not a component. Standard output has the reason.
const INVALID: u8 = 3;
/// There was not enough memory.
const NO_MEMORY: u8 = 4;

/// What Rust prints before it ends a process that gets no memory, for its heap or for the stack of a thread.
const NO_MEMORY_WORDS: [&str; 2] = ["memory allocation of", "Resource temporarily unavailable"];

/// How the system ends a process that has used up its processor time.
const SIGXCPU: i32 = 24;

/// The bytes of output that are kept.
const KEPT: usize = 16 * 1024;

/// Starts compilers.
#[derive(Debug)]
struct IsolatedCompiler {
    cache: PathBuf,
    processors: usize,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum NoEngine {
    /// The folder of the compile cache cannot be used. Its content is run as native code.
    #[error("cannot use the compile cache {0}; `plugins.cache` in proxy.toml names another folder")]
    Cache(FolderError),
    /// The engine itself cannot be set up.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The engine for plugins, which compiles third-party plugins in a separate process. Compiled code is kept in a folder of
/// `cache`, which is made private to the user.
///
/// # Errors
/// See [`NoEngine`].
pub fn engine(cache: &Path, observer: Arc<dyn Observer>) -> Result<Engine, NoEngine> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let cache = cache.join("wasm");
    private_dir(&cache).map_err(NoEngine::Cache)?;
    Ok(Engine::new(&cache, Arc::new(IsolatedCompiler { cache: cache.clone(), processors }), observer)?)
}

impl Compiler for IsolatedCompiler {
    fn compile<'a>(&'a self, component: Bytes, limits: &'a PluginLimits) -> CompileFuture<'a> {
        Box::pin(async move {
            let command = self.command(limits)?;
            match timeout(limits.compile_timeout, capture(command, component, KEPT)).await {
                Ok(captured) => compile_result(&captured.map_err(|error| failed(&error))?, limits),
                Err(_elapsed) => Err(CompileError::TooLong(limits.compile_timeout)),
            }
        })
    }
}

impl IsolatedCompiler {
    /// It has the tag of a run, so that it does not outlive this process.
    fn command(&self, limits: &PluginLimits) -> Result<Command, CompileError> {
        let cache = self.cache.to_str().ok_or_else(|| failed(&"the path of the cache is not UTF-8"))?;
        let processor = limits.compile_timeout.saturating_mul(self.processors.try_into().unwrap_or(u32::MAX)).as_secs();
        Ok(Command {
            executable: current_exe().map_err(|error| failed(&error))?,
            args: [TASK, cache, &limits.compile_memory.to_string(), &processor.to_string()].map(str::to_owned).into(),
            workdir: "/".into(),
            variables: Variables::none(),
            run: Some(RunId::new()),
            grace: Duration::ZERO,
            pipe_silence: Duration::ZERO,
        })
    }
}

fn failed(error: &impl ToString) -> CompileError {
    CompileError::Failed(error.to_string())
}

/// The result of compiling a component, by the exit of its compiler.
fn compile_result(captured: &Captured, limits: &PluginLimits) -> Result<(), CompileError> {
    let code = |code: u8| ExitStatus::Code(code.into());
    let lacks_memory = |words: &str| NO_MEMORY_WORDS.iter().any(|known| words.contains(known));
    match captured.status {
        status if status == code(COMPILED) => Ok(()),
        status if status == code(INVALID) => Err(CompileError::Invalid(captured.text().trim().to_owned())),
        status if status == code(NO_MEMORY) => Err(CompileError::TooMuchMemory(limits.compile_memory)),
        _ if lacks_memory(&captured.stderr) => Err(CompileError::TooMuchMemory(limits.compile_memory)),
        ExitStatus::Signal(SIGXCPU) => Err(CompileError::TooLong(limits.compile_timeout)),
        status => {
            Err(CompileError::Failed(format!("the compiler ended with {status}: {}", first_words(&captured.stderr))))
        }
    }
}

fn first_words(text: &str) -> String {
    const MOST: usize = 300;
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MOST).collect()
}

/// The task of the compiler's process: compiles what it reads within its limits, and reports the result.
///
/// # Errors
/// The resource limits cannot be set, or the component cannot be read.
pub fn run(cache: &Path, limits: ResourceLimits, mut input: impl Read, mut output: impl Write) -> io::Result<ExitCode> {
    limit_resources(limits)?;
    let mut component = Vec::new();
    input.read_to_end(&mut component)?;
    let code = match compile(cache, &component) {
        Ok(()) => COMPILED,
        Err(CompileFailure::NoMemory) => NO_MEMORY,
        Err(CompileFailure::Invalid(reason)) => {
            writeln!(output, "{reason}")?;
            INVALID
        }
    };
    Ok(ExitCode::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(status: ExitStatus, stdout: &str, stderr: &str) -> Result<(), CompileError> {
        let limits =
            PluginLimits { compile_timeout: Duration::from_secs(5), compile_memory: 1024, ..PluginLimits::default() };
        compile_result(&Captured { status, stdout: stdout.into(), stderr: stderr.to_owned() }, &limits)
    }

    #[test]
    fn the_exit_of_a_compiler_is_the_result_for_its_component() {
        let (too_much, too_long) =
            (Err(CompileError::TooMuchMemory(1024)), Err(CompileError::TooLong(Duration::from_secs(5))));
        assert_eq!(result(ExitStatus::Code(0), "", ""), Ok(()));
        assert_eq!(result(ExitStatus::Code(3), "bad magic\n", ""), Err(CompileError::Invalid("bad magic".to_owned())));
        assert_eq!(result(ExitStatus::Code(4), "", ""), too_much);
        assert_eq!(result(ExitStatus::Signal(6), "", "memory allocation of 205520912 bytes failed\n"), too_much);
        assert_eq!(result(ExitStatus::Signal(24), "", ""), too_long);
        let crashed = "cannot be compiled: the compiler ended with signal 11: thread overflowed its stack";
        let failed = result(ExitStatus::Signal(11), "", "thread\n overflowed its stack\n").unwrap_err();
        assert_eq!(failed.to_string(), crashed);
    }
}
