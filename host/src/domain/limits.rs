//! What a request, a plugin and a run may use, with the defaults. The keys in proxy.toml are `config::limits`'.

use std::time::Duration;

const MIB: u64 = 1024 * 1024;

/// Every limit, by what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// What a client may ask for.
    pub http: HttpLimits,
    /// What a plugin may use.
    pub plugin: PluginLimits,
    /// What a run may use.
    pub run: RunLimits,
}

/// What a client may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Bytes of a request's body. Chat clients send a whole conversation each time, images not among it.
    pub body: u64,
    /// How long a streamed answer waits for its first event before its headers go out: until then a failure has a
    /// status of its own, after it the client is told to wait.
    pub headers_after: Duration,
    /// How long a streamed answer may be silent before a sign of life is sent. Clients give up after 300 s.
    pub keep_alive: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self { body: 32 * MIB, headers_after: Duration::from_secs(10), keep_alive: Duration::from_secs(15) }
    }
}

/// What a plugin may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginLimits {
    /// Bytes of a component file.
    pub file: u64,
    /// Bytes of memory of one instance.
    pub memory: u64,
    /// Processor time of one call: a line takes microseconds.
    pub call_cpu: Duration,
    /// Processor time of all calls of one run.
    pub run_cpu: Duration,
    /// Bytes that one call may hand over to the host.
    pub result: u64,
}

impl Default for PluginLimits {
    fn default() -> Self {
        Self {
            file: 32 * MIB,
            memory: 64 * MIB,
            call_cpu: Duration::from_millis(250),
            run_cpu: Duration::from_secs(60),
            result: 64 * MIB,
        }
    }
}

/// What a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Bytes of one line of output. Real CLIs print lines of half a MiB.
    pub line: u64,
    /// Bytes kept of the end of standard error, for the error report.
    pub stderr: u64,
    /// How long a process may take to end after it was asked to, or after its turn was over.
    pub grace: Duration,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { line: 16 * MIB, stderr: MIB / 16, grace: Duration::from_secs(5) }
    }
}
