//! Numbers the parts of an answer, of which one is open at a time.

use agentbay_domain::{Part, Reply};

/// Makes the replies of texts.
#[derive(Debug, Default)]
pub(super) struct PartWriter {
    /// The number of the next part.
    next: u32,
    open: Option<(u32, Part)>,
}

impl PartWriter {
    /// Adds text to the open part, or to this one if the open part is of another kind. Empty text adds nothing.
    pub(super) fn add(&mut self, part: Part, text: String) -> impl Iterator<Item = Reply> + use<> {
        let replies = if text.is_empty() {
            [None, None, None]
        } else if let Some((at, _)) = self.open.filter(|(_, open)| is_same_kind(*open, part)) {
            [None, None, Some(Reply::Added { at, text })]
        } else {
            let (closed, at) = (self.close(), self.next);
            self.open = Some((at, part));
            self.next += 1;
            [closed, Some(Reply::Opened { at, part }), Some(Reply::Added { at, text })]
        };
        replies.into_iter().flatten()
    }

    /// Returns whether a part of this kind is open.
    pub(super) fn is_open(&self, part: Part) -> bool {
        self.open.is_some_and(|(_, open)| is_same_kind(open, part))
    }

    /// Closes the open part.
    pub(super) fn close(&mut self) -> Option<Reply> {
        self.open.take().map(|(at, _)| Reply::Closed { at })
    }
}

fn is_same_kind(one: Part, other: Part) -> bool {
    matches!((one, other), (Part::Text { .. }, Part::Text { .. }) | (Part::Reasoning, Part::Reasoning))
}
