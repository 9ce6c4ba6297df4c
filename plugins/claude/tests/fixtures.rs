//! The recorded runs of Claude Code, compared with their golden files. `RENEW=1` writes the golden files.

use agentbay_plugin_claude::Claude;
use agentbay_plugin_sdk::testing::suite;

suite!(
    Claude,
    recorded: "../../fixtures/claude",
    mutated_streams: 80,
);
