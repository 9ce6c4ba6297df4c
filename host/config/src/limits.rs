//! `[limits]`, and `limits` of a model or a plugin: the key of each limit. What the limits mean, and their defaults, is `domain::limits`'.

use std::time::Duration;

use agentbay_domain::{
    ConnectionLimits, HttpLimits, Limits, PluginLimits, QueueLimits, ReloadLimits, RetryLimits, RunLimits,
};

use super::section::Section;
use super::values::{self, Zero};

pub(super) fn read(mut section: Section<'_>) -> Limits {
    let Limits { connections, http, plugin, run, queue, retry, reload } = Limits::default();
    let limits = Limits {
        connections: ConnectionLimits {
            most: count(&mut section, "connections", Zero::Refused, connections.most),
            head: duration(&mut section, "request_head", Zero::Refused, connections.head),
        },
        http: HttpLimits {
            body: size(&mut section, "body", Zero::Refused, http.body),
            headers_after: duration(&mut section, "headers_after", Zero::Allowed, http.headers_after),
            keep_alive: duration(&mut section, "keep_alive", Zero::Refused, http.keep_alive),
            linger: duration(&mut section, "linger", Zero::Allowed, http.linger),
        },
        plugin: plugin_limits(&mut section, PREFIXED, plugin),
        run: run_limits(&mut section, run),
        queue: QueueLimits {
            runs: count(&mut section, "runs", Zero::Refused, queue.runs),
            length: count(&mut section, "queue", Zero::Allowed, queue.length),
            wait: duration(&mut section, "queue_wait", Zero::Allowed, queue.wait),
        },
        retry: RetryLimits {
            first: duration(&mut section, "retry_first", Zero::Allowed, retry.first),
            longest: duration(&mut section, "retry_longest", Zero::Allowed, retry.longest),
            failure_memory: duration(&mut section, "failure_memory", Zero::Allowed, retry.failure_memory),
        },
        reload: ReloadLimits { hold: duration(&mut section, "reload_hold", Zero::Allowed, reload.hold) },
    };
    section.finish();
    limits
}

/// The limits of one plugin: what it does not say is as for all.
pub(super) fn read_for_plugin(mut section: Section<'_>, all: PluginLimits) -> PluginLimits {
    let limits = plugin_limits(&mut section, PLAIN, all);
    section.finish();
    limits
}

/// The keys of a plugin's limits, in the order of the fields.
type PluginKeys = [&'static str; 12];

const PLAIN: PluginKeys = [
    "file",
    "read",
    "compile",
    "compile_memory",
    "memory",
    "instances",
    "call_cpu",
    "run_cpu",
    "result",
    "events",
    "output",
    "notices",
];

/// As they are among all other limits.
const PREFIXED: PluginKeys = [
    "plugin_file",
    "plugin_read",
    "plugin_compile",
    "plugin_compile_memory",
    "plugin_memory",
    "plugin_instances",
    "plugin_call_cpu",
    "plugin_run_cpu",
    "plugin_result",
    "plugin_events",
    "plugin_output",
    "plugin_notices",
];

fn plugin_limits(section: &mut Section<'_>, keys: PluginKeys, default: PluginLimits) -> PluginLimits {
    let [file, read, compile, compile_memory, memory, instances, call_cpu, run_cpu, result, events, output, notices] =
        keys;
    PluginLimits {
        file: size(section, file, Zero::Refused, default.file),
        read: duration(section, read, Zero::Refused, default.read),
        compile: duration(section, compile, Zero::Refused, default.compile),
        compile_memory: size(section, compile_memory, Zero::Refused, default.compile_memory),
        memory: size(section, memory, Zero::Refused, default.memory),
        instances: count(section, instances, Zero::Refused, default.instances),
        call_cpu: duration(section, call_cpu, Zero::Refused, default.call_cpu),
        run_cpu: duration(section, run_cpu, Zero::Refused, default.run_cpu),
        result: size(section, result, Zero::Refused, default.result),
        events: count(section, events, Zero::Refused, default.events),
        output: size(section, output, Zero::Refused, default.output),
        notices: count(section, notices, Zero::Allowed, default.notices),
    }
}

/// The limits of one model: what it does not say is as for all.
pub(super) fn read_for_model(mut section: Section<'_>, all: RunLimits) -> RunLimits {
    let limits = run_limits(&mut section, all);
    section.finish();
    limits
}

fn run_limits(section: &mut Section<'_>, default: RunLimits) -> RunLimits {
    RunLimits {
        line: size(section, "line", Zero::Refused, default.line),
        output: size(section, "output", Zero::Refused, default.output),
        unread: size(section, "unread", Zero::Refused, default.unread),
        stderr: size(section, "stderr", Zero::Allowed, default.stderr),
        grace: duration(section, "grace", Zero::Allowed, default.grace),
        pipe_silence: duration(section, "pipe_silence", Zero::Allowed, default.pipe_silence),
        settle: duration(section, "settle", Zero::Allowed, default.settle),
        stdin: size(section, "stdin", Zero::Allowed, default.stdin),
        git: duration(section, "git", Zero::Refused, default.git),
        open_line: duration(section, "open_line", Zero::Allowed, default.open_line),
        program_busy: duration(section, "program_busy", Zero::Allowed, default.program_busy),
    }
}

fn count(section: &mut Section<'_>, key: &'static str, zero: Zero, default: usize) -> usize {
    section.take(key).and_then(|item| values::count(&item, zero)).unwrap_or(default)
}

fn size(section: &mut Section<'_>, key: &'static str, zero: Zero, default: u64) -> u64 {
    section.take(key).and_then(|item| values::size(&item, zero)).unwrap_or(default)
}

fn duration(section: &mut Section<'_>, key: &'static str, zero: Zero, default: Duration) -> Duration {
    section.take(key).and_then(|item| values::duration(&item, zero)).unwrap_or(default)
}
