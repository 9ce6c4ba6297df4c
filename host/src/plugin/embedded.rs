//! The components that are part of the program. They are built from `plugins/` by `make plugins`.

/// A component's bytes, and the id it is built under.
pub(super) const COMPONENTS: [(&str, &[u8]); 5] = [
    ("codex", include_bytes!("../../../plugins/prebuilt/codex.wasm")),
    ("echo", include_bytes!("../../../plugins/prebuilt/echo.wasm")),
    ("gemini", include_bytes!("../../../plugins/prebuilt/gemini.wasm")),
    ("generic", include_bytes!("../../../plugins/prebuilt/generic.wasm")),
    ("qwen", include_bytes!("../../../plugins/prebuilt/qwen.wasm")),
];
