//! The table of words and HTTP statuses for each failure category. The first matching row counts, so the order matters: specific
//! rows precede general ones, and an exhausted quota precedes a rate limit, since providers use the same status for both.
//!
//! Words are in lower case with one space between them; `_`, `-`, `.` and camelCase in a report count as spaces too. The last word
//! may be a prefix (`throttl`: throttled, throttling), unless a space ends it.

use super::words::Words;
use crate::Category;

/// A kind of failure, with the signs by which it is recognised.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) category: Category,
    /// The message for the client.
    pub(super) message: &'static str,
    pub(super) statuses: &'static [u64],
    pub(super) words: &'static [&'static str],
    /// Counts only if the report has a short wait.
    pub(super) burst_only: bool,
    /// Counts if the operating system denied access to a file.
    no_access: bool,
}

impl Row {
    pub(super) fn is_in(&self, words: &Words) -> bool {
        (self.no_access && words.report_no_access())
            || self.words.iter().any(|phrase| words.contain(phrase))
            || self.statuses.iter().any(|status| words.has_status(*status))
    }
}

const fn row(
    category: Category,
    message: &'static str,
    statuses: &'static [u64],
    words: &'static [&'static str],
) -> Row {
    Row { category, message, statuses, words, burst_only: false, no_access: false }
}

/// The row of a report that matches no other row.
pub(super) static UNKNOWN: Row = row(Category::Unknown, "CLI failed", &[], &[]);

const QUOTA: &str = "The usage limit of the account is reached";
const RATE_LIMIT: &str = "The provider's rate limit is reached";
const AUTHENTICATION: &str = "The CLI is not logged in, or its credentials were refused";
const SETUP: &str = "The CLI is set up wrongly";

