//! The recorded runs of four agents that speak the Agent Client Protocol, compared with their golden files. `RENEW=1` writes the golden
//! files.

use agentbay_plugin_acp::Acp;
use agentbay_plugin_sdk::Turn;
use agentbay_plugin_sdk::testing::{PLAIN, suite, turn};

suite!(
    Acp,
    recorded: "../../fixtures/acp",
    turn: |run| {
        let is_load = run.name() == "opencode-load-unknown";
        Turn { session: is_load.then(|| "ses_de1495f69ffepIZCeix4gzPMgk".into()), ..turn("Say hello") }
    },
    // A run of the scenario `plain` has the name of its agent alone.
    answer: |run| (!run.name().contains('-')).then(|| PLAIN.into()),
);
