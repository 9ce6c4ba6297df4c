//! `[limits]`, and `limits` of a model: the key of each limit. What the limits mean, and their defaults, is `domain::limits`'.

use std::time::Duration;

use super::section::Section;
use super::values::{self, Zero};
use crate::domain::{HttpLimits, Limits, PluginLimits, QueueLimits, RetryLimits, RunLimits};

pub(super) fn read(mut section: Section<'_>) -> Limits {
    let Limits { http, plugin, run, queue, retry } = Limits::default();
    let limits = Limits {
        http: HttpLimits {
            body: size(&mut section, "body", Zero::Refused, http.body),
            headers_after: duration(&mut section, "headers_after", Zero::Allowed, http.headers_after),
            keep_alive: duration(&mut section, "keep_alive", Zero::Refused, http.keep_alive),
            linger: duration(&mut section, "linger", Zero::Allowed, http.linger),
        },
        plugin: PluginLimits {
            file: size(&mut section, "plugin_file", Zero::Refused, plugin.file),
            compile: duration(&mut section, "plugin_compile", Zero::Refused, plugin.compile),
            memory: size(&mut section, "plugin_memory", Zero::Refused, plugin.memory),
            instances: count(&mut section, "plugin_instances", Zero::Refused, plugin.instances),
            call_cpu: duration(&mut section, "plugin_call_cpu", Zero::Refused, plugin.call_cpu),
            run_cpu: duration(&mut section, "plugin_run_cpu", Zero::Refused, plugin.run_cpu),
            result: size(&mut section, "plugin_result", Zero::Refused, plugin.result),
            events: count(&mut section, "plugin_events", Zero::Refused, plugin.events),
            output: size(&mut section, "plugin_output", Zero::Refused, plugin.output),
            notices: count(&mut section, "plugin_notices", Zero::Allowed, plugin.notices),
        },
        run: run_limits(&mut section, run),
        queue: QueueLimits {
            runs: count(&mut section, "runs", Zero::Refused, queue.runs),
            length: count(&mut section, "queue", Zero::Allowed, queue.length),
            wait: duration(&mut section, "queue_wait", Zero::Allowed, queue.wait),
        },
        retry: RetryLimits {
            first: duration(&mut section, "retry_first", Zero::Allowed, retry.first),
            longest: duration(&mut section, "retry_longest", Zero::Allowed, retry.longest),
        },
    };
    section.finish();
    limits
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
