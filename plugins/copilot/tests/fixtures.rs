//! The recorded runs of Copilot, each against what is expected of it. `RENEW=1` writes the golden files.

use agentbay_plugin_copilot::Copilot;
use agentbay_plugin_sdk::testing::suite;

suite!(Copilot, recorded: "../../fixtures/copilot");
