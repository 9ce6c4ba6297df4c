//! The pieces of a streamed answer: server-sent events, or the items of a JSON array.
//!
//! Clients parse every event as a response, so that a stream has neither comments nor an end marker.

use std::borrow::Cow;

use agentbay_runs::BlockKind;
use agentbay_wire::gemini::{AnswerMeta, GenerateResponse, Part, UsageMetadata};
use axum::body::Bytes;
use axum::http::{HeaderName, HeaderValue, Uri};

use crate::answer::{Encoder, End, Frames};
use crate::error::ApiError;
use crate::sse;
use crate::surface::Surface;

/// Encodes an answer as pieces.
pub(super) struct Pieces {
    pub(super) meta: AnswerMeta,
    /// The answer includes the reasoning.
    pub(super) thoughts: bool,
    pub(super) framing: Framing,
}

/// What surrounds the pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Server-sent events.
    Events,
    /// A JSON array.
    Array {
        /// It has items.
        begun: bool,
    },
}

impl Framing {
    /// The framing that a client asks for by the parameter `alt`.
    pub(super) fn of(uri: &Uri) -> Self {
        let mut parameters = uri.query().into_iter().flat_map(|query| query.split('&'));
        if parameters.any(|parameter| parameter.eq_ignore_ascii_case("alt=sse")) {
            Self::Events
        } else {
            Self::Array { begun: false }
        }
    }

    pub(super) fn headers(self) -> [(HeaderName, HeaderValue); 3] {
        match self {
            Self::Events => sse::HEADERS,
            Self::Array { .. } => sse::HEADERS.map(|(name, value)| match name {
                axum::http::header::CONTENT_TYPE => (name, HeaderValue::from_static("application/json")),
                _ => (name, value),
            }),
        }
    }

    fn frame(&mut self, json: &str) -> Bytes {
        match self {
            Self::Events => sse::data(json),
            Self::Array { begun } => {
                let before = if std::mem::replace(begun, true) { ",\r\n" } else { "[" };
                Bytes::from(format!("{before}{json}"))
            }
        }
    }

    /// The frame of the last piece.
    fn last(&mut self, json: &str, frames: &mut Frames) {
        frames.push_back(self.frame(json));
        if let Self::Array { .. } = self {
            frames.push_back(Bytes::from_static(b"]\r\n"));
        }
    }
}

impl Encoder for Pieces {
    fn shows(&self, kind: BlockKind) -> bool {
        self.thoughts || kind == BlockKind::Text
    }

    fn start(&mut self, _frames: &mut Frames) {}

    fn add(&mut self, kind: BlockKind, text: &str, frames: &mut Frames) {
        match kind {
            BlockKind::Text => self.piece(Part::text(text), frames),
            BlockKind::Reasoning => self.piece(Part::thought(text), frames),
        }
    }

    fn finish(&mut self, end: End, frames: &mut Frames) {
        let usage = UsageMetadata::of(end.usage, end.usage_estimated);
        let last = GenerateResponse::last(Cow::Borrowed(&self.meta), Vec::new(), &end.stop, usage);
        self.framing.last(&json(&last), frames);
    }

    fn fail(&mut self, error: &ApiError, frames: &mut Frames) {
        self.framing.last(&error.to_json_of(Surface::Gemini, None), frames);
    }

    fn keep_alive(&mut self, frames: &mut Frames) {
        match self.framing {
            // Clients take it for reasoning and show nothing.
            Framing::Events => self.piece(Part::thought(""), frames),
            // White space between the items.
            Framing::Array { .. } => frames.push_back(Bytes::from_static(b"\r\n")),
        }
    }
}

impl Pieces {
    fn piece(&mut self, part: Part<'_>, frames: &mut Frames) {
        let json = json(&GenerateResponse::piece(&self.meta, part));
        frames.push_back(self.framing.frame(&json));
    }
}

fn json(response: &GenerateResponse<'_>) -> String {
    serde_json::to_string(response).unwrap_or_default()
}
