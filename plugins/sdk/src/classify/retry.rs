//! Retry times in an error text: `retry after 30 seconds`, `try again in 2m 30s`, `retryDelay: "12s"`,
//! `resets 3pm (Europe/Berlin)`, `try again at Nov 30th, 2026 10:03 PM`, `reset at 2026-11-27 21:30:00`,
//! `limit reached|1735689600`. Clock times are passed on unresolved: a plugin has neither a clock nor time zones.

use super::clock;
use super::cursor::Cursor;
use crate::RetryHint;

/// Words that precede a time.
const KEYWORDS: [&str; 17] = [
    "again",
    "retry",
    "retrying",
    "retryafter",
    "retryafterms",
    "retrydelay",
    "wait",
    "waiting",
    "reset",
    "resets",
    "resetting",
    "resetat",
    "resetsat",
    "resetafter",
    "resetsinseconds",
    "available",
    "until",
];

/// Words between a keyword and its time.
const FILLERS: [&str; 12] =
    ["in", "after", "at", "on", "for", "about", "approximately", "delay", "again", "until", "ms", "seconds"];

/// Words that make a bare number a number of seconds.
const SECONDS: [&str; 8] =
    ["after", "delay", "seconds", "wait", "retryafter", "retrydelay", "resetafter", "resetsinseconds"];

/// Words that make a bare number a number of milliseconds.
const MILLISECONDS: [&str; 2] = ["ms", "retryafterms"];

/// Units of a duration in milliseconds.
const UNITS: [(f64, &[&str]); 6] = [
    (1.0, &["ms", "msec", "millisecond", "milliseconds"]),
    (1e3, &["s", "sec", "secs", "second", "seconds"]),
    (60e3, &["m", "min", "mins", "minute", "minutes"]),
    (3600e3, &["h", "hr", "hrs", "hour", "hours"]),
    (86_400e3, &["d", "day", "days"]),
    (604_800e3, &["w", "week", "weeks"]),
];

/// The first retry time in a text.
pub(super) fn hint(text: &str) -> Option<RetryHint> {
    let mut is_word = false;
    for (at, letter) in text.char_indices() {
        let begins = letter.is_ascii_alphabetic() && !is_word;
        is_word = letter.is_ascii_alphabetic();
        let found = match letter {
            '|' => Cursor::new(&text[at + 1..]).number().and_then(|number| epoch(&number)),
            _ if begins => after_keyword(Cursor::new(&text[at..])),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn after_keyword(mut text: Cursor<'_>) -> Option<RetryHint> {
    let keyword = text.word();
    let is_keyword = |known: &&str| known.eq_ignore_ascii_case(keyword);
    KEYWORDS.iter().find(|known| is_keyword(known))?;
    let mut unit_of_bare = bare_unit(keyword);
    loop {
        text.skip(" \t\n_-:=\"'");
        let before = text;
        let word = text.word();
        if !FILLERS.iter().any(|filler| filler.eq_ignore_ascii_case(word)) {
            text = before;
            break;
        }
        unit_of_bare = bare_unit(word).or(unit_of_bare);
    }
    duration(text).map(RetryHint::AfterMs).or_else(|| clock::wall_clock(text).map(RetryHint::AtClock)).or_else(|| {
        let number = text.number()?;
        epoch(&number).or_else(|| Some(RetryHint::AfterMs(rounded(number.parse::<f64>().ok()? * unit_of_bare?))))
    })
}

fn bare_unit(word: &str) -> Option<f64> {
    let is_one_of = |known: &[&str]| known.iter().any(|known| known.eq_ignore_ascii_case(word));
    if is_one_of(&MILLISECONDS) { Some(1.0) } else { is_one_of(&SECONDS).then_some(1e3) }
}

/// Seconds or milliseconds since 1970, by their number of digits.
fn epoch(digits: &str) -> Option<RetryHint> {
    let number = digits.parse::<u64>().ok()?;
    match digits.len() {
        10 => Some(RetryHint::AtEpochMs(number.saturating_mul(1000))),
        13 => Some(RetryHint::AtEpochMs(number)),
        _ => None,
    }
}

/// `2m 30s`, `3 days 4 hours 5 minutes`, `1h30m`, `59.44s`, in milliseconds.
fn duration(mut text: Cursor<'_>) -> Option<u64> {
    let mut total = None;
    loop {
        let mut next = text;
        if total.is_some() {
            next.skip(" ,");
            let before = next;
            if next.word() == "and" {
                next.skip(" ");
            } else {
                next = before;
            }
        }
        let Some(part) = duration_part(&mut next) else {
            return total.map(rounded);
        };
        total = Some(total.unwrap_or(0.0) + part);
        text = next;
    }
}

fn duration_part(text: &mut Cursor<'_>) -> Option<f64> {
    let number = text.number()?.parse::<f64>().ok()?;
    text.skip(" ");
    let unit = text.word();
    let size = UNITS.iter().find(|(_, names)| names.iter().any(|name| name.eq_ignore_ascii_case(unit)))?;
    Some(number * size.0)
}

/// A float that is too large becomes the largest number.
fn rounded(milliseconds: f64) -> u64 {
    milliseconds.round() as u64
}
