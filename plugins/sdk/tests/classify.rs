//! Which words and statuses are which kind of failure, and when they say to try again.

use agentbay_plugin_sdk::classify::{ErrorReport, failure};
use agentbay_plugin_sdk::{Category, Failure, RetryHint, WallClock};

fn category(text: &str) -> Category {
    failure(text).category
}

fn retry(text: &str) -> Option<RetryHint> {
    failure(text).retry
}

fn clock(hour: u8, minute: u8, zone: Option<&str>) -> WallClock {
    WallClock { hour, minute, day: None, month: None, year: None, zone: zone.map(String::from) }
}

/// INV-CLI-PARSE-003.
#[test]
fn every_pattern_of_the_protocol_has_its_category() {
    let patterns: [(Category, &[&str]); 9] = [
        (
            Category::Quota,
            &[
                "insufficient_quota",
                "quota_exceeded",
                "billing_hard_limit",
                "RESOURCE_EXHAUSTED",
                "credit_limit",
                "usage_limit",
            ],
        ),
        (
            Category::RateLimit,
            &[
                "rate_limit",
                "rate.limit",
                "rate-limit",
                "RATE_LIMIT_EXCEEDED",
                "too_many_requests",
                "429",
                "overloaded",
                "throttled",
                "throttling",
                "throttle",
            ],
        ),
        (
            Category::Authentication,
            &[
                "invalid_api_key",
                "unauthorized",
                "UNAUTHENTICATED",
                "PERMISSION_DENIED",
                "authentication_failed",
                "not_authenticated",
                "401",
                "403",
            ],
        ),
        (
            Category::Validation,
            &["invalid_request", "malformed", "bad_request", "validation_error", "invalid_parameter", "400"],
        ),
        (
            Category::Network,
            &[
                "ECONNRESET",
                "ETIMEDOUT",
                "ENOTFOUND",
                "ECONNREFUSED",
                "network_error",
                "connection_failed",
                "DEADLINE_EXCEEDED",
                "socket_hang_up",
            ],
        ),
        (
            Category::Server,
            &["internal_server_error", "service_unavailable", "bad_gateway", "500", "502", "503", "504"],
        ),
        (Category::Timeout, &["timed_out", "timeout", "SIGTERM", "SIGKILL"]),
        (Category::NotFound, &["command_not_found", "ENOENT", "not_found", "model_not_found", "404"]),
        (Category::Configuration, &["not_configured", "missing_config", "invalid_config", "cli_not_installed"]),
    ];
    for (expected, words) in patterns {
        for word in words {
            for text in [
                (*word).to_owned(),
                word.replace(['_', '.'], " "),
                format!("Error: {word}"),
                format!("failed: {{\"error\":{{\"code\":\"{word}\"}}}}\n"),
                format!("API Error: {word}: see the log"),
            ] {
                assert_eq!(category(&text), expected, "{text}");
            }
        }
    }
}

#[test]
fn a_number_is_a_status_only_in_the_position_of_one() {
    for text in [
        "HTTP/1.1 503",
        "unexpected status 500: oops",
        "request failed (502)",
        r#"{"statusCode":503}"#,
        r#"{"error":{"code":500}}"#,
        "503 from upstream",
    ] {
        assert_eq!(category(text), Category::Server, "{text}");
    }
    for text in [
        "4290 tokens",
        "port 500",
        "line 404",
        "listening on 127.0.0.1:500",
        "Error: 429 tokens too many",
        "took 401 ms",
        "version 5.0.503",
        "1429",
        "a500b",
    ] {
        assert_eq!(category(text), Category::Unknown, "{text}");
    }
}

#[test]
fn words_match_at_word_boundaries_only() {
    for text in ["prorate limits", "the accelerate limit", "unthrottled", "xenoent", ""] {
        assert_eq!(category(text), Category::Unknown, "{text}");
    }
    assert_eq!(category("RateLimitError"), Category::RateLimit);
    assert_eq!(category("It was throttled."), Category::RateLimit);
}

