//! The words of a text, in a form in which `rate_limit`, `rate-limit`, `RateLimit` and `Rate limit` are equal, and the numbers in
//! it that are HTTP statuses.

/// Words before a number that mark it as a status. Without them `port 500` and `4290 tokens` would be failures.
const BEFORE_STATUS: [&str; 14] = [
    "http",
    "status",
    "code",
    "error",
    "err",
    "response",
    "returned",
    "received",
    "rejected",
    "failed",
    "got",
    "with",
    "answered",
    "exception",
];

/// Words after a number that mark it as a count.
const UNITS: [&str; 10] = ["ms", "s", "sec", "seconds", "minutes", "tokens", "characters", "bytes", "lines", "times"];

/// The words of a text.
#[derive(Debug)]
pub(super) struct Words {
    /// In lower case, with one space before and after each.
    spaced: String,
    /// The HTTP statuses among them.
    statuses: Vec<u64>,
    /// The operating system denied access to a file.
    no_access: bool,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let (no_access, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| denies_access(line));
        let is_minor = |line: &&str| MINOR.iter().any(|word| line.to_lowercase().contains(word));
        Self {
            spaced: spaced(&rest.join("\n")),
            statuses: rest.into_iter().flat_map(statuses).collect(),
            no_access: no_access.iter().any(|line| !is_minor(line)),
        }
    }

    /// Whether the text contains these words in sequence. The last one may be a prefix, unless a space follows it.
    pub(super) fn contain(&self, words: &str) -> bool {
        self.spaced.match_indices(words).any(|(at, _)| self.spaced[..at].ends_with(' '))
    }

    /// Whether the operating system denied access to a file, in more than a warning.
    pub(super) fn report_no_access(&self) -> bool {
        self.no_access
    }

    pub(super) fn has_status(&self, status: u64) -> bool {
        self.statuses.contains(&status)
    }
}

/// Letters and digits in lower case, everything else as one space, and a space at the word starts of camelCase.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 2);
    spaced.push(' ');
    let mut was_lower = false;
    for letter in text.chars() {
        let starts_word = was_lower && letter.is_uppercase();
        if (starts_word || !letter.is_alphanumeric()) && !spaced.ends_with(' ') {
            spaced.push(' ');
        }
        if letter.is_alphanumeric() {
            spaced.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    if !spaced.ends_with(' ') {
        spaced.push(' ');
    }
    spaced
}

/// Words of a line that reports a problem from which the CLI recovers.
const MINOR: [&str; 4] = ["falling back", "not available", "warn", "ignoring"];

/// The operating system's messages of denied access.
const NO_ACCESS: [&str; 11] = [
    "eacces",
    "eperm:",
    "erofs",
    "[errno 13]",
    "[errno 1]",
    "[errno 30]",
    "(os error 13)",
    "(os error 1)",
    "(os error 30)",
    "operation not permitted",
    "read-only file system",
];

/// Whether a line has the operating system's message of denied access. Providers also say "permission denied"; the system says it
/// after a path, as in `sh: /opt/cli: Permission denied`.
fn denies_access(line: &str) -> bool {
    const DENIED: &str = ": permission denied";
    let line = line.to_lowercase();
    let is_path = |word: &str| word.starts_with(['/', '.', '~']) && word.contains('/') && !word.starts_with("//");
    NO_ACCESS.iter().any(|words| line.contains(words))
        || line.split_once(DENIED).is_some_and(|(before, behind)| {
            let subject = before.rsplit(": ").next().unwrap_or_default();
            let subject = subject.rsplit(' ').next().unwrap_or_default().trim_matches(['\'', '"', '`', '‘', '’']);
            is_path(subject) || is_path(before.split(':').next().unwrap_or_default()) || behind.starts_with(", open '")
        })
}

fn statuses(line: &str) -> Vec<u64> {
    let spaced = spaced(line);
    let words: Vec<&str> = spaced.split_ascii_whitespace().collect();
    (0..words.len()).filter_map(|at| status(&words, at)).collect()
}

/// The word at this index as a status. A status is at the start of a line, or after a word that announces one.
fn status(words: &[&str], at: usize) -> Option<u64> {
    let word = words.get(at)?;
    let status = (word.len() == 3).then(|| word.parse::<u64>().ok()).flatten().filter(|it| (400..600).contains(it))?;
    let before = &words[at.saturating_sub(3)..at];
    // `HTTP/1.1 503`: the version is in between.
    let is_announced = before.last().is_none_or(|word| BEFORE_STATUS.contains(word)) || before.contains(&"http");
    let is_count = words.get(at + 1).is_some_and(|word| UNITS.contains(word));
    (is_announced && !is_count).then_some(status)
}

/// Removes the backslashes of JSON in strings at any nesting depth: CLIs pass on a provider's answer as a string in a string. Escaped
/// line ends and quotes are decoded.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut is_escaped = false;
    for letter in text.chars() {
        match letter {
            '\\' => is_escaped = true,
            'n' | 'r' | 't' if is_escaped => {
                plain.push('\n');
                is_escaped = false;
            }
            _ => {
                plain.push(letter);
                is_escaped = false;
            }
        }
    }
    plain
}
