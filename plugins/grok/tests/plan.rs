//! The command lines of `ax-grok`.

use agentbay_plugin_grok::Grok;
use agentbay_plugin_sdk::testing::suite;

suite!(Grok, roles: "ax-grok");