#[rustfmt::skip]
pub(super) static TABLE: [Row; 24] = [
    // Messages of the CLI before it contacts a provider.
    row(Category::Configuration, "The CLI does not trust the folder it was started in", &[], &[
        "trusted directory", "trusted folder", "trusted workspace", "folder is not trusted",
    ]),
    row(Category::Configuration,
        "The CLI refuses full access to root: run it as another user, or set IS_SANDBOX=1 for it where the machine is there for that",
        &[], &["root sudo privileges"]),
    row(Category::Configuration, "The CLI does not take the arguments it was started with: its version may not be supported", &[], &[
        "unexpected argument", "unknown option", "unknown argument", "unrecognized option", "requires verbose",
    ]),
    // Messages of the operating system. Providers use some of these words too, so these rows are first.
    Row { no_access: true, ..row(Category::Configuration,
        "A file or folder that the CLI needs is not accessible: give the user that runs AgentBay access to it", &[], &[]) },
    row(Category::Configuration, "The disk is full: make room on it", &[], &[
        "enospc", "no space left on device", "errno 28 ", "os error 28 ", "edquot", "disk quota exceeded",
    ]),
    row(Category::Configuration, "The machine has not enough memory, processes or open files for the CLI", &[], &[
        "enomem", "emfile", "enfile", "too many open files", "cannot allocate memory", "resource temporarily unavailable",
        "errno 24 ", "os error 24 ", "heap out of memory",
    ]),
    row(Category::Configuration,
        "The program that runs the CLI, such as Node.js, is not installed or not on AgentBay's PATH", &[], &[
            "env node no such", "env bun no such", "env deno no such", "env python no such", "env python3 no such",
            "env bash no such", "env sh no such", "env ruby no such", "env zsh no such", "env node r no such",
            "bad interpreter", "exec format error",
        ]),
    row(Category::Configuration,
        "The CLI does not trust the certificate of its provider, or of a proxy on the way: set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE",
        &[], &[
            "self signed certificate", "unable to get local issuer certificate", "unable to verify the first certificate",
            "unknown certificate verification error", "certificate verify failed", "invalid peer certificate",
        ]),
    row(Category::Configuration, SETUP, &[], &["error loading config", "error finding codex home", "error parsing config"]),

    // Quotas of a day and more, bursts of a minute, then words for both.
    row(Category::Quota, QUOTA, &[], &["per day ", "daily quota", "daily limit", "weekly limit", "monthly limit"]),
    row(Category::RateLimit, RATE_LIMIT, &[], &["per minute", "per min ", "per second", "high concurrency"]),
    Row { burst_only: true, ..row(Category::RateLimit, RATE_LIMIT, &[], &[
        "resource exhausted", "current quota", "quota will reset", "exhausted your capacity",
    ]) },
    row(Category::Quota, QUOTA, &[402], &[
        "insufficient quota", "quota exceeded", "billing hard limit", "resource exhausted", "credit limit", "usage limit",
        "current quota", "exceeded your quota", "exhausted your", "quota will reset", "hit your limit", "limit reached resets",
        "session limit", "hour limit", "spend limit", "spending limit", "credit balance", "insufficient balance",
        "insufficient credit", "insufficient funds", "out of credits", "out of extra usage", "payment required",
    ]),
    row(Category::RateLimit, RATE_LIMIT, &[429, 529], &["rate limit", "ratelimit", "too many requests", "overloaded", "throttl"]),

    row(Category::Authentication, AUTHENTICATION, &[401, 403], &[
        "invalid api key", "incorrect api key", "missing api key", "no api key", "api key not valid", "api key not found",
        "api key environment variable", "missing environment variable", "unauthorized", "unauthenticated", "forbidden",
        "permission denied", "authentication failed", "authentication error", "authentication required",
        "failed to authenticate", "not authenticated", "not logged in", "not signed in", "login required", "please log in",
        "please login", "please run login", "sign in again", "log in again", "login again", "no auth ", "invalid auth ",
        "invalid credentials", "no credentials", "default credentials", "token has expired", "token expired",
        "no authentication information", "api key required",
    ]),

    row(Category::Validation, "The prompt is longer than the model's context window", &[413], &[
        "context window", "context length", "maximum context", "prompt is too long", "input is too long", "prompt token count",
    ]),
    row(Category::Validation, "The prompt is empty", &[], &["no prompt provided", "no input provided", "input must be provided", "you must provide a message"]),
    row(Category::Validation, "The provider refused the request as invalid", &[400, 422], &[
        "invalid request", "malformed", "bad request", "validation error", "invalid parameter", "invalid argument",
    ]),

    row(Category::Network, "The CLI could not reach its provider, or lost the connection", &[], &[
        "econnreset", "etimedout", "enotfound", "econnrefused", "eai again", "epipe", "und err", "network error",
        "connection failed", "connection error", "connection refused", "connection reset", "connection closed",
        "connection to the api was lost", "deadline exceeded", "socket hang up", "socket closed", "other side closed",
        "stream disconnected", "stream closed", "fetch failed", "error sending request", "failed to lookup address",
        "dns error", "unable to connect", "could not connect", "failed to connect", "api error terminated",
        "unexpected eof", "error decoding response body",
        // Bun.
        "socket connection was closed", "connection was closed", "typo in the url", "failed to open socket",
    ]),
    row(Category::Server, "The provider failed to answer the request", &[500, 501, 502, 503, 504, 520, 521, 522, 523, 524, 530], &[
        "internal server error", "service unavailable", "bad gateway", "gateway timeout", "server error",
        "server had an error", "server failed", "internal error", "unavailable ", "high demand", "at capacity",
        "empty response",
    ]),
    row(Category::Timeout, "The CLI or its provider took too long", &[408], &["timed out", "timeout", "sigterm", "sigkill"]),

    row(Category::NotFound, "The session to resume does not exist", &[], &[
        "no conversation found", "no saved session", "no rollout found", "no previous sessions", "session not found",
        "no session task or name matched",
    ]),
    row(Category::NotFound, "The CLI or its provider did not find what was asked for, such as the model", &[404], &[
        "not found", "enoent", "no such file", "does not exist", "unknown model", "issue with the selected model",
    ]),
    row(Category::Configuration, SETUP, &[], &["not configured", "missing config", "invalid config", "cli not installed"]),
];
