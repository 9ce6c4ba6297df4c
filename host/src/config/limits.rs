//! `[limits]`: the key of each limit. What the limits mean, and their defaults, is `domain::limits`'.

use std::time::Duration;

use super::section::Section;
use super::values::{self, Zero};
use crate::domain::{HttpLimits, Limits, PluginLimits, RunLimits};

pub(super) fn read(mut section: Section<'_>) -> Limits {
    let Limits { http, plugin, run } = Limits::default();
    let limits = Limits {
        http: HttpLimits {
            body: size(&mut section, "body", Zero::Refused, http.body),
            headers_after: duration(&mut section, "headers_after", Zero::Allowed, http.headers_after),
            keep_alive: duration(&mut section, "keep_alive", Zero::Refused, http.keep_alive),
        },
        plugin: PluginLimits {
            file: size(&mut section, "plugin_file", Zero::Refused, plugin.file),
            memory: size(&mut section, "plugin_memory", Zero::Refused, plugin.memory),
            call_cpu: duration(&mut section, "plugin_call_cpu", Zero::Refused, plugin.call_cpu),
            run_cpu: duration(&mut section, "plugin_run_cpu", Zero::Refused, plugin.run_cpu),
            result: size(&mut section, "plugin_result", Zero::Refused, plugin.result),
        },
        run: RunLimits {
            line: size(&mut section, "line", Zero::Refused, run.line),
            stderr: size(&mut section, "stderr", Zero::Allowed, run.stderr),
            grace: duration(&mut section, "grace", Zero::Allowed, run.grace),
        },
    };
    section.finish();
    limits
}

fn size(section: &mut Section<'_>, key: &'static str, zero: Zero, default: u64) -> u64 {
    section.take(key).and_then(|item| values::size(&item, zero)).unwrap_or(default)
}

fn duration(section: &mut Section<'_>, key: &'static str, zero: Zero, default: Duration) -> Duration {
    section.take(key).and_then(|item| values::duration(&item, zero)).unwrap_or(default)
}
