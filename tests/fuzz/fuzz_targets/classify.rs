//! The classifier: no text makes it trap, and every result is usable.
#![no_main]

use agentbay_plugin_sdk::classify;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let failure = classify::failure(&String::from_utf8_lossy(data));
    assert!(!failure.message.is_empty());
});
