//! The recorded runs of opencode, compared with their golden files. `RENEW=1` writes the golden files.

use agentbay_plugin_opencode::Opencode;
use agentbay_plugin_sdk::testing::suite;

suite!(Opencode, recorded: "../../fixtures/opencode");
