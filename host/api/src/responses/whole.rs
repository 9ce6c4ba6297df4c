//! The body of a response that is not streamed.

use agentbay_wire::responses::{Response, WireUsage};

use super::{now, open};
use crate::answer::{Finished, WholeEncoder};
use crate::surface::Surface;

impl WholeEncoder for Response {
    const SURFACE: Surface = Surface::OpenAi;
    type Body = Self;

    fn encode(mut self, finished: Finished) -> Self {
        let Finished { blocks, end } = finished;
        for block in blocks {
            open(&mut self, block.kind);
            self.add(&block.text);
            self.close();
        }
        self.finish(&end.stop, WireUsage::of(end.usage, end.usage_estimated), now());
        self
    }
}
