//! The recorded runs of opencode, each against what is expected of it. `RENEW=1` writes the golden files.

use agentbay_plugin_opencode::Opencode;
use agentbay_plugin_sdk::testing::suite;

suite!(Opencode, recorded: "../../fixtures/opencode");
