//! Limits of connections, requests, plugins, runs, queue and reload, with their defaults. `config::limits` reads their
//! keys from proxy.toml.

use std::time::Duration;

const MIB: u64 = 1024 * 1024;

/// Every limit, grouped by what it bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Limits of client connections.
    pub connections: ConnectionLimits,
    /// Limits of a request and its answer.
    pub http: HttpLimits,
    /// Limits of a plugin.
    pub plugin: PluginLimits,
    /// Limits of a run, unless its model overrides them.
    pub run: RunLimits,
    /// Limits of the number of runs and of waiting requests.
    pub queue: QueueLimits,
    /// Limits of retries.
    pub retry: RetryLimits,
    /// Limits of stored responses.
    pub store: StoreLimits,
    /// Limits of reloading the settings.
    pub reload: ReloadLimits,
}

/// Limits of client connections, with or without a key. They apply from the start of the server; a reload does not
/// change them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at once; further ones wait to be accepted. Most systems allow a process 1024 open files, and runs
    /// need some of them.
    pub max: usize,
    /// How long the server waits for the complete head of a request. Clients close idle connections after some seconds.
    pub header_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { max: 512, header_timeout: Duration::from_secs(30) }
    }
}

/// Limits of a request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Bytes of a request's body. Chat clients send the whole conversation each time, without images.
    pub body: u64,
    /// How long a streamed answer waits for its first event before its headers are sent. Until then a failure has its
    /// own status; afterwards the client receives signs of life.
    pub first_event_timeout: Duration,
    /// How long a whole answer waits for its end before its headers are sent; zero: until its end. Node's `fetch` waits
    /// 300 s for headers, and its users then repeat the request, which starts a second run.
    pub whole_headers_after: Duration,
    /// How long a streamed answer may be silent before a sign of life is sent. Clients time out after 300 s.
    pub keep_alive: Duration,
    /// How long a run continues without a client, if its client may reconnect.
    pub disconnect_grace: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body: 32 * MIB,
            first_event_timeout: Duration::from_secs(10),
            whole_headers_after: Duration::from_secs(4 * 60),
            keep_alive: Duration::from_secs(15),
            disconnect_grace: Duration::from_secs(3),
        }
    }
}

/// Limits of a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginLimits {
    /// Bytes of a component file.
    pub file: u64,
    /// How long reading a file may take, so that a file system that hangs delays no other plugin.
    pub read_timeout: Duration,
    /// How long compiling a file may take.
    pub compile_timeout: Duration,
    /// Bytes of memory that compiling a file may use: some dozens for each byte of the file, most of them for its
    /// longest function.
    pub compile_memory: u64,
    /// Bytes of all memories and tables of one run, in total.
    pub memory: u64,
    /// Core instances, memories and tables of one run, each kind counted separately. Components of languages that link
    /// libraries at run time have some dozens.
    pub instances: usize,
    /// CPU time of one call: a line takes microseconds.
    pub call_cpu: Duration,
    /// CPU time of all calls of one run.
    pub run_cpu: Duration,
    /// Bytes that one call may return to the host.
    pub result: u64,
    /// Events that one call may return. A call receives at most 64 KiB, except for the end of a line that started
    /// before: this is one event for each byte.
    pub events: usize,
    /// Bytes of all events of one run, including [`Event::OVERHEAD`](super::Event::OVERHEAD) for each: twice what a CLI
    /// may print.
    pub output: u64,
    /// Notices of one run that are logged.
    pub notices: usize,
}

impl Default for PluginLimits {
    fn default() -> Self {
        Self {
            file: 32 * MIB,
            read_timeout: Duration::from_secs(10),
            compile_timeout: Duration::from_secs(60),
            compile_memory: 1024 * MIB,
            memory: 64 * MIB,
            instances: 64,
            call_cpu: Duration::from_millis(250),
            run_cpu: Duration::from_secs(60),
            result: 64 * MIB,
            events: 64 * 1024,
            output: 512 * MIB,
            notices: 200,
        }
    }
}

/// How many copies of a turn a plugin may hold: the turn itself, its form for the CLI, in which a character may
/// become several, and a buffer that grows by doubling.
const COPIES: u64 = 8;

/// CPU time of a call for each MiB of its turn: several times what escaping it takes.
const PER_MIB: Duration = Duration::from_millis(50);

