//! The recorded runs of Codex, compared with their golden files. `RENEW=1` writes the golden files.

use agentbay_plugin_codex::Codex;
use agentbay_plugin_sdk::testing::{answer_of, suite};

suite!(
    Codex,
    recorded: "../../fixtures/codex",
    // Its answer follows a schema.
    answer: |run| answer_of(run).filter(|_| run.name() != "plain-output-schema"),
);