#[test]
fn unrecognised_text_is_unknown_and_kept_as_detail() {
    let expected = Failure::new(Category::Unknown, "CLI failed", "Something odd");
    assert_eq!(failure("Something odd"), expected);
    assert_eq!(failure(""), Failure::new(Category::Unknown, "CLI failed", ""));
}

#[test]
fn a_status_takes_precedence_over_less_specific_text() {
    let with = |status: u64, text: &str| ErrorReport::new(text).status(status).failure().category;
    assert_eq!(with(400, "the model was overloaded with 500 fields"), Category::Validation);
    assert_eq!(with(500, "request timed out"), Category::Server);
    assert_eq!(with(404, "unauthorized"), Category::NotFound);
    assert_eq!(with(529, "Overloaded"), Category::RateLimit);
    assert_eq!(with(429, "slow down"), Category::RateLimit);
    assert_eq!(with(429, "You exceeded your current quota"), Category::Quota);
    assert_eq!(with(403, "usage limit reached"), Category::Quota);
    assert_eq!(with(400, "Your credit balance is too low"), Category::Quota);
    assert_eq!(with(400, "API key not valid"), Category::Authentication);
    assert_eq!(with(402, ""), Category::Quota);
    assert_eq!(with(418, "rate limit"), Category::RateLimit);
    assert_eq!(ErrorReport::new("rate limit").status(None).failure().category, Category::RateLimit);
}

#[test]
fn a_status_takes_precedence_over_a_code_and_a_code_over_text() {
    let with = |code: &str, text: &str| ErrorReport::new(text).code(code).failure().category;
    assert_eq!(with("connection_failed", "500 times"), Category::Network);
    assert_eq!(with("rate_limit_error", "You exceeded your current quota"), Category::Quota);
    assert_eq!(with("something_new", "unauthorized"), Category::Authentication);
    let report = ErrorReport::new("x").code("rate_limit_error").status(401);
    assert_eq!(report.failure().category, Category::Authentication);
}

