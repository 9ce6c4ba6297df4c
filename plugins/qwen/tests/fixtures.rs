//! The recorded runs of Qwen Code, compared with their golden files. `RENEW=1` writes the golden files.

use agentbay_plugin_qwen::Qwen;
use agentbay_plugin_sdk::Turn;
use agentbay_plugin_sdk::testing::{suite, turn};

suite!(
    Qwen,
    recorded: "../../fixtures/qwen",
    turn: |run| Turn { output_schema: run.name().ends_with("-schema").then(|| "{}".into()), ..turn("Say hello") },
);
