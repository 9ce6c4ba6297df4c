//! What a request, a plugin and a run may use, with the defaults. The keys in proxy.toml are `config::limits`'.

use std::time::Duration;

const MIB: u64 = 1024 * 1024;

/// Every limit, by what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// How many connections clients may have.
    pub connections: ConnectionLimits,
    /// What a client may ask for.
    pub http: HttpLimits,
    /// What a plugin may use.
    pub plugin: PluginLimits,
    /// What a run may use, unless its model says otherwise.
    pub run: RunLimits,
    /// How many runs there may be.
    pub queue: QueueLimits,
    /// How a failed run is tried again.
    pub retry: RetryLimits,
    /// How changes of the settings are taken.
    pub reload: ReloadLimits,
}

/// How many connections clients may have, whoever they are. They hold from the start of the server to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at once; others wait to be accepted. Of the 1024 files that most systems allow a process, runs need some
    /// as well.
    pub most: usize,
    /// How long a connection may take to send the head of a request, from when one is waited for. Clients that keep
    /// connections for the next request drop them after some seconds.
    pub head: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { most: 512, head: Duration::from_secs(30) }
    }
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
    /// How long a run goes on without anybody listening, if its client is one that may come back for it.
    pub linger: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body: 32 * MIB,
            headers_after: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            linger: Duration::from_secs(3),
        }
    }
}

/// What a plugin may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginLimits {
    /// Bytes of a component file.
    pub file: u64,
    /// How long the file system may take to hand over a file: one that does not answer holds nobody up.
    pub read: Duration,
    /// How long a file may be compiled.
    pub compile: Duration,
    /// Bytes of memory that compiling a file may take: some dozens for each byte of the file, and most of all for the
    /// longest function in it.
    pub compile_memory: u64,
    /// Bytes of all memories and tables of one run together.
    pub memory: u64,
    /// Core instances, memories and tables of one run, of each kind. Components of the languages that link libraries at
    /// run time have some dozens.
    pub instances: usize,
    /// Processor time of one call: a line takes microseconds.
    pub call_cpu: Duration,
    /// Processor time of all calls of one run.
    pub run_cpu: Duration,
    /// Bytes that one call may hand over to the host.
    pub result: u64,
    /// Events that one call may hand over. A call hears 64 KiB at most, beside the end of a line that was begun
    /// before: this is an event for each byte.
    pub events: usize,
    /// Bytes of all events of one run, each counted with [`Event::COST`](super::Event::COST) besides: twice what a CLI
    /// may print.
    pub output: u64,
    /// Notices of one run that are logged.
    pub notices: usize,
}

impl Default for PluginLimits {
    fn default() -> Self {
        Self {
            file: 32 * MIB,
            read: Duration::from_secs(10),
            compile: Duration::from_secs(60),
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

/// How many copies of a turn a plugin may hold: the turn itself, what it makes of it for the CLI, in which a character may
/// become several, and a buffer that grows by doubling.
const COPIES: u64 = 8;

/// Processor time of a call for each MiB of its turn: several times what escaping it takes.
const PER_MIB: Duration = Duration::from_millis(50);

impl PluginLimits {
    /// What a plugin may use for a turn of so many bytes. The limits are for what it does of its own accord: what a client
    /// sends is limited by `limits.body`, and must not wear a plugin out.
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

/// What a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Bytes of one line of output. Real CLIs print lines of half a MiB.
    pub line: u64,
    /// Bytes of all that a CLI prints.
    pub output: u64,
    /// Bytes of an answer that wait in memory: for a client that reads slowly, or for the answer to be complete.
    pub unread: u64,
    /// Bytes kept of the end of standard error, for the error report.
    pub stderr: u64,
    /// How long a process may take to end after it was asked to, or after its turn was over.
    pub grace: Duration,
    /// How long a process that has ended is listened to while nothing comes and a descendant holds its pipes open. What
    /// it has printed itself is read in any case, so that a moment is enough.
    pub pipe_silence: Duration,
    /// How long a CLI is listened to while nothing comes behind the end of its turn, if its plugin knows that it may say
    /// so before it has told all. Agents have been seen to be late by 50 ms.
    pub settle: Duration,
    /// Bytes of a plugin's replies that may wait for a CLI to read them, besides the prompt. A dialogue takes some KiB.
    pub stdin: u64,
    /// How long one git command of the host may take. The checkout of a large repository takes a minute or two, and a
    /// filter may download files meanwhile.
    pub git: Duration,
    /// How long a line of a text that is streamed waits for its end while nothing comes: it may be printed over. Longer
    /// than a spinner takes for a step, and shorter than anybody waits.
    pub open_line: Duration,
    /// How long a program is tried to be started that is being written to: installers take some hundred milliseconds.
    pub program_busy: Duration,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            line: 16 * MIB,
            output: 256 * MIB,
            unread: 10 * MIB,
            stderr: MIB / 16,
            grace: Duration::from_secs(5),
            pipe_silence: Duration::from_millis(300),
            settle: Duration::from_millis(200),
            stdin: MIB,
            git: Duration::from_secs(5 * 60),
            open_line: Duration::from_millis(200),
            program_busy: Duration::from_secs(1),
        }
    }
}

/// How many runs there may be, and wait to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Runs at once, of all models. An agent takes some hundreds of MiB.
    pub runs: usize,
    /// Requests that wait for others to end.
    pub length: usize,
    /// How long a request waits.
    pub wait: Duration,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { runs: 16, length: 256, wait: Duration::from_secs(10 * 60) }
    }
}

/// How long a failed run waits before it is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryLimits {
    /// The wait before the first new try; each further one is twice as long. Chance adds to it, so that those who
    /// failed together do not come back together.
    pub first: Duration,
    /// The longest wait. A CLI that is told to wait longer is not tried again.
    pub longest: Duration,
    /// How long a failure that would come again is given to the same request without a run. Clients that repeat do so within
    /// seconds; a person who has mended something takes about a minute.
    pub failure_memory: Duration,
}

impl Default for RetryLimits {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            failure_memory: Duration::from_secs(60),
        }
    }
}

/// How changes of the settings are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReloadLimits {
    /// How long the files must have stood still before a change is used that takes keys or models away: a generator that
    /// writes a file in several steps needs less.
    pub hold: Duration,
}

impl Default for ReloadLimits {
    fn default() -> Self {
        Self { hold: Duration::from_secs(2) }
    }
}
