//! The lines of opencode's log, which `--print-logs` writes to standard error: `name=value` fields separated by spaces, with quotes
//! around a value that contains spaces. Only the log has the errors after which opencode retries, and the cause of an "unexpected
//! server error".

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

/// The value at the start of a text, and the rest.
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
