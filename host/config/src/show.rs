//! `show`: what the clients of a model see of its agent besides the answer.

use agentbay_domain::{Show, ShownAs};

use super::section::{Item, Section};

/// The keys of `show` that were set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ShowTable {
    tools: Option<ShownAs>,
    reasoning: Option<ShownAs>,
}

pub(super) fn read(mut section: Section<'_>) -> ShowTable {
    let tools = section.take("tools").and_then(|item| shown_as(&item));
    let reasoning = section.take("reasoning").and_then(|item| shown_as(&item));
    section.finish();
    ShowTable { tools, reasoning }
}

fn shown_as(item: &Item<'_>) -> Option<ShownAs> {
    match item.text()? {
        "reasoning" => Some(ShownAs::Reasoning),
        "text" => Some(ShownAs::Text),
        "nothing" => Some(ShownAs::Nothing),
        other => {
            item.fault(format!("{other:?} is not one of \"reasoning\", \"text\", \"nothing\""));
            None
        }
    }
}

impl ShowTable {
    pub(super) fn or(self, defaults: Self) -> Self {
        Self { tools: self.tools.or(defaults.tools), reasoning: self.reasoning.or(defaults.reasoning) }
    }

    pub(super) fn into_show(self) -> Show {
        let Show { tools, reasoning } = Show::default();
        Show { tools: self.tools.unwrap_or(tools), reasoning: self.reasoning.unwrap_or(reasoning) }
    }
}
