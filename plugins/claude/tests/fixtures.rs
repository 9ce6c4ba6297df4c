//! The recorded runs of Claude Code, each against what is expected of it. `RENEW=1` writes the golden files.

use agentbay_plugin_claude::Claude;
use agentbay_plugin_sdk::testing::suite;

suite!(
    Claude,
    recorded: "../../fixtures/claude",
    changed_streams: 80,
);
