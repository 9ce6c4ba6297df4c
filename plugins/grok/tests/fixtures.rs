//! The recorded runs of `ax-grok`, compared with their golden files. `RENEW=1` writes the golden files.

use agentbay_plugin_grok::Grok;
use agentbay_plugin_sdk::testing::suite;

suite!(
    Grok,
    recorded: "../../fixtures/grok",
    // It prints nothing when its turn is over.
    prints_end: false,
    mutated_streams: 30,
);
