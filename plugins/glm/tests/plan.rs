//! The command lines of `ax-glm`.

use agentbay_plugin_glm::Glm;
use agentbay_plugin_sdk::testing::suite;

suite!(Glm, roles: "ax-glm");