impl PluginLimits {
    /// The limits of a plugin for a turn of `bytes` bytes. They grow with the turn, because a long prompt, which
    /// `limits.body` limits, must not exhaust a plugin.
    #[must_use]
    pub fn for_turn(self, bytes: u64) -> Self {
        let copies = bytes.saturating_mul(COPIES);
        let time = PER_MIB.saturating_mul(u32::try_from(bytes / MIB).unwrap_or(u32::MAX));
        Self {
            memory: self.memory.saturating_add(copies),
            call_cpu: self.call_cpu.saturating_add(time),
            run_cpu: self.run_cpu.saturating_add(time.saturating_mul(4)),
            result: self.result.saturating_add(copies),
            output: self.output.saturating_add(copies),
            ..self
        }
    }
}

/// Limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Bytes of one line of output. Real CLIs print lines of half a MiB.
    pub output_line: u64,
    /// Bytes of all output of a CLI.
    pub output: u64,
    /// Bytes of an answer that are buffered: until a slow client reads them, or until the answer is complete.
    pub answer_buffer: u64,
    /// Bytes kept of the end of standard error, for the error report.
    pub stderr_tail: u64,
    /// How long a process may take to end after a request to end, or after the end of its turn.
    pub exit_grace: Duration,
    /// How long the pipes of an ended process are read while they are silent and a descendant holds them open. The
    /// process's own output is read in any case, so that a short time is enough.
    pub open_pipe_timeout: Duration,
    /// How long the host waits for further output after the end of a turn, if the plugin knows that its CLI may report
    /// the end too early. Agents were seen to be late by 50 ms.
    pub late_output_timeout: Duration,
    /// Bytes of a plugin's replies that may wait for a CLI to read them, in addition to the prompt. A dialogue takes
    /// some KiB.
    pub stdin_buffer: u64,
    /// How long one git command of the host may take. The checkout of a large repository takes a minute or two, and its
    /// filters may download files.
    pub git_timeout: Duration,
    /// How long an incomplete line of streamed text waits for its end while the CLI is silent, because the CLI may
    /// overwrite it. Longer than the step of a spinner, and too short to be noticed.
    pub partial_line_timeout: Duration,
    /// How long the host retries to start a program that is being written to. Installers take some hundred
    /// milliseconds.
    pub program_busy_timeout: Duration,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            output_line: 16 * MIB,
            output: 256 * MIB,
            answer_buffer: 10 * MIB,
            stderr_tail: MIB / 16,
            exit_grace: Duration::from_secs(5),
            open_pipe_timeout: Duration::from_millis(300),
            late_output_timeout: Duration::from_millis(200),
            stdin_buffer: MIB,
            git_timeout: Duration::from_secs(5 * 60),
            partial_line_timeout: Duration::from_millis(200),
            program_busy_timeout: Duration::from_secs(1),
        }
    }
}

/// Limits of the number of runs and of waiting requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Runs at once, of all models. An agent uses some hundreds of MiB.
    pub runs: usize,
    /// Requests that wait for a slot.
    pub length: usize,
    /// How long a request waits.
    pub wait: Duration,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { runs: 16, length: 256, wait: Duration::from_secs(10 * 60) }
    }
}

/// Limits of retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryLimits {
    /// The delay before the first retry; each further one is twice as long. A random part is added, so that runs that
    /// failed together do not retry together.
    pub initial_delay: Duration,
    /// The longest delay. A run whose provider asks for a longer one is not retried.
    pub max_delay: Duration,
    /// How long a permanent failure is returned to the same request without a new run. Clients retry within seconds; a
    /// person who corrects something takes about a minute.
    pub failure_cache_ttl: Duration,
}

impl Default for RetryLimits {
    fn default() -> Self {
        Self {
            initial_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(60),
            failure_cache_ttl: Duration::from_secs(60),
        }
    }
}

/// Limits of stored responses and conversations, in total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLimits {
    /// Responses and conversations that are stored. A client continues one of its last ones.
    pub responses: usize,
    /// Bytes that they take. Each counts everything that stands before it, so that a long conversation counts several
    /// times.
    pub bytes: u64,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self { responses: 1000, bytes: 64 * MIB }
    }
}

/// Limits of reloading the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReloadLimits {
    /// How long the files must stay unchanged before a change that removes keys or models takes effect. A generator
    /// that writes a file in several steps needs less.
    pub delay: Duration,
}

impl Default for ReloadLimits {
    fn default() -> Self {
        Self { delay: Duration::from_secs(2) }
    }
}
