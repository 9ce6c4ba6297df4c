//! Removes private data from recorded output: the user, paths, and keys.
//!
//! Lines are preserved: neither removed nor inserted text contains a line end. The boundaries between reads are shifted along,
//! so that the time of each read stays known.

use std::collections::BTreeMap;
use std::path::Path;

use regex::bytes::{Regex, RegexBuilder};

/// Minimum length of a secret value; a shorter one matches too much unrelated text.
const SHORTEST_SECRET: usize = 8;

/// Minimum length of a user or machine name; a shorter one is part of other words.
const SHORTEST_NAME: usize = 3;

/// Names that identify nobody.
const COMMON_NAMES: [&str; 6] = ["admin", "localhost", "nobody", "root", "runner", "user"];

/// Name endings of variables with secret values.
const SECRET_ENDINGS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// The replacement of a key.
const REDACTED: &str = "REDACTED";

/// Patterns of keys. Only the group `key` is replaced, or the whole match without one.
const KEYS: [(&str, &str); 11] = [
    ("a bearer token", r"(?i:bearer)[ \t]+(?P<key>[A-Za-z0-9._~+/=-]{8,})"),
    ("an OpenAI or Anthropic key", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    ("a Google key", r"\bAIza[0-9A-Za-z_-]{30,}"),
    ("an AWS key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a Slack token", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{20,}"),
    ("an xAI key", r"\bxai-[A-Za-z0-9]{20,}"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    (
        "a value with a name like a key",
        r#"(?i:key|token|secret|password|passwd|credentials?)(?:\\*["'])?[ \t]*[:=][ \t]*(?:\\*["'])?(?P<key>[A-Za-z0-9+/_=.-]{16,})"#,
    ),
];

/// The user, machine and folders of a recording.
#[derive(Debug, Default)]
pub(super) struct Surroundings<'a> {
    pub(super) home: Option<&'a Path>,
    pub(super) workdir: Option<&'a Path>,
    pub(super) user: Option<&'a str>,
    pub(super) host_name: Option<&'a str>,
    /// All variables with a text value.
    pub(super) variables: Vec<(&'a str, &'a str)>,
}

/// Replaces what its rules match.
pub(super) struct Scrubber {
    rules: Vec<Rule>,
    found: BTreeMap<String, usize>,
}

struct Rule {
    /// What the rule removes, for people.
    what: String,
    pattern: Regex,
    replacement: String,
}

impl Scrubber {
    /// A scrubber for a recording made in these surroundings.
    ///
    /// # Errors
    /// A name or a path is too long for a pattern.
    pub(super) fn new(around: &Surroundings<'_>) -> Result<Self, regex::Error> {
        let mut rules = Vec::new();
        let mut literals: Vec<(String, String, &str)> = Vec::new();
        let secrets = around.variables.iter().filter(|(name, _)| is_secret(name));
        for (name, value) in secrets {
            let lines = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_SECRET);
            literals.extend(lines.map(|line| (format!("the value of {name}"), line.to_owned(), REDACTED)));
        }
        let paths =
            [("the working directory", around.workdir, "/repo"), ("the home folder", around.home, "/home/user")];
        for (what, path, replacement) in paths {
            let path = path.and_then(Path::to_str).filter(|path| path.len() > 1);
            literals.extend(path.map(|path| (what.to_owned(), path.to_owned(), replacement)));
        }
        // The longest first: a shorter one may be part of it.
        literals.sort_by_key(|(_, text, _)| std::cmp::Reverse(text.len()));
        for (what, text, replacement) in literals {
            rules.push(Rule::literal(what, &text, replacement)?);
        }
        for (what, pattern) in KEYS {
            rules.push(Rule { what: what.to_owned(), pattern: bytes(pattern)?, replacement: REDACTED.to_owned() });
        }
        let names = [("the user's name", around.user, "user"), ("the machine's name", around.host_name, "host")];
        for (what, name, replacement) in names {
            if let Some(name) = name.filter(|name| name.len() >= SHORTEST_NAME && !COMMON_NAMES.contains(name)) {
                rules.push(Rule::literal(what.to_owned(), name, replacement)?);
            }
        }
        Ok(Self { rules, found: BTreeMap::new() })
    }

    /// Scrubs a whole stream. `borders` are sorted positions in it, which are shifted along; one inside a removed part moves
    /// behind it.
    pub(super) fn scrub(&mut self, stream: Vec<u8>, borders: &mut [usize]) -> Vec<u8> {
        let mut stream = stream;
        for rule in &self.rules {
            let (scrubbed, count) = rule.apply(&stream, borders);
            if count > 0 {
                *self.found.entry(rule.what.clone()).or_default() += count;
                stream = scrubbed;
            }
        }
        stream
    }

    /// Scrubs a text.
    pub(super) fn scrub_text(&mut self, text: &str) -> String {
        String::from_utf8_lossy(&self.scrub(text.as_bytes().to_vec(), &mut [])).into_owned()
    }

    /// Number of removals by kind.
    pub(super) fn found(self) -> BTreeMap<String, usize> {
        self.found
    }
}

impl Rule {
    /// Matches a text that is not part of a longer word.
    fn literal(what: String, text: &str, replacement: &str) -> Result<Self, regex::Error> {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let border = |c: Option<char>| if is_word(c) { r"\b" } else { "" };
        let (before, after) = (border(text.chars().next()), border(text.chars().next_back()));
        let pattern = bytes(&format!("{before}{}{after}", regex::escape(text)))?;
        Ok(Self { what, pattern, replacement: replacement.to_owned() })
    }

    fn apply(&self, stream: &[u8], borders: &mut [usize]) -> (Vec<u8>, usize) {
        let (mut scrubbed, mut done, mut count) = (Vec::with_capacity(stream.len()), 0, 0);
        let mut next = 0;
        for found in self.pattern.captures_iter(stream) {
            let Some(key) = found.name("key").or_else(|| found.get(0)) else { continue };
            if key.as_bytes() == self.replacement.as_bytes() {
                continue;
            }
            next = shift(borders, next, key.start(), done, scrubbed.len());
            scrubbed.extend_from_slice(&stream[done..key.start()]);
            scrubbed.extend_from_slice(self.replacement.as_bytes());
            while borders.get(next).is_some_and(|border| *border < key.end()) {
                borders[next] = scrubbed.len();
                next += 1;
            }
            done = key.end();
            count += 1;
        }
        shift(borders, next, usize::MAX, done, scrubbed.len());
        scrubbed.extend_from_slice(&stream[done..]);
        (scrubbed, count)
    }
}

/// Shifts the borders up to a position. Returns the index of the next one.
fn shift(borders: &mut [usize], from: usize, until: usize, old: usize, new: usize) -> usize {
    let mut next = from;
    while let Some(border) = borders.get_mut(next).filter(|border| **border <= until) {
        *border = new + (*border - old);
        next += 1;
    }
    next
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// A pattern on bytes, since output need not be valid UTF-8.
fn bytes(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).unicode(false).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around() -> Surroundings<'static> {
        Surroundings {
            home: Some(Path::new("/home/ada")),
            workdir: Some(Path::new("/home/ada/engine")),
            user: Some("ada"),
            host_name: Some("analytical"),
            variables: vec![
                ("MY_API_KEY", "first-line-secret\nsecond-line-secret"),
                ("SHORT_TOKEN", "1234"),
                ("LANG", "de_DE.UTF-8"),
            ],
        }
    }

    fn scrubbed(text: &str) -> String {
        Scrubber::new(&around()).unwrap().scrub_text(text)
    }

    #[test]
    fn user_machine_and_folders_are_removed() {
        assert_eq!(
            scrubbed("ada@analytical:/home/ada/engine/src $ ls /home/ada /home/adamant\n"),
            "user@host:/repo/src $ ls /home/user /home/adamant\n"
        );
    }

    #[test]
    fn values_of_variables_named_like_keys_are_removed_line_by_line() {
        assert_eq!(
            scrubbed("first-line-secret\nsecond-line-secret 1234 de_DE.UTF-8"),
            "REDACTED\nREDACTED 1234 de_DE.UTF-8"
        );
    }

    #[test]
    fn keys_are_recognised_by_their_form() {
        let x = "a1B2".repeat(9);
        let cases = [
            (format!("Authorization: Bearer {x}"), "Authorization: Bearer REDACTED"),
            (format!("key sk-ant-{x}, then"), "key REDACTED, then"),
            (format!("ghp_{x} github_pat_{x}"), "REDACTED REDACTED"),
            (format!("glpat-{x} AIza{x} hf_{x} xai-{x}"), "REDACTED REDACTED REDACTED REDACTED"),
            ("AKIA0123456789ABCDEF xoxb-0123456789-ab".to_owned(), "REDACTED REDACTED"),
            (format!("eyJ{x}.eyJ{x}.{x}"), "REDACTED"),
            (
                format!(r#"{{"apiKey":"{x}"}} {{\"token\": \"{x}\"}} SECRET={x}"#),
                r#"{"apiKey":"REDACTED"} {\"token\": \"REDACTED\"} SECRET=REDACTED"#,
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(scrubbed(&text), expected);
        }
    }

    #[test]
    fn text_that_is_not_a_key_is_kept() {
        for text in [
            r#"{"input_tokens":1111,"token":"none"}"#,
            "tokenizer=fast",
            "session 01a21eb9-01ec-7e92-bfb9-fd056ea14d53",
        ] {
            assert_eq!(scrubbed(text), text);
        }
    }

    #[test]
    fn borders_shift_and_move_behind_removed_text() {
        let mut scrubber = Scrubber::new(&around()).unwrap();
        let text = b"x /home/ada/engine y\n/home/ada\n\xFFz".to_vec();
        // At the start, inside the first path, before and after the line end, at the end.
        let mut borders = [0, 8, 20, 21, 33];
        let scrubbed = scrubber.scrub(text, &mut borders);
        assert_eq!(scrubbed, b"x /repo y\n/home/user\n\xFFz");
        assert_eq!(borders, [0, 7, 9, 10, 23]);
        let found: Vec<(String, usize)> = scrubber.found().into_iter().collect();
        assert_eq!(found, [("the home folder".to_owned(), 1), ("the working directory".to_owned(), 1)]);
    }

    proptest::proptest! {
        #[test]
        fn the_number_of_lines_is_kept(text in "(Bearer [a-z]{8,20}|/home/ada|token=[a-z0-9]{16,20}|ada|[ \n\r\"]){0,30}") {
            let ends = |text: &str| text.matches(['\n', '\r']).count();
            proptest::prop_assert_eq!(ends(&scrubbed(&text)), ends(&text));
        }
    }
}
