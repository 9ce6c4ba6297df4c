//! The components that are part of the program. They are built from `plugins/` by `make plugins`.

use crate::domain::Sha256Sum;

/// Whether bytes of this hash are a component of the program, wherever they were read from.
pub fn is_embedded(sha256: Sha256Sum) -> bool {
    COMPONENTS.iter().any(|(_, bytes)| Sha256Sum::of(bytes) == sha256)
}

/// The ids of the plugins that are part of the program.
pub fn embedded_ids() -> impl Iterator<Item = &'static str> {
    COMPONENTS.iter().map(|(id, _)| *id)
}

/// A component's bytes, and the id it is built under.
pub(super) const COMPONENTS: [(&str, &[u8]); 11] = [
    ("acp", include_bytes!("../../../plugins/prebuilt/acp.wasm")),
    ("claude", include_bytes!("../../../plugins/prebuilt/claude.wasm")),
    ("codex", include_bytes!("../../../plugins/prebuilt/codex.wasm")),
    ("copilot", include_bytes!("../../../plugins/prebuilt/copilot.wasm")),
    ("echo", include_bytes!("../../../plugins/prebuilt/echo.wasm")),
    ("gemini", include_bytes!("../../../plugins/prebuilt/gemini.wasm")),
    ("generic", include_bytes!("../../../plugins/prebuilt/generic.wasm")),
    ("glm", include_bytes!("../../../plugins/prebuilt/glm.wasm")),
    ("grok", include_bytes!("../../../plugins/prebuilt/grok.wasm")),
    ("opencode", include_bytes!("../../../plugins/prebuilt/opencode.wasm")),
    ("qwen", include_bytes!("../../../plugins/prebuilt/qwen.wasm")),
];
