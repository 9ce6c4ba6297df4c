//! `[limits]`, and `limits` of a model or a plugin: the key of each limit. Meaning and defaults are in `domain::limits`.

use std::time::Duration;

use agentbay_domain::{
    ConnectionLimits, HttpLimits, Limits, PluginLimits, QueueLimits, ReloadLimits, RetryLimits, RunLimits, StoreLimits,
};

use super::section::Section;
use super::values::{self, AllowZero};

pub(super) fn read(mut section: Section<'_>) -> Limits {
    let Limits { connections, http, plugin, run, queue, retry, store, reload } = Limits::default();
    let limits = Limits {
        connections: ConnectionLimits {
            max: count(&mut section, "connections", AllowZero::No, connections.max),
            header_timeout: duration(&mut section, "request_header_timeout", AllowZero::No, connections.header_timeout),
        },
        http: HttpLimits {
            body: size(&mut section, "body", AllowZero::No, http.body),
            first_event_timeout: duration(
                &mut section,
                "first_event_timeout",
                AllowZero::Yes,
                http.first_event_timeout,
            ),
            whole_headers_after: duration(
                &mut section,
                "whole_headers_after",
                AllowZero::Yes,
                http.whole_headers_after,
            ),
            keep_alive: duration(&mut section, "keep_alive", AllowZero::No, http.keep_alive),
            disconnect_grace: duration(&mut section, "disconnect_grace", AllowZero::Yes, http.disconnect_grace),
        },
        plugin: plugin_limits(&mut section, PREFIXED, plugin),
        run: run_limits(&mut section, run),
        queue: QueueLimits {
            runs: count(&mut section, "runs", AllowZero::No, queue.runs),
            length: count(&mut section, "queue", AllowZero::Yes, queue.length),
            wait: duration(&mut section, "queue_wait", AllowZero::Yes, queue.wait),
        },
        retry: RetryLimits {
            initial_delay: duration(&mut section, "retry_initial_delay", AllowZero::Yes, retry.initial_delay),
            max_delay: duration(&mut section, "retry_max_delay", AllowZero::Yes, retry.max_delay),
            failure_cache_ttl: duration(&mut section, "failure_cache_ttl", AllowZero::Yes, retry.failure_cache_ttl),
        },
        store: StoreLimits {
            responses: count(&mut section, "stored_responses", AllowZero::Yes, store.responses),
            bytes: size(&mut section, "stored_bytes", AllowZero::Yes, store.bytes),
        },
        reload: ReloadLimits { delay: duration(&mut section, "reload_delay", AllowZero::Yes, reload.delay) },
    };
    section.finish();
    limits
}

/// The limits of one plugin; those that it does not set are `all`'s.
pub(super) fn read_for_plugin(mut section: Section<'_>, all: PluginLimits) -> PluginLimits {
    let limits = plugin_limits(&mut section, PLAIN, all);
    section.finish();
    limits
}

/// The keys of a plugin's limits, in the order of the fields.
type PluginKeys = [&'static str; 12];

const PLAIN: PluginKeys = [
    "file",
    "read_timeout",
    "compile_timeout",
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

/// The same keys in `[limits]`.
const PREFIXED: PluginKeys = [
    "plugin_file",
    "plugin_read_timeout",
    "plugin_compile_timeout",
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
    let [
        file,
        read_timeout,
        compile_timeout,
        compile_memory,
        memory,
        instances,
        call_cpu,
        run_cpu,
        result,
        events,
        output,
        notices,
    ] = keys;
    PluginLimits {
        file: size(section, file, AllowZero::No, default.file),
        read_timeout: duration(section, read_timeout, AllowZero::No, default.read_timeout),
        compile_timeout: duration(section, compile_timeout, AllowZero::No, default.compile_timeout),
        compile_memory: size(section, compile_memory, AllowZero::No, default.compile_memory),
        memory: size(section, memory, AllowZero::No, default.memory),
        instances: count(section, instances, AllowZero::No, default.instances),
        call_cpu: duration(section, call_cpu, AllowZero::No, default.call_cpu),
        run_cpu: duration(section, run_cpu, AllowZero::No, default.run_cpu),
        result: size(section, result, AllowZero::No, default.result),
        events: count(section, events, AllowZero::No, default.events),
        output: size(section, output, AllowZero::No, default.output),
        notices: count(section, notices, AllowZero::Yes, default.notices),
    }
}

/// The limits of one model; those that it does not set are `all`'s.
pub(super) fn read_for_model(mut section: Section<'_>, all: RunLimits) -> RunLimits {
    let limits = run_limits(&mut section, all);
    section.finish();
    limits
}

fn run_limits(section: &mut Section<'_>, default: RunLimits) -> RunLimits {
    RunLimits {
        output_line: size(section, "output_line", AllowZero::No, default.output_line),
        output: size(section, "output", AllowZero::No, default.output),
        answer_buffer: size(section, "answer_buffer", AllowZero::No, default.answer_buffer),
        stderr_tail: size(section, "stderr_tail", AllowZero::Yes, default.stderr_tail),
        exit_grace: duration(section, "exit_grace", AllowZero::Yes, default.exit_grace),
        open_pipe_timeout: duration(section, "open_pipe_timeout", AllowZero::Yes, default.open_pipe_timeout),
        late_output_timeout: duration(section, "late_output_timeout", AllowZero::Yes, default.late_output_timeout),
        stdin_buffer: size(section, "stdin_buffer", AllowZero::Yes, default.stdin_buffer),
        git_timeout: duration(section, "git_timeout", AllowZero::No, default.git_timeout),
        partial_line_timeout: duration(section, "partial_line_timeout", AllowZero::Yes, default.partial_line_timeout),
        program_busy_timeout: duration(section, "program_busy_timeout", AllowZero::Yes, default.program_busy_timeout),
    }
}

fn count(section: &mut Section<'_>, key: &'static str, zero: AllowZero, default: usize) -> usize {
    section.take(key).and_then(|item| values::count(&item, zero)).unwrap_or(default)
}

fn size(section: &mut Section<'_>, key: &'static str, zero: AllowZero, default: u64) -> u64 {
    section.take(key).and_then(|item| values::size(&item, zero)).unwrap_or(default)
}

fn duration(section: &mut Section<'_>, key: &'static str, zero: AllowZero, default: Duration) -> Duration {
    section.take(key).and_then(|item| values::duration(&item, zero)).unwrap_or(default)
}
