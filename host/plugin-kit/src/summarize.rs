//! `plugin summarize`: what the program has to know of its own plugins without compiling them. `plugins/build` runs it.

use std::path::PathBuf;

use agentbay_config::{Overrides, Source};
use agentbay_plugin_host::Summary;

use super::error::KitError;
use super::subject::Subject;

/// The summaries of components, in the order of the files.
///
/// # Errors
/// The host refuses a component, or there is no engine to load it with.
pub async fn summarize(source: &Source, files: &[PathBuf]) -> Result<Vec<Summary>, KitError> {
    let config = agentbay_config::load(source, &Overrides::default())?;
    let mut summaries = Vec::new();
    for file in files {
        let subject = Subject::load(&config, file).await?;
        let subject = subject.map_err(|reason| KitError::Refused { file: file.clone(), reason })?;
        summaries.push(Summary::of(&subject.plugin));
    }
    Ok(summaries)
}
