//! Owns the table in other languages, as the projects of `agentbay plugin new` have it. `RENEW=1` writes the files.

use std::path::Path;
use std::{fs, io};

use super::table::{Row, TABLE};
use crate::testing::golden::category;

const ABOUT: &str = "What CLIs say when they fail, and what kind of failure that is: the table of AgentBay's SDK. The first row \
    that fits counts.";

fn list<T>(items: &[T], shown: impl Fn(&T) -> String) -> String {
    items.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// The rows, which JavaScript and Python write alike but for the words of a truth value.
fn rows(yes: &str, no: &str) -> String {
    let row = |row: &Row| {
        let statuses = list(row.statuses, u64::to_string);
        let words = list(row.words, |words| format!("{words:?}"));
        let burst = if row.burst_only { yes } else { no };
        format!("    [{:?}, {:?}, [{statuses}], [{words}], {burst}],\n", category(row.category), row.message)
    };
    TABLE.iter().map(row).collect()
}

fn javascript() -> String {
    let fields = "Each row: category, message, HTTP statuses, words, whether it counts only beside a short wait.";
    format!("// {ABOUT}\n// {fields}\nexport const TABLE = [\n{}];\n", rows("true", "false"))
}

fn python() -> String {
    let fields = "Each row: category, message, HTTP statuses, words, whether it counts only beside a short wait.";
    format!("\"\"\"{ABOUT}\n\n{fields}\n\"\"\"\n\nTABLE = [\n{}]\n", rows("True", "False"))
}

fn c() -> String {
    let row = |row: &Row| {
        let category = category(row.category).to_uppercase().replace('-', "_");
        let statuses = list(row.statuses, u64::to_string);
        let statuses = if statuses.is_empty() { "0".to_owned() } else { format!("{statuses}, 0") };
        let words = row.words.iter().map(|words| format!("{words:?}, ")).collect::<String>();
        let burst = row.burst_only;
        format!(
            "    {{EXPORTS_AGENT_CATEGORY_{category}, {:?}, {{{statuses}}}, {burst},\n     (const char *[]){{{words}0}}}},\n",
            row.message
        )
    };
    let rows: String = TABLE.iter().map(row).collect();
    format!("// {ABOUT}\n// Lists end with 0.\n{rows}")
}

#[test]
#[expect(clippy::disallowed_methods, reason = "whoever runs the test asks for it")]
fn the_templates_have_the_table() -> io::Result<()> {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../templates");
    for (file, text) in [
        ("js/failure-table.js", javascript()),
        ("python/failure_table.py", python()),
        ("c/support/failure_table.h", c()),
    ] {
        let path = templates.join(file);
        if std::env::var_os("RENEW").is_some() {
            fs::write(&path, text)?;
        } else {
            let is_same = fs::read_to_string(&path)? == text;
            assert!(
                is_same,
                "{file} is not the table of the SDK: RENEW=1 cargo test -p agentbay-plugin-sdk the_templates"
            );
        }
    }
    Ok(())
}
