//! The classifier: no words make it trap, and what it says is always of some use.
#![no_main]

use agentbay_plugin_sdk::classify;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let failure = classify::failure(&String::from_utf8_lossy(data));
    assert!(!failure.message.is_empty());
});
