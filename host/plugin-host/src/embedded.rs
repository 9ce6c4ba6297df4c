//! The components that are part of the program: all files in `plugins/prebuilt`, which `make plugins` builds.

use std::sync::LazyLock;

use agentbay_domain::Sha256Sum;

/// Id and bytes of each component.
pub(super) const COMPONENTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/components.rs"));

static DIGESTS: LazyLock<Vec<Sha256Sum>> =
    LazyLock::new(|| COMPONENTS.iter().map(|(_, bytes)| Sha256Sum::of(bytes)).collect());

/// Whether bytes with this hash are a component of the program, no matter where they were read from.
pub fn is_embedded(sha256: Sha256Sum) -> bool {
    DIGESTS.contains(&sha256)
}

/// The ids of the plugins that are part of the program.
pub fn embedded_ids() -> impl Iterator<Item = &'static str> {
    COMPONENTS.iter().map(|(id, _)| *id)
}