#[test]
fn retry_delays_are_read_in_every_form() {
    let cases = [
        ("rate limit: retry after 30 seconds", 30_000),
        ("rate limit: retry after 100ms", 100),
        ("rate limit, wait 5 seconds", 5000),
        ("rate limit", 1000),
        ("429. Please try again in 2m 30s.", 150_000),
        ("429. Please try again in 59.44s.", 59_440),
        ("429. Try again in 1h", 3_600_000),
        ("429, try again in 1 hour and 5 minutes", 3_900_000),
        ("429. Retrying in 60s (attempt 1/10)", 60_000),
        (r#"429 {"retryDelay": "12s"}"#, 12_000),
        (r#"429 {\"details\":[{\"retryDelay\":\"12s\"}]}"#, 12_000),
        ("429\nRetry-After: 7", 7000),
        ("429 retry-after-ms: 1500", 1500),
        (r#"429 {"retry_after_seconds":9}"#, 9000),
        (r#"429 {"resets_in_seconds":90}"#, 90_000),
        ("429 exceeded retry limit", 1000),
        ("429, try again in 5 parsecs", 1000),
        ("429, try again later. 3 tries left", 1000),
    ];
    for (text, wait) in cases {
        let failure = failure(text);
        assert_eq!((failure.category, failure.retry), (Category::RateLimit, Some(RetryHint::AfterMs(wait))), "{text}");
    }
}

#[test]
fn a_quota_has_a_reset_time() {
    let date = |day, month, year, clock: WallClock| WallClock { day: Some(day), month: Some(month), year, ..clock };
    let cases = [
        ("You've hit your limit · resets 3pm (Europe/Berlin)", RetryHint::AtClock(clock(15, 0, Some("Europe/Berlin")))),
        ("5-hour limit reached ∙ resets 12am", RetryHint::AtClock(clock(0, 0, None))),
        ("usage limit, resets at 12:30 PM", RetryHint::AtClock(clock(12, 30, None))),
        ("usage limit, try again at 15:10 UTC", RetryHint::AtClock(clock(15, 10, Some("UTC")))),
        (
            "You've hit your weekly limit · resets Oct 6, 1pm (America/New_York)",
            RetryHint::AtClock(date(6, 10, None, clock(13, 0, Some("America/New_York")))),
        ),
        (
            "usage limit will reset at 2026-11-27T21:30:00Z",
            RetryHint::AtClock(date(27, 11, Some(2026), clock(21, 30, Some("UTC")))),
        ),
        (
            "usage limit will reset at 2026-11-27T21:30:00+02:00",
            RetryHint::AtClock(date(27, 11, Some(2026), clock(21, 30, Some("+02:00")))),
        ),
        ("Claude AI usage limit reached|1735689600", RetryHint::AtEpochMs(1_735_689_600_000)),
        (r#"{"type":"usage_limit_reached","resets_at":1735689600}"#, RetryHint::AtEpochMs(1_735_689_600_000)),
        ("usage limit, try again in 3 days 4 hours 5 minutes", RetryHint::AfterMs(273_900_000)),
    ];
    for (text, hint) in cases {
        let failure = failure(text);
        assert_eq!((failure.category, failure.retry), (Category::Quota, Some(hint)), "{text}");
    }
    for text in ["usage limit, resets at 25:00", "usage limit, resets 13pm", "usage limit, resets 3", "usage limit|17"]
    {
        assert_eq!(retry(text), None, "{text}");
    }
}

#[test]
fn only_temporary_failures_have_a_retry_hint() {
    assert_eq!(retry("unauthorized, retry after 30 seconds"), None);
    assert_eq!(retry("bad request, retry after 30 seconds"), None);
    assert_eq!(retry("service unavailable, retry after 30 seconds"), Some(RetryHint::AfterMs(30_000)));
}

#[test]
fn case_030_a_daily_allowance_is_not_a_burst_limit() {
    let per_day = "429 RESOURCE_EXHAUSTED quotaId GenerateRequestsPerDayPerProjectPerModel-FreeTier";
    assert_eq!((category(per_day), retry(per_day)), (Category::Quota, None));
    let short = format!("{per_day} retryDelay: \"12s\"");
    assert_eq!((category(&short), retry(&short)), (Category::Quota, None));
    let daily = "You have exhausted your daily quota on this model.";
    assert_eq!((category(daily), retry(daily)), (Category::Quota, None));
    let burst = "You have exhausted your capacity on this model. Your quota will reset after 49s.";
    assert_eq!((category(burst), retry(burst)), (Category::RateLimit, Some(RetryHint::AfterMs(49_000))));
}

#[test]
fn case_033_the_words_tell_a_window_an_empty_balance_and_a_burst_apart() {
    let window = r#"API Error: 429 {"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-11-27 21:30:00"}}"#;
    let at = WallClock { day: Some(27), month: Some(11), year: Some(2026), ..clock(21, 30, None) };
    assert_eq!((category(window), retry(window)), (Category::Quota, Some(RetryHint::AtClock(at))));
    let balance = r#"API Error: 429 {"type":"error","error":{"type":"rate_limit_error","code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}"#;
    assert_eq!((category(balance), retry(balance)), (Category::Quota, None));
    let burst = r#"API Error: 429 {"error":{"code":"1302","message":"High concurrency usage of this API"}}"#;
    assert_eq!((category(burst), retry(burst)), (Category::RateLimit, Some(RetryHint::AfterMs(1000))));
}

#[test]
fn case_034_errors_without_a_status_are_classified_by_their_text() {
    assert_eq!(category("Error: AI_APICallError: No auth credentials found"), Category::Authentication);
    let model = "Error: Model not found: vendor/ghost-1. Did you mean: vendor/ghost-2?";
    assert_eq!(category(model), Category::NotFound);
    let length = "Error: AI_APICallError: prompt token count of 140000 exceeds the limit of 128000";
    assert_eq!(category(length), Category::Validation);
    assert_eq!(category(""), Category::Unknown);
}

#[test]
fn case_078_a_folder_that_is_not_trusted_is_a_matter_of_configuration() {
    let text = "Not inside a trusted directory and --skip-git-repo-check was not specified.";
    let message = "The CLI does not trust the folder it was started in";
    assert_eq!(failure(text), Failure::new(Category::Configuration, message, text));
}

#[test]
fn a_huge_report_is_cut_and_no_input_is_a_panic() {
    let huge = "é".repeat(100_000);
    let cut = failure(&huge);
    assert_eq!((cut.category, cut.detail.len()), (Category::Unknown, 16 * 1024));
    for text in
        ["|", "retry", "retry after", "retry after 99999999999999999999999999 seconds", "again in 1.", "\\", "reset ("]
    {
        let _ = failure(text);
    }
}

proptest::proptest! {
    #[test]
    fn no_words_are_a_panic(text in "(retry|reset|again| |in|at|[0-9]{1,30}|[:.|()/+-]|[ampstdh]|\\PC){0,40}") {
        let _ = failure(&text);
    }
}

#[test]
fn messages_of_the_operating_system_are_never_authentication_or_quota_failures() {
    for text in [
        "Error: EACCES: permission denied, open '/home/u/.codex/auth.json'",
        "/usr/bin/env: ‘node’: Permission denied",
        "sh: 1: /opt/cli/bin/cli: Permission denied",
        "bash: ./cli: Permission denied",
        "Error: Permission denied (os error 13)",
        "PermissionError: [Errno 13] Permission denied: '/home/u/.gemini'",
        "mkdir: cannot create directory ‘/home/u/.qwen’: Permission denied",
        "EPERM: operation not permitted, mkdir '/home/u/.claude'",
        "EROFS: read-only file system, open '/home/u/x'",
        "Error: ENOSPC: no space left on device, write",
        "OSError: [Errno 122] Disk quota exceeded",
        "env: node: No such file or directory",
        "env: 'node\\r': No such file or directory",
        "/usr/bin/env: ‘python3’: No such file or directory",
        "bash: /usr/local/bin/cli: /usr/bin/nodejs: bad interpreter: No such file or directory",
        "cannot execute binary file: Exec format error",
        "EMFILE: too many open files, watch",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        "Error: self-signed certificate in certificate chain",
        "error: unknown certificate verification error",
    ] {
        assert_eq!(category(text), Category::Configuration, "{text}");
    }
    for text in [
        "PERMISSION_DENIED: Permission denied on resource project x.",
        "7 PERMISSION_DENIED: Cloud Code API is disabled",
        "Error: permission denied: your key has no access to the model",
        "git@github.com: Permission denied (publickey).",
        "Permission denied for //cloudresource/projects/x",
    ] {
        assert_eq!(category(text), Category::Authentication, "{text}");
    }
    // A status of the provider beats them.
    assert_eq!(ErrorReport::new("EACCES").status(403).failure().category, Category::Authentication);
}

#[test]
fn the_messages_of_bun_for_a_lost_connection_are_known() {
    for text in [
        "The socket connection was closed unexpectedly. For more information, pass `verbose: true` in the second argument to fetch()",
        "Unable to connect. Is the computer able to access the url?",
        "Was there a typo in the url or port?",
        "error: ConnectionRefused",
        "ConnectionClosed: fetch",
        "FailedToOpenSocket",
    ] {
        assert_eq!(category(text), Category::Network, "{text}");
    }
    assert_eq!(category("TimeoutError: The operation timed out."), Category::Timeout);
}
