//! The notices of a plugin on their way to the log: a limited number in a run, each a line of limited length.

use agentbay_domain::{Level, Notice};

/// The characters of a line.
const LENGTH: usize = 1000;

/// The notices of one run.
#[derive(Debug)]
pub(super) struct Notices {
    left: usize,
    left_out: usize,
}

impl Notices {
    pub(super) fn new(most: usize) -> Self {
        Self { left: most, left_out: 0 }
    }

    /// Logs a notice, unless the limit is reached.
    pub(super) fn log(&mut self, notice: &Notice) {
        let Some(left) = self.left.checked_sub(1) else {
            self.left_out += 1;
            return;
        };
        self.left = left;
        let message = line(&notice.message);
        match notice.level {
            Level::Debug => tracing::debug!(message, "CLI"),
            Level::Info => tracing::info!(message, "CLI"),
            Level::Warning => tracing::warn!(message, "CLI"),
        }
    }

    /// Logs how many were left out.
    pub(super) fn end(&self) {
        if self.left_out > 0 {
            tracing::warn!(count = self.left_out, "notices over `limits.plugin_notices` were not logged");
        }
    }
}

/// The message without control characters, so that it stays one line of the log.
fn line(message: &str) -> String {
    let mut line: String = message.chars().take(LENGTH).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.len() < message.len() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_over_the_limit_are_counted_and_not_logged() {
        let notice = Notice { level: Level::Info, message: String::new() };
        let mut notices = Notices::new(2);
        (0..5).for_each(|_| notices.log(&notice));
        assert_eq!((notices.left, notices.left_out), (0, 3));
    }

    #[test]
    fn a_message_stays_one_line_and_is_cut() {
        assert_eq!(line("a\nb\u{1b}[2J é"), "a b [2J é");
        assert_eq!(line(&"é".repeat(1001)), "é".repeat(1000) + "…");
    }
}
