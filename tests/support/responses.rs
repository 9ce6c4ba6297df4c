//! The Responses surface: requests, and the events of a streamed answer.

use serde_json::Value;

use super::http::{Answer, Request};
use super::proxy::Proxy;
use super::sse::{Events, StreamItem};

/// A proxy as a client of this surface uses it.
pub(crate) trait Responding {
    /// Sends the body of a request, and waits for the whole answer.
    fn respond(&self, body: &Value) -> Answer;
    /// Sends the body of a request for a stream.
    fn respond_in_stream(&self, body: &Value) -> (Answer, Events);
    /// The events of a streamed answer, which must have numbers without gaps.
    fn response_events(&self, body: &Value) -> Vec<Value>;
}

impl Responding for Proxy {
    fn respond(&self, body: &Value) -> Answer {
        self.send(&Request::post("/v1/responses", body.to_string()))
    }

    fn respond_in_stream(&self, body: &Value) -> (Answer, Events) {
        self.events(&Request::post("/v1/responses", body.to_string()))
    }

    fn response_events(&self, body: &Value) -> Vec<Value> {
        let (head, events) = self.respond_in_stream(body);
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
        let events: Vec<Value> = events.filter_map(event).collect();
        for (number, event) in (0_u64..).zip(&events) {
            assert_eq!(event["sequence_number"], number, "{event}");
        }
        events
    }
}

/// The data of an event, which must be named after its type; `None` for a comment.
pub(crate) fn event(item: StreamItem) -> Option<Value> {
    match item {
        StreamItem::Named(name, data) => {
            let event: Value = serde_json::from_str(&data).unwrap();
            assert_eq!(event["type"], name);
            Some(event)
        }
        StreamItem::Comment(_) => None,
        StreamItem::Data(data) => panic!("an event without a name: {data}"),
    }
}

/// The types of events.
pub(crate) fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// The text of a response.
pub(crate) fn output_text(response: &Value) -> String {
    let items = response["output"].as_array().unwrap_or_else(|| panic!("no output in {response}"));
    let texts = items.iter().filter(|item| item["type"] == "message").map(|item| &item["content"][0]["text"]);
    texts.map(|text| text.as_str().unwrap()).collect()
}
