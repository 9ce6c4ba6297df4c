//! The parts of an answer, independent of the backend that produces it. API surfaces encode them.
//!
//! An answer is a sequence of parts. One part is open at a time; `at` is its number, from 0 within one attempt. The end
//! of an attempt ends the part that is open.

use super::Event;

/// The content of a part of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Text of the answer.
    Text {
        /// It belongs to the same message as the text part before it, so that it starts no new paragraph.
        continues: bool,
    },
    /// The reasoning before the answer.
    Reasoning,
}

/// A step of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A part begins.
    Opened {
        /// Its number.
        at: u32,
        /// Its content.
        part: Part,
    },
    /// The open part grows.
    Added {
        /// Its number.
        at: u32,
        /// Never empty.
        text: String,
    },
    /// A part ends.
    Closed {
        /// Its number.
        at: u32,
    },
}

impl Reply {
    /// The approximate bytes of memory that it takes.
    pub fn size(&self) -> u64 {
        let text = match self {
            Self::Added { text, .. } => text.len(),
            Self::Opened { .. } | Self::Closed { .. } => 0,
        };
        Event::OVERHEAD + text as u64
    }
}
