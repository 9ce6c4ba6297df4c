//! An answer of several messages as one text: they are parted by a blank line.

/// Joins messages as they come.
#[derive(Debug, Default)]
pub(super) struct Paragraphs {
    spoken: bool,
    parted: bool,
}

impl Paragraphs {
    /// A new message begins. If it stays empty, nothing comes of it.
    pub(super) fn part(&mut self) {
        self.parted = self.spoken;
    }

    /// What stands before the text that comes next.
    pub(super) fn before(&mut self, text: &str) -> &'static str {
        if text.is_empty() {
            return "";
        }
        self.spoken = true;
        if std::mem::take(&mut self.parted) { "\n\n" } else { "" }
    }

    /// Whether any text has come.
    pub(super) fn spoken(&self) -> bool {
        self.spoken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_parted_and_empty_ones_leave_no_trace() {
        let mut paragraphs = Paragraphs::default();
        let mut answer = String::new();
        for message in ["", "one", "", "", "two"] {
            paragraphs.part();
            answer += paragraphs.before(message);
            answer += message;
        }
        assert_eq!(answer, "one\n\ntwo");
    }
}
