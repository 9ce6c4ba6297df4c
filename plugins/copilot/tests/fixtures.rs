//! The recorded runs of Copilot, compared with their golden files. `RENEW=1` writes the golden files.

use agentbay_plugin_copilot::Copilot;
use agentbay_plugin_sdk::testing::suite;

suite!(Copilot, recorded: "../../fixtures/copilot");
