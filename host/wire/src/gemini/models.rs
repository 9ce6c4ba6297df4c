//! Models, as a list and alone.

use serde::Serialize;

use super::method::Method;

/// A list of models: always the only page.
#[derive(Debug, Serialize)]
pub struct ModelList {
    models: Vec<ModelEntry>,
}

/// One model. Its token limits are those of its CLI, which are unknown here, so that no field states them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelEntry {
    name: String,
    version: &'static str,
    display_name: String,
    description: String,
    supported_generation_methods: [&'static str; 3],
}

impl ModelEntry {
    /// A model with its name and the id of its driver.
    pub fn new(name: &str, driver: &str) -> Self {
        Self {
            name: format!("models/{name}"),
            version: "1",
            display_name: name.to_owned(),
            description: format!("A CLI agent, run by the driver {driver}"),
            supported_generation_methods: Method::ALL.map(Method::name),
        }
    }
}

impl FromIterator<ModelEntry> for ModelList {
    fn from_iter<T: IntoIterator<Item = ModelEntry>>(models: T) -> Self {
        Self { models: models.into_iter().collect() }
    }
}
