//! The transcript of opencode: no input and no split into calls makes it trap.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::transcript::<agentbay_plugin_opencode::Opencode>(data));
