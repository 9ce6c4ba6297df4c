//! Renamed keys of proxy.toml. The current keys are in the section files.

/// Each renamed key: its section, in which `NAME` is any name, the old key and the new one.
pub(super) const RENAMED: [(&str, &str, &str); 25] = [
    ("server", "drain", "shutdown_timeout"),
    ("plugins", "patience", "load_timeout"),
    ("plugins.NAME", "home", "home_files"),
    ("plugins.NAME.limits", "read", "read_timeout"),
    ("plugins.NAME.limits", "compile", "compile_timeout"),
    ("defaults", "repo_runs", "max_repo_runs"),
    ("limits", "request_head", "request_header_timeout"),
    ("limits", "headers_after", "first_event_timeout"),
    ("limits", "linger", "disconnect_grace"),
    ("limits", "retry_first", "retry_initial_delay"),
    ("limits", "retry_longest", "retry_max_delay"),
    ("limits", "failure_memory", "failure_cache_ttl"),
    ("limits", "reload_hold", "reload_delay"),
    ("limits", "plugin_read", "plugin_read_timeout"),
    ("limits", "plugin_compile", "plugin_compile_timeout"),
    ("limits", "line", "output_line"),
    ("limits", "unread", "answer_buffer"),
    ("limits", "stderr", "stderr_tail"),
    ("limits", "grace", "exit_grace"),
    ("limits", "pipe_silence", "open_pipe_timeout"),
    ("limits", "settle", "late_output_timeout"),
    ("limits", "stdin", "stdin_buffer"),
    ("limits", "git", "git_timeout"),
    ("limits", "open_line", "partial_line_timeout"),
    ("limits", "program_busy", "program_busy_timeout"),
];

/// Returns the new name of a key, if the section has a key of that name: `limits` of a model has some of `[limits]`.
pub(super) fn new_name(old: &str, known: &[&'static str]) -> Option<&'static str> {
    RENAMED.iter().find_map(|&(_, key, new)| (key == old && known.contains(&new)).then_some(new))
}
