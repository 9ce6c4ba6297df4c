//! What is wrong with what the settings refer to: files that are no plugins, drivers that are not loaded, programs and
//! repositories that are not there.

use super::load::Loaded;
use crate::doctor::examine;

/// Everything that is wrong, a line each.
pub async fn findings(loaded: &Loaded) -> Vec<String> {
    let refusals = &loaded.snapshot.plugins.refusals;
    let refused = refusals.iter().map(|refusal| format!("{}: {}", refusal.path.display(), refusal.reason));
    let examined = examine(&loaded.snapshot, &loaded.host, None).await;
    refused.chain(examined.into_iter().flat_map(|model| model.faults)).collect()
}
