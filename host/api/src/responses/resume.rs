//! The events of a response in the background, for a client that starts or continues to read them.

use std::convert::Infallible;
use std::time::Duration;

use agentbay_wire::responses::{Body as EventBody, Event};
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;

use super::log::{Log, Next};
use crate::sse;

/// A client that reads a log.
struct Reader {
    log: Log,
    /// The number of the next event.
    number: u64,
    keep_alive: Duration,
    ended: bool,
}

/// Streams the events from a number on. A client that disconnects does not end the run.
pub(super) fn events(log: Log, number: u64, keep_alive: Duration) -> Response {
    let reader = Reader { log, number, keep_alive, ended: false };
    let body = Body::from_stream(unfold(reader, |mut reader| async move {
        let bytes = reader.next().await?;
        Some((Ok::<Bytes, Infallible>(bytes), reader))
    }));
    (sse::HEADERS, body).into_response()
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        match self.log.next(self.number, self.keep_alive).await {
            Next::Event(event) => {
                self.number += 1;
                Some(event)
            }
            // It has the number of the event before it: those that follow keep theirs.
            Next::Silence => Some(self.event("keepalive", EventBody::Nothing {})),
            Next::Lost => {
                self.ended = true;
                let message = "this event is not kept any more: read the response without `stream`";
                let body = EventBody::Error { code: "events_not_kept", message, param: "starting_after" };
                Some(self.event("error", body))
            }
            Next::End => None,
        }
    }

    fn event(&self, kind: &'static str, body: EventBody<'_>) -> Bytes {
        let event = Event { kind, sequence_number: self.number.saturating_sub(1), body };
        sse::event(kind, &serde_json::to_string(&event).unwrap_or_default())
    }
}
