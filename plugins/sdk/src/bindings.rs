//! The code generated from `wit/agent.wit`. Plugins use it through the names that `lib.rs` re-exports.

#![allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unsafe_code,
    clippy::allow_attributes_without_reason,
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "generated code"
)]

wit_bindgen::generate!({
    path: "../../wit",
    world: "cli-agent",
    pub_export_macro: true,
    export_macro_name: "export_bindings",
    additional_derives: [PartialEq, Clone],
});
