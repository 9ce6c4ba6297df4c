//! The transcript of generic: no input makes it trap, whatever way it is cut into calls.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::transcript::<agentbay_plugin_generic::Generic>(data));
