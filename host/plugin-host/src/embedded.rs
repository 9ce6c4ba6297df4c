//! The plugins that are part of the program: the components in `plugins/prebuilt`, and what is known of each without compiling
//! it. Both are written by `plugins/build`.

use agentbay_domain::{Description, Sha256Sum};
use serde::{Deserialize, Serialize};

use super::load::LoadedPlugin;

/// Id and bytes of each component.
pub(super) const COMPONENTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/components.rs"));

const SUMMARIES: &str = include_str!("../../../plugins/prebuilt/summaries.json");

/// What is known of a component without compiling it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The hash of its bytes.
    pub sha256: Sha256Sum,
    /// The version of the contract that it was built against.
    pub contract: String,
    /// The description that it returns.
    pub description: Description,
}

/// The program was built with wrong summaries of its plugins.
#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    /// The file is not valid.
    #[error("plugins/prebuilt/summaries.json is not valid: {0}")]
    Invalid(#[from] serde_json::Error),
    /// A component is missing there.
    #[error("plugins/prebuilt/summaries.json lacks the plugin `{0}`")]
    Missing(&'static str),
}

impl Summary {
    /// The summary of a plugin.
    pub fn of(plugin: &LoadedPlugin) -> Self {
        Self {
            sha256: plugin.sha256(),
            contract: plugin.contract().to_owned(),
            description: plugin.description().clone(),
        }
    }
}

/// The components with their summaries.
///
/// # Errors
/// The program was built wrongly.
pub(super) fn plugins() -> Result<Vec<(Summary, &'static [u8])>, SummaryError> {
    let summaries: Vec<Summary> = serde_json::from_str(SUMMARIES)?;
    let with_summary = |&(id, bytes): &(&'static str, &'static [u8])| {
        let summary = summaries.iter().find(|summary| summary.description.id.as_str() == id);
        summary.map(|summary| (summary.clone(), bytes)).ok_or(SummaryError::Missing(id))
    };
    COMPONENTS.iter().map(with_summary).collect()
}

/// Whether bytes with this hash are a component of the program, no matter where they were read from.
pub fn is_embedded(sha256: Sha256Sum) -> bool {
    plugins().is_ok_and(|plugins| plugins.iter().any(|(summary, _)| summary.sha256 == sha256))
}

/// The ids of the plugins that are part of the program.
pub fn embedded_ids() -> impl Iterator<Item = &'static str> {
    COMPONENTS.iter().map(|(id, _)| *id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summaries_are_of_these_components_and_of_no_others() {
        let summaries: Vec<Summary> = serde_json::from_str(SUMMARIES).unwrap();
        let of_components: Vec<_> =
            COMPONENTS.iter().map(|(id, bytes)| ((*id).to_owned(), Sha256Sum::of(bytes))).collect();
        let known: Vec<_> = summaries.iter().map(|one| (one.description.id.to_string(), one.sha256)).collect();
        assert_eq!(known, of_components);
    }
}
