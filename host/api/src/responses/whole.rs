//! The body of a response that is not streamed.

use agentbay_wire::responses::{Response, WireUsage};

use super::store::Keep;
use super::{now, open};
use crate::answer::{Finished, WholeEncoder};
use crate::surface::Surface;

/// Encodes an answer as a response.
pub(super) struct Whole {
    pub(super) response: Response,
    /// What is done with it at its end.
    pub(super) keep: Option<Keep>,
}

impl WholeEncoder for Whole {
    const SURFACE: Surface = Surface::OpenAi;
    type Body = Response;

    fn encode(self, finished: Finished) -> Response {
        let Self { mut response, keep } = self;
        let Finished { blocks, end } = finished;
        for block in blocks {
            open(&mut response, block.kind);
            response.add(&block.text);
            response.close();
        }
        response.finish(&end.stop, WireUsage::of(end.usage, end.usage_estimated), now());
        if let Some(keep) = keep {
            keep.save(&response);
        }
        response
    }
}
