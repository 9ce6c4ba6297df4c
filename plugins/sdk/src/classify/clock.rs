//! Times of day as CLIs print them: `3pm`, `3:10 PM`, `15:10`, optionally after a date and before a zone.

use super::cursor::Cursor;
use crate::WallClock;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Maximum length of a zone name.
const ZONE_CHARS: usize = 40;

#[derive(Clone, Copy, Debug, Default)]
struct Date {
    day: Option<u8>,
    month: Option<u8>,
    year: Option<u16>,
}

/// Reads a time.
pub(super) fn wall_clock(mut text: Cursor<'_>) -> Option<WallClock> {
    let date = iso_date(&mut text).or_else(|| named_date(&mut text)).unwrap_or_default();
    let (hour, minute) = time(&mut text)?;
    let Date { day, month, year } = date;
    Some(WallClock { hour, minute, day, month, year, zone: zone(text) })
}

/// `2026-11-27T` or `2026-11-27 `.
fn iso_date(text: &mut Cursor<'_>) -> Option<Date> {
    let mut ahead = *text;
    let year = ahead.whole(1970..=9999)?;
    let month = ahead.eat('-').then(|| ahead.whole(1..=12)).flatten()?;
    let day = ahead.eat('-').then(|| ahead.whole(1..=31)).flatten()?;
    if !ahead.eat('T') {
        ahead.skip(" ");
    }
    *text = ahead;
    Some(Date { day: byte(day), month: byte(month), year: Some(year) })
}

/// `Nov 30th, 2026 `, `November 30 at `.
fn named_date(text: &mut Cursor<'_>) -> Option<Date> {
    let mut ahead = *text;
    let name = ahead.word().to_ascii_lowercase();
    let month = MONTHS.iter().position(|month| name.starts_with(month))?;
    ahead.skip(" .");
    let day = ahead.whole(1..=31)?;
    let mut behind = ahead;
    if matches!(behind.word(), "st" | "nd" | "rd" | "th") {
        ahead = behind;
    }
    ahead.skip(" ,");
    let mut behind = ahead;
    let year = behind.whole(1970..=9999);
    if year.is_some() {
        ahead = behind;
    }
    ahead.skip(" ,");
    let mut behind = ahead;
    if behind.word() == "at" {
        ahead = behind;
        ahead.skip(" ");
    }
    *text = ahead;
    Some(Date { day: byte(day), month: u8::try_from(month + 1).ok(), year })
}

/// `3pm`, `3:10 PM`, `15:10`, `15:10:30`. A number alone is not a time.
fn time(text: &mut Cursor<'_>) -> Option<(u8, u8)> {
    let hour = text.whole(0..=23)?;
    let minute = if text.eat(':') { Some(text.whole(0..=59)?) } else { None };
    if minute.is_some() && text.eat(':') {
        text.take(|letter| letter.is_ascii_digit() || letter == '.');
    }
    let mut behind = *text;
    behind.skip(" ");
    let half = behind.word().to_ascii_lowercase();
    let hour = match half.as_str() {
        "am" | "pm" if (1..=12).contains(&hour) => {
            *text = behind;
            hour % 12 + if half == "pm" { 12 } else { 0 }
        }
        _ => {
            minute?;
            hour
        }
    };
    Some((byte(hour)?, byte(minute.unwrap_or(0))?))
}

/// `Z`, `+02:00`, `UTC`, `(Europe/Berlin)`.
fn zone(mut text: Cursor<'_>) -> Option<String> {
    let mut offset = text;
    if offset.eat('Z') {
        return Some("UTC".into());
    }
    let offset = offset.take(|letter| letter.is_ascii_digit() || matches!(letter, '+' | '-' | ':'));
    if offset.starts_with(['+', '-']) {
        return Some(offset.into());
    }
    text.skip(" ");
    let is_bracketed = text.eat('(');
    let name = text.take(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '_' | '-' | '+' | ':'));
    let is_name = if is_bracketed { text.eat(')') } else { matches!(name, "UTC" | "GMT") };
    (is_name && !name.is_empty() && name.len() <= ZONE_CHARS).then(|| name.into())
}

fn byte(number: u16) -> Option<u8> {
    u8::try_from(number).ok()
}
