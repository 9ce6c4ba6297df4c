//! Owns the lines of opencode's log, which `--print-logs` writes to standard error: `name=value` fields with spaces between
//! them, a value in quotes if it has spaces itself. The log is the only place where the errors are told that opencode
//! retries after, and what is behind an "unexpected server error".

/// The value of a field of a line.
pub(crate) fn field(line: &str, name: &str) -> Option<String> {
    let mut rest = line;
    loop {
        let (found, after) = rest.trim_start().split_once('=')?;
        let (value, behind) = value(after);
        if found == name {
            return Some(value);
        }
        rest = behind;
    }
}

/// The value at the beginning of a text, and what stands behind it.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, behind) = text.split_once(' ').unwrap_or((text, ""));
        return (value.to_owned(), behind);
    };
    let mut value = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.extend(characters.next().map(|escaped| if escaped == 'n' { '\n' } else { escaped })),
            plain => value.push(plain),
        }
    }
    (value, characters.as_str())
}
